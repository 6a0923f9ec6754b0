// What is asked of a tree of clusters: its best pruning for known labels, its most persistent one, and where new points belong.
//
// A tree is that of R's hclust: merge(i, :) names two points (-j, from 1) or earlier merges (from 1). `part` marks merges that
// are only parts of the next one that contains them, where several clusters became one at once: no pruning stops there. Empty:
// none is.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::cluster {

struct ClusterTree {
  Eigen::MatrixXi merge;  // n - 1 x 2
  VectorXd height;
  std::vector<bool> part;
};
template <class V>
void fields(V& v, ClusterTree& t) {
  v("merge", t.merge);
  v("height", t.height);
  v("part", t.part);
}
void check(const ClusterTree& tree);

struct Pruning {
  VectorXi cluster;        // of each point, from 0
  std::vector<int> nodes;  // what the clusters are: merges (from 1) or points (-j)
  std::vector<int> label;  // the label each stands for
  double value = 0;        // points labelled rightly, or persistence
  bool exact = true;
};
template <class V>
void fields(V& v, Pruning& t) {
  v("cluster", positions(t.cluster));
  v("nodes", t.nodes);
  v("label", positions(t.label));
  v("value", t.value);
  v("exact", t.exact);
}

// The pruning with one cluster per label that labels most points rightly, over all prunings and all ways to name the clusters:
//   g(u, {l}) = points of label l in u,   g(u, L) = max over L = L1 + L2 of g(left, L1) + g(right, L2)
// in O(n 3^k) for k labels, k at most 12; beyond, the horizontal cut into k clusters, matched with the labels (exact = false).
// Where no pruning has k clusters, since more became one at once, the best with fewer.
constexpr int most_labels = 12;
Pruning best_pruning(const ClusterTree& tree, const VectorXi& labels, int k, Monitor& monitor);

// The pruning into k clusters (k = 0: any number, at least 2) with the largest sum of size x life, life from the own height to
// that of the merge that ends it; points by themselves count nothing.
Pruning persistent_pruning(const ClusterTree& tree, int k, Monitor& monitor);

// Algorithm 2: from the root to the child that holds most of the neighbours (of equals the larger), down to a point. near: points
// from 0, one column per new point.
// the point reached, from 0
VectorXi descend(const ClusterTree& tree, const Eigen::MatrixXi& near, int threads, Monitor& monitor);

// Distances of all pairs from the lower triangle by columns, as dist() of R has them.
MatrixXd full_distances(ConstVectorRef lower);

// Robust single linkage (Chaudhuri and Dasgupta 2010): x and y are joined at radius r when d(x, y) <= alpha r and each has k
// points, itself included, within r. The tree of components as r grows is that of the minimum spanning tree for max(r_k(x),
// r_k(y), d(x, y) / alpha).
struct SpanningLinkage {
  Eigen::MatrixXi merge;
  VectorXd height;
  VectorXi order;
  VectorXd radius;  // r_k
};
template <class V>
void fields(V& v, SpanningLinkage& t) {
  v("merge", t.merge);
  v("height", t.height);
  v("order", t.order);
  v("radius", t.radius);
}
SpanningLinkage robust_single_linkage(ConstMatrixRef distance, int k, double alpha, Monitor& monitor);
// Euclidean distances of the rows of x, never held all at once.
SpanningLinkage robust_single_linkage_rows(const MatrixView& x, int k, double alpha, int threads, Monitor& monitor);

}  // namespace granary::cluster
