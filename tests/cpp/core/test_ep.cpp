// Expectation propagation: exact cases, worked numbers, brute force, differences.
#include "eigen.h"
#include <cmath>
#include <limits>

#include "core/infer/ep.h"
#include "core/base/errors.h"
#include "core/math/special.h"
#include "harness.h"

using namespace granary;

namespace {

const double infinity = std::numeric_limits<double>::infinity();

// Moments of t(f) N(f | m, v) by Simpson's rule over where it matters.
template <class LogT>
SiteMoments brute(const LogT& log_t, double m, double v, double from, double to) {
  const int n = 200000;
  const double h = (to - from) / n;
  double top = -infinity;
  for (int k = 0; k <= n; ++k) {
    const double f = from + k * h;
    top = std::max(top, log_t(f) - 0.5 * (f - m) * (f - m) / v);
  }
  double sum = 0, first = 0, second = 0;
  for (int k = 0; k <= n; ++k) {
    const double f = from + k * h, w = (k == 0 || k == n ? 1
                                        : k % 2          ? 4
                                                         : 2) *
                                       std::exp(log_t(f) - 0.5 * (f - m) * (f - m) / v - top);
    sum += w;
    first += w * (f - from);
    second += w * (f - from) * (f - from);
  }
  const double mean = first / sum;
  return {top + std::log(sum * h / 3) - 0.5 * std::log(2 * 3.14159265358979323846 * v), from + mean, second / sum - mean * mean};
}

void check_moments(const SiteMoments& a, const SiteMoments& b, double tol) {
  CHECK_NEAR(a.log_z, b.log_z, tol * (1 + std::abs(b.log_z)));
  CHECK_NEAR(a.mean, b.mean, tol * (1 + std::abs(b.mean)));
  CHECK_NEAR(a.variance, b.variance, tol * b.variance);
}

EpResult run(const MatrixXd& k, const VectorXd& y, bool parallel) {
  Rng rng(1);
  Monitor monitor;
  EpOptions options;
  options.parallel = parallel;
  options.tol = 1e-9;
  options.max_sweeps = 500;
  return expectation_propagation(k, VectorXd::Zero(y.size()), ProbitSites(y), options, rng, monitor);
}

}  // namespace

TEST("tilted moments of every kind of site meet quadrature") {
  check_moments(probit_moments(-1, 0.7, 2), brute([](double f) { return normal_log_cdf(-f); }, 0.7, 2, -15, 12), 1e-9);
  const auto flat = [](double) { return 0.0; };
  check_moments(truncation_moments(-0.5, 1.5, 0.3, 2), brute(flat, 0.3, 2, -0.5, 1.5), 1e-9);
  check_moments(truncation_moments(2, infinity, -1, 1), brute(flat, -1, 1, 2, 12), 1e-9);
  check_moments(truncation_moments(20, 21, 0, 1), brute(flat, 0, 1, 20, 21), 1e-7);
  check_moments(truncation_moments(-21, -20, 0, 1), brute(flat, 0, 1, -21, -20), 1e-7);
  check_moments(truncation_moments(40, infinity, 0, 1), brute(flat, 0, 1, 40, 41), 1e-7);
  check_moments(truncation_moments(3, 3 + 1e-5, 0, 1), brute(flat, 0, 1, 3, 3 + 1e-5), 1e-7);
  check_moments(truncation_moments(-1, 8, 0, 1), brute(flat, 0, 1, -1, 8), 1e-9);
  check_moments(truncation_moments(-8, 1, 0, 1), brute(flat, 0, 1, -8, 1), 1e-9);
  check_moments(laplace_moments(0.7, 0.4, 1.5),
                brute([](double f) { return -std::abs(f) / 0.7 - std::log(1.4); }, 0.4, 1.5, -10, 10), 1e-7);
  check_moments(gaussian_moments(1, 0.5, -0.3, 2),
                brute([](double f) { return normal_log_pdf((f - 1) / std::sqrt(0.5)) - 0.5 * std::log(0.5); }, -0.3, 2, -9, 9),
                1e-9);
  const VectorXd y = VectorXd::Constant(1, -1.0);
  check_moments(LogitSites(y, 64).moments(0, 0.5, 3), brute([](double f) { return -std::log1p(std::exp(f)); }, 0.5, 3, -18, 18),
                1e-7);
  VectorXd values(2), weights = VectorXd::Zero(2);
  values << -1, 1;
  const SiteMoments spin = discrete_moments(values, weights, 0.3, 0.5);
  CHECK_NEAR(spin.mean, std::tanh(0.6), 1e-12);
  CHECK_NEAR(spin.variance, 1 - spin.mean * spin.mean, 1e-12);
  const SiteMoments slab = spike_slab_moments(1, 2, 0.5, 1), same = gaussian_moments(0, 2, 0.5, 1),
                    both = spike_slab_moments(0.5, 2, 0.5, 1);
  check_moments(slab, same, 1e-12);
  CHECK(std::abs(both.mean) < slab.mean && both.variance > 0);
}

