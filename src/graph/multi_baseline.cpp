#include "graph/multi_baseline.h"

#include <algorithm>

#include "core/linalg/dense.h"
#include "graph/multi_irls.h"
#include "graph/reweighted.h"

namespace granary::graph {

namespace {

std::vector<MultiResult> lassos(const MultiProblem& problem, const std::vector<double>& lambda, const MultiBaselineOptions& options,
                                Monitor& monitor) {
  MultiPath path;
  path.lambda.assign(lambda.size(), 0);
  path.lambda1 = lambda;
  MultiOptions solver;
  solver.tol = options.tol;
  solver.max_iter = options.max_iter;
  solver.threads = options.threads;
  return multi_path(problem, path, solver, monitor);
}

MatrixXd pooled_covariance(const MultiProblem& problem) {
  MatrixXd mean = MatrixXd::Zero(problem.variables(), problem.variables());
  for (int k = 0; k < problem.tasks(); ++k) mean += problem.weight[k] / problem.weight.sum() * problem.s[k];
  return mean;
}

std::vector<MultiResult> pooled(const MultiProblem& problem, const std::vector<double>& lambda, const MultiBaselineOptions& options,
                                Monitor& monitor) {
  const MatrixXd mean = pooled_covariance(problem);
  MultiProblem one;
  one.s.emplace_back(mean.data(), mean.rows(), mean.cols());
  one.weight = VectorXd::Constant(1, problem.weight.sum());
  std::vector<MultiResult> out = lassos(one, lambda, options, monitor);
  for (MultiResult& fit : out) {
    fit.state.values = fit.state.values.replicate(problem.tasks(), 1).eval();
    fit.state.log_det = VectorXd::Constant(problem.tasks(), fit.state.log_det[0]);
  }
  return out;
}

MultiResult ridge(const MultiProblem& problem, double lambda) {
  const Stopwatch clock;
  const Index p = problem.variables();
  MultiResult out;
  out.components = one_component(p);
  out.state.pattern = MatrixXd::Ones(p, p).triangularView<Eigen::Upper>().toDenseMatrix().sparseView();
  out.state.values.resize(problem.tasks(), p * (p + 1) / 2);
  out.state.log_det.resize(problem.tasks());
  for (int k = 0; k < problem.tasks(); ++k) {
    MatrixXd shifted = problem.s[k];
    shifted.diagonal().array() += lambda / problem.weight[k];
    const Llt factor(shifted);
    if (factor.info() != Eigen::Success) throw NumericalError("the covariance plus the ridge is singular; use a larger penalty.");
    const MatrixXd x = factor.solve(MatrixXd::Identity(p, p));
    Index e = 0;
    for (Index j = 0; j < p; ++j) {
      for (Index i = 0; i <= j; ++i) out.state.values(k, e++) = x(i, j);
    }
    out.state.log_det[k] = -2 * factor.matrixLLT().diagonal().array().log().sum();
    out.objective += problem.weight[k] * (problem.s[k].cwiseProduct(x).sum() - out.state.log_det[k]);
  }
  out.convergence.converged = true;
  out.convergence.iterations = 1;
  out.convergence.residual = 0;
  out.convergence.seconds = clock.seconds();
  return out;
}

double largest_off_diagonal(const ConstMatrixRef& s) {
  double top = 0;
  for (Index j = 0; j < s.cols(); ++j) {
    for (Index i = 0; i < j; ++i) top = std::max(top, std::abs(s(i, j)));
  }
  return top;
}

double top_penalty(const MultiProblem& problem, MultiBaseline method) {
  double top = 0;
  switch (method) {
    case MultiBaseline::separate:
      for (int k = 0; k < problem.tasks(); ++k) top = std::max(top, problem.weight[k] * largest_off_diagonal(problem.s[k]));
      return top;
    case MultiBaseline::pooled:
      return problem.weight.sum() * largest_off_diagonal(pooled_covariance(problem));
    case MultiBaseline::ridge:
      for (int k = 0; k < problem.tasks(); ++k) top = std::max(top, problem.weight[k] * problem.s[k].diagonal().maxCoeff());
      return top;
    case MultiBaseline::irls: {
      MultiProblem grouped = problem;
      grouped.off = {MultiNorm::l2, 0, 1};
      return largest_entry_weight(grouped);
    }
    case MultiBaseline::hierarchical:
      return hierarchical_top(problem, ReweightedOptions());
  }
  return top;
}

}  // namespace

std::vector<double> multi_baseline_path(const MultiProblem& problem, const MultiBaselineGrid& grid) {
  return geometric_path(positive_top(top_penalty(problem, grid.method), problem), grid.ratio, grid.n);
}

std::vector<MultiResult> multi_baseline(const MultiProblem& problem, const std::vector<double>& lambda, const MultiBaselineOptions& options,
                                        Monitor& monitor) {
  if (options.method == MultiBaseline::separate) return lassos(problem, lambda, options, monitor);
  if (options.method == MultiBaseline::pooled) return pooled(problem, lambda, options, monitor);
  MultiIrlsOptions irls;
  ReweightedOptions concave;
  irls.tol = concave.tol = options.tol;
  irls.max_iter = concave.max_iter = options.max_iter;
  irls.threads = concave.threads = options.threads;
  std::vector<MultiResult> out;
  MultiProblem now = problem;
  for (const double each : lambda) {
    now.off = {MultiNorm::l2, 0, each};
    out.push_back(options.method == MultiBaseline::ridge  ? ridge(problem, each)
                  : options.method == MultiBaseline::irls ? multi_irls(now, irls, monitor)
                                                          : hierarchical(now, each, concave, monitor));
    out.back().state.w.clear();
    monitor.progress(static_cast<double>(out.size()) / static_cast<double>(lambda.size()));
  }
  return out;
}

}  // namespace granary::graph
