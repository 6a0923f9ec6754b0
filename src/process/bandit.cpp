#include "process/bandit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "core/base/errors.h"
#include "core/math/special.h"

namespace granary::process {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double expected_improvement(double mean, double sd, double best) {
  if (!(sd > 0)) return std::max(0.0, mean - best);
  const double z = (mean - best) / sd;
  return sd * (z * normal_cdf(z) + normal_pdf(z));
}

Index argmax_improvement(BanditPosterior& posterior) {
  const VectorXd& variance = posterior.variances();
  const VectorXd& mean = posterior.mean();
  // Before the first result nothing can be improved on: the place that is known least.
  const double best = posterior.best_seen();
  Index at = 0;
  double most = -infinity;
  for (Index i = 0; i < mean.size(); ++i) {
    const double sd = std::sqrt(variance[i]);
    const double value = std::isfinite(best) ? expected_improvement(mean[i], sd, best) : mean[i] + sd;
    if (value > most) {
      most = value;
      at = i;
    }
  }
  return at;
}

double root_beta(const BanditPosterior& posterior, const BanditOptions& options) {
  const Index known = options.beta_by_choice ? posterior.chosen() : posterior.chosen() - posterior.pending();
  if (options.beta.size() == 0) throw InputError("the strategy needs exploration weights.");
  return std::sqrt(options.beta[std::min(known, options.beta.size() - 1)]);
}

Index pick_one(BanditPosterior& posterior, const BanditOptions& options) {
  switch (options.strategy) {
    case BanditStrategy::uncertainty: {
      const VectorXd& variance = posterior.variances();
      Index best = 0;
      for (Index i = 1; i < variance.size(); ++i) {
        if (variance[i] > variance[best]) best = i;
      }
      return best;
    }
    case BanditStrategy::ei:
    case BanditStrategy::hbbo:
    case BanditStrategy::sm_ei:
      return argmax_improvement(posterior);
    default:
      return posterior.best_bound(root_beta(posterior, options));
  }
}

BanditPick take(BanditPosterior& posterior, Index candidate, double root) {
  BanditPick pick{candidate, posterior.mean()[candidate], std::sqrt(posterior.variance(candidate)), 0, 0};
  pick.bound = pick.mean + root * pick.sd;
  posterior.choose(candidate);
  pick.information = posterior.pending_information();
  return pick;
}

// Whether the batch has to wait for its results before another choice.
bool closed(BanditPosterior& posterior, const BanditOptions& options) {
  const Index pending = posterior.pending();
  if (pending == 0) return false;
  if (options.strategy == BanditStrategy::ucb || pending >= options.batch) return true;
  const bool local = options.strategy == BanditStrategy::aucb_local;
  if (!local && options.strategy != BanditStrategy::aucb) return false;
  if (pending < options.least) return false;
  // What is known of one value is at most what is known of all, so the dear local test waits for the cheap global one.
  // At equality the batch closes, as in the paper's experiments (Section 7.1): with b_min = 1 the first batches then have one
  // member. The default C is an information that choices do reach, so rounding must not decide.
  const double limit = options.limit * (1 - 1e-9);
  if (posterior.pending_information() < limit) return false;
  if (!local) return true;
  const VectorXd seen = posterior.seen_variance();
  const VectorXd& all = posterior.variances();
  const double ratio = std::exp(2 * limit);
  for (Index i = 0; i < all.size(); ++i) {
    if (seen[i] > 0 && seen[i] >= ratio * all[i]) return true;
  }
  return false;
}

std::vector<BanditPick> simulation_matching(BanditPosterior& posterior, const BanditOptions& options, double root,
                                            const Kernel& kernel, ConstMatrixRef x, Rng& rng, Monitor& monitor) {
  const Index wanted = options.batch - posterior.pending();
  std::vector<Index> visited;
  for (int path = 0; path < options.paths; ++path) {
    BanditPosterior simulated = posterior;
    const auto see = [&](Index choice) {
      const auto law = simulated.predicted_result(choice);
      simulated.observe(choice, rng.normal(law.first, std::sqrt(law.second)));
    };
    for (const Index choice : simulated.pending_choices()) see(choice);
    for (Index k = 0; k < wanted; ++k) {
      monitor.check();
      const Index i = options.strategy == BanditStrategy::sm_ei ? argmax_improvement(simulated) : simulated.best_bound(root);
      visited.push_back(i);
      simulated.choose(i);
      see(simulated.chosen() - 1);
    }
  }
  // The points that represent all visited ones best, in the distance of the kernel: greedy k-medoids.
  const Index n = static_cast<Index>(visited.size());
  MatrixXd places(n, x.cols());
  for (Index i = 0; i < n; ++i) places.row(i) = x.row(visited[i]);
  const MatrixXd k = kernel.cross(places, places);
  const VectorXd d = k.diagonal();
  VectorXd nearest = VectorXd::Constant(n, infinity);
  std::vector<BanditPick> picks;
  for (Index b = 0; b < wanted; ++b) {
    Index best = 0;
    double least = infinity;
    for (Index c = 0; c < n; ++c) {
      const double sum = (d.array() + d[c] - 2 * k.col(c).array()).max(0.0).min(nearest.array()).sum();
      if (sum < least) {
        least = sum;
        best = c;
      }
    }
    nearest = (d.array() + d[best] - 2 * k.col(best).array()).max(0.0).min(nearest.array());
    picks.push_back(take(posterior, visited[best], root));
  }
  return picks;
}

double log_determinant(ConstMatrixRef k, double noise, const std::vector<Index>& set) {
  const Index n = static_cast<Index>(set.size());
  MatrixXd a(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) a(i, j) = k(set[i], set[j]) / noise + (i == j ? 1 : 0);
  }
  return n == 0 ? 0 : Cholesky(a).log_determinant();
}

}  // namespace

