// Orthogonal joint diagonalisation: one rotation V that makes several symmetric matrices as diagonal as they can be together.
//
//   minimise  sum_k sum_{i != j} (V'M_k V)_ij^2   over orthogonal V
//
// by Jacobi rotations, each exact for its pair of coordinates (Cardoso and Souloumiac, SIAM J. Matrix Anal. Appl. 1996). O(n^2 k)
// per rotated pair and sweep of n (n - 1) / 2 pairs.
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

struct JointDiagonalOptions {
  double tol = 1e-10;  // rotate only by larger angles; done when a sweep has none
  int max_sweeps = 200;
};
struct JointDiagonal {
  MatrixXd rotation;        // V
  MatrixXd diagonals;       // column k: the diagonal of V'M_k V
  double off = 0;           // the objective
  Convergence convergence;  // iterations: sweeps; residual: the largest angle of the last one
};
// Of each matrix the symmetric part counts. `matrices` is not empty, all n x n.
JointDiagonal joint_diagonal(std::vector<MatrixXd> matrices, const JointDiagonalOptions& options, Monitor& monitor);

}  // namespace granary
