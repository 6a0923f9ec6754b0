// Parts of square matrices: what the estimators that split into components share.
#pragma once

#include <vector>

#include "core/base/types.h"

namespace granary {

inline MatrixXd symmetrised(const ConstMatrixRef& m) { return 0.5 * (m + m.transpose()); }

// Rows and columns `members` of m.
inline MatrixXd principal_submatrix(const ConstMatrixRef& m, const std::vector<int>& members) {
  const Index n = static_cast<Index>(members.size());
  MatrixXd out(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) out(i, j) = m(members[i], members[j]);
  }
  return out;
}

// The other way: `part` becomes rows and columns `members` of `whole`.
inline void put_back(MatrixXd& whole, const MatrixXd& part, const std::vector<int>& members) {
  for (Index j = 0; j < part.cols(); ++j) {
    for (Index i = 0; i < part.rows(); ++i) whole(members[i], members[j]) = part(i, j);
  }
}

// y += a x. Fixed size and no aliasing, so that the compiler makes it a few vector instructions, in line.
template <int Width>
inline void add_strip(double* __restrict y, double a, const double* __restrict x) {
  for (int c = 0; c < Width; ++c) y[c] += a * x[c];
}

}  // namespace granary
