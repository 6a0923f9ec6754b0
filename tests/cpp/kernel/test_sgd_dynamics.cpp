// Numbers marked "prototype" were computed independently of this code, with a fine uniform step.
#include "eigen.h"
#include <cmath>
#include <complex>

#include "core/base/errors.h"
#include "kernel/sgd_fit.h"
#include "kernel/sgd_dynamics.h"
#include "kernel/sgd_optimize.h"
#include "kernel/sgd_simulate.h"
#include "harness.h"

using namespace granary;
using namespace granary::kernel;

namespace {

double test_at(double alpha, double eta, double lambda, double sigma2, double t, int nodes = 300) {
  Monitor monitor;
  return test_error({MarchenkoPastur(alpha).quadrature(nodes), alpha, sigma2, true}, {eta, lambda}, t, monitor);
}

// c' = -rate c + source (E_0 + load.c) in its eigenvectors: an independent solution for a few modes, E_0 by quadrature in time.
struct Dense {
  VectorXd spread;
  double train;
};
Dense dense_solution(const SgdModes& modes, const SgdStep& step, double t) {
  const Index n = modes.value.size();
  MatrixXd a(n, n);
  const VectorXd source = step.eta * step.eta / modes.alpha * modes.value,
                 load = modes.weight.cwiseProduct(modes.value) / modes.alpha;
  a = source * load.transpose();
  a.diagonal() -= 2 * step.eta / modes.alpha * (modes.value.array() + step.lambda).matrix();
  const Eigen::EigenSolver<MatrixXd> eigen(a);
  const auto mean = [&](double u) {
    const VectorXd g = progress_online(modes, step, u);
    double sum = 0.5 * modes.response;
    for (Index k = 0; k < n; ++k) {
      const double end = g[k] / (modes.value[k] + step.lambda);
      sum += modes.weight[k] * modes.power[k] / modes.alpha * (-end + 0.5 * modes.value[k] * end * end);
    }
    return sum;
  };
  const Eigen::MatrixXcd vectors = eigen.eigenvectors();
  const Eigen::VectorXcd pushed = vectors.fullPivLu().solve(source.cast<std::complex<double>>());
  Eigen::VectorXcd total = Eigen::VectorXcd::Zero(n);
  const int steps = 4000;  // Simpson
  for (int k = 0; k <= steps; ++k) {
    const double u = t * k / steps, w = (k == 0 || k == steps ? 1 : k % 2 == 1 ? 4 : 2) * t / (3.0 * steps) * mean(u);
    for (Index j = 0; j < n; ++j) total[j] += w * std::exp(eigen.eigenvalues()[j] * (t - u)) * pushed[j];
  }
  const VectorXd spread = (vectors * total).real();
  return {spread, mean(t) + load.dot(spread)};
}

}  // namespace

TEST("SGD curve: start, prototype values, end") {
  Monitor monitor;
  const MarchenkoPastur law(2);
  const SgdModes modes = teacher_modes(law.quadrature(300), 2, 0.1);
  VectorXd times(5);
  times << 0, 1, 2, 5, 2000;
  const SgdCurve curve = online_curve(modes, {1, 0.1}, times, {}, monitor);
  CHECK_NEAR(curve.train[0], 0.55, 1e-12);
  CHECK_NEAR(curve.train[1], 0.210549, 6e-7);
  CHECK_NEAR(curve.train[3], 0.064394, 6e-7);
  CHECK_NEAR(test_at(2, 1, 0.1, 0.1, 0), 0.5, 1e-12);
  CHECK_NEAR(test_at(2, 1, 0.1, 0.1, 1), 0.245948, 1e-6);
  CHECK_NEAR(test_at(2, 1, 0.1, 0.1, 2), 0.154896, 1e-6);
  CHECK_NEAR(test_at(2, 1, 0.1, 0.1, 5), 0.083313, 1e-6);
  const SgdTheory::Asymptote end = SgdTheory(law).asymptote({1, 0.1}, 0.1);
  CHECK_NEAR(end.test, 0.0659497, 5e-8);
  CHECK_NEAR(test_at(2, 1, 0.1, 0.1, 2000), end.test, 1e-9);
  CHECK_NEAR(curve.train[4], end.train, 1e-9);
}