TEST("truncated moments stay right far out and at any scale") {
  for (const double scale : {1e-8, 1.0, 1e8}) {
    const SiteMoments a =
        truncation_moments(0, infinity, -1e3 * scale, scale * scale);  // nearly exponential with rate 1000 / scale
    CHECK_NEAR(a.mean / scale, 1e-3, 1e-8);
    CHECK_NEAR(a.variance / (scale * scale), 1e-6, 1e-11);
    const SiteMoments b = truncation_moments(-infinity, 0, 1e6 * scale, scale * scale);
    CHECK_NEAR(b.mean / scale, -1e-6, 1e-14);
    const SiteMoments c = truncation_moments(-infinity, infinity, 2 * scale, scale * scale);
    CHECK_NEAR(c.mean / scale, 2, 1e-12);
    CHECK_NEAR(c.variance / (scale * scale), 1, 1e-12);
    CHECK_NEAR(c.log_z, 0, 1e-12);
  }
}

TEST("EP of one and two probit sites meets the worked numbers, in both kinds of sweeps") {
  for (const bool parallel : {false, true}) {
    const EpResult one = run(MatrixXd::Constant(1, 1, 25), VectorXd::Ones(1), parallel);
    CHECK(one.convergence.converged);
    CHECK_NEAR(one.log_z, std::log(0.5), 1e-12);
    CHECK_NEAR(one.mean[0], 3.9119509, 1e-6);
    CHECK_NEAR(one.variance[0], 9.6966401, 1e-6);
    MatrixXd k(2, 2);
    k << 4, 2.4, 2.4, 4;
    VectorXd y(2);
    y << 1, 1;
    CHECK_NEAR(run(k, y, parallel).log_z, -1.111183, 1e-6);
    y << 1, -1;
    CHECK_NEAR(run(k, y, parallel).log_z, -1.769471, 1e-6);
    MatrixXd k5(5, 5);
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < 5; ++j) k5(i, j) = 2.25 * std::exp(-0.5 * (i - j) * (i - j));
    }
    VectorXd y5(5), mean(5);
    y5 << -1, -1, 1, -1, 1;
    mean << -1.246426, -0.738190, 0.097695, -0.071577, 0.503432;
    const EpResult five = run(k5, y5, parallel);
    CHECK_NEAR(five.log_z, -4.233143, 1e-6);
    CHECK_NEAR((five.mean - mean).cwiseAbs().maxCoeff(), 0, 1e-6);
    CHECK_NEAR((k5 * five.weight - five.mean).norm(), 0, 1e-10);
    CHECK_NEAR((five.covariance.diagonal() - five.variance).norm(), 0, 1e-12);
  }
}

TEST("orthant probabilities of equicorrelated normals, and Gaussian sites exactly") {
  const double target[] = {-1.100428, -1.798554, -3.062742};
  const int sizes[] = {2, 5, 20};
  Rng rng(2);
  Monitor monitor;
  for (int s = 0; s < 3; ++s) {
    const int n = sizes[s];
    MatrixXd k = MatrixXd::Constant(n, n, 0.5);
    k.diagonal().setOnes();
    const TruncationSites sites(VectorXd::Zero(n), VectorXd::Constant(n, infinity));
    const EpResult r = expectation_propagation(k, VectorXd::Zero(n), sites, {}, rng, monitor);
    CHECK(r.convergence.converged);
    CHECK_NEAR(r.log_z, target[s], 2e-6);
  }
  MatrixXd k(2, 2);
  k << 2, 0.7, 0.7, 1;
  VectorXd mu(2), y(2);
  mu << 1, -1;
  y << 0.5, 0.2;
  std::vector<MixedSites::Function> sites;
  for (int i = 0; i < 2; ++i) sites.push_back([&y, i](double m, double v) { return gaussian_moments(y[i], 0.3, m, v); });
  const EpResult r = expectation_propagation(k, mu, MixedSites(sites, true), {}, rng, monitor);
  MatrixXd total = k;
  total.diagonal().array() += 0.3;
  const double det = total.determinant();
  const VectorXd d = y - mu, solved = total.inverse() * d;
  CHECK_NEAR(r.log_z, -0.5 * (d.dot(solved) + std::log(det)) - std::log(2 * 3.14159265358979323846), 1e-10);
  CHECK_NEAR((r.mean - mu - k * solved).norm(), 0, 1e-10);
}

