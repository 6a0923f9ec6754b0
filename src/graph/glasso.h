// The graphical lasso with its certificate: screening, one of three solvers on every component, duality gap, warm-started paths.
//
// Problem and notation in glasso_problem.h. Solvers: quic.h (proximal Newton, the default), glasso_bcd.h (block coordinate descent of
// Friedman, Hastie and Tibshirani 2008) and glasso_admm.h (alternating directions; Boyd et al. 2011).
#pragma once

#include <vector>

#include "../core/convergence.h"
#include "../core/monitor.h"
#include "../core/types.h"
#include "glasso_problem.h"

namespace granary::graph {

enum class GlassoMethod { quic, bcd, admm };
enum class InnerRule { forcing, paper };  // how accurately QUIC solves for the Newton direction

struct GlassoOptions {
  GlassoMethod method = GlassoMethod::quic;
  double tol = 1e-6;    // stop when sum |subgradient| <= tol sum |X|, S in units of its mean variance, in every component
  int max_iter = 100;   // Newton steps (quic), sweeps over the columns (bcd), iterations (admm)
  InnerRule inner = InnerRule::forcing;
  double armijo = 1e-3;           // sigma in (21)
  double backtrack = 0.5;         // beta in (21)
  double admm_penalty = 50;       // the paper's tuned values (Section 5.2); in units of the mean variance squared
  double over_relaxation = 1.5;
  int threads = 1;                // components run in parallel
  bool certificate = true;        // compute the duality gap
  double progress_from = 0, progress_to = 0;  // the part of the whole work that this fit is, for the Monitor; equal: silent
};

struct GlassoStep {  // one line of the trace
  double objective;
  double residual;   // sum |subgradient| / sum |X| before the step
  double free;       // coordinates in the free set, upper triangle with diagonal
  double step;       // accepted step length
  int sweeps;        // of coordinate descent for the direction
};

// Where a solver starts, and where it ends: X by its upper triangle, W = X^-1.
struct GlassoState {
  SparseMatrix upper;
  MatrixXd w;
  double log_det = 0;
};

struct GlassoResult {
  GlassoState state;
  double objective = 0;
  double largest_violation = 0;  // of the optimality conditions, entrywise, in units of S
  Convergence convergence;
  std::vector<GlassoStep> trace;               // of the largest component
  std::vector<std::vector<int>> components;    // found by screening
};

// One component, no screening: each solver has this shape. `state` holds the start (a positive definite X with its inverse).
struct SolverReport {
  bool converged = false;
  int iterations = 0;
  std::string message;
  std::vector<GlassoStep> trace;
};

GlassoResult glasso(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor,
                    const GlassoState* start = nullptr);

// One fit per multiplier of Lambda, in the order given (decreasing is fastest), each started at the one before. W is dropped from
// every result but the last unless `keep_covariance`.
std::vector<GlassoResult> glasso_path(const ConstMatrixRef& s, const Penalty& lambda, const std::vector<double>& multipliers,
                                      const GlassoOptions& options, bool keep_covariance, Monitor& monitor,
                                      const GlassoState* start = nullptr);

// The positive definite X with its inverse, from a user's matrix; throws InputError when it is not positive definite.
GlassoState make_state(const SparseMatrix& symmetric);

// X = diag(1 / (S_ii + Lambda_ii)), the solution when every off-diagonal penalty is large.
GlassoState diagonal_state(const ConstMatrixRef& s, const Penalty& lambda);

}  // namespace granary::graph