TEST("SGD curve: against a dense solution for a few modes") {
  Monitor monitor;
  SgdModes modes;
  modes.alpha = 1.3;
  modes.value.resize(5);
  modes.value << 0, 0.02, 0.7, 1.9, 3.4;
  modes.weight.resize(5);
  modes.weight << 0.1, 0.3, 0.2, 0.25, 0.15;
  modes.power = modes.value.array().square() + 0.2 * modes.value.array();
  modes.response = modes.weight.dot(modes.value) / modes.alpha + 0.2;
  for (const SgdStep step : {SgdStep{0.3, 0.0001}, SgdStep{1, 0.1}, SgdStep{1.4, 2}, SgdStep{3, 0.1}}) {
    for (const double t : {0.01, 0.5, 3.0}) {
      SgdCurveOptions options;
      options.keep_spread = true;
      options.tol = 1e-8;
      const SgdCurve curve = online_curve(modes, step, VectorXd::Constant(1, t), options, monitor);
      const Dense exact = dense_solution(modes, step, t);
      CHECK_NEAR(curve.train[0] / exact.train, 1, 2e-9);
      CHECK_NEAR((curve.spread.col(0) - exact.spread).norm() / exact.spread.norm(), 0, 5e-9);
    }
  }
}

TEST("SGD curve: the default tolerance keeps seven digits, and a tighter one costs steps as the third root") {
  Monitor monitor;
  const SgdModes modes = teacher_modes(MarchenkoPastur(1).quadrature(200), 1, 0.1);
  const VectorXd time = VectorXd::Constant(1, 30);
  const auto solve = [&](double tol) {
    SgdCurveOptions options;
    options.tol = tol;
    return online_curve(modes, {1.5, 0.01}, time, options, monitor);
  };
  const SgdCurve fine = solve(1e-9), usual = solve(1e-5), coarse = solve(1e-3);
  CHECK_NEAR(usual.train[0] / fine.train[0], 1, 1e-6);
  CHECK(std::abs(coarse.train[0] - fine.train[0]) > 5 * std::abs(usual.train[0] - fine.train[0]));
  CHECK(fine.steps > 5 * usual.steps && fine.steps < 50 * usual.steps);
  // Output times in between change nothing beyond the tolerance.
  const SgdCurve dense = online_curve(modes, {1.5, 0.01}, VectorXd::LinSpaced(301, 0, 30), {}, monitor);
  CHECK_NEAR(dense.train[300] / fine.train[0], 1, 1e-6);
}

TEST("SGD curve: small rates follow gradient flow, whose end is ridge regression") {
  const MarchenkoPastur law(2);
  const SgdModes modes = teacher_modes(law.quadrature(300), 2, 0.1);
  // Same eta t: online at a tiny rate, full-gradient descent at a tiny rate.
  const double flow = test_at(2, 1e-5, 0.1, 0.1, 3e5);
  const SgdStep small{1e-5, 0.1};
  const MeanError batch = mean_error(modes, small, progress_offline(modes, small, 3e5), 0.1);
  CHECK_NEAR(flow, batch.bias + batch.variance, 1e-5);
  CHECK_NEAR(test_at(2, 1e-5, 0.1, 0.1, 1e8), SgdTheory(law).asymptote({0, 0.1}, 0.1).test, 2e-6);
  // lambda = sigma2 : (sigma2 / 2) g(sigma2)
  for (const double alpha : {0.5, 1.0, 3.0}) {
    const MarchenkoPastur other(alpha);
    CHECK_NEAR(SgdTheory(other).asymptote({0, 0.3}, 0.3).test, 0.5 * (1 - other.mean_shrinkage(0.3)), 1e-13);
  }
}

