#include "regress/cell_planes.h"

#include <algorithm>

namespace granary::regress {

void CellPlanes::copy(int from, int to) {
  if (used()) std::copy_n(block(from), stride_, block(to));
}

void CellPlanes::reset(int cell) { std::fill_n(block(cell), stride_, 0.0); }

void CellPlanes::add_point(int cell, int n, const double* x, double y) {
  double *mean = block(cell), *s = scatter(cell);
  work_.resize(d_ + 1);
  for (Index k = 0; k <= d_; ++k) work_[k] = (k < d_ ? x[k] : y) - mean[k];
  const double share = static_cast<double>(n - 1) / n;
  for (Index k = 0; k <= d_; ++k) {
    for (Index l = 0; l <= d_; ++l) s[k * (d_ + 1) + l] += share * work_[k] * work_[l];
    mean[k] += work_[k] / n;
  }
}

void CellPlanes::absorb(int cell, int n, int other, int other_n) {
  double *mean = block(cell), *s = scatter(cell);
  const double *from = block(other), *t = scatter(other);
  const double total = n + other_n, share = n * (other_n / total);
  work_.resize(d_ + 1);
  for (Index k = 0; k <= d_; ++k) work_[k] = from[k] - mean[k];
  for (Index k = 0; k <= d_; ++k) {
    for (Index l = 0; l <= d_; ++l) s[k * (d_ + 1) + l] += t[k * (d_ + 1) + l] + share * work_[k] * work_[l];
    mean[k] += work_[k] * (other_n / total);
  }
}

// Elimination in the order of the columns; one that those before it explain has slope zero, as in lm().
double CellPlanes::fit(int cell) {
  const double* s = scatter(cell);
  double* b = block(cell) + 1 + d_;
  const Index size = d_ + 1;
  work_.assign(s, s + size * size);
  for (Index j = 0; j < d_; ++j) {
    const double pivot = work_[j * size + j];
    if (!(pivot > 1e-10 * s[j * size + j])) {
      for (Index l = j; l < size; ++l) work_[j * size + l] = 0;  // marked by a pivot of zero
      continue;
    }
    for (Index i = j + 1; i < size; ++i) {
      const double factor = work_[i * size + j] / pivot;
      for (Index l = j; l < size; ++l) work_[i * size + l] -= factor * work_[j * size + l];
    }
  }
  for (Index j = d_; j-- > 0;) {
    double right = work_[j * size + d_];
    for (Index l = j + 1; l < d_; ++l) right -= work_[j * size + l] * b[l];
    b[j] = work_[j * size + j] > 0 ? right / work_[j * size + j] : 0;
  }
  return std::max(0.0, work_[size * size - 1]);
}

double CellPlanes::value(int cell, const double* x) const {
  const double *mean = centre(cell), *b = slope(cell);
  double out = mean[d_];
  for (Index k = 0; k < d_; ++k) out += b[k] * (x[k] - mean[k]);
  return out;
}

}  // namespace granary::regress
