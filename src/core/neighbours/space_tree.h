// A tree of cells over points in one, two or three dimensions: interval tree, quadtree, octree. Cells are cubes, each half as
// wide as the one above.
//
// Points are sorted along the Z-curve (their coordinates as whole numbers, bits interleaved), so that a cell is a range of them;
// nodes are laid out depth first: the first child of node t is t + 1, and next[t] is where to go when what is below t is left
// out. A cell with one child only is not made. Leaves hold up to
// `leaf_size` points, or more where they cannot be told apart; cells whose points are all equal have side 0.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/types.h"

namespace granary {

class SpaceTree {
 public:
  SpaceTree(int dim, int leaf_size) : dim_(dim), leaf_size_(leaf_size) {}

  void build(ConstMatrixRef points);  // columns, dim x n, n > 0

  int dim() const { return dim_; }
  Index size() const { return static_cast<Index>(order.size()); }  // points
  Index nodes() const { return static_cast<Index>(next.size()); }
  bool is_leaf(Index t) const { return next[static_cast<std::size_t>(t)] == t + 1; }

  std::vector<int> order;                     // number of the point at each place
  std::array<std::vector<double>, 3> place;   // coordinates in that order; those beyond dim are empty
  std::array<std::vector<double>, 3> centre;  // centre of mass of each node
  std::vector<double> count, side;            // points in a node, and how wide its cell is
  std::vector<int> first, last, next;         // its points, and the node after all that is below it
  std::vector<int> leaves;                    // nodes that are leaves

 private:
  void sort_points(ConstMatrixRef points);
  void add_node(int from, int to);
  void sum_up();

  int dim_, leaf_size_;
  double width_ = 0;  // of the root
  std::vector<std::uint64_t> code_, spare_code_;
  std::vector<int> spare_order_, parent_;
};

}  // namespace granary
