// The factors of a given rank by a quasi-Newton method, for ranks at which the ridge regressions of a sweep cost too much: a sweep takes O(N r^2), one
// evaluation of objective and gradient O(N r).
//
//   minimise  sum_S w_ij (X_ij - U_i'V_j)^2 + lambda/2 (||U||_F^2 + ||V||_F^2)
//
// L-BFGS in coordinates in which the problem is nearly round. With balanced factors (U U' = V V' = diag(d)) and cells missing at random, the Hessian in
// a row's factors is near diag(2 w d_k + lambda), w the mean weight of a cell: the k-th coordinates are multiplied by the root of that.
#pragma once

#include "regress/completion.h"

namespace granary::regress {

struct DescentOptions {
  double tol = 1e-3;         // on the gradient, relative to the first one
  double value_tol = 1e-12;  // or on five changes of the objective in a row
  int max_iter = 200;
  int threads = 1;
};
struct DescentResult {
  Factors w;
  int iterations = 0;
  double objective = 0;
};
DescentResult descend(const ObservedCells& cells, double lambda, const ThinSvd& start, const DescentOptions& options, Monitor& monitor);

}  // namespace granary::regress
