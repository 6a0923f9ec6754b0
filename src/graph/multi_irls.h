// The l1,2 problem of multi_problem.h by ridge penalties whose weights follow the estimate.
//
//   ||x_ij||_2 <= ( ||x_ij||^2 / h_ij + h_ij ) / 2,  with equality at h_ij = ||x_ij||_2
//
// so that for fixed h every task is the smooth problem  -log det X + tr(S X) + 1/2 sum_{i != j} c_ij X_ij^2,  c_ij = l2 / (T_k
// h_ij), solved by Newton's method with conjugate gradients. Varoquaux, Gramfort, Poline and Thirion (NIPS 2010). A pair that
// should be zero shrinks by a constant factor per step and never gets there: pairs below `zero`, relative to the diagonal, are
// set to zero at the end. A baseline: slower and less exact than the solvers of multi.h, and its gap says by how much.
#pragma once

#include "graph/multi.h"

namespace granary::graph {

struct MultiIrlsOptions {
  double tol = 1e-6;   // on the relative decrease of the objective in a step
  int max_iter = 200;  // steps
  int threads = 1;
  double zero = 1e-6;
};

MultiResult multi_irls(const MultiProblem& problem, const MultiIrlsOptions& options, Monitor& monitor);

// argmin -log det X + tr(S X) + 1/2 sum_ij c_ij X_ij^2 from the positive definite x, in place; false when `max_steps` was too
// few.
bool weighted_ridge(const ConstMatrixRef& s, const MatrixXd& c, double tol, int max_steps, Monitor& monitor, MatrixXd& x);

}  // namespace granary::graph
