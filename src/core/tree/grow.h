// Grows one tree: greedy splits x_j <= c (a set of levels where x_j is categorical) that raise a score most (core/tree/scores.h).
//
//   max_leaves    best first: of all leaves the one whose split gains most is split next
//   mtry, cuts    columns, and thresholds within a column, tried at random at each node; all of them where 0
//
// Every threshold between two distinct values of the node is looked at, in one sweep over its rows in order. With mtry = 0 rows are sorted once per column and kept in
// order down the tree; otherwise the rows of a node are sorted by rank, or counted where there are few ranks. Levels are ordered by the score's `order_key`, which finds the
// best of all sets for two classes and for least squares (Fisher 1958; Breiman et al. 1984) and a good one else. Rows without a value are tried on both sides. Splits lie half
// way between the values they part. Differences below 1e-12 of the scale of the score are rounding: they split nothing, and of such gains the first column and smallest threshold win.
#pragma once

#include <queue>

#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/tree/tree_columns.h"
#include "core/tree/trees.h"

namespace granary {

struct GrowOptions {
  int max_leaves = 0;  // 0: any number
  int max_depth = 0;   // 0: any
  int min_node = 2;    // rows that a node needs to be split
  int min_leaf = 1;    // rows that a leaf needs
  int mtry = 0;
  int cuts = 0;
};

// The orders of all rows by each column with many distinct values; made once for all trees.
class TreeOrders {
 public:
  using Key = std::uint64_t;  // rank << 32 | row
  explicit TreeOrders(const TreeColumns& columns);
  bool has(Index j) const { return !keys_[j].empty(); }
  const std::vector<Key>& operator[](Index j) const { return keys_[j]; }
  static constexpr std::uint32_t few = 256;  // ranks up to here are counted

 private:
  std::vector<std::vector<Key>> keys_;
};

// Sorts by rank; `bits` hold the largest.
void sort_keys(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& scratch, Index n, int bits);

struct TreeSplit {
  double value = 0;         // of the score
  Index column = -1;
  bool missing_left = false, missing_met = false;
  std::uint32_t code = 0;   // ranks up to it go left
  double threshold = 0;
  std::vector<bool> levels; // that go left
};

// A leaf of the last tree: its rows stand at from .. to - 1 of rows().
struct TreeLeaf {
  int leaf;
  std::uint32_t from, to;
};

template <class Score>
class TreeGrower {
 public:
  // orders: for mtry = 0 and cuts = 0; may be null.
  TreeGrower(const TreeColumns& columns, const TreeOrders* orders, const GrowOptions& options) : columns_(columns), orders_(orders), options_(options) {}

  // rows: of the design, each once, rising; count: how often each row of the design is drawn, or null for once.
  Trees grow(const std::vector<std::uint32_t>& rows, const std::uint32_t* count, Score& score, Rng& rng, Monitor& monitor);
  const std::vector<std::uint32_t>& rows() const { return rows_; }
  const std::vector<TreeLeaf>& leaves() const { return leaves_; }

 private:
  using Key = TreeOrders::Key;
  struct Node {
    int id = 0, depth = 0;
    std::uint32_t from = 0, to = 0;
    double rows = 0, whole = 0;
    std::vector<double> total;
    TreeSplit split;
  };

  bool sorted(Index j) const { return orders_ && orders_->has(j); }
  double times(std::uint32_t row) const { return count_ ? count_[row] : 1; }
  void look(Node& node, bool splits);
  void search(const Node& node, Index j, TreeSplit& best);
  void search_keys(const Node& node, Index j, const Key* keys, TreeSplit& best);
  void search_lots(const Node& node, Index j, TreeSplit& best);
  void search_cuts(const Node& node, Index j, TreeSplit& best);
  void sweep_lots(const Node& node, Index j, Index lots, const std::vector<std::uint32_t>& order, TreeSplit& best);
  bool enough(double left, double all) const { return left >= options_.min_leaf && all - left >= options_.min_leaf; }
  void settle(const Node& node, Index j, TreeSplit& best) const;
  std::uint32_t part(const Node& node);
  int new_node();

  const TreeColumns& columns_;
  const TreeOrders* orders_;
  GrowOptions options_;
  const std::uint32_t* count_ = nullptr;
  Score* score_ = nullptr;
  Rng* rng_ = nullptr;
  double least_ = 0;  // smallest gain that is no rounding
  Trees tree_;
  std::vector<TreeLeaf> leaves_;
  std::vector<std::uint32_t> rows_, codes_, spare_;
  std::vector<std::uint8_t> side_;
  std::vector<std::vector<Key>> keys_;      // per sorted column, cut into the nodes as rows_ is
  std::vector<Key> own_, scratch_;
  std::vector<double> lots_, lot_rows_, missing_;
  std::vector<std::uint32_t> lot_last_;     // rank at which a lot ends
  std::vector<int> drawn_;
};

}  // namespace granary

#include "core/tree/grow_impl.h"
