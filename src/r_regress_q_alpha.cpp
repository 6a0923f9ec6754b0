// Exports of Q-alpha feature weighting. Conversion only: the method is in regress/q_alpha.h, the checks in R/q_alpha.R.
#include "r_glue.h"
#include "regress/q_alpha.h"
#include "regress/q_alpha_supervised.h"
#include "regress/q_alpha_theory.h"

using namespace granary;
using namespace granary::regress;

namespace {

QAlphaOptions as_options(int k, const std::string& method, const std::string& criterion, const std::string& spectrum, int n_start,
                         double tol, int max_iter, int threads) {
  QAlphaOptions options;
  options.k = k;
  options.method = method == "power" ? QAlphaMethod::power : method == "basic" ? QAlphaMethod::basic : QAlphaMethod::ritz;
  options.criterion = criterion == "gap" ? QAlphaCriterion::gap : QAlphaCriterion::energy;
  options.spectrum = spectrum == "laplacian" ? QAlphaSpectrum::laplacian : QAlphaSpectrum::standard;
  options.n_start = n_start;
  options.tol = tol;
  options.max_iter = max_iter;
  options.threads = threads;
  return options;
}

Rcpp::List as_list(const QAlphaResult& fit) {
  return Rcpp::List::create(Rcpp::Named("alpha") = fit.alpha, Rcpp::Named("basis") = fit.basis,
                            Rcpp::Named("objective") = fit.objective, Rcpp::Named("eigen_gap") = fit.eigen_gap,
                            Rcpp::Named("start_objectives") = fit.start_objectives, Rcpp::Named("path") = fit.path,
                            Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_standardise_features(const Eigen::Map<Eigen::MatrixXd> x, bool centre) {
  const Standardised s = standardise_features(x, centre);
  return Rcpp::List::create(Rcpp::Named("x") = s.x, Rcpp::Named("centre") = s.centre, Rcpp::Named("scale") = s.scale,
                            Rcpp::Named("constant") = s.constant);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_q_alpha(const Eigen::Map<Eigen::MatrixXd> x, int k, std::string method, std::string criterion,
                        std::string spectrum, int n_start, double tol, int max_iter, int threads, Rcpp::NumericVector seed,
                        SEXP progress) {
  RMonitor monitor(progress);
  const QAlphaOptions options = as_options(k, method, criterion, spectrum, n_start, tol, max_iter, threads);
  return as_list(q_alpha(x, options, make_rng(seed), monitor));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_q_alpha_kernel(const Eigen::Map<Eigen::MatrixXd> v, int k, std::string criterion, int n_start, double tol,
                               int max_iter, int threads, Rcpp::NumericVector seed, SEXP progress) {
  RMonitor monitor(progress);
  const QAlphaOptions options = as_options(k, "power", criterion, "standard", n_start, tol, max_iter, threads);
  return as_list(q_alpha_kernel(v, options, make_rng(seed), monitor));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_q_alpha_classes(const Eigen::Map<Eigen::MatrixXd> x, std::vector<int> labels, double gamma, int k_within,
                                int k_between, double tol, int max_iter, SEXP progress) {
  RMonitor monitor(progress);
  QAlphaClassesOptions options;
  options.gamma = gamma;
  options.k_within = k_within;
  options.k_between = k_between;
  options.tol = tol;
  options.max_iter = max_iter;
  return as_list(q_alpha_classes(x, labels, options, monitor));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_weighted_embedding(const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::VectorXd> alpha, int k) {
  RMonitor monitor(R_NilValue);
  const Embedding e = weighted_embedding(x, alpha, k, monitor);
  return Rcpp::List::create(Rcpp::Named("vectors") = e.vectors, Rcpp::Named("values") = e.values);
}

// [[Rcpp::export(rng = false)]]
double core_positivity_share(int n, double mean, double sd, int replicates, int threads, Rcpp::NumericVector seed,
                             SEXP progress) {
  RMonitor monitor(progress);
  return positivity_share(n, mean, sd, replicates, threads, make_rng(seed), monitor);
}
