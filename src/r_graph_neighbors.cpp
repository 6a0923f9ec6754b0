// Exports of neighbourhood selection and of the scale-free graph. Conversion only: graph/neighbourhood.h, graph/reweighted.h.
#include "graph/neighbourhood.h"
#include "graph/reweighted.h"
#include "r_glue.h"

using namespace granary;
using namespace granary::graph;

namespace {

Rcpp::List as_list(const GlassoResult& fit) {
  Rcpp::IntegerVector component(fit.state.upper.rows());
  for (std::size_t c = 0; c < fit.components.size(); ++c) {
    for (const int i : fit.components[c]) component[i] = static_cast<int>(c) + 1;
  }
  return Rcpp::List::create(Rcpp::Named("precision") = symmetric_from_upper(fit.state.upper),
                            Rcpp::Named("covariance") = fit.state.w, Rcpp::Named("log_det") = fit.state.log_det,
                            Rcpp::Named("objective") = fit.objective, Rcpp::Named("kkt") = fit.kkt,
                            Rcpp::Named("component") = component, Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_neighbours(const Eigen::Map<Eigen::MatrixXd> s, std::vector<double> lambda, std::string rule, bool standardize,
                           double refit, double tol, int max_iter, bool keep_covariance, int threads, SEXP progress) {
  RMonitor monitor(progress);
  NeighbourOptions options;
  options.standardize = standardize;
  options.tol = 1e-2 * tol;
  options.max_iter = max_iter;
  options.threads = threads;
  const auto path = neighbourhoods(s, lambda, options, monitor);
  GlassoOptions constrained;
  constrained.tol = tol;
  constrained.threads = threads;
  Rcpp::List out(path.size());
  for (std::size_t k = 0; k < path.size(); ++k) {
    const MatrixXd weights =
        neighbour_weights(path[k].coefficients, rule == "and" ? NeighbourRule::both : NeighbourRule::either, refit);
    GlassoResult fit = glasso(s, Penalty::matrix(weights), constrained, monitor);
    if (!path[k].convergence.converged) {
      fit.convergence.converged = false;
      fit.convergence.message = path[k].convergence.message;
    }
    Rcpp::List one = as_list(fit);
    if (!keep_covariance) one["covariance"] = MatrixXd();
    one["coefficients"] = path[k].coefficients;
    one["lasso"] = granary::as_list(path[k].convergence);
    out[k] = one;
    monitor.progress(static_cast<double>(k + 1) / static_cast<double>(path.size()));
  }
  return out;
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_scale_free(const Eigen::Map<Eigen::MatrixXd> s, std::vector<double> alpha, double tol, int max_iter, int threads,
                           bool keep_covariance, SEXP progress) {
  RMonitor monitor(progress);
  ReweightedOptions options;
  options.tol = tol;
  options.max_iter = max_iter;
  options.threads = threads;
  Rcpp::List out(alpha.size());
  for (std::size_t k = 0; k < alpha.size(); ++k) {
    Rcpp::List one = as_list(scale_free(s, alpha[k], options, monitor));
    if (!keep_covariance) one["covariance"] = MatrixXd();
    out[k] = one;
    monitor.progress(static_cast<double>(k + 1) / static_cast<double>(alpha.size()));
  }
  return out;
}