TEST("spins with negative site precisions, and the gradient of log Z in K") {
  // p(x) ~ exp(x'Jx / 2 + theta'x) with K = (c I - J)^-1: sites are spins, some tau are negative.
  MatrixXd j = MatrixXd::Zero(3, 3);
  j(0, 1) = j(1, 0) = 0.5;
  j(0, 2) = j(2, 0) = -0.4;
  j(1, 2) = j(2, 1) = 0.3;
  VectorXd theta(3), values(2);
  theta << 0.2, -0.1, 0.4;
  values << -1, 1;
  const double c = 3;
  const MatrixXd k = (c * MatrixXd::Identity(3, 3) - j).inverse();
  const VectorXd mu = k * theta;
  const VectorXd even = VectorXd::Zero(2);
  const std::vector<MixedSites::Function> sites(3, [&](double m, double v) { return discrete_moments(values, even, m, v); });
  Rng rng(3);
  Monitor monitor;
  EpOptions options;
  options.tol = 1e-9;
  const EpResult r = expectation_propagation(k, mu, MixedSites(sites, false), options, rng, monitor);
  CHECK(r.convergence.converged);
  CHECK(r.tau.minCoeff() < 0);
  const double log_z =
      r.log_z + 1.5 * std::log(2 * 3.14159265358979323846) + 0.5 * std::log(k.determinant()) + 0.5 * theta.dot(mu) + 1.5 * c;
  CHECK_NEAR(log_z, 2.3371559, 1e-6);
  CHECK_NEAR(r.mean[2], 0.3222516, 1e-6);
  CHECK_NEAR(r.covariance(0, 1), 0.3525767, 1e-6);

  MatrixXd prior(3, 3);
  prior << 2, 0.5, 0.3, 0.5, 1, 0.2, 0.3, 0.2, 1.5;
  VectorXd y(3);
  y << 1, -1, 1;
  const EpResult at = run(prior, y, false);
  const MatrixXd gradient = 0.5 * (at.weight * at.weight.transpose() - EpSolver(prior, at.tau).r());
  MatrixXd up = prior, down = prior;
  up(0, 1) = up(1, 0) = 0.5 + 1e-4;
  down(0, 1) = down(1, 0) = 0.5 - 1e-4;
  CHECK_NEAR(2 * gradient(0, 1), (run(up, y, false).log_z - run(down, y, false).log_z) / 2e-4, 1e-6);
}

TEST("EP refuses what does not fit") {
  Rng rng(1);
  Monitor monitor;
  CHECK_THROWS(
      expectation_propagation(MatrixXd::Identity(2, 2), VectorXd::Zero(3), ProbitSites(VectorXd::Ones(2)), {}, rng, monitor),
      InputError);
  CHECK_THROWS(
      expectation_propagation(-MatrixXd::Identity(2, 2), VectorXd::Zero(2), ProbitSites(VectorXd::Ones(2)), {}, rng, monitor),
      NumericalError);
  EpOptions options;
  options.max_sweeps = 1;
  MatrixXd k(2, 2);
  k << 100, 99, 99, 100;
  const EpResult r = expectation_propagation(k, VectorXd::Zero(2), ProbitSites(VectorXd::Ones(2)), options, rng, monitor);
  CHECK(!r.convergence.converged && !r.convergence.message.empty());
}

TEST("parallel sweeps with extrapolation end where plain ones do, and variances hold where sites are nearly flat") {
  Rng rng(4);
  Monitor monitor;
  const Index n = 60;
  MatrixXd k(n, n);
  VectorXd x = rng.normals(n), y(n);
  for (const double variance : {1e-6, 1.0, 1e4}) {
    for (Index i = 0; i < n; ++i) {
      y[i] = x[i] > 0.2 ? 1 : -1;
      for (Index j = 0; j < n; ++j) k(i, j) = variance * std::exp(-0.5 * (x[i] - x[j]) * (x[i] - x[j]));
    }
    EpOptions options;
    options.parallel = true;
    options.tol = 1e-8;
    options.max_sweeps = 500;
    options.with_r = true;
    const EpResult fast = expectation_propagation(k, VectorXd::Zero(n), ProbitSites(y), options, rng, monitor);
    options.accelerate = false;
    const EpResult plain = expectation_propagation(k, VectorXd::Zero(n), ProbitSites(y), options, rng, monitor);
    CHECK(fast.convergence.converged && plain.convergence.converged);
    CHECK(fast.convergence.iterations <= plain.convergence.iterations + 5);
    CHECK_NEAR(fast.log_z, plain.log_z, 1e-9 * n);
    const EpSolver solver(k, fast.tau);
    CHECK_NEAR((solver.variance() - solver.covariance().diagonal()).cwiseQuotient(solver.variance()).cwiseAbs().maxCoeff(), 0,
               1e-6);
    CHECK_NEAR((fast.r - solver.r()).norm(), 0, 1e-12 * (1 + fast.r.norm()));
    CHECK_NEAR(fast.log_determinant, solver.log_determinant(), 1e-10);
  }
}
