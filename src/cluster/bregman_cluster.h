// Clustering with Bregman divergences: Banerjee, Merugu, Dhillon and Ghosh (JMLR 2005).
//
//   hard (Algorithm 1)   minimise  sum_i v_i d(x_i, m_z(i))                              over labels z and centres m
//   soft (Algorithm 3)   maximise  sum_i v_i log sum_h pi_h exp(-beta d(x_i, m_h))       over shares pi and centres m
//
// beta = 1 is the likelihood of a mixture of the exponential family of d; a larger beta hardens, and any beta is a point of a rate-distortion curve (section 6).
// In both the best centre is the mean (Proposition 1), and d(x, m) = phi(x) - [<x, theta> - psi(theta)], so rows are told by linear scores
// (core/cluster/linear_scores.h). Scores are taken relative to the mean m0 of all rows: theta_h - theta_0, with base d(x_i, m0), so that nothing cancels.
//
// side = left: sum_i v_i d(m_h, x_i), which is right-sided in the dual: y = grad phi(x) with d_psi (section 5.3).
// One column and hard: the global optimum (core/cluster/interval_clusters.h).
//
// Differs from the paper: seeds are drawn in proportion to d instead of uniformly; empty clusters take the row of largest divergence; centres may be drawn
// towards m0 (`smooth`), so that a column without a count in a cluster does not close it for ever.
#pragma once

#include "cluster/bregman_family.h"
#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/cluster/linear_scores.h"
#include "core/random/rng.h"

namespace granary::cluster {

enum class ClusterType { hard, soft };
inline Names<ClusterType> names(ClusterType) { return {{ClusterType::hard, "hard"}, {ClusterType::soft, "soft"}}; }
enum class BregmanSide { right, left };
inline Names<BregmanSide> names(BregmanSide) { return {{BregmanSide::right, "right"}, {BregmanSide::left, "left"}}; }
enum class BregmanStart { plusplus, sample, partition };
inline Names<BregmanStart> names(BregmanStart) {
  return {{BregmanStart::plusplus, "plusplus"}, {BregmanStart::sample, "sample"}, {BregmanStart::partition, "partition"}};
}

struct BregmanOptions {
  int k = 1;
  ClusterType type = ClusterType::hard;
  double beta = 1;
  BregmanSide side = BregmanSide::right;
  BregmanStart start = BregmanStart::plusplus;
  MatrixXd centers;      // given centres to start from, k x columns; empty: by `start`
  int n_starts = 10;     // the best of so many; one from given centres
  int max_iter = 300;
  double tol = 1e-8;     // soft: relative change of the likelihood of each start, and residual of the answer at most 100 tol; hard: until no label changes
  double smooth = 0;     // share of m0 in every centre
  bool exact = true;     // one column and hard: the global optimum
  int threads = 1;
};
template <class V>
void fields(V& v, BregmanOptions& t) {
  v("k", t.k);
  v("type", t.type);
  v("beta", t.beta);
  v("side", t.side);
  v("start", t.start);
  v("centers", t.centers);
  v("n_starts", t.n_starts);
  v("max_iter", t.max_iter);
  v("tol", t.tol);
  v("smooth", t.smooth);
  v("exact", t.exact);
  v("threads", t.threads);
}

struct BregmanResult {
  VectorXi cluster;
  MatrixXd centers;     // k x columns
  VectorXd share;       // weight of each cluster, of sum 1
  MatrixXd membership;  // soft: n x k
  VectorXd mean;        // m0 (of the side)
  MatrixXd theta;       // scores of new rows (in the dual for side = left): <x, theta_h> + bias_h
  VectorXd bias;
  double within = 0, between = 0, total = 0;  // Bregman informations, weights of sum 1: total = within + between when hard and not smoothed
  double rate = 0;      // soft: I(Z; cluster) in nats; within is the distortion
  double value = 0;     // what was minimised (hard: within) or maximised (soft: sum_i v_i log sum_h pi_h exp(-beta d))
  std::vector<double> trace, entropy;
  VectorXd values;      // of all starts
  int refilled = 0;
  bool exact = false;
  Convergence convergence;  // residual: hard 0 at a fixed point; soft how far one more step would go: root of the divergence of the centres over total, plus a share
};
template <class V>
void fields(V& v, BregmanResult& t) {
  v("cluster", positions(t.cluster));
  v("centers", t.centers);
  v("share", t.share);
  v("membership", t.membership);
  v("mean", t.mean);
  v("theta", t.theta);
  v("bias", t.bias);
  v("within", t.within);
  v("between", t.between);
  v("total", t.total);
  v("rate", t.rate);
  v("value", t.value);
  v("trace", t.trace);
  v("entropy", t.entropy);
  v("values", t.values);
  v("refilled", t.refilled);
  v("exact", t.exact);
  v("convergence", t.convergence);
}

// weights: one per row, or empty for equal ones; any positive sum.
BregmanResult bregman_cluster(const Design& x, ConstVectorRef weights, const BregmanFamily& family, const BregmanOptions& options, Rng& rng, Monitor& monitor);

// Theorem 1 for any labels: total = within + between.
struct BregmanInformation {
  MatrixXd centers;
  VectorXd mean, share;
  VectorXd parts;  // information of each cluster: sum over its rows of v_i d(x_i, m_h), v of sum 1
  double within = 0, between = 0, total = 0;
};
template <class V>
void fields(V& v, BregmanInformation& t) {
  v("centers", t.centers);
  v("mean", t.mean);
  v("share", t.share);
  v("parts", t.parts);
  v("within", t.within);
  v("between", t.between);
  v("total", t.total);
}
BregmanInformation bregman_information(const Design& x, ConstVectorRef weights, const BregmanFamily& family, const VectorXi& label);

// A point of the curve of section 6, and the curve: beta rises, each point starts from the last with its centres shaken (deterministic annealing).
struct RatePoint {
  double beta = 0, rate = 0, distortion = 0;
  int k = 0;  // centres that differ
  bool converged = false;
};
template <class V>
void fields(V& v, RatePoint& t) {
  v("beta", t.beta);
  v("rate", t.rate);
  v("distortion", t.distortion);
  v("k", t.k);
  v("converged", t.converged);
}
struct RateCurve {
  std::vector<RatePoint> points;
  double critical = 0;  // the beta at which the single centre splits: 1 / lambda_max(Hess phi(m0) Cov)
  BregmanResult last;
};
template <class V>
void fields(V& v, RateCurve& t) {
  v("points", columns(t.points));
  v("critical", t.critical);
  v("last", t.last);
}
struct RateData {
  Design x;
  VectorXd weights;
  MatrixXd support;  // or empty
};
template <class V>
void fields(V& v, RateData& t) {
  v("x", t.x);
  v("weights", t.weights);
  v("support", t.support);
}
// With `support` (k x columns) the centres stay and only the shares are found (Blahut and Arimoto): a convex problem.
RateCurve rate_curve(const Design& x, ConstVectorRef weights, const BregmanFamily& family, const std::vector<double>& beta, const MatrixXd& support,
                     const BregmanOptions& options, Rng& rng, Monitor& monitor);
// 1 / lambda_max of Hess phi(m0)^(1/2) Cov Hess phi(m0)^(1/2); the second derivative by differences for an own phi.
double critical_beta(const Design& x, ConstVectorRef weights, const BregmanFamily& family, Monitor& monitor);

}  // namespace granary::cluster
