#include "process/bandit_state.h"

#include <atomic>
#include <cmath>
#include <limits>

#include "core/base/parallel.h"
#include "core/cluster/space_filling.h"

namespace granary::process {

BanditPosterior bandit_posterior(const BanditModel& model, const BanditHistory& history) {
  BanditPosterior posterior(model.process(), model.candidates, model.noise_var, model.prior_mean, model.lazy);
  for (const Index i : history.candidate) {
    require(i >= 0 && i < model.candidates.rows(), "the history has a choice that is no candidate.");
    posterior.choose(i);
  }
  for (Index t = 0; t < history.y.size(); ++t)
    if (!std::isnan(history.y[t])) posterior.observe(t, history.y[t]);
  return posterior;
}

BanditSummary bandit_summary(const BanditModel& model, const BanditHistory& history) {
  BanditModel dense = model;
  dense.lazy = false;
  BanditPosterior posterior = bandit_posterior(dense, history);
  return {posterior.mean(), posterior.seen_variance(), posterior.variances(), posterior.pending_information()};
}

std::vector<BanditPick> bandit_suggest(const BanditModel& model, const BanditHistory& history, const BanditOptions& options, Rng& rng,
                                       Monitor& monitor) {
  BanditPosterior posterior = bandit_posterior(model, history);
  return options.single ? next_pick(posterior, options, rng, monitor) : next_batch(posterior, options, rng, monitor);
}

BanditRuns bandit_simulate(const BanditModel& model, const BanditOptions& options, const BanditSimulation& simulation, const Rng& rng,
                           Monitor& monitor) {
  const MatrixView& x = model.candidates;
  const Kernel k = model.process();
  const int runs = simulation.runs;
  const bool drawn = simulation.f.cols() == 0;
  Cholesky root;
  if (drawn) root = cholesky_with_jitter(k.matrix(x), {1e-10, 1e-4});
  std::vector<BanditRun> found(static_cast<std::size_t>(runs));
  MatrixXd truth(x.rows(), runs);
  std::atomic<int> done{0};
  parallel_for(runs, simulation.threads, monitor, [&](Index r) {
    Rng own = rng.stream(static_cast<std::uint64_t>(r));
    if (drawn) {
      truth.col(r) = root.lower() * own.stream(0).normals(x.rows());
      truth.col(r).array() += model.prior_mean;
    } else {
      truth.col(r) = simulation.f.col(r % simulation.f.cols());
    }
    found[r] = simulate_bandit(k, x, truth.col(r), model.noise_var, model.prior_mean, model.lazy, options, simulation.delay,
                               simulation.rounds, simulation.most, own, monitor);
    monitor.progress(static_cast<double>(++done) / runs);
  });
  Index longest = 0;
  for (const BanditRun& run : found) longest = std::max(longest, static_cast<Index>(run.choices.size()));
  constexpr int missing = std::numeric_limits<int>::min();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  BanditRuns out{Eigen::MatrixXi::Constant(longest, runs, missing), Eigen::MatrixXi::Constant(longest, runs, missing),
                 MatrixXd::Constant(longest, runs, nan), MatrixXd::Constant(longest, runs, nan), VectorXd(runs)};
  for (int r = 0; r < runs; ++r) {
    const BanditRun& run = found[static_cast<std::size_t>(r)];
    const double best = truth.col(r).maxCoeff();
    out.solves[r] = static_cast<double>(run.solves);
    for (std::size_t s = 0; s < run.choices.size(); ++s) {
      const Index t = static_cast<Index>(s);
      out.choice(t, r) = static_cast<int>(run.choices[s]) + 1;
      out.round(t, r) = static_cast<int>(run.rounds[s]) + 1;
      out.regret(t, r) = best - truth(run.choices[s], r);
      out.reward(t, r) = run.rewards[t];
    }
  }
  return out;
}

namespace {

GreedyVarianceOptions greedy_options(double noise, Index size) {
  GreedyVarianceOptions options;
  options.max_picks = size;
  options.noise = noise;
  options.tol = 0;
  options.repeated = true;
  return options;
}

GreedyInformation as_information(const GreedyVariance& greedy, double noise) {
  return {greedy.picks, 0.5 * (greedy.variances.array() / noise).log1p().matrix()};
}

}  // namespace

GreedyInformation greedy_information(ConstMatrixRef k, double noise, Index size, Monitor& monitor) {
  const KernelColumn column = [&](Index j, VectorRef out) { out = k.col(j); };
  return as_information(greedy_variance(column, k.diagonal(), greedy_options(noise, size), monitor), noise);
}

GreedyInformation greedy_information(const BanditModel& model, Index size, Monitor& monitor) {
  return as_information(greedy_variance(model.process(), model.candidates, greedy_options(model.noise_var, size), monitor),
                        model.noise_var);
}

std::vector<Index> bandit_initial_set(const BanditModel& model, Index batch, double limit, Monitor& monitor) {
  const double others = static_cast<double>(batch) - 1;
  for (Index size = 64; size <= 16384; size *= 4) {
    GreedyInformation greedy = greedy_information(model, size, monitor);
    double sum = 0;
    for (Index t = 0; t < greedy.gains.size(); ++t) {
      sum += greedy.gains[t];
      if (others * sum / static_cast<double>(t + 1) > limit && others * greedy.gains[t] > limit) continue;
      greedy.picks.resize(static_cast<std::size_t>(t) + 1);
      return greedy.picks;
    }
    if (greedy.gains.size() < size) break;
  }
  throw InputError("`limit` is not reached within 16384 observations. Raise it, or take smaller batches.");
}

BanditRefit bandit_refit(const BanditModel& model, const BanditHistory& history, ConstVectorRef lower, ConstVectorRef upper,
                         Monitor& monitor) {
  std::vector<Index> seen;
  for (Index t = 0; t < history.y.size(); ++t)
    if (!std::isnan(history.y[t])) seen.push_back(t);
  MatrixXd x(static_cast<Index>(seen.size()), model.candidates.cols());
  VectorXd y(x.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    x.row(i) = model.candidates.row(history.candidate[seen[i]]);
    y[i] = history.y[seen[i]] - model.prior_mean;
  }
  GpModel gp{model.process()};
  gp.nugget = model.noise_var;
  gp.learn_nugget = true;
  gp.profile_scale = false;
  const VectorXd at = gp.parameters();
  GpLearnOptions options;
  options.lower = lower;
  options.upper = upper;
  const VectorXd low = lower.cwiseMax((at.array() - std::log(20.0)).matrix()),
                 high = upper.cwiseMin((at.array() + std::log(20.0)).matrix());
  MatrixXd starts(9, at.size());
  starts << at.transpose(), to_box(sobol(8, at.size()), low, high);
  const MultistartResult fit = learn_gp(gp, x, y, MatrixXd(x.rows(), 0), starts, options, monitor);
  return {fit.x, -fit.value, on_bound(fit.x, options.lower, options.upper), fit.convergence};
}

}  // namespace granary::process
