// Trees in flat arrays, one after the other: a forest, the trees of a boosted machine, or one. Children stand side by side, so that one number names both.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/linalg/design.h"

namespace granary {

struct Trees {
  int inputs = 0, outputs = 0;
  std::vector<int> levels;             // of every input, 0 where it is numeric
  std::vector<int> start;              // first node of every tree
  std::vector<int> feature;            // of every node; -1: a leaf
  std::vector<double> threshold;       // numeric: x <= threshold goes left
  std::vector<int> left;               // node of the left child, the right one follows; of a leaf its column of `value`
  std::vector<int> set;                // categorical: where its levels begin in `words`, else -1
  std::vector<int> words;              // bit l % 32 of word l / 32: level l goes left
  std::vector<bool> missing_left;      // where NaN and levels never seen go
  std::vector<double> gain;            // of the score at the split
  std::vector<double> rows;            // in the node, drawn ones as often as they were
  MatrixXd value;                      // outputs x leaves

  int size() const { return static_cast<int>(start.size()); }
  int nodes() const { return static_cast<int>(feature.size()); }
  int end(int tree) const { return tree + 1 < size() ? start[tree + 1] : nodes(); }
  bool goes_left(int node, double x) const;
  // The leaf of a row whose values are given by value(feature).
  template <class Value>
  int leaf_of(int tree, Value&& value) const {
    int node = start[tree];
    while (feature[node] >= 0) node = left[node] + (goes_left(node, value(feature[node])) ? 0 : 1);
    return left[node];
  }
};
template <class V>
void fields(V& v, Trees& t) {
  v("inputs", t.inputs);
  v("outputs", t.outputs);
  v("levels", t.levels);
  v("start", t.start);
  v("feature", t.feature);
  v("threshold", t.threshold);
  v("left", t.left);
  v("set", t.set);
  v("words", t.words);
  v("missing_left", t.missing_left);
  v("gain", t.gain);
  v("rows", t.rows);
  v("value", t.value);
}
Trees join(const std::vector<Trees>& parts);  // of the same inputs and outputs
void check(const Trees& t);                    // a walk through any tree ends, inside the arrays

// Walks many rows through many trees: rows in blocks, nodes packed, so that a tree stays in the cache while a block of rows passes.
class TreeWalker {
 public:
  explicit TreeWalker(const Trees& trees);
  // visit(tree, row, leaf) for trees first .. last - 1, from one thread per block of rows; within a block trees in order.
  template <class Visit>
  void walk(const Design& x, int first, int last, int threads, Monitor& monitor, Visit&& visit) const {
    walk_if(x, first, last, threads, monitor, [](int, Index) { return true; }, visit);
  }
  template <class Wanted, class Visit>
  void walk_if(const Design& x, int first, int last, int threads, Monitor& monitor, Wanted&& wanted, Visit&& visit) const;
  int leaf(int tree, const double* row) const;  // of a row whose values stand side by side

 private:
  struct Node {
    double threshold;
    std::int32_t feature;  // -1 - leaf's column for a leaf
    std::int32_t left;
  };
  const Trees& trees_;
  std::vector<Node> nodes_;
  bool plain_ = true;  // no categorical splits, NaN always to the right
};

// Rows from .. from + n - 1 with the values of a row side by side.
void row_block(const Design& x, const SparseMatrix* transposed, Index from, Index n, std::vector<double>& out);

}  // namespace granary

#include "core/base/parallel.h"

namespace granary {

template <class Wanted, class Visit>
void TreeWalker::walk_if(const Design& x, int first, int last, int threads, Monitor& monitor, Wanted&& wanted, Visit&& visit) const {
  // As many rows as leave room for a tree beside them in the cache, but blocks enough for every thread.
  const Index n = x.rows(), p = x.cols();
  const Index room = std::clamp<Index>(65536 / std::max<Index>(p, 1), 128, 4096), share = (n + 4 * threads - 1) / std::max(4 * threads, 1);
  const Index size = std::max<Index>(128, std::min(room, share)), blocks = (n + size - 1) / size;
  SparseMatrix transposed;
  if (x.is_sparse()) transposed = x.sparse().transpose();
  parallel_for(blocks, threads, monitor, [&](Index block) {
    const Index from = block * size, rows = std::min(size, n - from);
    std::vector<double> values;
    row_block(x, x.is_sparse() ? &transposed : nullptr, from, rows, values);
    for (int tree = first; tree < last; ++tree) {
      if (tree % 64 == 0) monitor.check();
      for (Index i = 0; i < rows; ++i)
        if (wanted(tree, from + i)) visit(tree, from + i, leaf(tree, values.data() + i * p));
    }
  });
}

}  // namespace granary
