// Piecewise constant regression on a partition found by thresholding.
//
// On a master tree whose cells are split without looking at y, with n_I points and mean c_I in cell I of m points in all,
//
//   energy     eps_I^2 = sum_{J child of I} rho_J (c_J - c_I)^2,   rho_J = n_J / m
//   tree       all cells of level < j0 with eps_I >= tau, and their ancestors
//   estimate   the cell means on the children of tree cells that are not in the tree
//
// Binev, Cohen, Dahmen, DeVore and Temlyakov (JMLR 2005), section 2.3. The energy is what splitting the cell takes off the mean
// squared error; this form of it (theirs subtracts) has no cancellation.
//
// Kept here are m eps_I^2, which a point changes only in the cells that contain it, and peak_I, its maximum over I and its
// descendants: the tree at threshold tau is {I : peak_I >= m tau^2}, so one pass gives the trees of all thresholds, and a new
// point costs O(a j0). Cells whose points cannot be told apart (one point, or equal keys) are not split: their energy and that of
// all their descendants is zero.
//
// With degree 1 a cell has a least-squares plane in place of a mean; m eps_I^2 is what its children's planes take off the sum of
// squares of its own.
#pragma once

#include <vector>

#include "core/base/monitor.h"
#include "regress/adapt_partition_keys.h"
#include "regress/cell_planes.h"

namespace granary::regress {

class PartitionTree {
 public:
  struct Node {
    int parent = -1, child = -1, next = -1;  // first child; next sibling, in the order of digits
    int points = -1;                         // leaf: first point
    int level = 0, digit = 0, n = 0;
    double mean = 0, ss = 0;      // sum of squares about the mean (or plane): m times E_I of the paper
    double energy = 0, peak = 0;  // m eps_I^2; its maximum over the cell and its descendants

    bool leaf() const { return child < 0; }
  };

  explicit PartitionTree(MasterTree master, int degree = 0)
      : master_(std::move(master)), planes_(degree == 1 ? master_.dimensions() : 0) {}

  // Before grow(). `places` are for degree 1: MasterTree::place() of the points, one after the other.
  void add_points(const std::vector<Key>& keys, ConstVectorRef y, const std::vector<double>& places = {});
  // Builds the tree down to `depth` from all points, or from those in `points`, which must be in the order of their keys.
  void grow(int depth, Monitor& monitor) { grow(depth, order(), monitor); }
  void grow(int depth, const std::vector<int>& points, Monitor& monitor);
  PartitionTree without_cells() const;       // the points, ready for grow()
  void insert(Key key, double y, const double* place = nullptr);  // into a grown tree
  void deepen(int depth, Monitor& monitor);  // allows cells of more levels

  const MasterTree& master() const { return master_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  Index size() const { return static_cast<Index>(y_.size()); }
  int used() const { return nodes_.empty() ? 0 : nodes_[0].n; }  // points in the tree
  int depth() const { return depth_; }
  Key key(Index i) const { return keys_[i]; }
  double y(Index i) const { return y_[i]; }
  const CellPlanes& planes() const { return planes_; }
  const double* place(Index i) const { return planes_.used() ? places_.data() + i * planes_.dimensions() : nullptr; }
  // What the cell predicts at a place; the mean with degree 0.
  double value(int node, const double* place) const {
    return planes_.used() ? planes_.value(node, place) : nodes_[node].mean;
  }
  // Points in the order of their keys.
  std::vector<int> order() const;
  int child_with(int node, int digit) const;  // -1: no point there

 private:
  int new_node(int parent, int level, int digit);
  void grow_node(int node, const std::vector<int>& order, Index from, Index to, Monitor& monitor);
  void fill_leaf(int node, const std::vector<int>& order, Index from, Index to);
  void update_leaf(int node, int point);
  void update_inner(int node);
  void split_leaf(int node);
  int leaf_child(int node, int digit);

  MasterTree master_;
  CellPlanes planes_;  // of the nodes, for degree 1
  std::vector<Node> nodes_;
  std::vector<Key> keys_;
  std::vector<double> y_, places_;
  std::vector<int> next_;  // next point of the same leaf
  int depth_ = 0;
  mutable int ticks_ = 0;
};

}  // namespace granary::regress
