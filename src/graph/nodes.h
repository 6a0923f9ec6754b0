// Few interacting nodes among many: the node-selecting Gaussian graph with its certificate.
//
//   minimise  -log det X + <S, X> + rho ||X||_1 + tau sum_n ||X_{n,-n}||_q   over X > 0, q in {2, inf}
//
// Honorio (PhD thesis, Stony Brook 2012), chapter 3, and Honorio, Samaras, Rish, Cecchi (AISTATS 2012); dual, gap and screening
// in nodes_problem.h. Isolated nodes are found first, from S alone; the components that remain are solved one by one:
//
//   admm  (default) reaches the optimum: X = V with X symmetric and V free, so that each row of V is one sparse-group step
//   bcd   the thesis' Algorithm 3.1 (nodes_bcd.h), which does not: the row norms couple coordinates as well as blocks
//   both  ("auto" in R) a few sweeps of bcd, then admm from there
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "graph/nodes_problem.h"

namespace granary::graph {

enum class NodesMethod { admm, bcd, both };

struct NodesOptions {
  NodesMethod method = NodesMethod::admm;
  bool screen = true;
  double tol = 1e-6;    // admm: on both relative residuals, and on the gap per variable; bcd: on the change of X in a sweep
  int max_iter = 5000;  // iterations (admm) or sweeps (bcd)
  int sweeps = 10;      // of bcd before admm, for `both`
  int threads = 1;      // components run in parallel
};

struct NodesResult {
  SparseMatrix upper;  // X, by its upper triangle; exact zeros
  MatrixXd w;          // X^-1
  double log_det = 0, objective = 0;
  double largest_violation = 0;  // max |X^-1 - S - sym Y|, Y the dual point behind the gap: in units of S
  NodesScreening screening;
  std::vector<double> trace;  // bcd: objective after each sweep, of the largest component
  Convergence convergence;
};

// `start`: a positive definite X to start from.
NodesResult nodes_fit(const ConstMatrixRef& s, const NodesPenalty& penalty, const NodesOptions& options, Monitor& monitor,
                      const MatrixXd* start = nullptr);

// One fit per penalty in the order given, each started at the one before. W is dropped from all but a single fit unless
// `keep_covariance`.
std::vector<NodesResult> nodes_path(const ConstMatrixRef& s, const std::vector<NodesPenalty>& penalties,
                                    const NodesOptions& options, bool keep_covariance, Monitor& monitor,
                                    const MatrixXd* start = nullptr);

// Objective, gap and largest violation of any X, whoever computed it.
struct NodesCertificate {
  double objective = 0, gap = 0, violation = 0;
};
NodesCertificate nodes_certificate(const ConstMatrixRef& s, const NodesPenalty& penalty, const MatrixXd& x);

}  // namespace granary::graph
