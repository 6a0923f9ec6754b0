// Exports of batch bandits. Conversion only: process/bandit.h, process/bandit_posterior.h, process/gp.h.
#include "core/linalg/greedy_variance.h"
#include "core/base/parallel.h"
#include "core/cluster/space_filling.h"
#include "process/bandit.h"
#include "process/gp.h"
#include "r_glue.h"
#include "r_core_kernel.h"

using namespace granary;
using namespace granary::process;

namespace {

BanditOptions options_of(const Rcpp::List& settings) {
  BanditOptions options;
  options.strategy = bandit_strategy(Rcpp::as<std::string>(settings["strategy"]));
  options.batch = Rcpp::as<int>(settings["batch"]);
  options.limit = Rcpp::as<double>(settings["limit"]);
  options.least = Rcpp::as<int>(settings["least"]);
  options.beta = Rcpp::as<VectorXd>(settings["beta"]);
  options.beta_by_choice = Rcpp::as<bool>(settings["by_choice"]);
  options.effect = Rcpp::as<double>(settings["effect"]);
  options.paths = Rcpp::as<int>(settings["paths"]);
  return options;
}

// `y` is NA where a result is pending.
BanditPosterior posterior_of(const Rcpp::List& kernel, const Eigen::Map<Eigen::MatrixXd>& x, double noise, double prior_mean,
                             bool lazy, const Rcpp::IntegerVector& choices, const Rcpp::NumericVector& y) {
  BanditPosterior posterior(Kernel(as_kernel_spec(kernel), x.cols()), x, noise, prior_mean, lazy);
  for (const int i : choices) posterior.choose(i - 1);
  for (R_xlen_t t = 0; t < y.size(); ++t) {
    if (!R_IsNA(y[t])) posterior.observe(t, y[t]);
  }
  return posterior;
}

std::vector<Index> zero_based(const Rcpp::IntegerVector& set) {
  std::vector<Index> result;
  for (const int i : set) result.push_back(i - 1);
  return result;
}

Rcpp::IntegerVector one_based(const std::vector<Index>& set) {
  Rcpp::IntegerVector result(set.size());
  for (std::size_t i = 0; i < set.size(); ++i) result[i] = static_cast<int>(set[i]) + 1;
  return result;
}

GreedyVarianceOptions greedy_options(double noise, int size) {
  GreedyVarianceOptions options;
  options.max_picks = size;
  options.noise = noise;
  options.tol = 0;
  options.repeated = true;
  return options;
}

Rcpp::List as_list(const GreedyVariance& greedy) {
  return Rcpp::List::create(Rcpp::Named("picks") = one_based(greedy.picks), Rcpp::Named("variances") = greedy.variances);
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_bandit_suggest(const Rcpp::List& kernel, const Eigen::Map<Eigen::MatrixXd> x, double noise, double prior_mean,
                               bool lazy, const Rcpp::IntegerVector& choices, const Rcpp::NumericVector& y, bool single,
                               const Rcpp::List& settings, const Rcpp::NumericVector& seed, SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  BanditPosterior posterior = posterior_of(kernel, x, noise, prior_mean, lazy, choices, y);
  const BanditOptions options = options_of(settings);
  const std::vector<BanditPick> picks =
      single ? next_pick(posterior, options, rng, monitor) : next_batch(posterior, options, rng, monitor);
  const Index n = static_cast<Index>(picks.size());
  Rcpp::IntegerVector candidate(n);
  VectorXd mean(n), sd(n), bound(n), information(n);
  for (Index i = 0; i < n; ++i) {
    candidate[i] = static_cast<int>(picks[i].candidate) + 1;
    mean[i] = picks[i].mean;
    sd[i] = picks[i].sd;
    bound[i] = picks[i].bound;
    information[i] = picks[i].information;
  }
  return Rcpp::List::create(Rcpp::Named("candidate") = candidate, Rcpp::Named("mean") = mean, Rcpp::Named("sd") = sd,
                            Rcpp::Named("bound") = bound, Rcpp::Named("information") = information);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_bandit_posterior(const Rcpp::List& kernel, const Eigen::Map<Eigen::MatrixXd> x, double noise, double prior_mean,
                                 const Rcpp::IntegerVector& choices, const Rcpp::NumericVector& y) {
  BanditPosterior posterior = posterior_of(kernel, x, noise, prior_mean, false, choices, y);
  return Rcpp::List::create(Rcpp::Named("mean") = posterior.mean(), Rcpp::Named("variance_seen") = posterior.seen_variance(),
                            Rcpp::Named("variance_all") = posterior.variances(),
                            Rcpp::Named("information") = posterior.pending_information());
}

// One column of `f` per run, or none: then each run draws its own from the prior.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_bandit_simulate(const Rcpp::List& kernel, const Eigen::Map<Eigen::MatrixXd> x,
                                const Eigen::Map<Eigen::MatrixXd> f, double noise, double prior_mean, bool lazy,
                                const Rcpp::List& settings, int delay, int rounds, int most, int runs,
                                const Rcpp::NumericVector& seed, int threads, SEXP progress) {
  RMonitor monitor(progress);
  const Rng rng = make_rng(seed);
  const Kernel k(as_kernel_spec(kernel), x.cols());
  const BanditOptions options = options_of(settings);
  Cholesky root;
  if (f.cols() == 0) root = cholesky_with_jitter(k.matrix(x), {1e-10, 1e-4});
  std::vector<BanditRun> found(runs);
  MatrixXd truth(x.rows(), runs);
  std::atomic<int> done{0};
  parallel_for(runs, threads, monitor, [&](Index r) {
    Rng own = rng.stream(r);
    if (f.cols() == 0) {
      truth.col(r) = root.lower() * own.stream(0).normals(x.rows());
      truth.col(r).array() += prior_mean;
    } else {
      truth.col(r) = f.col(r % f.cols());
    }
    found[r] = simulate_bandit(k, x, truth.col(r), noise, prior_mean, lazy, options, delay, rounds, most, own, monitor);
    monitor.progress(static_cast<double>(++done) / runs);
  });
  Index longest = 0;
  for (const BanditRun& run : found) longest = std::max(longest, static_cast<Index>(run.choices.size()));
  Rcpp::IntegerMatrix choice(longest, runs), round(longest, runs);
  Rcpp::NumericMatrix regret(longest, runs), reward(longest, runs), solves(1, runs);
  for (int r = 0; r < runs; ++r) {
    const BanditRun& run = found[r];
    const double best = truth.col(r).maxCoeff();
    solves(0, r) = static_cast<double>(run.solves);
    for (Index t = 0; t < longest; ++t) {
      const bool there = t < static_cast<Index>(run.choices.size());
      choice(t, r) = there ? static_cast<int>(run.choices[t]) + 1 : NA_INTEGER;
      round(t, r) = there ? static_cast<int>(run.rounds[t]) + 1 : NA_INTEGER;
      regret(t, r) = there ? best - truth(run.choices[t], r) : NA_REAL;
      reward(t, r) = there ? run.rewards[t] : NA_REAL;
    }
  }
  return Rcpp::List::create(Rcpp::Named("choice") = choice, Rcpp::Named("round") = round, Rcpp::Named("regret") = regret,
                            Rcpp::Named("reward") = reward, Rcpp::Named("solves") = solves);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_bandit_greedy(const Eigen::Map<Eigen::MatrixXd> k, double noise, int size, SEXP progress) {
  RMonitor monitor(progress);
  const KernelColumn column = [&](Index j, VectorRef out) { out = k.col(j); };
  return as_list(greedy_variance(column, k.diagonal(), greedy_options(noise, size), monitor));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_bandit_greedy_kernel(const Rcpp::List& kernel, const Eigen::Map<Eigen::MatrixXd> x, double noise, int size,
                                     SEXP progress) {
  RMonitor monitor(progress);
  return as_list(greedy_variance(Kernel(as_kernel_spec(kernel), x.cols()), x, greedy_options(noise, size), monitor));
}

// [[Rcpp::export(rng = false)]]
double core_information_gain(const Eigen::Map<Eigen::MatrixXd> k, double noise, const Rcpp::IntegerVector& a,
                             const Rcpp::IntegerVector& given) {
  return information_gain(k, noise, zero_based(a), zero_based(given));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_best_information(const Eigen::Map<Eigen::MatrixXd> k, double noise, int size, SEXP progress) {
  RMonitor monitor(progress);
  const BestInformation best = best_information(k, noise, size, monitor);
  return Rcpp::List::create(Rcpp::Named("value") = best.value, Rcpp::Named("set") = one_based(best.set));
}

// Kernel parameters and noise by maximum likelihood on the results, between bounds of their logarithms; starts are where they
// stand and within a factor of 20 of that.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_bandit_refit(const Rcpp::List& kernel, const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::VectorXd> y,
                             double noise, const Eigen::Map<Eigen::VectorXd> lower, const Eigen::Map<Eigen::VectorXd> upper,
                             SEXP progress) {
  RMonitor monitor(progress);
  GpModel model{Kernel(as_kernel_spec(kernel), x.cols())};
  model.nugget = noise;
  model.learn_nugget = true;
  model.profile_scale = false;
  const VectorXd at = model.parameters();
  GpLearnOptions options;
  options.lower = lower;
  options.upper = upper;
  const VectorXd low = lower.cwiseMax((at.array() - std::log(20.0)).matrix()),
                 high = upper.cwiseMin((at.array() + std::log(20.0)).matrix());
  MatrixXd starts(9, at.size());
  starts << at.transpose(), to_box(sobol(8, at.size()), low, high);
  const MultistartResult fit = learn_gp(model, x, y, MatrixXd(x.rows(), 0), starts, options, monitor);
  const std::vector<Index> bound = on_bound(fit.x, options.lower, options.upper);
  return Rcpp::List::create(Rcpp::Named("log_parameters") = fit.x, Rcpp::Named("loglik") = -fit.value,
                            Rcpp::Named("on_bound") = one_based(bound),
                            Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}
