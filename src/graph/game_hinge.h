// The hinge losses of influence games as one program, by an interior point method that knows its shape.
//
//   minimise  (1/m) sum_l xi_l + rho |w|_1  (or rho |w|_2^2)   subject to   (U_i theta_i)_l + xi_l >= 1 for all rows l and
//   players i,   xi >= 0
//
// U_i holds the margins of player i per unit of each of its coefficients, theta_i = (w_i, b_i); the last column is that of the
// threshold, which is free. One player alone is the 1-norm support vector machine. Dual, with y_li >= 0 the multipliers of the
// margins:
//
//   maximise  sum y   subject to   sum_i y_li <= 1/m,   |U_i'y_i| <= rho in the coefficients of w_i, 0 in that of b_i.
//
// Mehrotra's predictor-corrector (SIAM J. Optim. 2, 1992). The m slacks and the signs of w are eliminated, which leaves one
// system in theta per step: the general programs of core/lp.h and core/qp.h would carry m times (number of players) rows.
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::graph {

struct HingeProgram {
  std::vector<MatrixXd> margins;  // U_i, all with m rows
  double rho = 0.01;
  bool ridge = false;
  // Where the minimum is not unique an interior point method ends in the middle of all minima, the least sparse of them. Weight k
  // costs rho (1 + tilt h_k) instead, h_k in (0, 1) and all different, which for a small tilt leaves one of their corners.
  double tilt = 0;
};

struct HingeOptions {
  double tol = 1e-11;  // complementarity per unit of loss at zero weights
  int max_iter = 100;
};

struct HingeSolution {
  std::vector<VectorXd> theta;
  MatrixXd weights;         // m y, one column per player
  Convergence convergence;  // gap: complementarity; residual: the larger of it and what the constraints lack
};

HingeSolution solve_hinge(const HingeProgram& program, const HingeOptions& options, Monitor& monitor);

}  // namespace granary::graph
