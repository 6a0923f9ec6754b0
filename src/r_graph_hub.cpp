// Exports of the hub methods. Conversion only: the methods are in graph/, the checks in R/.
#include <map>

#include "graph/hub.h"
#include "graph/hub_ising.h"
#include "graph/hub_sim.h"
#include "graph/ising_sample.h"
#include "r_glue.h"

using namespace granary;
using namespace granary::graph;

namespace {

HubNorm as_norm(double q) { return q == 1 ? HubNorm::l1 : q == 2 ? HubNorm::l2 : HubNorm::linf; }

SparseMatrix sparse(const MatrixXd& m) { return m.sparseView(0, 0); }

Rcpp::List as_list(const HubResult& fit) {
  Rcpp::NumericMatrix trace(static_cast<int>(fit.trace.size()), 3);
  Rcpp::colnames(trace) = Rcpp::CharacterVector{"iteration", "objective", "gap"};
  for (std::size_t k = 0; k < fit.trace.size(); ++k) {
    const int row = static_cast<int>(k);
    trace(row, 0) = fit.trace[k].iteration;
    trace(row, 1) = fit.trace[k].objective;
    trace(row, 2) = fit.trace[k].gap;
  }
  Rcpp::IntegerVector component(fit.state.theta.rows());
  for (std::size_t c = 0; c < fit.components.size(); ++c) {
    for (const int i : fit.components[c]) component[i] = static_cast<int>(c) + 1;
  }
  return Rcpp::List::create(Rcpp::Named("precision") = sparse(fit.state.theta), Rcpp::Named("V") = sparse(fit.state.v),
                            Rcpp::Named("Z") = sparse(fit.state.z), Rcpp::Named("covariance") = fit.inverse,
                            Rcpp::Named("log_det") = fit.log_det, Rcpp::Named("loss") = fit.loss,
                            Rcpp::Named("objective") = fit.objective, Rcpp::Named("kkt") = fit.violation,
                            Rcpp::Named("component") = component, Rcpp::Named("trace") = trace,
                            Rcpp::Named("step") = fit.state.step, Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

}  // namespace

// One fit per lambda2, each started at the one before; `data` is S, or the 0/1 rows for model "ising". `start` is NULL or
// list(theta, V, Z, dual, step).
// [[Rcpp::export(rng = false)]]
Rcpp::List core_hub_path(const Eigen::Map<Eigen::MatrixXd> data, std::string model, double lambda1, std::vector<double> lambda2,
                         double lambda3, double q, Rcpp::List settings, Rcpp::Nullable<Rcpp::List> start, int threads,
                         SEXP progress) {
  RMonitor monitor(progress);
  HubOptions options;
  options.tol = settings["tol"];
  options.max_iter = settings["max_iter"];
  options.step = settings["step"];
  options.screen = settings["screen"];
  options.reduce = settings["reduce"];
  options.eps = settings["eps"];
  options.barzilai_borwein = settings["barzilai_borwein"];
  options.threads = threads;
  const auto method = model == "ising" ? hub_ising : model == "covariance" ? hub_covariance : hub_precision;
  HubState from;
  bool warm = start.isNotNull();
  if (warm) {
    const Rcpp::List s(start.get());
    from = {Rcpp::as<MatrixXd>(s["theta"]), Rcpp::as<MatrixXd>(s["V"]), Rcpp::as<MatrixXd>(s["Z"]), Rcpp::as<MatrixXd>(s["dual"]),
            Rcpp::as<double>(s["step"])};
  }
  Rcpp::List out(lambda2.size());
  for (std::size_t k = 0; k < lambda2.size(); ++k) {
    monitor.progress(static_cast<double>(k) / static_cast<double>(lambda2.size()));
    const HubResult fit = method(data, {lambda1, lambda2[k], lambda3, as_norm(q)}, options, monitor, warm ? &from : nullptr);
    out[k] = as_list(fit);
    from = fit.state;
    warm = true;
  }
  return out;
}

// The certificate of HGL at any V and Z.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_hub_certificate(const Eigen::Map<Eigen::MatrixXd> s, double lambda1, double lambda2, double lambda3, double q,
                                const Eigen::Map<Eigen::MatrixXd> v, const Eigen::Map<Eigen::MatrixXd> z) {
  const HubResult out = certify_precision(s, {lambda1, lambda2, lambda3, as_norm(q)}, v, z);
  return Rcpp::List::create(Rcpp::Named("objective") = out.objective, Rcpp::Named("gap") = out.convergence.gap,
                            Rcpp::Named("kkt") = out.violation);
}

// [[Rcpp::export(rng = false)]]
std::string core_hub_regime(double lambda1, double lambda2, double lambda3, double q, int p) {
  const HubRegime regime = hub_regime({lambda1, lambda2, lambda3, as_norm(q)}, p);
  return regime == HubRegime::mixed ? "mixed" : regime == HubRegime::no_hubs ? "no hubs possible" : "hubs only";
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_hub_smallest_empty(const Eigen::Map<Eigen::MatrixXd> s, double lambda2, double q) {
  const auto [l1, l3] = smallest_empty(s, lambda2, as_norm(q));
  return Rcpp::NumericVector::create(Rcpp::Named("lambda1") = l1, Rcpp::Named("lambda3") = l3);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_sim_hub(std::string setup, int p, int hubs, double sparsity, double hub_density, Rcpp::NumericVector seed) {
  static const std::map<std::string, HubSetup> setups = {
      {"hub", HubSetup::hub}, {"two_blocks", HubSetup::two_blocks}, {"scale_free", HubSetup::scale_free}};
  Rng rng = make_rng(seed);
  const HubGraph graph = sim_hub_weights(setups.at(setup), p, hubs, sparsity, hub_density, rng);
  Rcpp::IntegerVector members(graph.hubs.begin(), graph.hubs.end());
  return Rcpp::List::create(Rcpp::Named("weights") = graph.weights, Rcpp::Named("hubs") = members + 1);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_ising_sample(const Eigen::Map<Eigen::MatrixXd> theta, int n, int burn_in, int thin, bool exact,
                                  Rcpp::NumericVector seed, SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  return exact ? ising_exact(theta, n, rng) : ising_gibbs(theta, n, burn_in, thin, rng, monitor);
}

// [[Rcpp::export(rng = false)]]
double core_ising_loss(const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::MatrixXd> theta) {
  return ising_loss(x, theta);
}
