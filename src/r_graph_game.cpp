// Exports of the influence games. Conversion only: graph/game_equilibria.h, graph/game_losses.h, graph/game_exhaustive.h.
#include "graph/game_exhaustive.h"
#include "r_glue.h"

using namespace granary;
using namespace granary::graph;

namespace {

EquilibriumMethod equilibrium_method(const std::string& name) {
  if (name == "gray") return EquilibriumMethod::gray;
  if (name == "elimination") return EquilibriumMethod::elimination;
  return name == "search" ? EquilibriumMethod::search : EquilibriumMethod::automatic;
}

std::string name_of(EquilibriumMethod method) {
  if (method == EquilibriumMethod::gray) return "gray";
  return method == EquilibriumMethod::elimination ? "elimination" : "search";
}

GameLoss game_loss_of(const std::string& name) {
  if (name == "sl") return GameLoss::simultaneous_logistic;
  if (name == "il") return GameLoss::independent_logistic;
  return name == "ss" ? GameLoss::simultaneous_hinge : GameLoss::independent_hinge;
}

Rcpp::List as_list(const GameFit& fit) {
  return Rcpp::List::create(Rcpp::Named("W") = fit.game.w, Rcpp::Named("b") = fit.game.b, Rcpp::Named("loss") = fit.loss,
                            Rcpp::Named("objective") = fit.objective, Rcpp::Named("program") = fit.program,
                            Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_game_fit(const Eigen::Map<Eigen::MatrixXd> x, std::string loss, double rho, bool ridge, SEXP mask, double tol,
                         int max_iter, SEXP progress) {
  RMonitor monitor(progress);
  GameFitOptions options;
  options.loss = game_loss_of(loss);
  options.rho = rho;
  options.ridge = ridge;
  options.tol = tol;
  options.max_iter = max_iter;
  if (!Rf_isNull(mask)) options.mask = Rcpp::as<MatrixXd>(mask);
  return as_list(fit_game(x, options, monitor));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_game_sigmoid(const Eigen::Map<Eigen::MatrixXd> x, bool likelihood, double rho, int starts, int max_iter,
                             Rcpp::NumericVector seed, SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  SigmoidOptions options;
  options.likelihood = likelihood;
  options.rho = rho;
  options.starts = starts;
  options.max_iter = max_iter;
  return as_list(fit_sigmoid(x, options, rng, monitor));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_game_exhaustive(const Eigen::Map<Eigen::MatrixXd> x, SEXP progress) {
  RMonitor monitor(progress);
  const ExhaustiveFit fit = fit_exhaustive(x, monitor);
  return Rcpp::List::create(Rcpp::Named("W") = fit.game.w, Rcpp::Named("b") = fit.game.b,
                            Rcpp::Named("log_likelihood") = fit.log_likelihood, Rcpp::Named("sets") = fit.sets);
}

// [[Rcpp::export(rng = false)]]
double core_game_linear_sets(int n) {
  Monitor monitor;
  return static_cast<double>(linear_games(n, monitor).sets.size());
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_game_equilibria(const Eigen::Map<Eigen::MatrixXd> w, const Eigen::Map<Eigen::VectorXd> b, std::string method,
                                double tie_tol, double epsilon, bool list, double max_list, double max_nodes, int max_n,
                                int threads, SEXP progress) {
  RMonitor monitor(progress);
  EquilibriumOptions options;
  options.method = equilibrium_method(method);
  options.tie_tol = tie_tol;
  options.epsilon = epsilon;
  options.list = list;
  options.max_list = max_list;
  options.max_nodes = max_nodes;
  options.max_gray = max_n;
  options.threads = threads;
  const Equilibria found = find_equilibria({w, b}, options, monitor);
  Eigen::MatrixXd states(static_cast<Index>(found.states.size()), b.size());
  for (Index s = 0; s < states.rows(); ++s) {
    for (int i = 0; i < b.size(); ++i) states(s, i) = found.states[s].test(i) ? 1 : -1;
  }
  return Rcpp::List::create(Rcpp::Named("count") = found.count, Rcpp::Named("log_count") = found.log_count,
                            Rcpp::Named("states") = states, Rcpp::Named("listed") = found.listed,
                            Rcpp::Named("ties") = found.ties, Rcpp::Named("width") = found.width,
                            Rcpp::Named("method") = name_of(found.method), Rcpp::Named("seconds") = found.seconds);
}

// [[Rcpp::export(rng = false)]]
Rcpp::LogicalVector core_game_stable(const Eigen::Map<Eigen::MatrixXd> w, const Eigen::Map<Eigen::VectorXd> b,
                                     const Eigen::Map<Eigen::MatrixXd> x, double tie_tol, double epsilon) {
  const std::vector<char> stable = equilibrium_rows({w, b}, x, tie_tol, epsilon);
  return Rcpp::LogicalVector(stable.begin(), stable.end());
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_game_payoffs(const Eigen::Map<Eigen::MatrixXd> w, const Eigen::Map<Eigen::VectorXd> b,
                                  const Eigen::Map<Eigen::MatrixXd> x) {
  return game_payoffs({w, b}, x);
}

// [[Rcpp::export(rng = false)]]
double core_game_loglik(int n, double log_count, double share, double q) { return game_log_likelihood(n, log_count, share, q); }

// [[Rcpp::export(rng = false)]]
Rcpp::List core_game_pick(const Eigen::Map<Eigen::MatrixXd> x) {
  const SamplePicking result = sample_picking(x);
  Rcpp::IntegerVector row(result.row.begin(), result.row.end());
  return Rcpp::List::create(Rcpp::Named("row") = row + 1, Rcpp::Named("frequency") = result.frequency,
                            Rcpp::Named("picked") = static_cast<double>(result.picked), Rcpp::Named("share") = result.share,
                            Rcpp::Named("q") = result.q, Rcpp::Named("log_likelihood") = result.log_likelihood,
                            Rcpp::Named("path") = result.path);
}
