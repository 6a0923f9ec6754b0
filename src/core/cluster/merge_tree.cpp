#include "core/cluster/merge_tree.h"

#include <algorithm>

namespace granary {

VectorXi leaf_order(const Eigen::MatrixXi& merge) {
  const Index n = merge.rows() + 1;
  VectorXi out(n);
  Index at = 0;
  std::vector<int> open{static_cast<int>(n) - 1};
  if (n == 1) out[0] = 1;
  while (n > 1 && !open.empty()) {
    const int node = open.back();
    open.pop_back();
    if (node < 0) {
      out[at++] = -node;
    } else {
      open.push_back(merge(node - 1, 1));
      open.push_back(merge(node - 1, 0));
    }
  }
  return out;
}

HclustParts hclust_parts(const MergeTree& tree) {
  const Index n = tree.leaves, merges = static_cast<Index>(tree.left.size());
  HclustParts out{Eigen::MatrixXi(merges, 2), VectorXd(merges), VectorXi(n)};
  const auto name = [&](int node) { return node < n ? -1 - node : node - static_cast<int>(n) + 1; };
  double top = merges > 0 ? tree.height[0] : 0;
  for (Index m = 0; m < merges; ++m) {
    const auto at = static_cast<std::size_t>(m);
    int a = tree.left[at], b = tree.right[at];
    if (a > b) std::swap(a, b);  // leaves have smaller numbers than merges
    out.merge(m, 0) = name(a);
    out.merge(m, 1) = name(b);
    out.height[m] = top = std::max(top, tree.height[at]);
  }
  if (n > 0) out.order = leaf_order(out.merge).array() - 1;
  return out;
}

}  // namespace granary
