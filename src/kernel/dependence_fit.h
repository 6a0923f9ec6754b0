// From variables to a measure of their dependence with its witness functions, or to a test: how features, nu and the form of the
// input are chosen stands here; the formulas are in dependence.h and dependence_test.h.
#pragma once

#include <optional>
#include <vector>

#include "core/random/rng.h"
#include "kernel/dependence.h"
#include "kernel/dependence_test.h"
#include "kernel/dependence_variable.h"

namespace granary::kernel {

struct DependenceFitOptions {
  DependenceOptions dependence;
  KernelFeaturesOptions rank;
  std::optional<NuRule> nu_rule;  // else nu as given
  int threads = 1;
};
template <class V>
void fields(V& v, DependenceFitOptions& t) {
  fields(v, t.dependence);
  fields(v, t.rank);
  v("nu_rule", t.nu_rule);
  v("threads", t.threads);
}

// A function of one variable, f(x) = sum_p coefficients_p k(x_p, x) - constant over the pivots p.
struct WitnessFunction {
  VectorXd values;  // at the data
  std::vector<Index> pivots;
  VectorXd coefficients;
  double constant = 0;
  double residual = 0;  // share of the trace of the kernel matrix that the pivots leave out
};
template <class V>
void fields(V& v, WitnessFunction& t) {
  v("values", t.values);
  v("pivots", positions(t.pivots));
  v("coefficients", t.coefficients);
  v("constant", t.constant);
  v("residual", t.residual);
}

struct DependenceFit {
  double value = 0;
  VectorXd spectrum, norms;
  double nu = 1;
  std::vector<WitnessFunction> witness;  // one per variable
};
template <class V>
void fields(V& v, DependenceFit& t) {
  v("value", t.value);
  v("spectrum", t.spectrum);
  v("norms", t.norms);
  v("nu", t.nu);
  v("witness", t.witness);
}

DependenceFit measure_dependence(const std::vector<DependenceVariable>& variables, DependenceFitOptions options, Monitor& monitor);

struct DependenceTestOptions {
  DependenceFitOptions fit;
  bool joint = false;  // the joint HSIC of all variables instead of the measure
  int n_perm = 499;
};
template <class V>
void fields(V& v, DependenceTestOptions& t) {
  fields(v, t.fit);
  v("joint", t.joint);
  v("n_perm", t.n_perm);
}
PermutationTest test_dependence(const std::vector<DependenceVariable>& variables, const DependenceTestOptions& options,
                                const Rng& rng, Monitor& monitor);
GammaTest test_dependence_by_gamma(const std::vector<DependenceVariable>& variables, const DependenceFitOptions& options,
                                   Monitor& monitor);

// Features where no bound on the rank was asked for: as many as the tolerance takes, but an InputError before that costs more
// than some 1e11 operations. A kernel so narrow that every point is alone has the rank of the number of points.
std::vector<KernelFeatures> affordable_features(const std::vector<DependenceVariable>& variables,
                                                const KernelFeaturesOptions& options, int threads, Monitor& monitor);

}  // namespace granary::kernel