TEST("SGD theory: critical rates, prototype values and limits") {
  const auto theory = [](double alpha) { return SgdTheory(MarchenkoPastur(alpha)); };
  CHECK_NEAR(theory(0.5).critical_rate(0.1), 2.186191, 6e-7);
  CHECK_NEAR(theory(1).critical_rate(0.1), 2.157461, 6e-7);
  CHECK_NEAR(theory(2).critical_rate(1), 2.828427, 6e-7);
  CHECK_NEAR(theory(5).critical_rate(1), 2.385165, 6e-7);
  CHECK_NEAR(theory(0.5).fastest_rate(0.1), 2.014116, 6e-7);
  CHECK_NEAR(theory(1).fastest_rate(1), 2.666667, 6e-7);
  CHECK_NEAR(theory(5).fastest_rate(0.1), 1.700412, 6e-7);
  CHECK_NEAR(theory(2).slow_mode_rate(0), 1.783612, 6e-7);
  for (const double alpha : {1e-3, 0.5, 1.0, 4.0, 1e5}) CHECK_NEAR(theory(alpha).critical_rate(0), 2, 1e-12);
  CHECK_NEAR(theory(1e-6).critical_rate(0.7), 2 * 1.7, 1e-5);    // 2 (1 + lambda)
  CHECK_NEAR(theory(1e8).critical_rate(3e7), 2 * 1.3, 1e-6);     // 2 (1 + lambda / alpha)
  CHECK_NEAR((theory(1e8).fastest_rate(0) - 1) * 1e4, 2, 1e-3);  // 1 + 2 / sqrt(alpha)
  CHECK_NEAR(theory(3).offline_limit(0.2), 2 / ((1 + std::sqrt(3.0)) * (1 + std::sqrt(3.0)) + 0.2), 1e-14);
  // large alpha: (sigma2 / 2) [1/alpha + eta / (2 - eta)]
  CHECK_NEAR(theory(1e4).asymptote({0.5, 0}, 0.1).test, 0.05 * (1e-4 + 0.5 / 1.5), 5e-6);
  // few examples, no decay: nothing depends on the rate
  CHECK_NEAR(theory(0.5).asymptote({1.5, 0}, 0.1).test, theory(0.5).asymptote({0.1, 0}, 0.1).test, 1e-14);
  CHECK(std::isinf(theory(1).asymptote({0.5, 0}, 0.1).test));
  CHECK_NEAR(theory(1).asymptote({0.5, 0}, 0).test, 0, 1e-14);
  // 1 / eps is linear in eta near eta_c and ends at zero there
  const double critical = theory(2).critical_rate(0.1);
  const double near = 1 / theory(2).asymptote({critical - 1e-6, 0.1}, 0.1).test,
               half = 1 / theory(2).asymptote({critical - 2e-6, 0.1}, 0.1).test;
  CHECK_NEAR(half / near, 2, 1e-4);
  CHECK(std::isinf(theory(2).asymptote({critical, 0.1}, 0.1).test));
}

TEST("SGD theory: the slow mode starts at eta_min, crosses at eta_x, stops at eta_c") {
  for (const double alpha : {0.4, 2.0, 6.0}) {
    for (const double lambda : {0.0, 0.1, 1.0}) {
      const SgdTheory theory{MarchenkoPastur(alpha)};
      const double least = theory.slow_mode_rate(lambda), fast = theory.fastest_rate(lambda),
                   critical = theory.critical_rate(lambda);
      CHECK(std::isnan(theory.slow_decay({least * 0.999, lambda})));
      CHECK_NEAR(theory.slow_decay({least * (1 + 1e-9), lambda}) / theory.normal_decay({least, lambda}), 2, 1e-3);
      CHECK_NEAR(theory.slow_decay({fast, lambda}) / theory.normal_decay({fast, lambda}), 1, 1e-9);
      CHECK_NEAR(theory.slow_decay({critical, lambda}), 0, 1e-9);
      CHECK(theory.slow_decay({1.2 * critical, lambda}) < 0);
    }
  }
  // The decay that the curve really shows, above eta_x.
  const SgdTheory theory{MarchenkoPastur(3)};
  const SgdStep step{1.95, 0.1};
  CHECK(step.eta > theory.fastest_rate(0.1));
  const double end = theory.asymptote(step, 0.1).test;
  const double shown = std::log((test_at(3, 1.95, 0.1, 0.1, 40) - end) / (test_at(3, 1.95, 0.1, 0.1, 60) - end)) / 20;
  CHECK_NEAR(shown / theory.slow_decay(step), 1, 1e-3);
  // ... and its growth beyond eta_c.
  const double growth = std::log(test_at(3, 2.5, 0.1, 0.1, 60) / test_at(3, 2.5, 0.1, 0.1, 40)) / 20;
  CHECK_NEAR(growth / -theory.slow_decay({2.5, 0.1}), 1, 1e-3);
}

