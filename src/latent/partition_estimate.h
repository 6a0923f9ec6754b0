// From draws of a partition to one: the partition c with the least mean loss against the draws d = 1 .. D,
//
//   binder   1/n^2 [ sum_k f(n_k) + sum_b f(m_b) - 2 sum_kb f(n_kb) ],  f(x) = x^2: pairs treated differently (Binder 1978; least squares: Dahl 2006)
//   vi       1/n   [ the same ],                                        f(x) = x log x: variation of information, in nats (Wade and Ghahramani 2018)
//
// n_k the sizes of the clusters, m_b those of the blocks of a draw, n_kb of their intersections. The best draw is the start; rows then move one at a time to
// the cluster, or to one of their own, where the mean loss is least, until no move helps. Neither needs the n x n matrix of similarities.
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::latent {

enum class PartitionLoss { vi, binder };
inline Names<PartitionLoss> names(PartitionLoss) { return {{PartitionLoss::vi, "vi"}, {PartitionLoss::binder, "binder"}}; }

struct EstimateOptions {
  PartitionLoss loss = PartitionLoss::vi;
  int k_max = 0;         // most clusters; 0: one more than in any draw
  int max_draws = 500;   // evenly spaced among those given
  int max_iter = 100;    // passes over the rows
};
template <class V>
void fields(V& v, EstimateOptions& t) {
  v("loss", t.loss);
  v("k_max", t.k_max);
  v("max_draws", t.max_draws);
  v("max_iter", t.max_iter);
}

struct PartitionEstimate {
  VectorXi cluster;        // by first appearance
  double loss = 0;         // mean over the draws used
  double draw_loss = 0;    // of the best draw
  Index draw = 0;
  Index draws = 0;         // used
  Convergence convergence; // no single row can move to advantage
};
template <class V>
void fields(V& v, PartitionEstimate& t) {
  v("cluster", positions(t.cluster));
  v("loss", t.loss);
  v("draw_loss", t.draw_loss);
  v("draw", positions(t.draw));
  v("draws", t.draws);
  v("convergence", t.convergence);
}

// draws: one partition per row, labels 0, 1, ...
PartitionEstimate estimate_partition(const Eigen::MatrixXi& draws, const EstimateOptions& options, Monitor& monitor);
double mean_loss(const VectorXi& cluster, const Eigen::MatrixXi& draws, PartitionLoss loss);

// Share of the draws in which two rows are in one block; n <= 10000.
MatrixXd similarity(const Eigen::MatrixXi& draws, Monitor& monitor);

// What the draws say about sizes: the expected number of blocks of size 1, 2, ..., n; of every draw the number of blocks with at least `share` of the rows.
struct SizeProfile {
  VectorXd expected;
  VectorXi pruned;
};
template <class V>
void fields(V& v, SizeProfile& t) {
  v("expected", t.expected);
  v("pruned", t.pruned);
}
SizeProfile size_profile(const Eigen::MatrixXi& draws, double share);

}  // namespace granary::latent