std::vector<BanditPick> next_batch(BanditPosterior& posterior, const BanditOptions& options, Rng& rng, Monitor& monitor) {
  std::vector<BanditPick> picks;
  if (closed(posterior, options)) return picks;
  const double root = options.beta.size() > 0 ? root_beta(posterior, options) : 0;
  if (options.strategy == BanditStrategy::sm_ucb || options.strategy == BanditStrategy::sm_ei) {
    return simulation_matching(posterior, options, root, posterior.kernel(), posterior.places(), rng, monitor);
  }
  if (options.strategy == BanditStrategy::repeat || options.strategy == BanditStrategy::top) {
    const Index wanted = options.batch - posterior.pending();
    const VectorXd bound = posterior.mean() + root * posterior.variances().cwiseSqrt();
    std::vector<Index> order(bound.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return bound[a] > bound[b]; });
    const bool same = options.strategy == BanditStrategy::repeat;
    for (Index b = 0; b < wanted; ++b) {
      picks.push_back(take(posterior, same ? order[0] : order[b % order.size()], root));
    }
    return picks;
  }
  while (!closed(posterior, options)) {
    const std::vector<BanditPick> one = next_pick(posterior, options, rng, monitor);
    if (one.empty()) break;
    picks.push_back(one[0]);
  }
  return picks;
}

std::vector<BanditPick> next_pick(BanditPosterior& posterior, const BanditOptions& options, Rng&, Monitor& monitor) {
  monitor.check();
  switch (options.strategy) {
    case BanditStrategy::sm_ucb:
    case BanditStrategy::sm_ei:
    case BanditStrategy::repeat:
    case BanditStrategy::top:
      throw InputError("this strategy plans whole batches and has no rule for single choices with a delay.");
    default:
      break;
  }
  if (closed(posterior, options)) return {};
  const double root = options.beta.size() > 0 ? root_beta(posterior, options) : 0;
  const Index candidate = pick_one(posterior, options);
  // HBBO looks at the point it would take: too uncertain because of what is pending, and the batch ends before it.
  const bool hybrid = options.strategy == BanditStrategy::hbbo || options.strategy == BanditStrategy::hbbo_ucb;
  if (hybrid && posterior.pending() >= options.least && posterior.pending_effect(candidate) > options.effect) {
    return {};
  }
  return {take(posterior, candidate, root)};
}

