#include "core/cluster/merge_tree.h"

#include <algorithm>

namespace granary {

HclustParts hclust_parts(const MergeTree& tree) {
  const Index n = tree.leaves, merges = static_cast<Index>(tree.left.size());
  HclustParts out{Eigen::MatrixXi(merges, 2), VectorXd(merges), VectorXi(n)};
  const auto name = [&](int node) { return node < n ? -1 - node : node - static_cast<int>(n) + 1; };
  std::vector<std::pair<int, int>> drawn(static_cast<std::size_t>(merges));
  double top = merges > 0 ? tree.height[0] : 0;
  for (Index m = 0; m < merges; ++m) {
    const auto at = static_cast<std::size_t>(m);
    int a = tree.left[at], b = tree.right[at];
    if (a > b) std::swap(a, b);  // leaves have smaller numbers than merges
    drawn[at] = {a, b};
    out.merge(m, 0) = name(a);
    out.merge(m, 1) = name(b);
    out.height[m] = top = std::max(top, tree.height[at]);
  }
  Index placed = 0;
  std::vector<int> stack;
  if (merges > 0) stack.push_back(static_cast<int>(n + merges - 1));
  else if (n == 1) out.order[0] = 0;
  while (!stack.empty()) {
    const int node = stack.back();
    stack.pop_back();
    if (node < n) {
      out.order[placed++] = node;
    } else {
      stack.push_back(drawn[static_cast<std::size_t>(node - n)].second);
      stack.push_back(drawn[static_cast<std::size_t>(node - n)].first);
    }
  }
  return out;
}

}  // namespace granary
