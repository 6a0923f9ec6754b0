// What the sparse latent variable model maximises for a given active set I, with its gradient in all positions and parameters.
//
//   F(X, theta) = log p(Y_I | X_I) + sum_{j not in I} sum_i log N(y_ji | mu_ji, s_ji),
//   mu_ji = y_Ii' A^-1 k_j,   s_ji = k(x_j, x_j) + c + r_ji - k_j' A^-1 k_j,   A = K_II + c I + diag(r_Ii),   k_j = k(X_I, x_j)
//
// with r_ji the known noise of a cell. Missing cells are left out, of y_Ii and A as well; columns that share A go together.
// Algorithm 1 of Lawrence (JMLR 6, 2005) climbs the two terms in turns, and a step in the first may lower the second. Here both
// are climbed at once. With W = A^-1 K_IR, alpha = A^-1 Y_I, e = y - mu, g_ji = e_ji / s_ji and
// h_j = sum_i (e_ji^2 / s_ji - 1) / (2 s_ji),
//
//   dF/dk_j = alpha g_j - 2 h_j w_j,   dF/dk_jj = h_j,   dF/dA = dL_I/dA - sym(W G alpha') + W diag(h) W'
//
// O(N d (d + D)) where all columns share A, O(N d^2 D) where none do; nothing of size N x N.
#pragma once

#include <vector>

#include "core/kernel/kernel.h"
#include "core/base/monitor.h"
#include "process/gplvm_groups.h"

namespace granary::process {

class GplvmSparseLikelihood {
 public:
  GplvmSparseLikelihood(const NoisyTargets& targets, const std::vector<Index>& active, double nugget);

  // As of GplvmLikelihood: -infinity where a covariance matrix cannot be factored, gradients overwritten.
  double operator()(const Kernel& kernel, ConstMatrixRef x, VectorXd* d_parameters, MatrixXd* d_x, Monitor& monitor) const;

 private:
  struct Group {
    ColumnGroup active;  // rows are positions within the active set
    MatrixXd y, noise;   // of the other rows; noise is 0 x 0 where there is none, infinite where a cell is missing
  };
  struct Slopes {
    MatrixXd a, cross;  // dF/dK_II (symmetric), dF/dK_IR
    VectorXd own;       // dF/dk_jj
  };
  double add_group(const Group& group, const MatrixXd& k, const MatrixXd& cross, const VectorXd& own, Slopes* slopes) const;

  std::vector<Index> active_, rest_;
  std::vector<Group> groups_;
  double nugget_;
};

}  // namespace granary::process