TEST("SGD theory: sums over a spectrum agree with the closed forms") {
  for (const double alpha : {0.5, 2.0}) {
    const MarchenkoPastur law(alpha);
    const SgdTheory closed(law), sums(law.quadrature(3000), alpha);
    CHECK_NEAR(sums.critical_rate(0.1), closed.critical_rate(0.1), 1e-8);
    CHECK_NEAR(sums.fastest_rate(0.1), closed.fastest_rate(0.1), 1e-4);
    CHECK_NEAR(sums.asymptote({1, 0.1}, 0.1).test, closed.asymptote({1, 0.1}, 0.1).test, 1e-8);
    CHECK_NEAR(sums.asymptote({1, 0.1}, 0.1).train, closed.asymptote({1, 0.1}, 0.1).train, 1e-8);
    CHECK_NEAR(sums.slow_decay({2.1, 0.1}), closed.slow_decay({2.1, 0.1}), 1e-6);
  }
  CHECK_THROWS(SgdTheory(Quadrature{VectorXd::Zero(3), VectorXd::Constant(3, 1.0 / 3)}, 1), InputError);
}

TEST("SGD curve: divergence, scale and bad input") {
  Monitor monitor;
  const SgdModes modes = teacher_modes(MarchenkoPastur(1).quadrature(100), 1, 0.1);
  VectorXd times(3);
  times << 0, 1, 1e6;
  const SgdCurve wild = online_curve(modes, {5, 0}, times, {}, monitor);
  CHECK(std::isfinite(wild.train[1]) && wild.train[1] > 1 && std::isinf(wild.train[2]) && std::isinf(wild.noise[2]));
  const SgdCurve wilder = online_curve(modes, {1e6, 0}, times, {}, monitor);
  CHECK(std::isinf(wilder.train[1]));
  CHECK(std::isinf(offline_curve(modes, {5, 0}, times).train[2]));
  // A response c times as large has an error c^2 times as large.
  for (const double scale : {1e-16, 1e16}) {
    SgdModes scaled = modes;
    scaled.power *= scale;
    scaled.response *= scale;
    const VectorXd t = VectorXd::Constant(1, 3);
    CHECK_NEAR(
        online_curve(scaled, {1, 0.1}, t, {}, monitor).train[0] / scale / online_curve(modes, {1, 0.1}, t, {}, monitor).train[0],
        1, 1e-9);
  }
  VectorXd back(2);
  back << 2, 1;
  CHECK_THROWS(online_curve(modes, {1, 0}, back, {}, monitor), InputError);
  CHECK_THROWS(online_curve(modes, {-1, 0}, times, {}, monitor), InputError);
  CHECK_THROWS(offline_curve(modes, {1, -1}, times), InputError);
  CHECK_THROWS(value_of<SgdOrder>("backwards", "order"), InputError);
  CHECK_THROWS(test_error({MarchenkoPastur(1).quadrature(50), 1, 0.1, true}, {1, 0}, -1, monitor), InputError);
}

TEST("best step: prototype values, and no better one nearby") {
  Monitor monitor;
  const auto best = [&](double alpha, double t, double lambda, bool online) {
    const MarchenkoPastur law(alpha);
    return best_step({law.quadrature(150), alpha, 0.1, online}, SgdTheory(law), t, lambda, monitor);
  };
  CHECK_NEAR(best(1, 10, 0.1, true).step.eta, 0.7547, 1e-4);
  CHECK_NEAR(best(1, 10, 0.1, true).test, 0.14574, 1e-5);
  CHECK_NEAR(best(2, 50, 0.1, true).step.eta, 0.2098, 1e-4);
  CHECK_NEAR(best(2, 50, 0.1, true).test, 0.04597, 1e-5);
  CHECK(best(2, 10, -1, true).step.lambda == 0);  // early on any decay hurts
  const SgdOptimum both = best(1, 10, -1, true);
  CHECK(both.test < best(1, 10, 0.1, true).test && both.step.lambda > 0.01 && both.step.lambda < 0.1);
  const SgdProblem problem{MarchenkoPastur(1).quadrature(150), 1, 0.1, true};
  for (const double factor : {0.97, 1.03}) {
    CHECK(test_error(problem, {both.step.eta * factor, both.step.lambda}, 10, monitor) > both.test);
    CHECK(test_error(problem, {both.step.eta, both.step.lambda * factor}, 10, monitor) > both.test);
  }
  CHECK(best(1, 10, -1, false).test < best(1, 10, -1, true).test);
  CHECK_THROWS(best(1, 0, 0.1, true), InputError);
}

