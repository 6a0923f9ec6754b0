// Latent variable models as a user asks for them: starts, the fit from one of them turned to its principal axes, draws, and what
// dual principal components need to predict.
#pragma once

#include <vector>

#include "process/gplvm.h"
#include "process/gplvm_dual.h"

namespace granary::process {

struct GplvmData {
  MatrixView y{nullptr, 0, 0};      // missing cells may hold anything finite
  MatrixView noise{nullptr, 0, 0};  // variances of the cells, infinite where one is missing; 0 x 0: none
  KernelSpec kernel;

  NoisyTargets targets() const;
};
template <class V>
void fields(V& v, GplvmData& t) {
  v("y", t.y);
  v("noise", t.noise);
  v("kernel", t.kernel);
}

enum class GplvmInit { pca, isomap, random };
inline Names<GplvmInit> names(GplvmInit) {
  return {{GplvmInit::pca, "pca"}, {GplvmInit::isomap, "isomap"}, {GplvmInit::random, "random"}};
}
struct GplvmStartOptions {
  GplvmInit init = GplvmInit::pca;
  Index q = 2;
  int neighbors = 7;
  int threads = 1;
};
template <class V>
void fields(V& v, GplvmStartOptions& t) {
  v("init", t.init);
  v("k", t.q);
  v("neighbors", t.neighbors);
  v("threads", t.threads);
}
struct GplvmStart {
  MatrixXd latent;    // of mean square one, as the prior has them
  int neighbors = 0;  // that isomap used
};
template <class V>
void fields(V& v, GplvmStart& t) {
  v("latent", t.latent);
  v("neighbors", t.neighbors);
}
GplvmStart gplvm_start(ConstMatrixRef y, const GplvmStartOptions& options, Rng& rng, Monitor& monitor);  // NaN: a missing cell

// gplvm_full() or gplvm_sparse(), by options.method; with options.turn the map is turned to its principal axes, which a kernel that
// is the same in all directions does not notice.
GplvmResult gplvm_fit(const GplvmData& data, ConstMatrixRef start, const GplvmOptions& options, Monitor& monitor);

// Q such that x Q has its axes in the order of falling variance, each with its largest entry positive.
MatrixXd principal_turn(ConstMatrixRef x);

// A fit that was kept.
struct GplvmState {
  MatrixView latent{nullptr, 0, 0}, y{nullptr, 0, 0}, noise{nullptr, 0, 0};
  KernelSpec kernel;
  bool bernoulli = false;
  VectorXd offset;
  bool prior = true;

  GplvmModel model() const;
};
template <class V>
void fields(V& v, GplvmState& t) {
  v("latent", t.latent);
  v("y", t.y);
  v("noise", any_number(t.noise));
  v("kernel", t.kernel);
  v("bernoulli", t.bernoulli);
  v("offset", t.offset);
  v("prior", t.prior);
}
void check(const GplvmState& t);

struct GplvmPrediction {
  MatrixXd mean, variance;
};
template <class V>
void fields(V& v, GplvmPrediction& t) {
  v("mean", t.mean);
  v("variance", t.variance);
}
GplvmPrediction gplvm_predict(const GplvmState& state, ConstMatrixRef x, bool with_noise, Monitor& monitor);

// Joint draws of observations at the rows of x, one matrix per draw; 0 and 1 for binary columns.
std::vector<MatrixXd> gplvm_draws(const GplvmState& state, ConstMatrixRef x, int count, Rng& rng, Monitor& monitor);

struct ProjectData {
  MatrixView y{nullptr, 0, 0};  // NaN: a missing cell
  MatrixView train_latent{nullptr, 0, 0}, train_y{nullptr, 0, 0};
};
template <class V>
void fields(V& v, ProjectData& t) {
  v("y", t.y);
  v("train_latent", t.train_latent);
  v("train_y", t.train_y);
}

// A linear kernel sees the rows through X'X and X'Y only: q made-up rows that have both stand for all of them in predictions.
struct DualPcaFit {
  DualPca fit;
  MatrixXd root;      // R with R'R = X'X
  MatrixXd stand_in;  // R'^-1 X'Y
};
template <class V>
void fields(V& v, DualPcaFit& t) {
  v("latent", t.fit.x);
  v("eigenvalues", t.fit.eigenvalues);
  v("noise", t.fit.noise);
  v("ppca_noise", t.fit.ppca_noise);
  v("loglik", t.fit.log_likelihood);
  v("root", t.root);
  v("stand_in", t.stand_in);
}
DualPcaFit dual_pca_fit(ConstMatrixRef y, Index q, Monitor& monitor);

// Kullback-Leibler divergence between a similarity and its best approximation by q dimensions and noise, for each q.
struct DimensionKlOptions {
  std::vector<int> q;
  bool reverse = false;
  double ridge = 0;
};
template <class V>
void fields(V& v, DimensionKlOptions& t) {
  v("k", t.q);
  v("reverse", t.reverse);
  v("ridge", t.ridge);
}
struct DimensionKl {
  std::vector<int> q;       // those below the number of positive eigenvalues
  VectorXd kl, noise, share;
  double smallest = 0, largest = 0;  // eigenvalues
  int zero = 0, positive = 0;
};
template <class V>
void fields(V& v, DimensionKl& t) {
  v("k", t.q);
  v("kl", t.kl);
  v("noise", t.noise);
  v("share", t.share);
  v("smallest", t.smallest);
  v("largest", t.largest);
  v("zero", t.zero);
  v("positive", t.positive);
}
DimensionKl dimension_kl(ConstMatrixRef s, const DimensionKlOptions& options);

}  // namespace granary::process
