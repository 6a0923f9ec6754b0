// The locally constant sparse Gaussian graph with its certificate.
//
//   minimise  -log det X + <S, X> + rho ||X||_1 + tau ||D x X||_1   over X > 0
//
// Honorio (PhD thesis, Stony Brook 2012), chapter 2, and Honorio, Ortiz, Samaras, Paragios, Goldstein (NIPS 2009); problem, dual
// and proximal operator in local_problem.h. Solvers:
//
//   fista  accelerated proximal gradients over symmetric matrices: a step costs a Cholesky factor, an inverse and one exact
//          total-variation problem on the p (p - 1) / 2 entries; few steps where X is well conditioned
//   admm   X = Z with X symmetric and Z free, so that each column of Z is a total-variation problem of its own; a step costs an
//          eigendecomposition, some nine times an inverse, but their number hardly depends on the conditioning. Ended by a
//          step or three of fista, which make X symmetric, sparse and tied exactly
//   automatic  (default) fista, and admm from where it stands if it has not ended after `fista_first` steps
//   bcd    the thesis' Algorithm 2.1 (local_bcd.h), which need not reach the optimum
//   both   ("bcd+admm" in R) a few sweeps of bcd, then admm from there
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "graph/local_problem.h"

namespace granary::graph {

enum class LocalMethod { automatic, fista, admm, bcd, both };

struct LocalOptions {
  LocalMethod method = LocalMethod::automatic;
  double tol = 1e-6;    // on the gap per variable
  int max_iter = 2000;  // iterations, or sweeps of bcd
  int fista_first = 120;
  int sweeps = 5;   // of bcd before admm, for `both`
  int threads = 1;  // columns of admm
};

struct LocalResult {
  MatrixXd x;  // X: symmetric, exact zeros and ties (but for bcd)
  MatrixXd w;  // X^-1
  double log_det = 0, objective = 0;
  double largest_violation = 0;  // max |X^-1 - S - sym Y|, Y the dual point behind the gap: in units of S
  std::vector<char> isolated;    // by the rule for S alone
  std::vector<double> trace;     // bcd: objective after each sweep
  Convergence convergence;
};

LocalResult local_fit(const ConstMatrixRef& s, const LocalOperator& op, const LocalPenalty& penalty, const LocalOptions& options,
                      Monitor& monitor, const MatrixXd* start = nullptr);

// One fit per penalty in the order given, each started at the one before.
std::vector<LocalResult> local_path(const ConstMatrixRef& s, const LocalOperator& op, const std::vector<LocalPenalty>& penalties,
                                    const LocalOptions& options, bool keep_covariance, Monitor& monitor,
                                    const MatrixXd* start = nullptr);

}  // namespace granary::graph
