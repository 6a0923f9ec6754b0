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
//   automatic  (default) admm: fista first, for some steps, was slower wherever it was measured
//   bcd    the thesis' Algorithm 2.1 (local_bcd.h), which need not reach the optimum
//   both   ("bcd+admm" in R) a few sweeps of bcd, then admm from there
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/graph/components.h"
#include "graph/local_problem.h"

namespace granary::graph {

enum class LocalMethod { automatic, fista, admm, bcd, both };

inline Names<LocalMethod> names(LocalMethod) {
  return {{LocalMethod::automatic, "auto"}, {LocalMethod::fista, "fista"}, {LocalMethod::admm, "admm"}, {LocalMethod::bcd, "bcd"},
          {LocalMethod::both, "bcd+admm"}};
}

struct LocalOptions {
  LocalMethod method = LocalMethod::automatic;
  double tol = 1e-8;    // on the gap per variable
  int max_iter = 2000;  // iterations, or sweeps of bcd
  int sweeps = 5;   // of bcd before admm, for `both`
  int threads = 1;  // columns of admm
  bool covariance = false;  // keep X^-1 along a path; a single fit has it anyway
};
template <class V>
void fields(V& v, LocalOptions& t) {
  v("method", t.method);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("sweeps", t.sweeps);
  v("threads", t.threads);
  v("covariance", t.covariance);
}

struct LocalResult {
  MatrixXd x;  // X: symmetric, exact zeros and ties (but for bcd)
  MatrixXd w;  // X^-1
  double log_det = 0, objective = 0;
  double largest_violation = 0;  // max |X^-1 - S - sym Y|, Y the dual point behind the gap: in units of S
  std::vector<char> isolated;    // by the rule for S alone
  std::vector<double> trace;     // bcd: objective after each sweep
  Convergence convergence;

  // Filled by local_path().
  Eigen::MatrixXi block;   // local_blocks()
  Components components;   // of the graph
  double penalty = 0;      // rho ||X||_1 + tau ||D x X||_1
  double lower = 0, upper = 0;  // bounds of the eigenvalues of X, local_bounds()
};
template <class V>
void fields(V& v, LocalResult& t) {  // for writing
  std::vector<int> component = component_labels(t.components, t.x.rows());
  v("precision", SparseMatrix(t.x.sparseView(0, 0)));
  v("covariance", t.w);
  v("log_det", t.log_det);
  v("objective", t.objective);
  v("kkt", t.largest_violation);
  v("isolated", t.isolated);
  v("block", t.block);
  v("component", positions(component));
  v("penalty", t.penalty);
  v("lower", t.lower);
  v("upper", t.upper);
  v("trace", t.trace);
  v("convergence", t.convergence);
}

LocalResult local_fit(const ConstMatrixRef& s, const LocalOperator& op, const LocalPenalty& penalty, const LocalOptions& options,
                      Monitor& monitor, const MatrixXd* start = nullptr);

// One fit per penalty in the order given, each started at the one before.
std::vector<LocalResult> local_path(const ConstMatrixRef& s, const LocalOperator& op, const LocalPenalties& penalties,
                                    const LocalOptions& options, Monitor& monitor, const std::optional<MatrixXd>& start = {});

// Theorem 2.1 with sqrt(M N), which its own proof gives before a step that is not needed: with M the rows of D and N = p,
//
//   1 / (|S|_2 + N rho + sqrt(M N) tau |D|_F) <= eigenvalues of X <= N / rho.
std::pair<double, double> local_bounds(double spectral_norm, Index p, const LocalOperator& op, const LocalPenalty& penalty);

}  // namespace granary::graph
