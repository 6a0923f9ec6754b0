// Batch bandits: worked picks, lazy against dense, information, closing rules.
#include "eigen.h"
#include <cmath>

#include "core/base/errors.h"
#include "process/bandit.h"
#include "harness.h"

using namespace granary;
using namespace granary::process;

namespace {

Kernel smooth(double l, double variance = 1, Index d = 1) {
  KernelSpec spec;
  spec.type = "se";
  spec.variance = variance;
  spec.scales = VectorXd::Constant(1, l);
  return Kernel(spec, d);
}

MatrixXd line(Index n) { return VectorXd::LinSpaced(n, 0, 1); }

BanditOptions with(BanditStrategy strategy, Index batch, double beta = 4) {
  BanditOptions options;
  options.strategy = strategy;
  options.batch = batch;
  options.beta = VectorXd::Constant(1, beta);
  return options;
}

BanditPosterior example(bool lazy) {  // two results on a grid of eleven
  BanditPosterior p(smooth(0.2), line(11), 0.01, 0, lazy);
  p.choose(2);
  p.choose(7);
  p.observe(0, 0.5);
  p.observe(1, -0.2);
  return p;
}

}  // namespace

TEST("GP-BUCB makes the worked picks, densely and lazily") {
  Monitor monitor;
  const Index picks[] = {0, 10, 4, 1, 3};
  const double bound[] = {1.899552, 1.821231, 1.596679, 0.753216, 0.682860};
  const double information[] = {2.083474, 4.336351, 6.265429, 6.878447, 7.390804};
  for (const bool lazy : {false, true}) {
    Rng rng(1);
    BanditPosterior p = example(lazy);
    const auto batch = next_batch(p, with(BanditStrategy::bucb, 5), rng, monitor);
    CHECK(batch.size() == 5);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      CHECK(batch[i].candidate == picks[i]);
      CHECK_NEAR(batch[i].bound, bound[i], 1e-6);
      CHECK_NEAR(batch[i].information, information[i], 1e-6);
    }
    CHECK(next_batch(p, with(BanditStrategy::bucb, 5), rng, monitor).empty());
  }
}

TEST("uncertainty sampling, its information, and the best set by trying all") {
  Monitor monitor;
  Rng rng(1);
  BanditPosterior p(smooth(0.2), line(11), 0.01, 0, false);
  const auto batch = next_batch(p, with(BanditStrategy::uncertainty, 4), rng, monitor);
  const Index picks[] = {0, 10, 5, 2};
  const double information[] = {2.307560, 4.615121, 6.920785, 8.931093};
  for (int i = 0; i < 4; ++i) {
    CHECK(batch[i].candidate == picks[i]);
    CHECK_NEAR(batch[i].information, information[i], 1e-6);
  }
  const MatrixXd k = smooth(0.2).matrix(line(11));
  const BestInformation best = best_information(k, 0.01, 3, monitor);
  CHECK_NEAR(best.value, 6.920785, 1e-6);
  CHECK_NEAR(information_gain(k, 0.01, best.set, {}), best.value, 1e-9);
  CHECK_NEAR(information_gain(k, 0.01, {0, 10}, {5}) + information_gain(k, 0.01, {5}, {}),
             information_gain(k, 0.01, {0, 10, 5}, {}), 1e-9);
  CHECK(information_gain(k, 0.01, {3}, {2}) < information_gain(k, 0.01, {3}, {}));
  CHECK_THROWS(best_information(MatrixXd::Identity(1000, 1000), 1, 6, monitor), InputError);
}

TEST("lazy and dense runs choose alike, and lazily fewer variances are computed") {
  Monitor monitor;
  const Kernel kernel = smooth(0.1, 0.5);
  const MatrixXd x = line(300);
  const VectorXd f = (9 * x.col(0).array()).sin();
  for (const Index delay : {0, 4}) {
    for (const BanditStrategy strategy : {BanditStrategy::ucb, BanditStrategy::bucb, BanditStrategy::aucb}) {
      BanditOptions options = with(strategy, 5, 2);
      options.limit = 1.5;
      if (strategy == BanditStrategy::ucb && delay > 0) continue;
      const BanditRun dense = simulate_bandit(kernel, x, f, 0.025, 0, false, options, delay, 60, 60, Rng(3), monitor);
      const BanditRun lazy = simulate_bandit(kernel, x, f, 0.025, 0, true, options, delay, 60, 60, Rng(3), monitor);
      CHECK(dense.choices == lazy.choices && dense.rounds == lazy.rounds);
      CHECK(lazy.solves < dense.solves / 3);
    }
  }
}

