// Exports of the node-selecting Gaussian graph. Conversion only: the method is in graph/nodes.h, the checks in R/ggm_nodes.R.
#include "core/linalg/spectral.h"
#include "graph/glasso_problem.h"
#include "graph/nodes.h"
#include "r_glue.h"

using namespace granary;
using namespace granary::graph;

namespace {

RowNorm as_row_norm(const std::string& norm) { return norm == "l2" ? RowNorm::l2 : RowNorm::linf; }

Rcpp::List as_list(const NodesResult& fit) {
  Rcpp::IntegerVector component(fit.upper.rows()), rule(fit.upper.rows());
  const auto& components = fit.screening.components;
  for (std::size_t c = 0; c < components.size(); ++c) {
    for (const int n : components[c]) component[n] = static_cast<int>(c) + 1;
  }
  for (Index n = 0; n < rule.size(); ++n) rule[n] = static_cast<int>(fit.screening.rule[n]) + 1;
  return Rcpp::List::create(Rcpp::Named("precision") = symmetric_from_upper(fit.upper), Rcpp::Named("covariance") = fit.w,
                            Rcpp::Named("log_det") = fit.log_det, Rcpp::Named("objective") = fit.objective,
                            Rcpp::Named("kkt") = fit.largest_violation, Rcpp::Named("component") = component,
                            Rcpp::Named("rule") = rule,
                            Rcpp::Named("trace") = Rcpp::List::create(Rcpp::Named("objective") = fit.trace),
                            Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_nodes_path(const Eigen::Map<Eigen::MatrixXd> s, std::vector<double> rho, std::vector<double> tau,
                           std::string norm, std::string method, bool screen, double tol, int max_iter, bool keep_covariance,
                           Rcpp::Nullable<Rcpp::NumericMatrix> start, int threads, SEXP progress) {
  RMonitor monitor(progress);
  NodesOptions options;
  options.method = method == "admm" ? NodesMethod::admm : method == "bcd" ? NodesMethod::bcd : NodesMethod::both;
  options.screen = screen;
  options.tol = tol;
  options.max_iter = max_iter;
  options.threads = threads;
  std::vector<NodesPenalty> penalties;
  for (std::size_t k = 0; k < rho.size(); ++k) penalties.push_back({rho[k], tau[k], as_row_norm(norm)});
  MatrixXd from;
  if (start.isNotNull()) from = Rcpp::as<MatrixXd>(start.get());
  const auto path = nodes_path(s, penalties, options, keep_covariance, monitor, start.isNotNull() ? &from : nullptr);
  Rcpp::List out(path.size());
  for (std::size_t k = 0; k < path.size(); ++k) out[k] = as_list(path[k]);
  return out;
}

// Objective, gap and largest violation of any positive definite X.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_nodes_certificate(const Eigen::Map<Eigen::MatrixXd> s, double rho, double tau, std::string norm,
                                           const Eigen::Map<Eigen::MatrixXd> x) {
  const NodesCertificate at = nodes_certificate(s, {rho, tau, as_row_norm(norm)}, x);
  return Rcpp::NumericVector::create(Rcpp::Named("objective") = at.objective, Rcpp::Named("gap") = at.gap,
                                     Rcpp::Named("kkt") = at.violation);
}

// [[Rcpp::export(rng = false)]]
double core_nodes_largest_tau(const Eigen::Map<Eigen::MatrixXd> s, double rho, std::string norm) {
  return largest_tau(s, rho, as_row_norm(norm));
}

// The spectral norm to six digits, from above: a bound made with it stays one.
// [[Rcpp::export(rng = false)]]
double core_nodes_spectral_norm(const Eigen::Map<Eigen::MatrixXd> s) {
  RMonitor monitor(R_NilValue);
  EigenOptions options;
  options.tol = 1e-6;
  return (1 + 2 * options.tol) * std::abs(top_eigenpairs(MatrixXd(s), 1, Which::largest_magnitude, options, monitor).values[0]);
}
