// Is a matrix symmetric, positive semidefinite, of usable size? What the checks of data ask.
#pragma once

#include "core/base/types.h"

namespace granary {

struct Asymmetry {
  double gap = 0;             // largest |X_ij - X_ji|
  Index row = 0, column = 0;  // where
  double largest = 0;         // largest |X_ij|
};
Asymmetry asymmetry(ConstMatrixRef x);

// How far the smallest eigenvalue is below zero, in units of the mean of the diagonal. Above some hundred variables a lower bound
// of that, from as many matrix-vector products as 2.5 million multiplications buy (never fewer than ten): no false alarm, and what
// a pairwise or rounded covariance does wrong shows early.
double semidefinite_excess(ConstMatrixRef s);

// The largest |x|, missing values and infinities aside; 0 of nothing.
double largest_finite(ConstVectorRef x);

}  // namespace granary
