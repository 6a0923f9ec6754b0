// Dense convex quadratic programs.
//
//   minimise 1/2 x'Qx + c'x   subject to   (Ax)_i <=, = or >= b_i,   lower <= x <= upper,   Q positive semidefinite
//
// Mehrotra's predictor-corrector interior point method (SIAM J. Optim. 2, 1992) on scaled data, then the exact solution of the
// equations of the constraints found active, kept when it satisfies the optimality conditions better. A program on which
// that does not converge is put to the simplex method: to prove that no point is feasible, or that a direction of no
// curvature decreases the objective for ever.
//
// Signs are those of lp.h: with d = Qx + c - A'y,
//   y_i <= 0 on <= rows, y_i >= 0 on >= rows, d_j >= 0 where x_j is at its lower bound, d_j <= 0 at its upper, 0 between.
#pragma once

#include "core/optim/lp.h"

namespace granary {

struct QuadraticProgram {
  MatrixXd q;
  VectorXd c;
  MatrixXd a;  // may have no rows
  VectorXd b;
  std::vector<RowSense> sense;  // empty: all less_equal
  VectorXd lower, upper;        // empty: unbounded
};

struct QpOptions {
  double tol = 1e-9;
  int max_iter = 100;
};

struct QpResult {
  LpStatus status = LpStatus::stopped;
  VectorXd x;
  VectorXd dual;          // y
  VectorXd reduced_cost;  // d, as far as bounds carry it
  VectorXd ray;           // as in lp.h; an unbounded direction has Q ray = 0
  double objective = 0;
  Convergence convergence;  // gap: relative duality gap; residual: largest violation of the conditions above on scaled data
};

QpResult solve_qp(const QuadraticProgram& program, const QpOptions& options, Monitor& monitor);

}  // namespace granary
