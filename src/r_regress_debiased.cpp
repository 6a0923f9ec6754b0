// Exports of the scaled and the debiased lasso. Conversion only.
#include "r_glue.h"
#include "regress/compatibility.h"
#include "regress/decorrelate.h"
#include "regress/scaled_lasso.h"

using namespace granary;
using namespace granary::regress;

namespace {

Rcpp::List as_list(const Decorrelation& d, bool keep_m) {
  const int count = static_cast<int>(d.row.size());
  Rcpp::NumericVector mu(count), mu_min(count), coherence(count), variance(count), largest(count);
  Rcpp::LogicalVector feasible(count), converged(count), shortcut(count);
  MatrixXd m(keep_m && count > 0 ? d.row[0].m.size() : 0, keep_m ? count : 0);
  for (int k = 0; k < count; ++k) {
    mu[k] = d.row[k].mu;
    mu_min[k] = d.row[k].mu_min;
    coherence[k] = d.row[k].coherence;
    variance[k] = d.row[k].variance;
    largest[k] = d.row[k].largest;
    feasible[k] = d.row[k].feasible;
    converged[k] = d.row[k].converged;
    shortcut[k] = d.row[k].shortcut;
    if (m.size() > 0) m.col(k) = d.row[k].m;
  }
  return Rcpp::List::create(Rcpp::Named("rows") = d.rows, Rcpp::Named("m") = SparseMatrix(m.sparseView(0, 0)),
                            Rcpp::Named("mu") = mu, Rcpp::Named("mu_min") = mu_min, Rcpp::Named("feasible") = feasible,
                            Rcpp::Named("converged") = converged, Rcpp::Named("shortcut") = shortcut,
                            Rcpp::Named("coherence") = coherence, Rcpp::Named("variance") = variance,
                            Rcpp::Named("largest") = largest, Rcpp::Named("convergence") = granary::as_list(d.convergence));
}

std::vector<int> zero_based(std::vector<int> which) {
  for (int& i : which) --i;
  return which;
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_scaled_lasso(SEXP x, const Eigen::Map<Eigen::VectorXd> y, double lambda0, bool intercept, bool standardize,
                             double tol, int max_iter, SEXP progress) {
  RMonitor monitor(progress);
  ScaledLassoOptions options;
  options.lambda0 = lambda0;
  options.intercept = intercept;
  options.standardize = standardize;
  options.tol = tol;
  options.max_iter = max_iter;
  ScaledLassoResult fit;
  if (Rf_isS4(x)) {
    const auto design = Rcpp::as<Eigen::Map<SparseMatrix>>(x);
    fit = scaled_lasso(ConstSparseRef(design), y, options, monitor);
  } else {
    const auto design = Rcpp::as<Eigen::Map<Eigen::MatrixXd>>(x);
    fit = scaled_lasso(ConstMatrixRef(design), y, options, monitor);
  }
  return Rcpp::List::create(Rcpp::Named("coefficients") = fit.coefficients, Rcpp::Named("intercept") = fit.intercept,
                            Rcpp::Named("sigma") = fit.sigma, Rcpp::Named("lambda") = fit.lambda,
                            Rcpp::Named("lambda0") = fit.lambda0, Rcpp::Named("objective") = fit.objective,
                            Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_decorrelate(const Eigen::Map<Eigen::MatrixXd> x, std::vector<int> which, double mu, std::string rule, bool robust,
                            double beta, std::string infeasible, bool keep_m, double tol, int max_iter, int threads,
                            SEXP progress) {
  RMonitor monitor(progress);
  DecorrelateOptions options;
  options.mu = mu;
  options.rule = rule == "search" ? MuRule::search : rule == "min" ? MuRule::smallest : MuRule::fixed;
  options.robust = robust;
  options.beta = beta;
  options.infeasible = infeasible == "identity" ? Infeasible::identity
                       : infeasible == "error"  ? Infeasible::error
                                                : Infeasible::raise_mu;
  options.keep_m = keep_m;
  options.tol = tol;
  options.max_iter = max_iter;
  options.threads = threads;
  return as_list(decorrelate(x, zero_based(which), options, monitor), keep_m && !robust);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_nodewise(const Eigen::Map<Eigen::MatrixXd> x, std::vector<int> which, double lambda, bool keep_m, int threads,
                         SEXP progress) {
  RMonitor monitor(progress);
  DecorrelateOptions options;
  options.keep_m = keep_m;
  options.max_iter = 100000;
  options.threads = threads;
  return as_list(nodewise(x, zero_based(which), lambda, options, monitor), keep_m);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_compatibility(const Eigen::Map<Eigen::MatrixXd> s, std::vector<int> set, double cone, int threads,
                              SEXP progress) {
  RMonitor monitor(progress);
  const Compatibility c = compatibility(s, zero_based(set), cone, threads, monitor);
  return Rcpp::List::create(Rcpp::Named("value") = c.value, Rcpp::Named("t") = c.t);
}
