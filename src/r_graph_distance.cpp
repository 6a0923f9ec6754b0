// Exports of distances between models and of window features. Conversion only: graph/model_distance*.h, checks in
// R/model_distance.R.
#include "graph/model_distance.h"
#include "graph/model_distance_windows.h"
#include "r_glue.h"
#include "r_graph_convert.h"

using namespace granary;
using namespace granary::graph;

namespace {

Divergence as_divergence(const std::string& type) {
  if (type == "kl") return Divergence::kl;
  if (type == "symkl") return Divergence::symkl;
  if (type == "js") return Divergence::js;
  if (type == "hellinger") return Divergence::hellinger;
  return type == "bhattacharyya" ? Divergence::bhattacharyya : Divergence::bayes_error;
}

GaussianModel as_gaussian(const Rcpp::List& m) {
  return make_gaussian(Rcpp::as<VectorXd>(m["mean"]), Rcpp::as<MatrixXd>(m["matrix"]), Rcpp::as<bool>(m["is_precision"]));
}

struct Network {
  BnStructure structure;
  BnTables tables;
};
Network as_network(const Rcpp::List& m) {
  Network out{make_structure(granary::as_graph(Rcpp::as<int>(m["nodes"]), m["edges"]), Rcpp::as<std::vector<int>>(m["levels"])),
              {}};
  for (SEXP table : Rcpp::List(m["tables"])) out.tables.push_back(Rcpp::as<MatrixXd>(table));
  return out;
}

VectorXd log_probabilities(const Rcpp::List& m, Monitor& monitor) {
  if (Rcpp::as<std::string>(m["kind"]) == "ising") return ising_log_probabilities(Rcpp::as<MatrixXd>(m["theta"]), monitor);
  const Network net = as_network(m);
  return bn_log_probabilities(net.structure, net.tables, monitor);
}

Rcpp::NumericVector as_numbers(const Estimate& e) {
  return Rcpp::NumericVector::create(Rcpp::Named("value") = e.value, Rcpp::Named("se") = e.se);
}

}  // namespace

// KL, its reverse, -log of the Bhattacharyya coefficient, entropy of the first: exact.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_gaussian_exact(Rcpp::List m1, Rcpp::List m2) {
  const GaussianModel p = as_gaussian(m1), q = as_gaussian(m2);
  return Rcpp::NumericVector::create(Rcpp::Named("kl") = gaussian_kl(p, q), Rcpp::Named("reverse") = gaussian_kl(q, p),
                                     Rcpp::Named("bhattacharyya") = gaussian_bhattacharyya(p, q),
                                     Rcpp::Named("entropy") = gaussian_entropy(p));
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_gaussian_sampled(Rcpp::List m1, Rcpp::List m2, std::string type, int nsim, Rcpp::NumericVector seed) {
  const GaussianModel p = as_gaussian(m1), q = as_gaussian(m2);
  Rng rng = make_rng(seed);
  const MatrixXd x = gaussian_sample(p, nsim, rng), y = gaussian_sample(q, nsim, rng);
  return as_numbers(sampled_divergence(gaussian_log_density(p, x) - gaussian_log_density(q, x),
                                       gaussian_log_density(p, y) - gaussian_log_density(q, y), as_divergence(type)));
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_gaussian_norms(Rcpp::List m1, Rcpp::List m2) {
  const GaussianNorms n = gaussian_norms(as_gaussian(m1), as_gaussian(m2));
  return Rcpp::NumericVector::create(
      Rcpp::Named("smallest") = n.smallest, Rcpp::Named("largest") = n.largest,
      Rcpp::Named("precision_nuclear") = n.precision_nuclear, Rcpp::Named("precision_frobenius") = n.precision_frobenius,
      Rcpp::Named("precision_spectral") = n.precision_spectral, Rcpp::Named("covariance_nuclear") = n.covariance_nuclear,
      Rcpp::Named("covariance_frobenius") = n.covariance_frobenius, Rcpp::Named("covariance_spectral") = n.covariance_spectral,
      Rcpp::Named("log_bb") = n.log_bb);
}

// [[Rcpp::export(rng = false)]]
double core_discrete_exact(Rcpp::List m1, Rcpp::List m2, std::string type, SEXP progress) {
  RMonitor monitor(progress);
  return discrete_divergence(log_probabilities(m1, monitor), log_probabilities(m2, monitor), as_divergence(type));
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_discrete_log_probabilities(Rcpp::List m) {
  RMonitor monitor(R_NilValue);
  return log_probabilities(m, monitor);
}

// [[Rcpp::export(rng = false)]]
double core_network_kl(Rcpp::List m1, Rcpp::List m2, SEXP progress) {
  RMonitor monitor(progress);
  const Network p = as_network(m1), q = as_network(m2);
  return bn_kl(p.structure, p.tables, q.structure, q.tables, monitor);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_network_marginal(Rcpp::List m, Rcpp::IntegerVector nodes) {
  RMonitor monitor(R_NilValue);
  const Network p = as_network(m);
  return bn_marginal(p.structure, p.tables, from_indices(nodes), monitor);
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_network_sampled(Rcpp::List m1, Rcpp::List m2, std::string type, int nsim, Rcpp::NumericVector seed,
                                         SEXP progress) {
  RMonitor monitor(progress);
  const Network p = as_network(m1), q = as_network(m2);
  Rng rng = make_rng(seed);
  const Eigen::MatrixXi x = bn_sample(p.structure, p.tables, nsim, rng, monitor),
                        y = bn_sample(q.structure, q.tables, nsim, rng, monitor);
  return as_numbers(sampled_divergence(bn_log_density(p.structure, p.tables, x) - bn_log_density(q.structure, q.tables, x),
                                       bn_log_density(p.structure, p.tables, y) - bn_log_density(q.structure, q.tables, y),
                                       as_divergence(type)));
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXi core_network_sample(Rcpp::List m, int n, Rcpp::NumericVector seed) {
  RMonitor monitor(R_NilValue);
  Rng rng = make_rng(seed);
  const Network p = as_network(m);
  return bn_sample(p.structure, p.tables, n, rng, monitor);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_window_models(const Eigen::Map<Eigen::MatrixXd> x, int width, Rcpp::IntegerVector starts, std::string estimate,
                              double rho, double tol, int max_iter, SEXP progress) {
  RMonitor monitor(progress);
  WindowOptions options;
  options.estimate = estimate == "covariance" ? WindowEstimate::covariance
                     : estimate == "l1"       ? WindowEstimate::lasso
                                              : WindowEstimate::tikhonov;
  options.rho = rho;
  options.tol = tol;
  options.max_iter = max_iter;
  std::vector<Index> from;
  for (int start : starts) from.push_back(start - 1);
  const WindowResult result = window_models(x, width, from, options, monitor);
  return Rcpp::List::create(Rcpp::Named("matrices") = Rcpp::wrap(result.matrices), Rcpp::Named("features") = result.features,
                            Rcpp::Named("updates") = result.updates,
                            Rcpp::Named("convergence") = granary::as_list(result.convergence));
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_matrix_distances(Rcpp::List matrices, std::string metric, int threads, SEXP progress) {
  RMonitor monitor(progress);
  std::vector<MatrixXd> from;
  for (SEXP m : matrices) from.push_back(Rcpp::as<MatrixXd>(m));
  const MatrixMetric which = metric == "riemann"     ? MatrixMetric::riemann
                             : metric == "logeuclid" ? MatrixMetric::log_euclidean
                                                     : MatrixMetric::frobenius;
  return matrix_distances(from, which, threads, monitor);
}
