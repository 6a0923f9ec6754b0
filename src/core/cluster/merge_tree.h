// The tree of an agglomerative clustering: n leaves, n - 1 merges. Nodes are numbered 0 .. n - 1 for the leaves and n + m for merge m.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary {

struct MergeTree {
  Index leaves = 0;
  std::vector<int> left, right;  // the nodes that merge m joins
  std::vector<double> height;

  Index nodes() const { return leaves + static_cast<Index>(left.size()); }
  void join(int a, int b, double at) {
    left.push_back(a);
    right.push_back(b);
    height.push_back(at);
  }
};

// The same as stats::hclust() has it: leaf i is -i, merge m is m, both from 1; of two joined the leaf or the earlier merge comes first; `order` draws the tree
// without crossings; heights never fall (a merge lower than one below it takes its height).
struct HclustParts {
  Eigen::MatrixXi merge;
  VectorXd height;
  VectorXi order;
};
template <class V>
void fields(V& v, HclustParts& t) {
  v("merge", t.merge);
  v("height", t.height);
  v("order", positions(t.order));
}
HclustParts hclust_parts(const MergeTree& tree);

// Leaves, from 1, in an order in which every merge is a range; `merge` as above.
VectorXi leaf_order(const Eigen::MatrixXi& merge);

}  // namespace granary
