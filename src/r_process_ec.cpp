// Exports of expectation consistent inference. Conversion only: process/ec_ising.h, process/ec_box.h, process/ec_baseline.h,
// core/ep.h.
#include "core/infer/ep.h"
#include "process/ec_baseline.h"
#include "process/ec_box.h"
#include "process/ec_ising.h"
#include "r_glue.h"

using namespace granary;
using namespace granary::process;

namespace {

std::vector<std::pair<int, int>> edges_of(const Rcpp::IntegerMatrix& edges) {
  std::vector<std::pair<int, int>> out;
  for (int e = 0; e < edges.nrow(); ++e) out.push_back({edges(e, 0) - 1, edges(e, 1) - 1});
  return out;
}

Rcpp::IntegerMatrix as_matrix(const std::vector<std::pair<int, int>>& edges) {
  Rcpp::IntegerMatrix out(static_cast<int>(edges.size()), 2);
  for (int e = 0; e < out.nrow(); ++e) {
    out(e, 0) = edges[e].first + 1;
    out(e, 1) = edges[e].second + 1;
  }
  return out;
}

Rcpp::List as_list(const EcParameters& p) {
  return Rcpp::List::create(Rcpp::Named("gamma") = p.gamma, Rcpp::Named("lambda") = p.lambda, Rcpp::Named("edge") = p.edge);
}

MixedSites::Function site_of(const std::string& kind, double a, double b, const Rcpp::List& extra, const Quadrature& rule) {
  if (kind == "probit") return [a](double m, double v) { return probit_moments(a, m, v); };
  if (kind == "truncate") return [a, b](double m, double v) { return truncation_moments(a, b, m, v); };
  if (kind == "spike_slab") return [a, b](double m, double v) { return spike_slab_moments(a, b, m, v); };
  if (kind == "laplace") return [a](double m, double v) { return laplace_moments(a, m, v); };
  if (kind == "gaussian") return [a, b](double m, double v) { return gaussian_moments(a, b, m, v); };
  if (kind == "discrete") {
    const VectorXd values = Rcpp::as<VectorXd>(extra["values"]), log_w = Rcpp::as<VectorXd>(extra["log_w"]);
    return [values, log_w](double m, double v) { return discrete_moments(values, log_w, m, v); };
  }
  if (kind == "flat") return [](double m, double v) { return SiteMoments{0, m, v}; };
  const Rcpp::Function log_t = extra["log_density"];
  return [log_t, &rule](double m, double v) {
    return quadrature_moments([&log_t](double f) { return Rcpp::as<double>(log_t(f)); }, rule, m, v);
  };
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_ec_ising(const Eigen::Map<Eigen::MatrixXd> j, const Eigen::Map<Eigen::VectorXd> theta, std::string method,
                         std::string algorithm, double damping, double tol, int max_iter, Rcpp::NumericVector start,
                         Rcpp::Nullable<Rcpp::IntegerMatrix> edges, int width, SEXP progress) {
  RMonitor monitor(progress);
  EcOptions options;
  options.width = width;
  options.method = method == "tree" ? EcMethod::tree : method == "factorized" ? EcMethod::factorized : EcMethod::restricted;
  options.algorithm = algorithm == "auto"     ? EcAlgorithm::automatic
                      : algorithm == "single" ? EcAlgorithm::single
                      : algorithm == "greedy" ? EcAlgorithm::greedy
                                              : EcAlgorithm::double_loop;
  options.damping = damping;
  options.tol = tol;
  options.max_iter = max_iter;
  options.start = Rcpp::as<VectorXd>(start);
  options.own_forest = edges.isNotNull();
  if (options.own_forest) options.forest = edges_of(Rcpp::IntegerMatrix(edges));
  const EcResult fit = ec_ising(j, theta, options, monitor);
  return Rcpp::List::create(Rcpp::Named("mean") = fit.mean, Rcpp::Named("cov") = fit.covariance, Rcpp::Named("log_z") = fit.log_z,
                            Rcpp::Named("q") = as_list(fit.q), Rcpp::Named("r") = as_list(fit.r),
                            Rcpp::Named("edges") = as_matrix(fit.edges), Rcpp::Named("residual") = fit.residual,
                            Rcpp::Named("free_energy") = fit.free_energy, Rcpp::Named("algorithm") = fit.algorithm,
                            Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

// [[Rcpp::export(rng = false)]]
Rcpp::IntegerMatrix core_ec_tree(const Eigen::Map<Eigen::MatrixXd> j) { return as_matrix(maximum_spanning_forest(j).edges); }

// [[Rcpp::export(rng = false)]]
Rcpp::List core_ec_inverse(const Eigen::Map<Eigen::VectorXd> mean, const Eigen::Map<Eigen::VectorXd> variance,
                           const Eigen::Map<Eigen::VectorXd> covariance, Rcpp::IntegerMatrix edges) {
  return as_list(ec_inverse({mean, variance, covariance}, EcForest(mean.size(), edges_of(edges))));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_ec_tap(const Eigen::Map<Eigen::MatrixXd> j, const Eigen::Map<Eigen::VectorXd> theta, SEXP progress) {
  RMonitor monitor(progress);
  const TapResult fit = tap(j, theta, TapOptions(), monitor);
  return Rcpp::List::create(Rcpp::Named("mean") = fit.mean, Rcpp::Named("cov") = fit.covariance, Rcpp::Named("log_z") = fit.log_z,
                            Rcpp::Named("stable") = fit.stable, Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_ec_response(const Eigen::Map<Eigen::MatrixXd> j, const Eigen::Map<Eigen::VectorXd> mean) {
  return mean_field_response(j, mean);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_ec_gauss(const Eigen::Map<Eigen::MatrixXd> sigma, const Eigen::Map<Eigen::VectorXd> mu,
                         Rcpp::CharacterVector kind, Rcpp::NumericVector a, Rcpp::NumericVector b, Rcpp::List extra,
                         bool log_concave, bool parallel, double damping, double tol, int max_iter, int nodes,
                         Rcpp::NumericVector seed, SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  const Quadrature rule = gauss_hermite(nodes);
  std::vector<MixedSites::Function> sites;
  for (int i = 0; i < kind.size(); ++i) {
    const Rcpp::List more = Rf_isNull(extra[i]) ? Rcpp::List() : Rcpp::List(extra[i]);
    sites.push_back(site_of(Rcpp::as<std::string>(kind[i]), a[i], b[i], more, rule));
  }
  EpOptions options;
  options.parallel = parallel;
  options.damping = damping;
  options.tol = tol;
  options.max_sweeps = max_iter;
  const EpResult fit = expectation_propagation(sigma, mu, MixedSites(sites, log_concave), options, rng, monitor);
  return Rcpp::List::create(Rcpp::Named("mean") = fit.mean, Rcpp::Named("cov") = fit.covariance, Rcpp::Named("log_z") = fit.log_z,
                            Rcpp::Named("tau") = fit.tau, Rcpp::Named("nu") = fit.nu,
                            Rcpp::Named("cavity_mean") = fit.cavity_mean, Rcpp::Named("cavity_variance") = fit.cavity_variance,
                            Rcpp::Named("site_log_z") = fit.site_log_z, Rcpp::Named("weight") = fit.weight,
                            Rcpp::Named("r") = EpSolver(sigma, fit.tau).r(), Rcpp::Named("skipped") = fit.skipped,
                            Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_ec_site(std::string kind, double a, double b, Rcpp::List extra, double m, double v, int nodes) {
  const Quadrature rule = gauss_hermite(nodes);
  const SiteMoments t = site_of(kind, a, b, extra, rule)(m, v);
  return Rcpp::NumericVector::create(t.log_z, t.mean, t.variance);
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_ec_box(const Eigen::Map<Eigen::VectorXd> lower, const Eigen::Map<Eigen::VectorXd> upper,
                                const Eigen::Map<Eigen::VectorXd> mean, const Eigen::Map<Eigen::MatrixXd> sigma, int samples,
                                int threads, Rcpp::NumericVector seed, SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  const BoxEstimate estimate = box_monte_carlo(lower, upper, mean, sigma, samples, 12, threads, rng, monitor);
  return Rcpp::NumericVector::create(estimate.log_probability, estimate.standard_error);
}
