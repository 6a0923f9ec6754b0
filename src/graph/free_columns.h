// What the Newton directions of one graph (newton_direction.h) and of several (multi_direction.h) share: the free set by whole
// columns, the panels of U = D W, and when to stop sweeping.
#pragma once

#include <vector>

#include "core/linalg/submatrix.h"
#include "core/base/types.h"

namespace granary::graph {

constexpr int panel_width = 8;
constexpr int passes_per_column = 6;  // about as much work as preparing the column

// body(i, j, position) for every entry of a pattern.
template <class Body>
void for_each_entry(const SparseMatrix& pattern, Body&& body) {
  const int* start = pattern.outerIndexPtr();
  const int* row = pattern.innerIndexPtr();
  for (Index j = 0; j < pattern.cols(); ++j) {
    for (Index e = start[j]; e < start[j + 1]; ++e) body(static_cast<Index>(row[e]), j, e);
  }
}

// Row and position in the pattern, an upper triangle, of every entry of whole columns, also of those below the diagonal.
struct FreeColumns {
  struct Entry {
    int row, at;
  };
  std::vector<int> start;
  std::vector<Entry> entries;

  explicit FreeColumns(const SparseMatrix& pattern) : start(pattern.cols() + 1, 0) {
    for_each_entry(pattern, [&](Index i, Index j, Index) {
      ++start[j + 1];
      if (i != j) ++start[i + 1];
    });
    for (Index j = 0; j < pattern.cols(); ++j) start[j + 1] += start[j];
    entries.resize(start.back());
    std::vector<int> next(start.begin(), start.end() - 1);
    for_each_entry(pattern, [&](Index i, Index j, Index e) {  // rows arrive in ascending order in every column
      entries[next[j]++] = {static_cast<int>(i), static_cast<int>(e)};
      if (i != j) entries[next[i]++] = {static_cast<int>(j), static_cast<int>(e)};
    });
  }
};

// Columns j0 .. j0 + Width - 1 of U = D W, transposed so that one entry of D adds Width contiguous numbers. W is symmetric.
template <int Width>
class Panel {
 public:
  explicit Panel(Index p) : u_(Width, p) {}

  void begin(const MatrixXd& w, Index j0) {
    u_.setZero();
    w_ = w.data() + j0;
    p_ = w.rows();
  }

  // D_ij and D_ji grow by d.
  void add(Index i, Index j, double d) {
    add_strip<Width>(u_.data() + Width * i, d, w_ + p_ * j);
    if (i != j) add_strip<Width>(u_.data() + Width * j, d, w_ + p_ * i);
  }

  auto column(Index c) const { return u_.row(c).transpose(); }

 private:
  Eigen::Matrix<double, Width, Eigen::Dynamic> u_;
  const double* w_ = nullptr;
  Index p_ = 0;
};

// Sweeps over the non-zero entries, and over the whole free set whenever those have settled, until a whole sweep moved less than
// `eta` of the direction; returns the number of sweeps. `sweep(full)` says how far it moved, `size()` the l1 norm of D.
template <class Sweep, class Size>
int sweep_until(double eta, Sweep&& sweep, Size&& size) {
  constexpr int most = 1000;
  bool full = true;
  for (int sweeps = 1; sweeps <= most; ++sweeps) {
    const double moved = sweep(full);
    const bool small = moved <= eta * size();
    if (small && full) return sweeps;
    full = small;
  }
  return most;
}

}  // namespace granary::graph
