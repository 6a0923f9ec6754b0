// A Bayesian optimisation as R holds it: the model, the data it sees, the parameters learnt and the factors of their surrogates,
// which are carried on to new rows instead of being made again.
#pragma once

#include <vector>

#include "process/bo_learn.h"
#include "process/bo_suggest.h"

namespace granary::process {

struct BoModelData {
  KernelSpec kernel;
  double noise = 1e-6;
  bool learn_noise = false;
  BoTrend trend;
  BoPrior prior;

  BoModel model(Index dimension) const { return {Kernel(kernel, dimension), noise, learn_noise, trend, prior}; }
};
template <class V>
void fields(V& v, BoModelData& t) {
  v("kernel", t.kernel);
  v("noise", t.noise);
  v("learn_noise", t.learn_noise);
  v("trend", t.trend);
  v("prior", t.prior);
}

struct BoState {
  BoModelData model;
  MatrixView x{nullptr, 0, 0};
  VectorView y{nullptr, 0};
  MatrixXd theta;                 // one row per particle; empty while nothing was learnt
  std::vector<MatrixXd> factors;  // of K~ for the first rows, where they are known

  std::vector<BoSurrogate> surrogates() const;
};
template <class V>
void fields(V& v, BoState& t) {
  v("model", t.model);
  v("x", t.x);
  v("y", t.y);
  v("theta", t.theta);
  v("factors", t.factors);
}
void check(const BoState& t);

struct BoFactors {
  std::vector<MatrixXd> factors;
  int floored = 0;
  VectorXd log_evidence, s2, nu;
  MatrixXd weights;
};
template <class V>
void fields(V& v, BoFactors& t) {
  v("factors", t.factors);
  v("floored", t.floored);
  v("log_evidence", t.log_evidence);
  v("s2", t.s2);
  v("nu", t.nu);
  v("weights", t.weights);
}
BoFactors bo_factors(const BoState& state);

struct BoMixture {  // one column per particle
  MatrixXd location, scale;
  VectorXd nu;
};
template <class V>
void fields(V& v, BoMixture& t) {
  v("location", t.location);
  v("scale", t.scale);
  v("nu", t.nu);
}
BoMixture bo_mixture(const BoState& state, ConstMatrixRef at);
MatrixXd bo_covariance(const BoState& state, ConstMatrixRef at);  // of the first particle

struct BoValueOptions {
  BoCriterion criterion;
  bool noisy = false;
};
template <class V>
void fields(V& v, BoValueOptions& t) {
  v("criterion", t.criterion);
  v("noisy", t.noisy);
}
VectorXd bo_values(const BoState& state, const BoValueOptions& options, ConstMatrixRef at, Rng& rng);

}  // namespace granary::process
