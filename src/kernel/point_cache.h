// A small set of points that grows and shrinks, and the kernel between it and one point at a time.
//
// A kernel of one part that sees inner products or distances costs one matrix-vector product and one pass of its profile, without
// any allocation; others are asked for a row. Points may be dense or sparse; sparse points cost as much as they have entries, and
// kernels that need whole points are refused for them. (KernelRows in core does this for a fixed set of rows.)
//
// With `normalise` the kernel is k(x, z) / sqrt(k(x, x) k(z, z)), and 0 where a point has k(x, x) = 0.
#pragma once

#include <memory>
#include <vector>

#include "core/kernel/kernel.h"
#include "kernel/sparse_rows.h"

namespace granary::kernel {

class PointCache {
 public:
  PointCache(const KernelSpec& kernel, Index dimension, bool sparse, bool normalise);
  PointCache(PointCache&&) noexcept;
  ~PointCache();

  Index size() const { return size_; }

  // Makes row i the current point.
  void load(ConstMatrixRef x, Index i);
  void load(const SparseRows& x, Index i);
  double self() const { return normalise_ && self_ > 0 ? 1 : self_; }  // k(point, point)
  // k(point, stored) for every stored point in the leading entries; valid until the next call.
  const VectorXd& row();

  void push();                                          // stores the current point, as the last
  void erase(Index slot);                               // the last point takes its place
  void push_from(const PointCache& other, Index slot);  // a copy of a point of a cache with the same kernel
  double self_of(Index slot) const { return normalise_ && self_value_[slot] > 0 ? 1 : self_value_[slot]; }

  // What distances are measured from: the first point ever loaded, unless set. Part of the state, as rounding depends on it.
  VectorXd centre() const { return centre_; }
  void set_centre(ConstVectorRef centre);

  // The stored points as they came, by rows.
  MatrixXd points() const;
  SparseMatrix sparse_points() const;

 private:
  struct Entry {
    std::vector<int> index;
    std::vector<double> value;
  };

  double weight(Index k) const { return weights_[weights_.size() == 1 ? 0 : k]; }
  double transformed(double inner, double norm) const;
  void grow();

  std::unique_ptr<kernel_detail::Part> part_;
  bool inner_, sparse_, normalise_;
  Index dimension_, size_ = 0;

  // How the part sees its inputs: chosen columns minus `centre_`, times weights. With few columns and distances only, half the
  // squared distance is formed directly: equal points are at distance zero, and ties are ties.
  std::vector<Index> columns_;
  VectorXd weights_, centre_;
  bool differences_ = false, by_difference_ = false;

  MatrixXd raw_;     // dense: one column per stored point, as it came
  MatrixXd stored_;  // dense: one row per stored point, as the part sees it
  std::vector<Entry> entries_;
  VectorXd norm_, self_value_;  // of stored points: squared length, k(x, x)
  std::vector<Index> place_;    // sparse: of a column of the data among columns_, or -1

  VectorXd point_raw_, point_;
  Entry point_entry_;
  double point_norm_ = 0, self_ = 0;
  VectorXd result_;
};

}  // namespace granary::kernel
