// Exports of the Ising models. Conversion only: graph/spin_states.h, graph/ising_likelihood.h, graph/ising_pseudo.h.
#include "graph/ising_pseudo.h"
#include "graph/ising_splitting.h"
#include "r_glue.h"

using namespace granary;
using namespace granary::graph;

namespace {

MomentMethod moment_method(const std::string& name) {
  if (name == "exact") return MomentMethod::exact;
  if (name == "gibbs") return MomentMethod::gibbs;
  if (name == "importance") return MomentMethod::importance;
  if (name == "pcd") return MomentMethod::persistent;
  if (name == "mean_field") return MomentMethod::mean_field;
  return MomentMethod::belief;
}

IsingObjective objective_of(const Rcpp::List& settings) {
  IsingObjective objective;
  objective.rho = Rcpp::as<double>(settings["rho"]);
  objective.penalty = Rcpp::as<bool>(settings["ridge"]) ? IsingPenalty::ridge : IsingPenalty::l1;
  objective.field_penalty = Rcpp::as<bool>(settings["field_penalty"]);
  if (!Rf_isNull(settings["mask"])) objective.mask = Rcpp::as<MatrixXd>(settings["mask"]);
  return objective;
}

SpinModel model_of(const Rcpp::List& start) {
  if (start.size() == 0) return {};
  return {Rcpp::as<MatrixXd>(start["W"]), Rcpp::as<VectorXd>(start["b"])};
}

Rcpp::List as_list(const IsingFit& fit) {
  return Rcpp::List::create(Rcpp::Named("W") = fit.model.w, Rcpp::Named("b") = fit.model.b, Rcpp::Named("loss") = fit.loss,
                            Rcpp::Named("objective") = fit.objective, Rcpp::Named("theorem_bound") = fit.theorem_bound,
                            Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_ising_likelihood(const Eigen::Map<Eigen::MatrixXd> x, Rcpp::List settings, Rcpp::List start, double tol,
                                 int max_iter, SEXP progress) {
  RMonitor monitor(progress);
  IsingLikelihoodOptions options;
  options.tol = tol;
  options.max_iter = max_iter;
  return as_list(ising_likelihood(ising_data(x), objective_of(settings), model_of(start), options, monitor));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_ising_pseudo(const Eigen::Map<Eigen::MatrixXd> x, Rcpp::List settings, Rcpp::List start, double tol, int max_iter,
                             SEXP progress) {
  RMonitor monitor(progress);
  IsingPseudoOptions options;
  options.tol = tol;
  options.max_iter = max_iter;
  return as_list(ising_pseudo(x, objective_of(settings), model_of(start), options, monitor));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_ising_nodewise(const Eigen::Map<Eigen::MatrixXd> x, double rho, double gamma, int n_rho, bool both, double tol,
                               int threads, SEXP progress) {
  RMonitor monitor(progress);
  const NodewiseResult result =
      rho >= 0 ? nodewise(x, rho, threads, tol, monitor) : nodewise_ebic(x, gamma, n_rho, threads, tol, monitor);
  const SpinModel model = join_nodewise(result, both);
  return Rcpp::List::create(Rcpp::Named("W") = model.w, Rcpp::Named("b") = model.b, Rcpp::Named("rows") = result.coefficients,
                            Rcpp::Named("rho") = result.rho, Rcpp::Named("loss") = result.loss,
                            Rcpp::Named("convergence") = granary::as_list(result.convergence));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_ising_splitting(const Eigen::Map<Eigen::MatrixXd> x, Rcpp::List settings, std::string sampler,
                                std::vector<int> samples, int sweeps, double beta, double r, bool accelerated, std::string output,
                                double tol, bool trace, Rcpp::NumericVector seed, SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  SplittingOptions options;
  options.sampler = moment_method(sampler);
  options.samples = samples;
  options.sweeps = sweeps;
  options.beta = beta;
  options.r = r;
  options.accelerated = accelerated;
  options.tol = tol;
  options.trace = trace;
  options.output = output == "last"      ? SplittingOutput::last
                   : output == "average" ? SplittingOutput::average
                   : output == "robust"  ? SplittingOutput::robust
                                         : SplittingOutput::random;
  const SplittingResult result = ising_splitting(ising_data(x), objective_of(settings), options, rng, monitor);
  Rcpp::List out = as_list(result.fit);
  out["last"] = Rcpp::List::create(Rcpp::Named("W") = result.last.w, Rcpp::Named("b") = result.last.b);
  out["trace"] = Rcpp::DataFrame::create(Rcpp::Named("step") = result.step, Rcpp::Named("last") = result.objective_last,
                                         Rcpp::Named("average") = result.objective_average,
                                         Rcpp::Named("robust") = result.objective_robust, Rcpp::Named("move") = result.move);
  out["unsettled"] = result.beliefs_unsettled;
  out["effective"] = result.smallest_effective;
  return out;
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_ising_moments(const Eigen::Map<Eigen::MatrixXd> w, const Eigen::Map<Eigen::VectorXd> b, std::string method,
                              int samples, int sweeps, int max_iter, Rcpp::NumericVector seed, SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  require_spin_model(w, b);
  MomentOptions options;
  options.samples = samples;
  options.sweeps = sweeps;
  options.max_iter = max_iter;
  options.diagnose = true;
  MatrixXd chains;
  const MomentResult result = spin_moments(w, b, moment_method(method), options, chains, rng, monitor);
  return Rcpp::List::create(Rcpp::Named("mean") = result.mean, Rcpp::Named("second") = result.second,
                            Rcpp::Named("logz") = result.log_partition, Rcpp::Named("ess") = result.effective_samples,
                            Rcpp::Named("r_hat") = result.r_hat,
                            Rcpp::Named("convergence") = granary::as_list(result.convergence));
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_spins_sample(const Eigen::Map<Eigen::MatrixXd> w, const Eigen::Map<Eigen::VectorXd> b, double n, bool exact,
                                  int burn_in, int thin, Rcpp::NumericVector seed, SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  require_spin_model(w, b);
  if (exact) return exact_spin_sample(w, b, static_cast<Index>(n), rng, monitor);
  return gibbs_spin_sample(w, b, static_cast<Index>(n), burn_in, thin, rng, monitor);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_ising_probabilities(const Eigen::Map<Eigen::MatrixXd> w, const Eigen::Map<Eigen::VectorXd> b) {
  return spin_probabilities(w, b);
}

// [[Rcpp::export(rng = false)]]
int core_ising_component(const Eigen::Map<Eigen::MatrixXd> w) { return largest_component(w); }

// [[Rcpp::export(rng = false)]]
double core_ising_logz(const Eigen::Map<Eigen::MatrixXd> w, const Eigen::Map<Eigen::VectorXd> b, SEXP progress) {
  RMonitor monitor(progress);
  return exact_log_partition(w, b, monitor);
}

// [[Rcpp::export(rng = false)]]
double core_ising_kl(const Eigen::Map<Eigen::MatrixXd> w1, const Eigen::Map<Eigen::VectorXd> b1,
                     const Eigen::Map<Eigen::MatrixXd> w2, const Eigen::Map<Eigen::VectorXd> b2, SEXP progress) {
  RMonitor monitor(progress);
  return spin_divergence({w1, b1}, {w2, b2}, monitor);
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_ising_bounds(const Eigen::Map<Eigen::MatrixXd> x, double rho, bool field_penalty) {
  const IsingBounds bounds = ising_bounds(ising_data(x), rho, field_penalty);
  return Rcpp::NumericVector::create(Rcpp::Named("couplings") = bounds.couplings, Rcpp::Named("fields") = bounds.fields,
                                     Rcpp::Named("D") = bounds.diameter, Rcpp::Named("G") = bounds.lipschitz);
}

// [[Rcpp::export(rng = false)]]
double core_ising_pseudo_loss(const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::MatrixXd> w,
                              const Eigen::Map<Eigen::VectorXd> b) {
  return pseudo_loss(x, {w, b});
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_ising_conditional(const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::MatrixXd> w,
                                       const Eigen::Map<Eigen::VectorXd> b) {
  return conditional_probabilities(x, {w, b});
}
