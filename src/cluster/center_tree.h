// Clusters around data points that survive perturbed distances.
//
//   minimise  sum_i sum_{p in C_i} d(p, c_i)   (k-median),   sum d^2   (k-means),   or   max d   (k-center),   c_i in C_i
//
// over partitions C_1 .. C_k of n points, for distances d. Makarychev and Makarychev (ch. 13 of Perturbations, Optimization, and Statistics, MIT Press 2016),
// Algorithm 13.3: a tree of merges, then the best division of the points into k of its nodes.
//
//   closure tree   r is padded for x if every p in B(x, r) is strictly nearer to x than to any q outside. The closure distance of two clusters is the least
//                  padded radius r of one of their points x whose ball B(x, r) holds both; the two at the least distance are merged, down to one cluster.
//                  Holds the optimum if that is unchanged by every metric perturbation of d by a factor 1 + sqrt 2 (Theorem 13.10); all the proof needs is
//                  that points of the optimum are more than 1 + sqrt 2 times nearer to their own centre than to another.
//   single tree    single linkage: holds the optimum of instances resilient to a factor 2 (Angelidakis, Makarychev and Makarychev, STOC 2017).
//
// In both the best clustering inside the tree is returned, for all k at once, by dynamic programming over the nodes. O(n^3) time, O(n^2) memory.
#pragma once

#include <vector>

#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/cluster/merge_tree.h"

namespace granary::cluster {

enum class CenterObjective { median, means, center };
inline Names<CenterObjective> names(CenterObjective) {
  return {{CenterObjective::median, "median"}, {CenterObjective::means, "means"}, {CenterObjective::center, "center"}};
}

// d: symmetric, zero on the diagonal, not negative.
MergeTree closure_tree(ConstMatrixRef d, int threads, Monitor& monitor);
MergeTree single_tree(ConstMatrixRef d, Monitor& monitor);

// Every division of the leaves into nodes of the tree: cost, and the best for each k.
class TreePrunings {
 public:
  TreePrunings(ConstMatrixRef d, const MergeTree& tree, CenterObjective objective, Index k_max, Monitor& monitor);

  Index k_max() const { return k_max_; }
  double cost(Index k) const { return best_.back()[static_cast<std::size_t>(k - 1)]; }
  // Labels 0 .. k - 1, numbered by their first point, and the centre of each.
  void cut(Index k, VectorXi& label, VectorXi& medoid) const;

 private:
  MergeTree tree_;
  Index k_max_;
  std::vector<int> medoid_;                // of each node
  std::vector<std::vector<double>> best_;  // of each node: least cost in 1, 2, ... parts
  std::vector<std::vector<int>> split_;    // parts that go to the left child; 0 where the node stays whole
};

// The cost of labels with given centres; the centre of each cluster that costs least.
double center_cost(ConstMatrixRef d, const VectorXi& label, const VectorXi& medoid, CenterObjective objective);
VectorXi best_medoids(ConstMatrixRef d, const VectorXi& label, Index k, CenterObjective objective);

// Lowers the cost of a clustering from where it stands: every point to its nearest centre, every cluster its best centre, and (not for `center`) swaps of a centre with
// another point while one pays, in the order of what they pay (the swap phase of Kaufman and Rousseeuw's PAM, all swaps of a point priced in one pass as in
// Schubert and Rousseeuw 2019). Changes nothing where clusters are stable. True if anything changed.
bool polish_medoids(ConstMatrixRef d, CenterObjective objective, VectorXi& label, VectorXi& medoid, Monitor& monitor);

}  // namespace granary::cluster
