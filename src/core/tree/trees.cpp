#include "core/tree/trees.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"

namespace granary {

bool Trees::goes_left(int node, double x) const {
  if (set[node] < 0) return x <= threshold[node] || (std::isnan(x) && missing_left[node]);
  const int count = levels[feature[node]];
  if (!(x >= 0 && x < count)) return missing_left[node];
  const int level = static_cast<int>(x);
  return (static_cast<std::uint32_t>(words[set[node] + level / 32]) >> (level % 32) & 1u) != 0;
}

Trees join(const std::vector<Trees>& parts) {
  if (parts.empty()) return {};
  Trees out;
  out.inputs = parts[0].inputs;
  out.outputs = parts[0].outputs;
  out.levels = parts[0].levels;
  Index leaves = 0;
  std::size_t nodes = 0;
  for (const Trees& part : parts) {
    leaves += part.value.cols();
    nodes += part.feature.size();
  }
  if (nodes > static_cast<std::size_t>(std::numeric_limits<int>::max()) / 2)
    throw InputError(message("these trees have ", nodes, " nodes, more than can be numbered: grow fewer or smaller ones (`min_node`, `max_depth`)."));
  out.value.resize(out.outputs, leaves);
  for (auto* v : {&out.feature, &out.left, &out.set}) v->reserve(nodes);
  for (auto* v : {&out.threshold, &out.gain, &out.rows}) v->reserve(nodes);
  leaves = 0;
  for (const Trees& part : parts) {
    const int before = out.nodes(), words = static_cast<int>(out.words.size());
    for (int s : part.start) out.start.push_back(s + before);
    for (int i = 0; i < part.nodes(); ++i) {
      out.feature.push_back(part.feature[i]);
      out.left.push_back(part.left[i] + (part.feature[i] >= 0 ? before : static_cast<int>(leaves)));
      out.set.push_back(part.set[i] < 0 ? -1 : part.set[i] + words);
    }
    out.threshold.insert(out.threshold.end(), part.threshold.begin(), part.threshold.end());
    out.missing_left.insert(out.missing_left.end(), part.missing_left.begin(), part.missing_left.end());
    out.gain.insert(out.gain.end(), part.gain.begin(), part.gain.end());
    out.rows.insert(out.rows.end(), part.rows.begin(), part.rows.end());
    out.words.insert(out.words.end(), part.words.begin(), part.words.end());
    out.value.middleCols(leaves, part.value.cols()) = part.value;
    leaves += part.value.cols();
  }
  return out;
}

void check(const Trees& t) {
  const auto n = static_cast<std::size_t>(t.nodes());
  require(t.threshold.size() == n && t.left.size() == n && t.set.size() == n && t.missing_left.size() == n && t.gain.size() == n && t.rows.size() == n,
          "the nodes of the trees are not all there");
  require(t.value.rows() == t.outputs && static_cast<int>(t.levels.size()) == t.inputs, "the trees do not fit their inputs and outputs");
  for (int tree = 0; tree < t.size(); ++tree) {
    const int begin = t.start[tree], end = t.end(tree);
    require(begin >= 0 && begin < end && end <= t.nodes(), "a tree without nodes");
    for (int i = begin; i < end; ++i) {
      if (t.feature[i] < 0) {
        require(t.left[i] >= 0 && t.left[i] < t.value.cols(), "a leaf without value");
        continue;
      }
      require(t.feature[i] < t.inputs && t.left[i] > i && t.left[i] + 1 < end, "a split that leads nowhere");
      const int level = t.levels[t.feature[i]];
      require(t.set[i] < 0 || (level > 0 && t.set[i] + (level + 31) / 32 <= static_cast<int>(t.words.size())), "a split without its levels");
    }
  }
}

TreeWalker::TreeWalker(const Trees& trees) : trees_(trees), nodes_(trees.nodes()) {
  for (int i = 0; i < trees.nodes(); ++i) {
    nodes_[i] = {trees.threshold[i], trees.feature[i] < 0 ? -1 - trees.left[i] : trees.feature[i], trees.left[i]};
    if (trees.feature[i] >= 0 && (trees.set[i] >= 0 || trees.missing_left[i])) plain_ = false;
  }
}

int TreeWalker::leaf(int tree, const double* row) const {
  if (!plain_) return trees_.leaf_of(tree, [row](int j) { return row[j]; });
  const Node* node = &nodes_[trees_.start[tree]];
  while (node->feature >= 0) node = &nodes_[node->left + (row[node->feature] <= node->threshold ? 0 : 1)];
  return -1 - node->feature;
}

void row_block(const Design& x, const SparseMatrix* transposed, Index from, Index n, std::vector<double>& out) {
  const Index p = x.cols();
  out.assign(static_cast<std::size_t>(n * p), 0.0);
  if (transposed) {
    for (Index i = 0; i < n; ++i)
      for (SparseMatrix::InnerIterator at(*transposed, from + i); at; ++at) out[i * p + at.row()] = at.value();
    return;
  }
  for (Index j = 0; j < p; ++j) {
    const double* column = x.dense().data() + j * x.rows() + from;
    for (Index i = 0; i < n; ++i) out[i * p + j] = column[i];
  }
}

}  // namespace granary
