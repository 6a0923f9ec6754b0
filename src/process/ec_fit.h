// Ising models from data, and what expectation consistent inference is compared with: whole answers, as a user asks for them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/fields.h"
#include "core/random/rng.h"
#include "process/ec_ising.h"

namespace granary::process {

struct EcModelData {
  MatrixView j{nullptr, 0, 0};
  VectorView theta{nullptr, 0};
};
template <class V>
void fields(V& v, EcModelData& t) {
  v("J", t.j);
  v("theta", t.theta);
}

// ec_ising() from the usual start, and from n_starts - 1 others that favour a state of the spins drawn at random. The answer is
// the converged one with the largest log Z.
struct EcStart {
  double log_z = 0;
  bool converged = false;
};
template <class V>
void fields(V& v, EcStart& t) {
  v("log_z", t.log_z);
  v("converged", t.converged);
}
struct EcFit {
  EcResult best;
  std::vector<EcStart> starts;
};
template <class V>
void fields(V& v, EcFit& t) {
  v("best", t.best);
  v("starts", columns(t.starts));
}
EcFit ec_ising_starts(ConstMatrixRef j, ConstVectorRef theta, const EcOptions& options, Rng& rng, Monitor& monitor);

enum class EcBaseline { exact, mean_field, tap, bethe, gibbs };
inline Names<EcBaseline> names(EcBaseline) {
  return {{EcBaseline::exact, "exact"},
          {EcBaseline::mean_field, "mean_field"},
          {EcBaseline::tap, "tap"},
          {EcBaseline::bethe, "bethe"},
          {EcBaseline::gibbs, "gibbs"}};
}
struct EcBaselineOptions {
  EcBaseline method = EcBaseline::exact;
  int samples = 2000, sweeps = 50;  // gibbs
};
template <class V>
void fields(V& v, EcBaselineOptions& t) {
  v("method", t.method);
  v("samples", t.samples);
  v("sweeps", t.sweeps);
}
struct EcBaselineResult {
  VectorXd mean;
  MatrixXd covariance;  // mean field and TAP: by linear response
  double log_z = Convergence::unknown;
  Convergence convergence;
};
template <class V>
void fields(V& v, EcBaselineResult& t) {
  v("mean", t.mean);
  v("cov", t.covariance);
  v("log_z", any_number(t.log_z));
  v("convergence", t.convergence);
}
EcBaselineResult ec_baseline(ConstMatrixRef j, ConstVectorRef theta, const EcBaselineOptions& options, Rng& rng, Monitor& monitor);

// Approximate maximum likelihood by the EC approximation read backwards: with m and C the mean and covariance of the rows,
//
//   P = argmin tr(C P) - log det P + penalty sum_{(i,j) not in the tree} |P_ij|,   J = Lambda_r - P,   theta = P m - gamma_r
//
// Lambda_r and gamma_r from ec_inverse() on the forest: none (factorized), or the heaviest tree of the J found without one.
struct EcLearnOptions {
  double penalty = 0;
  EcMethod method = EcMethod::factorized;
  double tol = 1e-8;
};
template <class V>
void fields(V& v, EcLearnOptions& t) {
  v("lambda", t.penalty);
  v("method", t.method);
  v("tol", t.tol);
}
struct EcLearnResult {
  MatrixXd j;
  VectorXd theta;
  std::vector<std::pair<int, int>> edges;
  double log_z = 0, loglik = 0;
  Convergence convergence;  // of the precision matrix
  Convergence inference;    // of the approximation at the estimate
};
template <class V>
void fields(V& v, EcLearnResult& t) {
  Eigen::MatrixXi tree = edge_matrix(t.edges);
  v("J", t.j);
  v("theta", t.theta);
  v("tree", positions(tree));
  v("log_z", t.log_z);
  v("loglik", t.loglik);
  v("convergence", t.convergence);
  v("inference", t.inference);
}

// The sparse inverse covariance that a penalty asks for: argmin -log|P| + tr(C P) + sum_ij weights_ij |P_ij|. The solver comes from outside:
// the graphical lasso has a room of its own.
struct EcPrecision {
  MatrixXd p;
  Convergence convergence;
};
using EcPrecisionSolver = std::function<EcPrecision(const MatrixXd& c, const MatrixXd& weights, double tol, Monitor& monitor)>;

// x: rows of spins -1, 1. `penalised` is not called without a penalty.
EcLearnResult ec_learn(ConstMatrixRef x, const EcLearnOptions& options, const EcPrecisionSolver& penalised, Monitor& monitor);

}  // namespace granary::process