TEST("schedule of the rate is a regression of eta t on log t") {
  VectorXd t(4), eta(4);
  t << 1, 2, 5, 20;
  for (Index k = 0; k < 4; ++k) eta[k] = (0.3 + 1.7 * std::log(t[k])) / t[k];
  const EtaSchedule fit = fit_eta_schedule(t, eta);
  CHECK_NEAR(fit.a, 0.3, 1e-12);
  CHECK_NEAR(fit.b, 1.7, 1e-12);
  CHECK_NEAR(fit.residual, 0, 1e-12);
  CHECK_THROWS(fit_eta_schedule(VectorXd::Ones(1), VectorXd::Ones(1)), InputError);
  CHECK_THROWS(fit_eta_schedule(VectorXd::Ones(3), VectorXd::Ones(3)), InputError);
}

TEST("exact means: against all orders of a tiny problem, and against the simulator") {
  Monitor monitor;
  MatrixXd x(2, 3);
  x << 1, -0.5, 0.3, 0.2, 1.1, -0.9;
  VectorXd y(3), teacher(2);
  y << 0.4, -1, 0.7;
  teacher << 1, -1;
  const SgdStep step{0.8, 0.3};
  // Four updates: 81 orders, each as likely.
  const int updates = 4;
  double train = 0, test = 0;
  VectorXd mean = VectorXd::Zero(2);
  for (int code = 0; code < 81; ++code) {
    VectorXd w = VectorXd::Zero(2);
    for (int k = 0, rest = code; k < updates; ++k, rest /= 3) {
      const int mu = rest % 3;
      const double error = x.col(mu).dot(w) / std::sqrt(2.0) - y[mu];
      w = (w - step.eta * (x.col(mu) * error / std::sqrt(2.0) + step.lambda / 3 * w)).eval();
    }
    train += (x.transpose() * w / std::sqrt(2.0) - y).squaredNorm() / 6 / 81;
    test += (w - teacher).squaredNorm() / 4 / 81;
    mean += w / 81;
  }
  const SgdMoments exact = exact_sgd(x, y, teacher, false, 0, step, VectorXi::Constant(1, updates), monitor);
  CHECK_NEAR(exact.train[0], train, 1e-14);
  CHECK_NEAR(exact.test[0], test, 1e-14);
  CHECK_NEAR((exact.mean.col(0) - mean).norm(), 0, 1e-14);
  VectorXd times(1);
  times << 2;
  const SgdRuns runs = simulate_sgd(SgdData{x, y, x, y}, step, SgdOrder::replacement, times, 4000, Rng(1), 1, monitor);
  CHECK_NEAR(runs.train.row(0).mean(), train, 0.01);
  CHECK(runs.test == runs.train);
  // Averaging over noise: the mean over both signs of the noise of each of two examples.
  const MatrixXd two = x.leftCols(2);
  const VectorXd clean = two.transpose() * teacher / std::sqrt(2.0);
  const SgdMoments averaged = exact_sgd(two, clean, teacher, true, 0.25, step, VectorXi::Constant(1, 5), monitor);
  double signs_train = 0, signs_test = 0;
  for (int code = 0; code < 4; ++code) {
    VectorXd noisy = clean;
    noisy[0] += code % 2 == 0 ? 0.5 : -0.5;
    noisy[1] += code / 2 == 0 ? 0.5 : -0.5;
    const SgdMoments one = exact_sgd(two, noisy, teacher, false, 0, step, VectorXi::Constant(1, 5), monitor);
    signs_train += one.train[0] / 4;
    signs_test += one.test[0] / 4;
  }
  CHECK_NEAR(averaged.train[0], signs_train, 1e-14);
  CHECK_NEAR(averaged.test[0], signs_test, 1e-14);
  CHECK(std::isnan(exact_sgd(x, y, VectorXd(), false, 0, step, VectorXi::Constant(1, 1), monitor).test[0]));
  CHECK_THROWS(exact_sgd(x, clean, teacher, false, 0, step, VectorXi::Constant(1, 1), monitor), InputError);
  CHECK_THROWS(exact_sgd(x, y, y, false, 0, step, VectorXi::Constant(1, 1), monitor), InputError);
  CHECK_THROWS(exact_sgd(x, y, teacher, false, 0, {50, 0}, VectorXi::Constant(1, 500), monitor), NumericalError);
}