BanditRun simulate_bandit(const Kernel& kernel, ConstMatrixRef candidates, ConstVectorRef f, double noise, double prior_mean,
                          bool lazy, const BanditOptions& options, Index delay, Index rounds, Index most, Rng rng,
                          Monitor& monitor) {
  if (f.size() != candidates.rows()) {
    throw InputError(message("there are ", candidates.rows(), " candidates, but ", f.size(), " true values."));
  }
  BanditPosterior posterior(kernel, candidates, noise, prior_mean, lazy);
  BanditRun run;
  std::vector<double> rewards;
  Index seen = 0;
  Rng noise_rng = rng.stream(1), policy_rng = rng.stream(2);
  for (Index round = 0; round < rounds && posterior.chosen() < most; ++round) {
    while (seen < posterior.chosen() && (delay == 0 || run.rounds[seen] + delay <= round)) {
      posterior.observe(seen, rewards[seen]);
      ++seen;
    }
    const std::vector<BanditPick> picks =
        delay == 0 ? next_batch(posterior, options, policy_rng, monitor) : next_pick(posterior, options, policy_rng, monitor);
    for (const BanditPick& pick : picks) {
      run.choices.push_back(pick.candidate);
      run.rounds.push_back(round);
      rewards.push_back(f[pick.candidate] + std::sqrt(noise) * noise_rng.normal());
    }
  }
  const Index kept = std::min<Index>(most, static_cast<Index>(run.choices.size()));
  run.choices.resize(kept);
  run.rounds.resize(kept);
  run.rewards = Eigen::Map<const VectorXd>(rewards.data(), kept);
  run.solves = posterior.solves();
  return run;
}

double information_gain(ConstMatrixRef k, double noise, const std::vector<Index>& a, const std::vector<Index>& given) {
  if (!(noise > 0)) throw InputError("the noise variance must be positive.");
  std::vector<Index> both = given;
  both.insert(both.end(), a.begin(), a.end());
  return std::max(0.0, 0.5 * (log_determinant(k, noise, both) - log_determinant(k, noise, given)));
}

BestInformation best_information(ConstMatrixRef k, double noise, Index size, Monitor& monitor) {
  const Index n = k.rows();
  double count = 1;
  for (Index s = 0; s < size; ++s) count = count * static_cast<double>(n + s) / static_cast<double>(s + 1);
  if (count > 1e7) throw InputError(message("there are ", count, " sets to try, more than 1e7: use the greedy bounds."));
  BestInformation best;
  std::vector<Index> set;
  // Depth first; v: variances given the set so far, m: the rows of its pivoted factor.
  const std::function<void(Index, double, const VectorXd&, const MatrixXd&)> deeper = [&](Index from, double value,
                                                                                          const VectorXd& v, const MatrixXd& m) {
    monitor.check();
    for (Index i = from; i < n; ++i) {
      const double now = value + 0.5 * std::log1p(v[i] / noise);
      set.push_back(i);
      if (static_cast<Index>(set.size()) == size) {
        if (now > best.value) best = {now, set};
      } else {
        VectorXd s = k.col(i);
        if (m.cols() > 0) s.noalias() -= m * m.row(i).transpose();
        MatrixXd next(n, m.cols() + 1);
        next << m, s / std::sqrt(v[i] + noise);
        const VectorXd left = (v - next.col(m.cols()).cwiseAbs2()).cwiseMax(0);
        deeper(i, now, left, next);
      }
      set.pop_back();
    }
  };
  if (size > 0) deeper(0, 0, k.diagonal(), MatrixXd(n, 0));
  return best;
}

}  // namespace granary::process
