#include "eigen.h"
#include <limits>

#include "core/optim/l1_quadratic.h"
#include "draw.h"
#include "harness.h"

using namespace granary;

namespace {

const double infinity = std::numeric_limits<double>::infinity();

// Tries every sign pattern: the minimiser is the one whose stationary point has the pattern's signs and passes the inequalities.
VectorXd brute_force(const MatrixXd& s, const VectorXd& r, const VectorXd& mu) {
  const Index p = r.size();
  Index patterns = 1;
  for (Index j = 0; j < p; ++j) patterns *= 3;
  VectorXd best = VectorXd::Zero(p);
  double best_value = 0;
  for (Index code = 0; code < patterns; ++code) {
    VectorXd sign(p);
    std::vector<Index> in;
    for (Index j = 0, rest = code; j < p; ++j, rest /= 3) {
      sign[j] = static_cast<double>(rest % 3) - 1;
      if (sign[j] != 0) in.push_back(j);
    }
    const Index k = static_cast<Index>(in.size());
    MatrixXd block(k, k);
    VectorXd right(k);
    for (Index a = 0; a < k; ++a) {
      right[a] = r[in[a]] - mu[in[a]] * sign[in[a]];
      for (Index b = 0; b < k; ++b) block(a, b) = s(in[a], in[b]);
    }
    if (k == 0 || !right.allFinite()) continue;
    const VectorXd part = block.ldlt().solve(right);
    VectorXd v = VectorXd::Zero(p);
    double value = 0;
    for (Index a = 0; a < k; ++a) v[in[a]] = part[a];
    value = 0.5 * v.dot(s * v) - r.dot(v);
    for (Index a = 0; a < k; ++a) value += mu[in[a]] * std::abs(part[a]);
    if (value < best_value) {
      best_value = value;
      best = v;
    }
  }
  return best;
}

double kkt(const MatrixXd& s, const VectorXd& r, const VectorXd& mu, const VectorXd& v) {
  const VectorXd g = s * v - r;
  double worst = 0;
  for (Index j = 0; j < r.size(); ++j) {
    if (mu[j] == infinity) continue;
    worst = std::max(worst, v[j] == 0 ? std::abs(g[j]) - mu[j] : std::abs(g[j] + (v[j] > 0 ? mu[j] : -mu[j])));
  }
  return worst;
}

}  // namespace

TEST("l1_quadratic matches the best of all sign patterns") {
  Draw draw{1};
  Monitor monitor;
  for (int trial = 0; trial < 40; ++trial) {
    const MatrixXd x = draw.matrix(8, 5);
    const MatrixXd s = x.transpose() * x;
    const VectorXd r = 3 * draw.matrix(5, 1);
    VectorXd mu = 1.5 * draw.matrix(5, 1).cwiseAbs();
    if (trial % 3 == 1) mu[trial % 5] = 0;
    if (trial % 3 == 2) mu[trial % 5] = infinity;
    const auto fit = l1_quadratic(s, r, mu, L1QuadraticOptions(), monitor);
    const VectorXd best = brute_force(s, r, mu);
    CHECK(fit.convergence.converged);
    CHECK_NEAR((fit.v - best).cwiseAbs().maxCoeff(), 0.0, 1e-6);
    CHECK_NEAR((fit.gradient - (s * fit.v - r)).cwiseAbs().maxCoeff(), 0.0, 1e-12);
    for (Index j = 0; j < 5; ++j) CHECK((fit.v[j] == 0) == (best[j] == 0));
    if (!std::isnan(fit.convergence.gap)) CHECK(fit.convergence.gap <= 1e-6 * (1 + std::abs(fit.objective)));
  }
}