TEST("pending choices leave the mean alone, and the ratio of deviations is their local information") {
  BanditPosterior p = example(false);
  const VectorXd mean = p.mean(), before = p.seen_variance();
  p.choose(0);
  p.choose(5);
  CHECK((p.mean() - mean).norm() == 0);
  CHECK_NEAR((p.seen_variance() - before).norm(), 0, 1e-12);
  // Results equal to the mean change nothing.
  BanditPosterior fantasy = p;
  fantasy.observe(3, mean[5]);
  fantasy.observe(2, fantasy.mean()[0]);
  CHECK_NEAR((fantasy.mean() - mean).cwiseAbs().maxCoeff(), 0, 1e-10);
  // I(f(x); pending | seen) by determinants of the joint covariance of value and results.
  const MatrixXd k = smooth(0.2).matrix(line(11));
  const auto conditional = [&](Index at, const std::vector<Index>& given) {
    MatrixXd c(given.size(), given.size());
    VectorXd r(given.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      r[i] = k(given[i], at);
      for (std::size_t j = 0; j < given.size(); ++j) c(i, j) = k(given[i], given[j]) + (i == j ? 0.01 : 0);
    }
    return k(at, at) - r.dot(c.inverse() * r);
  };
  const double local = 0.5 * std::log(conditional(8, {2, 7}) / conditional(8, {2, 7, 0, 5}));
  CHECK_NEAR(std::sqrt(before[8] / p.variance(8)), std::exp(local), 1e-9);
  CHECK(local <= p.pending_information());
  CHECK_NEAR(p.pending_information(), information_gain(k, 0.01, {0, 5}, {2, 7}), 1e-9);
  // Out of order.
  BanditPosterior odd(smooth(0.2), line(11), 0.01, 0, true);
  for (const Index i : {1, 4, 9}) odd.choose(i);
  odd.observe(2, 0.3);
  CHECK_NEAR(odd.pending_information(), information_gain(k, 0.01, {1, 4}, {9}), 1e-9);
  CHECK(odd.pending() == 2 && odd.pending_choices().size() == 2);
  CHECK(odd.pending_effect(4) > 0);
}

TEST("adaptive batches close by information, HBBO by effect, and the baselines plan whole batches") {
  Monitor monitor;
  Rng rng(4);
  BanditOptions options = with(BanditStrategy::aucb, 8);
  options.limit = 4;
  BanditPosterior p = example(false);
  CHECK(next_batch(p, options, rng, monitor).size() == 2);  // 2.08, then 4.34 > 4
  options.least = 4;
  BanditPosterior q = example(false);
  CHECK(next_batch(q, options, rng, monitor).size() == 4);
  options.strategy = BanditStrategy::aucb_local;
  options.least = 1;
  BanditPosterior r = example(true);
  const auto local = next_batch(r, options, rng, monitor);
  CHECK(local.size() >= 2);
  BanditPosterior s = example(false);
  CHECK(next_batch(s, with(BanditStrategy::hbbo, 6), rng, monitor).size() < 6);
  BanditOptions free = with(BanditStrategy::hbbo, 6);
  free.effect = 1e9;
  BanditPosterior t = example(false);
  CHECK(next_batch(t, free, rng, monitor).size() == 6);
  for (const BanditStrategy strategy :
       {BanditStrategy::sm_ucb, BanditStrategy::sm_ei, BanditStrategy::repeat, BanditStrategy::top, BanditStrategy::ei}) {
    BanditPosterior u = example(false);
    const auto batch = next_batch(u, with(strategy, 3), rng, monitor);
    CHECK(batch.size() == 3);
    if (strategy == BanditStrategy::repeat) CHECK(batch[0].candidate == batch[2].candidate);
    if (strategy == BanditStrategy::top) CHECK(batch[0].candidate != batch[1].candidate);
  }
  CHECK_THROWS(next_pick(p, with(BanditStrategy::top, 3), rng, monitor), InputError);
}

TEST("bandits say what is wrong") {
  CHECK_THROWS(BanditPosterior(smooth(0.2), line(3), 0, 0, false), InputError);
  CHECK_THROWS(BanditPosterior(smooth(0.2), MatrixXd(0, 1), 1, 0, false), InputError);
  BanditPosterior p = example(false);
  CHECK_THROWS(p.choose(11), InputError);
  CHECK_THROWS(p.observe(0, 1), InputError);
  CHECK_THROWS(p.observe(5, 1), InputError);
  CHECK_THROWS(value_of<BanditStrategy>("greedy", "strategy"), InputError);
}
