// What the sparse latent variable model maximises for a given active set I, with its gradient in all positions and parameters.
//
//   F(X, theta) = log p(Y_I | X_I) + sum_{j not in I} log N(y_j | mu_j, s_j I),
//   mu_j = Y_I' A^-1 k_j,   s_j = k(x_j, x_j) + c - k_j' A^-1 k_j,   A = K_II + c I,   k_j = k(X_I, x_j)
//
// Algorithm 1 of Lawrence (JMLR 6, 2005) climbs the two terms in turns, and a step in the first may lower the second. Here both
// are climbed at once. With W = A^-1 K_IR, alpha = A^-1 Y_I, e_j = y_j - mu_j, g_j = e_j / s_j and
// h_j = (|e_j|^2 / s_j - D) / (2 s_j),
//
//   dF/dk_j = alpha g_j - 2 h_j w_j,   dF/dk_jj = h_j,   dF/dA = dL_I/dA - sym(W G alpha') + W diag(h) W'
//
// O(N d (d + D)), nothing of size N x N. For complete data with noise of one variance.
#pragma once

#include <vector>

#include "core/kernel.h"
#include "core/monitor.h"

namespace granary::process {

class GplvmSparseLikelihood {
 public:
  GplvmSparseLikelihood(ConstMatrixRef y, const std::vector<Index>& active, double nugget);

  // As of GplvmLikelihood: -infinity where a covariance matrix cannot be factored, gradients overwritten.
  double operator()(const Kernel& kernel, ConstMatrixRef x, VectorXd* d_parameters, MatrixXd* d_x, Monitor& monitor) const;

 private:
  std::vector<Index> active_, rest_;
  MatrixXd y_active_, y_rest_;
  double nugget_;
};

}  // namespace granary::process