TEST("l1_quadratic soft-thresholds a diagonal, and its gap closes") {
  Monitor monitor;
  VectorXd d(4), r(4), mu(4);
  d << 2, 1, 4, 0.5;
  r << 3, -0.5, -2, 0.1;
  mu << 1, 1, 0.5, 0.2;
  const auto fit = l1_quadratic(MatrixXd(d.asDiagonal()), r, mu, L1QuadraticOptions(), monitor);
  CHECK_NEAR(fit.v[0], 1.0, 1e-15);
  CHECK(fit.v[1] == 0);
  CHECK_NEAR(fit.v[2], -0.375, 1e-15);
  CHECK(fit.v[3] == 0);
  CHECK_NEAR(fit.objective, 0.5 * 2 - 3 + 1 + 0.5 * 4 * 0.375 * 0.375 - 2 * 0.375 + 0.5 * 0.375, 1e-14);
  CHECK_NEAR(fit.convergence.gap, 0.0, 1e-14);
  const auto zero = l1_quadratic(MatrixXd(d.asDiagonal()), r, VectorXd::Constant(4, 3.0), L1QuadraticOptions(), monitor);
  CHECK(zero.v.isZero(0) && zero.convergence.converged && zero.convergence.gap == 0);
}

TEST("l1_quadratic gives the same answer at any scale of data or coordinates") {
  Draw draw{7};
  Monitor monitor;
  const MatrixXd x = draw.matrix(40, 30);
  const MatrixXd s = x.transpose() * x / 40;
  const VectorXd r = x.transpose() * draw.matrix(40, 1) / 40, mu = VectorXd::Constant(30, 0.02);
  const auto base = l1_quadratic(s, r, mu, L1QuadraticOptions(), monitor);
  for (double c : {1e-8, 1e8}) {
    const auto fit = l1_quadratic(c * s, c * r, c * mu, L1QuadraticOptions(), monitor);
    CHECK(fit.convergence.converged);
    CHECK_NEAR((fit.v - base.v).norm(), 0.0, 1e-6 * base.v.norm());
    const auto large = l1_quadratic(s, c * r, c * mu, L1QuadraticOptions(), monitor);
    CHECK_NEAR((large.v / c - base.v).norm(), 0.0, 1e-6 * base.v.norm());
  }
  VectorXd t(30);
  for (Index j = 0; j < 30; ++j) t[j] = std::pow(10.0, static_cast<double>(j % 9) - 4);
  const auto fit =
      l1_quadratic(t.asDiagonal() * s * t.asDiagonal(), t.cwiseProduct(r), t.cwiseProduct(mu), L1QuadraticOptions(), monitor);
  CHECK(fit.convergence.converged);
  CHECK_NEAR((t.cwiseProduct(fit.v) - base.v).norm(), 0.0, 1e-6 * base.v.norm());
}

TEST("l1_quadratic solves ill-conditioned and singular problems") {
  Draw draw{3};
  Monitor monitor;
  const MatrixXd factor = draw.matrix(60, 3);
  MatrixXd x = factor * draw.matrix(3, 50) + 1e-3 * draw.matrix(60, 50);
  MatrixXd s = x.transpose() * x;
  VectorXd r = x.transpose() * draw.matrix(60, 1), mu = VectorXd::Constant(50, 1e-3);
  auto fit = l1_quadratic(s, r, mu, L1QuadraticOptions(), monitor);
  CHECK(fit.convergence.converged);
  CHECK(fit.convergence.iterations < 5000);
  CHECK(kkt(s, r, mu, fit.v) < 1e-8 * r.cwiseAbs().maxCoeff() * 10);
  x = draw.matrix(10, 50);  // rank 10
  s = x.transpose() * x;
  r = x.transpose() * draw.matrix(10, 1);
  mu.setConstant(0.05);
  fit = l1_quadratic(s, r, mu, L1QuadraticOptions(), monitor);
  CHECK(fit.convergence.converged);
  CHECK(kkt(s, r, mu, fit.v) < 1e-8 * r.cwiseAbs().maxCoeff() * 10);
}

TEST("l1_quadratic keeps a warm start and respects excluded coordinates") {
  Draw draw{11};
  Monitor monitor;
  const MatrixXd x = draw.matrix(100, 40);
  const MatrixXd s = x.transpose() * x / 100;
  VectorXd mu = VectorXd::Constant(40, 0.02), r = s.col(5);
  mu[5] = infinity;
  auto fit = l1_quadratic(s, r, mu, L1QuadraticOptions(), monitor);
  CHECK(fit.convergence.converged && fit.v[5] == 0);
  CHECK_NEAR(fit.gradient[5], s.row(5).dot(fit.v) - r[5], 1e-14);
  VectorXd v = fit.v, g = fit.gradient;
  CHECK(l1_quadratic(s, r, mu, v, g, L1QuadraticOptions(), monitor).iterations == 0);
  mu *= 0.9;
  const auto warm = l1_quadratic(s, r, mu, v, g, L1QuadraticOptions(), monitor);
  const auto cold = l1_quadratic(s, r, mu, L1QuadraticOptions(), monitor);
  CHECK(warm.converged);
  CHECK_NEAR((v - cold.v).norm(), 0.0, 1e-7);
}

