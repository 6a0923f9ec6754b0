// Exports of the multi-task Gaussian graphs. Conversion only: the method is in graph/multi*, the checks in R/ggm_multi.R.
#include "graph/glasso_problem.h"
#include "graph/multi.h"
#include "graph/multi_irls.h"
#include "graph/reweighted.h"
#include "r_glue.h"

using namespace granary;
using namespace granary::graph;

namespace {

// Views of R's matrices, which the list keeps alive.
MultiProblem as_problem(const Rcpp::List& s, const std::vector<double>& weight) {
  MultiProblem problem;
  for (R_xlen_t k = 0; k < s.size(); ++k) {
    const Rcpp::NumericMatrix m(static_cast<SEXP>(s[k]));
    problem.s.emplace_back(m.begin(), m.nrow(), m.ncol());
  }
  problem.weight = Eigen::Map<const VectorXd>(weight.data(), static_cast<Index>(weight.size()));
  return problem;
}

MultiNorm as_norm(const std::string& name) {
  return name == "l2" ? MultiNorm::l2 : name == "linf" ? MultiNorm::linf : MultiNorm::fused;
}

Rcpp::List as_list(const MultiResult& fit) {
  const int tasks = static_cast<int>(fit.state.values.rows());
  Rcpp::List precision(tasks), covariance(fit.state.w.size());
  for (int k = 0; k < tasks; ++k) precision[k] = symmetric_from_upper(task_upper(fit.state.pattern, fit.state.values, k));
  for (std::size_t k = 0; k < fit.state.w.size(); ++k) covariance[k] = fit.state.w[k];
  Rcpp::IntegerVector component(fit.state.pattern.rows());
  for (std::size_t c = 0; c < fit.components.size(); ++c) {
    for (const int i : fit.components[c]) component[i] = static_cast<int>(c) + 1;
  }
  return Rcpp::List::create(Rcpp::Named("precision") = precision, Rcpp::Named("covariance") = covariance,
                            Rcpp::Named("log_det") = fit.state.log_det, Rcpp::Named("objective") = fit.objective,
                            Rcpp::Named("component") = component, Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

}  // namespace

// `penalties` has one row per fit: l1 and l2 off the diagonal, l1 and l2 on it.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_multi_path(Rcpp::List s, std::vector<double> weight, std::string norm, Eigen::Map<Eigen::MatrixXd> penalties,
                           std::string method, double tol, int max_iter, bool screen, bool keep_covariance, int threads,
                           SEXP progress) {
  RMonitor monitor(progress);
  MultiOptions options;
  options.method = method == "newton" ? MultiMethod::newton : method == "bcd" ? MultiMethod::bcd : MultiMethod::admm;
  options.tol = tol;
  options.max_iter = max_iter;
  options.screen = screen;
  options.threads = threads;
  std::vector<MultiPenaltyPair> pairs;
  for (Index r = 0; r < penalties.rows(); ++r) {
    pairs.push_back({{as_norm(norm), penalties(r, 0), penalties(r, 1)}, {as_norm(norm), penalties(r, 2), penalties(r, 3)}});
  }
  const auto path = multi_path(as_problem(s, weight), pairs, options, keep_covariance, monitor);
  Rcpp::List out(path.size());
  for (std::size_t k = 0; k < path.size(); ++k) out[k] = as_list(path[k]);
  return out;
}

// The smallest multiple of the penalty (l1, l2) that leaves no edge.
// [[Rcpp::export(rng = false)]]
double core_multi_top(Rcpp::List s, std::vector<double> weight, std::string norm, double l1, double l2) {
  MultiProblem problem = as_problem(s, weight);
  problem.off = {as_norm(norm), l1, l2};
  return largest_entry_weight(problem);
}

// Objective, duality gap and residual of any precision matrices, whoever computed them; `penalty` as a row of core_multi_path().
// [[Rcpp::export(rng = false)]]
Rcpp::List core_multi_certificate(Rcpp::List s, std::vector<double> weight, std::string norm, std::vector<double> penalty,
                                  Rcpp::List precision) {
  Monitor monitor;
  MultiProblem problem = as_problem(s, weight);
  problem.off = {as_norm(norm), penalty[0], penalty[1]};
  problem.diagonal = {as_norm(norm), penalty[2], penalty[3]};
  std::vector<SparseMatrix> x;
  for (R_xlen_t k = 0; k < precision.size(); ++k) x.push_back(Rcpp::as<SparseMatrix>(static_cast<SEXP>(precision[k])));
  const MultiResult result = multi_certificate(problem, x, monitor);
  return Rcpp::List::create(Rcpp::Named("objective") = result.objective, Rcpp::Named("gap") = result.convergence.gap,
                            Rcpp::Named("residual") = result.convergence.residual);
}

// The K-vector problem of one pair (and of one diagonal entry): for tests and for readers of the paper.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_multi_block(std::vector<double> q, std::vector<double> c, std::string norm, double l1, double l2) {
  if (q.size() != c.size()) throw InputError("q and c must have one entry per task.");
  Rcpp::NumericVector x(static_cast<R_xlen_t>(q.size()));
  BlockSolver({as_norm(norm), l1, l2}, static_cast<int>(q.size())).solve(q.data(), c.data(), x.begin());
  return x;
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_multi_diagonal(Eigen::Map<Eigen::VectorXd> q, Eigen::Map<Eigen::VectorXd> c, Eigen::Map<Eigen::VectorXd> b,
                                    std::string norm, double rho) {
  const DiagonalStep step = norm == "l2" ? log_trust_region(q, c, b, rho) : log_knapsack(q, c, b, rho);
  Eigen::MatrixXd out(q.size(), 2);
  out << step.z, step.r;
  return out;
}

// The baselines: `irls` and `hierarchical`. One fit per lambda.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_multi_reweighted(Rcpp::List s, std::vector<double> weight, std::string method, std::vector<double> lambda,
                                 double tol, int max_iter, int threads, SEXP progress) {
  RMonitor monitor(progress);
  MultiProblem problem = as_problem(s, weight);
  MultiIrlsOptions ridge;
  ReweightedOptions options;
  ridge.tol = options.tol = tol;
  ridge.max_iter = options.max_iter = max_iter;
  ridge.threads = options.threads = threads;
  Rcpp::List out(lambda.size());
  for (std::size_t k = 0; k < lambda.size(); ++k) {
    problem.off = {MultiNorm::l2, 0, lambda[k]};
    out[k] = as_list(method == "irls" ? multi_irls(problem, ridge, monitor) : hierarchical(problem, lambda[k], options, monitor));
    monitor.progress(static_cast<double>(k + 1) / static_cast<double>(lambda.size()));
  }
  return out;
}

// [[Rcpp::export(rng = false)]]
double core_multi_hierarchical_top(Rcpp::List s, std::vector<double> weight) {
  return hierarchical_top(as_problem(s, weight), ReweightedOptions());
}
