// Dense linear programs, solved to a vertex with a certificate.
//
//   minimise c'x   subject to   (Ax)_i <=, = or >= b_i,   lower <= x <= upper      (bounds may be infinite)
//
// Bounded revised simplex in two phases: rows and columns are scaled to comparable size; the basis is factorised by LU afresh
// every few pivots and basic values are recomputed from it; pricing is Dantzig's. After a run of steps without progress the
// bounds are moved apart a little, and back once that program is solved; after the third time Bland's rule takes over, so that no
// degenerate program cycles.
//
// What the result proves, each by arithmetic on A, b, c alone:
//   optimal      x is feasible and c'x equals the dual objective  b'y + sum_j d_j (lower_j if d_j > 0, upper_j if d_j < 0),
//                d = c - A'y,  y_i <= 0 on <= rows, y_i >= 0 on >= rows
//   infeasible   `ray` = y with those signs and  b'y + sum_j (-A'y)_j (lower_j or upper_j by sign) > 0
//   unbounded    `ray` = a direction of x with c'ray < 0 that leaves no constraint or bound; x is feasible
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

enum class RowSense { less_equal, equal, greater_equal };

struct LinearProgram {
  VectorXd c;
  MatrixXd a;  // rows x variables; may have no rows
  VectorXd b;
  std::vector<RowSense> sense;  // empty: all less_equal
  VectorXd lower, upper;        // empty: 0 and infinity
};

struct LpOptions {
  double tol = 1e-9;  // relative to the scaled data
  int max_iter = 0;   // pivots; 0: 200 (rows + variables) + 1000
};

enum class LpStatus { optimal, infeasible, unbounded, stopped };

struct LpResult {
  LpStatus status = LpStatus::stopped;
  VectorXd x;
  VectorXd dual;          // y
  VectorXd reduced_cost;  // d = c - A'y
  VectorXd ray;           // the certificate, when infeasible or unbounded; empty otherwise
  double objective = 0;
  Convergence convergence;  // gap: relative duality gap; residual: largest relative violation of a constraint or bound
};

LpResult solve_lp(const LinearProgram& program, const LpOptions& options, Monitor& monitor);

// Zero-sum game: the row player receives payoff(i, j). Both strategies are optimal and guarantee `value`.
struct GameSolution {
  double value = 0;
  VectorXd row, column;     // mixed strategies
  Convergence convergence;  // gap: max_i (payoff column)_i - min_j (row' payoff)_j, over the spread of the payoffs
};

GameSolution solve_matrix_game(ConstMatrixRef payoff, const LpOptions& options, Monitor& monitor);

}  // namespace granary