TEST("l1_quadratic_gram solves the same problem from the columns, from zero and from a warm start, at any scale") {
  Draw draw{11};
  Monitor monitor;
  for (int trial = 0; trial < 12; ++trial) {
    const Index n = trial % 2 ? 12 : 40, p = 30;
    const double scale = trial % 3 == 0 ? 1 : (trial % 3 == 1 ? 1e-8 : 1e8);
    const MatrixXd z = scale * draw.matrix(n, p);
    const MatrixXd s = z.transpose() * z / static_cast<double>(n);
    const VectorXd r = z.transpose() * draw.matrix(n, 1) / static_cast<double>(n);
    VectorXd mu = VectorXd::Constant(p, 0.2 * r.cwiseAbs().maxCoeff());
    mu[trial] = infinity;
    const auto direct = l1_quadratic(s, r, mu, L1QuadraticOptions(), monitor);
    VectorXd v = VectorXd::Zero(p), gradient = -r;
    const Convergence cold = l1_quadratic_gram(z, r, mu, v, gradient, L1QuadraticOptions(), monitor);
    CHECK(cold.converged);
    CHECK((v.array() != 0).any());
    CHECK_NEAR((v - direct.v).cwiseAbs().maxCoeff(), 0.0, 1e-6 * direct.v.cwiseAbs().maxCoeff());
    CHECK_NEAR((gradient - (s * v - r)).cwiseAbs().maxCoeff(), 0.0, 1e-12 * r.cwiseAbs().maxCoeff());
    CHECK_NEAR(l1_quadratic_objective(r, mu, v, gradient), direct.objective, 1e-9 * std::abs(direct.objective));
    const VectorXd smaller = 0.7 * mu;
    const Convergence warm = l1_quadratic_gram(z, r, smaller, v, gradient, L1QuadraticOptions(), monitor);
    CHECK(warm.converged);
    CHECK(kkt(s, r, smaller, v) <= 1e-8 * r.cwiseAbs().maxCoeff());
    CHECK(v[trial] == 0);
  }
  VectorXd v = VectorXd::Zero(3), gradient = VectorXd::Zero(3);
  CHECK_THROWS(l1_quadratic_gram(MatrixXd(0, 3), v, v, v, gradient, L1QuadraticOptions(), monitor), InputError);
  CHECK_THROWS(l1_quadratic_gram(MatrixXd::Ones(2, 4), v, v, v, gradient, L1QuadraticOptions(), monitor), InputError);
}

TEST("l1_quadratic says what is wrong with its input") {
  Monitor monitor;
  const L1QuadraticOptions options;
  const VectorXd one = VectorXd::Ones(2);
  MatrixXd s = MatrixXd::Identity(2, 2);
  CHECK_THROWS(l1_quadratic(MatrixXd::Ones(2, 3), one, one, options, monitor), InputError);
  CHECK_THROWS(l1_quadratic(s, VectorXd::Ones(3), one, options, monitor), InputError);
  CHECK_THROWS(l1_quadratic(s, one, -one, options, monitor), InputError);
  CHECK_THROWS(l1_quadratic(s, one * std::nan(""), one, options, monitor), InputError);
  s(1, 1) = -1;
  CHECK_THROWS(l1_quadratic(s, one, one, options, monitor), InputError);
  s(1, 1) = 0;
  CHECK_THROWS(l1_quadratic(s, one, 0.5 * one, options, monitor), InputError);
  const auto flat = l1_quadratic(s, 2 * one, 2 * one, options, monitor);
  CHECK(flat.v.isZero(0) && flat.convergence.converged);
  s << 1, 3, 3, 1;  // indefinite
  CHECK_THROWS(l1_quadratic(s, one * 5 - VectorXd::Unit(2, 1), 0.1 * one, options, monitor), NumericalError);
}
