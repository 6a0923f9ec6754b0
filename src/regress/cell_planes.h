// Least-squares planes on the cells of a partition: degree 1 in place of cell means.
//
//   y ~ c + b'(x - xbar) on each cell, kept as the mean and scatter of (x, y), so that a point can be added and cells merged
//
// Binev et al. (JMLR 2005) call the step to polynomials almost straightforward in practice, and leave its analysis to another
// paper.
#pragma once

#include <vector>

#include "core/base/types.h"

namespace granary::regress {

class CellPlanes {
 public:
  explicit CellPlanes(Index d = 0) : d_(d), stride_((d + 1) * (d + 1) + 2 * d + 1) {}

  bool used() const { return d_ > 0; }
  Index dimensions() const { return d_; }
  void clear() { block_.clear(); }
  void add_cell() {
    if (used()) block_.resize(block_.size() + static_cast<std::size_t>(stride_), 0);
  }
  void copy(int from, int to);
  void reset(int cell);                                             // no points
  void add_point(int cell, int n, const double* x, double y);       // n with the new one
  void absorb(int cell, int n, int other, int other_n);             // n before
  double fit(int cell);                                             // the plane; its sum of squared residuals
  double value(int cell, const double* x) const;                    // of the plane
  const double* centre(int cell) const { return block(cell); }      // xbar, then ybar
  const double* slope(int cell) const { return block(cell) + 1 + d_; }

 private:
  const double* block(int cell) const { return block_.data() + stride_ * cell; }
  double* block(int cell) { return block_.data() + stride_ * cell; }
  double* scatter(int cell) { return block(cell) + 1 + 2 * d_; }

  Index d_, stride_;
  std::vector<double> block_;  // per cell: mean (d + 1), slope (d), scatter (d + 1)^2
  std::vector<double> work_;
};

}  // namespace granary::regress
