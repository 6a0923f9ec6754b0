// Gaussian hidden Markov models of many sequences with case weights:
//
//   maximise  l(theta) = sum_i w_i log p(x_i; theta),
//   p(x) = sum_z pi_z1 N(x_1; mu_z1, Sigma_z1) prod_t>1 A_z(t-1),zt N(x_t; mu_zt, Sigma_zt)
//
// by Baum-Welch with weights (Wu and Cheng, JMLR 2014, equations 2-4; core/infer/hmm_model.h), or by its hard form, where every
// sequence has its best path. Weights may have any scale; a sequence of weight zero counts as absent. Covariances are at least
// floor * diag(spread). Of the transitions some may be forbidden, and stay so:
//
//   ergodic      any state may follow any
//   left_right   a state is followed by itself or the next; the first is the first
//   forward      a state is followed by itself or a later one; any may be the first
//
// Starts: every sequence cut into k equal parts (segments), k-means of the rows, or parameters. A row with a value that is not a
// number is missing.
#pragma once

#include <vector>

#include "core/infer/em.h"
#include "core/infer/gaussian_density.h"

namespace granary {

enum class HmmTopology { ergodic, left_right, forward };
inline Names<HmmTopology> names(HmmTopology) {
  return {{HmmTopology::ergodic, "ergodic"}, {HmmTopology::left_right, "left_right"}, {HmmTopology::forward, "forward"}};
}
enum class HmmStart { segments, kmeans, parameters };
inline Names<HmmStart> names(HmmStart) {
  return {{HmmStart::segments, "segments"}, {HmmStart::kmeans, "kmeans"}, {HmmStart::parameters, "parameters"}};
}
// May state b follow state a; may state a be the first.
bool may_follow(HmmTopology topology, Index a, Index b);
bool may_begin(HmmTopology topology, Index a);

struct GaussianHmm {
  CovarianceKind kind = CovarianceKind::diagonal;
  VectorXd initial;     // k
  MatrixXd transition;  // k x k, rows of sum 1
  MatrixXd means;       // p x k
  VectorXd covariance;  // as in core/infer/gaussian_density.h

  Index states() const { return initial.size(); }
  Index columns() const { return means.rows(); }
};
template <class V>
void fields(V& v, GaussianHmm& t) {
  v("kind", t.kind);
  v("initial", t.initial);
  v("transition", t.transition);
  v("means", t.means);
  v("covariance", t.covariance);
}
void check(const GaussianHmm& model);

struct GaussianHmmOptions {
  int k = 1;
  CovarianceKind covariance = CovarianceKind::diagonal;
  HmmTopology topology = HmmTopology::ergodic;
  double floor = 1e-3;
  VectorXd spread;  // empty: variances of the columns
  HmmStart start = HmmStart::segments;
  GaussianHmm model;  // start = parameters
  int n_starts = 5;   // kmeans
  bool sort = true;   // ergodic: states by their means of the first column, unless parameters were given
  EmOptions em;
  int threads = 1;
};
template <class V>
void fields(V& v, GaussianHmmOptions& t) {
  v("k", t.k);
  v("covariance", t.covariance);
  v("topology", t.topology);
  v("floor", t.floor);
  v("spread", t.spread);
  v("start", t.start);
  v("model", t.model);
  v("n_starts", t.n_starts);
  v("sort", t.sort);
  v("em", t.em);
  v("threads", t.threads);
}

struct GaussianHmmFit {
  GaussianHmm model;
  double loglik = 0;  // sum_i w_i log p(x_i)
  double df = 0;
  double score = 0;   // as EmModel::score
  int falls = 0;      // passes in which the likelihood fell
  int observed = 0;   // rows that are not missing
  VectorXd sizes;     // of the states: weighted rows, missing ones among them
  VectorXd values;    // log-likelihoods of all starts
  std::vector<EmStep> trace;
  Convergence convergence;
};
template <class V>
void fields(V& v, GaussianHmmFit& t) {
  v("model", t.model);
  v("loglik", t.loglik);
  v("df", t.df);
  v("score", t.score);
  v("falls", t.falls);
  v("observed", t.observed);
  v("sizes", t.sizes);
  v("values", t.values);
  v("trace", columns(t.trace));
  v("convergence", t.convergence);
}

// x: the rows of all sequences, one after the other; begin: the first row of each, and the number of rows; weights: of the
// sequences, or none.
GaussianHmmFit gaussian_hmm_fit(ConstMatrixRef x, const std::vector<Index>& begin, ConstVectorRef weights,
                                const GaussianHmmOptions& options, Rng& rng, Monitor& monitor);

// log p(x_i) of every sequence, -infinity where no path is possible.
VectorXd gaussian_hmm_loglik(const GaussianHmm& model, ConstMatrixRef x, const std::vector<Index>& begin, int threads,
                             Monitor& monitor);

struct HmmStates {
  MatrixXd prob;     // rows x k
  VectorXi path;     // best path of each sequence
  VectorXd loglik;   // log p(x_i)
  VectorXd joint;    // log p(x_i, best path)
};
template <class V>
void fields(V& v, HmmStates& t) {
  v("prob", t.prob);
  v("path", positions(t.path));
  v("loglik", t.loglik);
  v("joint", t.joint);
}
HmmStates gaussian_hmm_states(const GaussianHmm& model, ConstMatrixRef x, const std::vector<Index>& begin, int threads,
                              Monitor& monitor);

struct HmmDraws {
  MatrixXd x;
  VectorXi state;
};
template <class V>
void fields(V& v, HmmDraws& t) {
  v("x", t.x);
  v("state", positions(t.state));
}
HmmDraws gaussian_hmm_draws(const GaussianHmm& model, const std::vector<Index>& lengths, Rng& rng, Monitor& monitor);

}  // namespace granary
