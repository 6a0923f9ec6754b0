// Quadratic with a weighted l1 penalty, by coordinate descent.
//
//   minimise  f(v) = 1/2 v'Sv - r'v + sum_j mu_j |v_j|,   S symmetric positive semidefinite
//
// mu_j = 0 leaves coordinate j unpenalised; mu_j = infinity fixes it at zero, so that a regression of one variable on
// the others needs no copy of S without its row. With g = Sv - r the solution satisfies
//
//   g_j = -mu_j sign(v_j) if v_j != 0,   |g_j| <= mu_j if v_j = 0.
//
// The residual is the largest violation of these, in units that do not change when data or coordinates are rescaled:
// max_j (violation_j / sqrt(S_jj)) / max_j (|r_j| / sqrt(S_jj)). The solver stops when it is at most `tol`.
//
// One full sweep finds the support; the problem on the support is then solved in a compact copy of S, by sweeps and,
// where these are slow, by Newton steps that stop at the first sign change (Lee, Battle, Raina, Ng, NIPS 2006);
// the gradient is computed afresh after every such round, so rounding does not pile up.
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

struct L1QuadraticOptions {
  double tol = 1e-9;
  int max_iter = 100000;  // sweeps, over all coordinates or over the support
};

struct L1QuadraticResult {
  VectorXd v;         // zeros are exact
  VectorXd gradient;  // Sv - r
  double objective = 0;
  Convergence convergence;
};

// From the warm start `v` (its entries with mu_j = infinity must be zero) with `gradient` = Sv - r; both are updated.
// The convergence carries the duality gap f(v) - (-1/2 w'Sw) for the w = t v with |Sw - r| <= mu that gives the smallest one,
// when there is such a w; otherwise the gap is unknown.
Convergence l1_quadratic(ConstMatrixRef s, ConstVectorRef r, ConstVectorRef mu, VectorRef v, VectorRef gradient,
                         const L1QuadraticOptions& options, Monitor& monitor);

// From zero.
L1QuadraticResult l1_quadratic(ConstMatrixRef s, ConstVectorRef r, ConstVectorRef mu, const L1QuadraticOptions& options,
                               Monitor& monitor);

// The same for S = Z'Z / n, n the rows of Z, given by Z: nothing of the size of S is made, and a sweep over all coordinates costs
// as much as two products with Z. For a few problems with a wide Z; for many, form S.
Convergence l1_quadratic_gram(ConstMatrixRef z, ConstVectorRef r, ConstVectorRef mu, VectorRef v, VectorRef gradient,
                              const L1QuadraticOptions& options, Monitor& monitor);

// f(v), given the gradient Sv - r.
double l1_quadratic_objective(ConstVectorRef r, ConstVectorRef mu, ConstVectorRef v, ConstVectorRef gradient);

}  // namespace granary
