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

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/graph/components.h"
#include "graph/glasso_problem.h"
#include "graph/nodes_problem.h"

namespace granary::graph {

enum class NodesMethod { admm, bcd, both };

inline Names<NodesMethod> names(NodesMethod) {
  return {{NodesMethod::admm, "admm"}, {NodesMethod::bcd, "bcd"}, {NodesMethod::both, "auto"}};
}

struct NodesOptions {
  NodesMethod method = NodesMethod::admm;
  bool screen = true;
  double tol = 1e-6;    // admm: on both relative residuals, and on the gap per variable; bcd: on the change of X in a sweep
  int max_iter = 5000;  // iterations (admm) or sweeps (bcd)
  int sweeps = 10;      // of bcd before admm, for `both`
  int threads = 1;      // components run in parallel
  bool covariance = false;  // keep X^-1 along a path; a single fit has it anyway
  double max_degree = std::numeric_limits<double>::infinity();  // a path ends with the first graph of a larger average degree
};
template <class V>
void fields(V& v, NodesOptions& t) {
  v("method", t.method);
  v("screen", t.screen);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("sweeps", t.sweeps);
  v("threads", t.threads);
  v("covariance", t.covariance);
  v("max_degree", t.max_degree);
}

// Where fits are asked for: one tau per rho.
struct NodesPath {
  std::vector<double> rho, tau;
  RowNorm norm = RowNorm::l2;
};
template <class V>
void fields(V& v, NodesPath& t) {
  v("rho", t.rho);
  v("tau", t.tau);
  v("norm", t.norm);
}

// A path of `n` penalties from largest_rho() down to `ratio` of it, with tau a function of rho.
struct NodesGrid {
  RowNorm norm = RowNorm::l2;
  int n = 20;
  double ratio = 0.01;
};
template <class V>
void fields(V& v, NodesGrid& t) {
  v("norm", t.norm);
  v("n", t.n);
  v("ratio", t.ratio);
}
NodesPath default_path(const ConstMatrixRef& s, const NodesGrid& grid, const std::function<double(double)>& tau);

struct NodesResult {
  SparseMatrix upper;  // X, by its upper triangle; exact zeros
  MatrixXd w;          // X^-1
  double log_det = 0, objective = 0;
  double largest_violation = 0;  // max |X^-1 - S - sym Y|, Y the dual point behind the gap: in units of S
  NodesScreening screening;
  std::vector<double> trace;  // bcd: objective after each sweep, of the largest component
  Convergence convergence;
  VectorXd node_norm;         // ||X_{n,-n}||_q; by nodes_path()
  double lower = 0, upper_bound = 0;  // nodes_bounds(); by nodes_path()
};
template <class V>
void fields(V& v, NodesResult& t) {  // for writing
  std::vector<int> component = component_labels(t.screening.components, t.upper.rows());
  v("precision", symmetric_from_upper(t.upper));
  v("covariance", t.w);
  v("log_det", t.log_det);
  v("objective", t.objective);
  v("kkt", t.largest_violation);
  v("component", positions(component));
  v("rule", t.screening.rule);
  v("node_norm", t.node_norm);
  v("lower", t.lower);
  v("upper", t.upper_bound);
  v("trace", t.trace);
  v("convergence", t.convergence);
}

// `start`: a positive definite X to start from.
NodesResult nodes_fit(const ConstMatrixRef& s, const NodesPenalty& penalty, const NodesOptions& options, Monitor& monitor,
                      const MatrixXd* start = nullptr);

// One fit per penalty in the order given, each started at the one before. W is dropped from all but a single fit unless
// `options.covariance`.
std::vector<NodesResult> nodes_path(const ConstMatrixRef& s, const NodesPath& penalties, const NodesOptions& options, Monitor& monitor,
                                    const std::optional<MatrixXd>& start = {});

// Objective, gap and largest violation of any X, whoever computed it.
struct NodesCertificate {
  double objective = 0, gap = 0, violation = 0;
};
template <class V>
void fields(V& v, NodesCertificate& t) {
  v("objective", t.objective);
  v("gap", t.gap);
  v("kkt", t.violation);
}
NodesCertificate nodes_certificate(const ConstMatrixRef& s, const NodesPenalty& penalty, const MatrixXd& x);

}  // namespace granary::graph