TEST("simulated SGD: theory within its standard error, same answer on two threads, other orders") {
  Monitor monitor;
  SgdSimulation setting;
  setting.weights = 80;
  setting.examples = 160;
  setting.step = {1, 0.1};
  VectorXd times(2);
  times << 1, 5;
  const SgdRuns one = simulate_sgd(setting, times, 60, Rng(7), 1, monitor),
                two = simulate_sgd(setting, times, 60, Rng(7), 2, monitor);
  CHECK(one.test == two.test && one.train == two.train);
  const double mean = one.test.row(0).mean(), se = std::sqrt((one.test.row(0).array() - mean).square().mean() / 59);
  CHECK_NEAR(mean, 0.245948, 3.5 * se);
  setting.order = SgdOrder::shuffled;
  const double shuffled = simulate_sgd(setting, times, 60, Rng(7), 1, monitor).test.row(1).mean();
  CHECK(shuffled < one.test.row(1).mean());  // without replacement there is less noise
  setting.order = SgdOrder::full;
  setting.step.eta = 0.2;
  const SgdModes modes = teacher_modes(MarchenkoPastur(2).quadrature(200), 2, 0.1);
  const SgdRuns full = simulate_sgd(setting, VectorXd::Constant(1, 9), 60, Rng(8), 1, monitor);
  CHECK_NEAR(full.train.row(0).mean(), offline_curve(modes, {0.2, 0.1}, VectorXd::Constant(1, 9)).train[0], 0.01);
  setting.weights = 0;
  CHECK_THROWS(simulate_sgd(setting, times, 1, Rng(1), 1, monitor), InputError);
}

TEST("the course on data starts at half the mean square of the response and ends at the ridge estimate") {
  Rng rng(3);
  const Index p = 60, n = 5;
  MatrixXd x(p, n);
  for (Index j = 0; j < n; ++j) x.col(j) = rng.normals(p);
  for (Index j = 0; j < n; ++j) {
    x.col(j).array() -= x.col(j).mean();
    x.col(j) /= std::sqrt(x.col(j).squaredNorm() / p);
  }
  VectorXd y = x * VectorXd::LinSpaced(n, -1, 1) + 0.1 * rng.normals(p);
  y.array() -= y.mean();
  SgdSetting s;
  s.alpha = static_cast<double>(p) / n;
  s.eta = 0.05;
  s.lambda = 0.3;
  s.method = SgdMethod::offline;
  Monitor monitor;
  VectorXd times(2);
  times << 0, 1e5 * s.alpha;
  const SgdDataFit fit = sgd_on_data(x, y, x, y, s, times, monitor);
  CHECK_NEAR(fit.train[0], y.squaredNorm() / (2 * p), 1e-10);
  CHECK_NEAR(fit.test[1], fit.train[1], 1e-8);
  const MatrixXd a = x.transpose() * x / n + s.lambda * MatrixXd::Identity(n, n);
  CHECK((a * fit.weights - x.transpose() * y / std::sqrt(static_cast<double>(n))).cwiseAbs().maxCoeff() < 1e-6);
  CHECK_NEAR(fit.spectrum.sum(), x.squaredNorm() / n, 1e-8);
  CHECK_THROWS(sgd_on_data(x, y.head(3), x, y, s, times, monitor), InputError);
}
