// A multivariate series as one precision (or covariance) matrix per window.
//
//   S_w = covariance of rows start_w .. start_w + width - 1 (divisor width - 1)
//   covariance S_w,   Tikhonov (S_w + rho I)^-1,   graphical lasso with penalty rho, diagonal included
//   features: upper triangle with diagonal, off-diagonal entries times sqrt(2), so that Euclidean distances are Frobenius
//   distances
//
// S_w slides: a row in or out costs O(N^2). Where few rows change between windows (less than N / 12), so does the Tikhonov
// inverse, by (W + u u')^-1 = W^-1 - W^-1 u (1 + u'W^-1 u)^-1 u'W^-1 (appendix B of the thesis prints it without the inverse in
// the middle). Both are computed afresh every 32 windows, so that rounding cannot pile up.
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::graph {

enum class WindowEstimate { covariance, tikhonov, lasso };

struct WindowOptions {
  WindowEstimate estimate = WindowEstimate::tikhonov;
  double rho = 0.1;
  double tol = 1e-6;
  int max_iter = 1000;
};
struct WindowResult {
  std::vector<MatrixXd> matrices;
  MatrixXd features;        // one row per window
  Convergence convergence;  // of the graphical lassos: residual is the largest violation, gap the largest
  int updates = 0;          // windows whose inverse was updated, not computed afresh
};
WindowResult window_models(ConstMatrixRef x, Index width, const std::vector<Index>& starts, const WindowOptions& options,
                           Monitor& monitor);

enum class MatrixMetric { frobenius, log_euclidean, riemann };
// Distances between positive definite matrices: ||A - B||_F, ||log A - log B||_F, ||log(A^-1/2 B A^-1/2)||_F.
MatrixXd matrix_distances(const std::vector<MatrixXd>& matrices, MatrixMetric metric, int threads, Monitor& monitor);

}  // namespace granary::graph
