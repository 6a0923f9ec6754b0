// Sparse Gaussian graphs of several related data sets, with a certificate: screening over all tasks, one of three solvers on
// every component, duality gap, warm-started paths.
//
// Problem and notation in multi_problem.h. Solvers: multi_newton.h (proximal Newton over all tasks, the default), multi_bcd.h
// (Algorithm 4.1 of Honorio's thesis, 2012) and multi_admm.h (alternating directions). Without a term that ties the tasks
// together the problem falls into K graphical lassos, which glasso.h solves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/convergence.h"
#include "core/graph/components.h"
#include "graph/glasso_problem.h"
#include "graph/multi_problem.h"

namespace granary::graph {

enum class MultiMethod { newton, bcd, admm };

inline Names<MultiMethod> names(MultiMethod) {
  return {{MultiMethod::newton, "newton"}, {MultiMethod::bcd, "bcd"}, {MultiMethod::admm, "admm"}};
}

struct MultiOptions {
  MultiMethod method = MultiMethod::newton;
  double tol = 1e-6;   // on the residual of free_set(), and on the gap in units of p sum_k T_k, in every component
  int max_iter = 100;  // Newton steps, sweeps over the variables (the thesis makes 10), or iterations
  bool screen = true;
  double armijo = 1e-3, backtrack = 0.5;
  int threads = 1;  // over components; within one over tasks
  bool covariance = false;  // keep X_k^-1 along a path; a single fit has them anyway
};
template <class V>
void fields(V& v, MultiOptions& t) {
  v("method", t.method);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("screen", t.screen);
  v("armijo", t.armijo);
  v("backtrack", t.backtrack);
  v("threads", t.threads);
  v("covariance", t.covariance);
}

struct MultiReport {  // how a solver ended on one component
  bool converged = false;
  int iterations = 0;
  std::string message;
};

struct MultiResult {
  MultiState state;
  double objective = 0;
  Convergence convergence;
  Components components;
};
template <class V>
void fields(V& v, MultiResult& t) {  // for writing
  std::vector<SparseMatrix> precision;
  for (int k = 0; k < static_cast<int>(t.state.values.rows()); ++k) {
    precision.push_back(symmetric_from_upper(task_upper(t.state.pattern, t.state.values, k)));
  }
  std::vector<int> component = component_labels(t.components, t.state.pattern.rows());
  v("precision", precision);
  v("covariance", t.state.w);
  v("log_det", t.state.log_det);
  v("objective", t.objective);
  v("component", positions(component));
  v("convergence", t.convergence);
}

MultiResult multi(const MultiProblem& problem, const MultiOptions& options, Monitor& monitor, const MultiState* start = nullptr);

// P = lambda1 ||x||_1 + lambda N(x) for every fit. The fused norm covers the diagonal always, as in Danaher et al. (2014); all else only
// with `penalize_diagonal`.
struct MultiPath {
  MultiNorm norm = MultiNorm::l2;
  std::vector<double> lambda, lambda1;
  bool penalize_diagonal = false;

  MultiPenalty off(std::size_t k) const { return {norm, lambda1[k], lambda[k]}; }
  MultiPenalty diagonal(std::size_t k) const {
    return {norm, penalize_diagonal ? lambda1[k] : 0, penalize_diagonal || norm == MultiNorm::fused ? lambda[k] : 0};
  }
};
template <class V>
void fields(V& v, MultiPath& t) {
  v("norm", t.norm);
  v("lambda", t.lambda);
  v("lambda1", t.lambda1);
  v("penalize_diagonal", t.penalize_diagonal);
}

// `n` penalties from the smallest that leaves no edge down to `ratio` of it. Without a lambda1 it is 0, but for the fused norm, which
// alone empties no graph: there lambda1 goes with lambda. With a lambda1, the fused norm starts at the largest difference of weighted
// covariances between tasks, over their number.
struct MultiGrid {
  MultiNorm norm = MultiNorm::l2;
  std::optional<double> lambda1;
  int n = 20;
  double ratio = 0.05;
};
template <class V>
void fields(V& v, MultiGrid& t) {
  v("norm", t.norm);
  v("lambda1", t.lambda1);
  v("n", t.n);
  v("ratio", t.ratio);
}
double positive_top(double top, const MultiProblem& problem);  // the largest weighted variance where `top` is 0
MultiPath default_path(const MultiProblem& problem, const MultiGrid& grid);

// One fit per penalty, each started at the one before.
std::vector<MultiResult> multi_path(const MultiProblem& problem, const MultiPath& penalties, const MultiOptions& options, Monitor& monitor);

// Checks a set of precision matrices for the problem, whoever computed them: objective, duality gap and residual.
MultiResult multi_certificate(const MultiProblem& problem, const std::vector<SparseMatrix>& precision, Monitor& monitor);

}  // namespace granary::graph
