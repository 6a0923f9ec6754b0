// Hub penalty, HGL, HCG and HBN: brute force, finite differences, certificates, closed forms, scales and bad input.

#include "eigen.h"
#include "core/base/errors.h"
#include "core/math/logspace.h"
#include "core/random/rng.h"
#include "graph/hub.h"
#include "graph/hub_ising.h"
#include "graph/hub_sim.h"
#include "graph/ising_sample.h"
#include "harness.h"

using namespace granary;
using namespace granary::graph;

namespace {

MatrixXd covariance(int p, int n, std::uint64_t seed) {
  Rng rng(seed);
  MatrixXd x(n, p);
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < n; ++i) x(i, j) = rng.normal() + (j > 0 ? 0.6 * x(i, 0) : 0);
  }
  return x.transpose() * x / n;
}

HubOptions sharp() {
  HubOptions options;
  options.tol = 1e-11;
  return options;
}

}  // namespace

TEST("hub: the column step is the minimiser, against random points, for every norm") {
  Rng rng(1);
  for (const HubNorm q : {HubNorm::l1, HubNorm::l2, HubNorm::linf}) {
    for (int trial = 0; trial < 20; ++trial) {
      const HubPenalty penalty{0, 0.3, 0.5, q};
      const VectorXd c = rng.normals(4);
      const double rho = 1.7;
      const auto value = [&](const VectorXd& x) {
        const double norm = q == HubNorm::l1 ? x.lpNorm<1>() : q == HubNorm::l2 ? x.norm() : x.lpNorm<Eigen::Infinity>();
        return 0.3 * x.lpNorm<1>() + 0.5 * norm + 0.5 * rho * (x - c).squaredNorm();
      };
      const VectorXd best = prox_hub_column(penalty, c, rho);
      bool lower = false;
      for (int k = 0; k < 200; ++k) {
        const VectorXd other = best + std::pow(10.0, -static_cast<double>(k % 5)) * rng.normals(4);
        lower = lower || value(other) < value(best) - 1e-12;
      }
      CHECK(!lower);
    }
  }
}

TEST("hub: the penalty is the support function of its dual set") {
  Rng rng(2);
  for (const HubNorm q : {HubNorm::l1, HubNorm::l2, HubNorm::linf}) {
    const HubPenalty penalty{0.4, 0.3, 0.5, q};
    for (int trial = 0; trial < 50; ++trial) {
      MatrixXd v(5, 5), z(5, 5), l(5, 5);
      for (Index k = 0; k < 25; ++k) {
        v(k) = rng.normal();
        z(k) = rng.normal();
        l(k) = rng.normal();
      }
      z = MatrixXd(z + z.transpose());
      l = MatrixXd(l + l.transpose());
      const MatrixXd inside = into_dual_set(penalty, l);
      CHECK(dual_violation(penalty, inside) <= 1e-12);
      MatrixXd off = l;
      off.diagonal().setZero();
      CHECK(dual_violation(penalty, dual_scale(penalty, l) * off) <= 1e-12);
      const MatrixXd t = v + v.transpose() + z;
      CHECK(inside.cwiseProduct(t).sum() <= hub_cost(penalty, v, z) + 1e-10);
    }
  }
}

TEST("hub: gaps close, splits add up, screening and shortcuts change nothing") {
  Monitor monitor;
  const MatrixXd s = covariance(12, 30, 3);
  const HubPenalty penalty{0.35, 0.25, 0.5, HubNorm::l2};
  const HubResult fit = hub_precision(s, penalty, sharp(), monitor);
  CHECK(fit.convergence.converged);
  CHECK_NEAR(fit.convergence.gap, 0, 1e-9);
  CHECK_NEAR((fit.state.theta - fit.state.v - fit.state.v.transpose() - fit.state.z).norm(), 0, 1e-14);
  CHECK_NEAR((fit.state.theta * fit.inverse - MatrixXd::Identity(12, 12)).norm(), 0, 1e-9);
  CHECK(fit.state.v.cwiseAbs().maxCoeff() > 0);
  HubOptions plain = sharp();
  plain.screen = plain.reduce = false;
  const HubResult whole = hub_precision(s, penalty, plain, monitor);
  CHECK_NEAR(whole.objective, fit.objective, 1e-8);
  CHECK_NEAR((whole.state.theta - fit.state.theta).norm(), 0, 1e-4);
  const HubResult check = certify_precision(s, penalty, fit.state.v, fit.state.z);
  CHECK_NEAR(check.objective, fit.objective, 1e-10);
  CHECK_NEAR(check.convergence.gap, fit.convergence.gap, 1e-9);
  // Any other V and Z have an objective above the dual value.
  MatrixXd moved = fit.state.v;
  moved(3, 0) += 0.05;
  const HubResult other = certify_precision(s, penalty, moved, fit.state.z);
  CHECK(other.objective > fit.objective);
  CHECK(other.convergence.gap >= other.objective - fit.objective - 1e-9);
}

TEST("hub: scales 1e-8 and 1e8") {
  Monitor monitor;
  const MatrixXd s = covariance(8, 20, 4);
  const HubPenalty penalty{0.35, 0.25, 0.5, HubNorm::l2};
  const HubResult fit = hub_precision(s, penalty, sharp(), monitor), cov = hub_covariance(s, penalty, sharp(), monitor);
  for (const double unit : {1e-8, 1e8}) {
    const HubResult scaled = hub_precision(unit * s, penalty.scaled(unit), sharp(), monitor);
    CHECK_NEAR((unit * scaled.state.theta - fit.state.theta).norm(), 0, 1e-6);
    CHECK_NEAR(scaled.objective - 8 * std::log(unit), fit.objective, 1e-7);
    HubOptions options = sharp();
    options.eps *= unit;
    const HubResult scaled_cov = hub_covariance(unit * s, penalty.scaled(unit), options, monitor);
    CHECK_NEAR((scaled_cov.state.theta / unit - cov.state.theta).norm(), 0, 1e-6);
  }
}

TEST("hub: covariance graphs keep their smallest eigenvalue") {
  Monitor monitor;
  const MatrixXd s = covariance(10, 4, 5);
  HubOptions options = sharp();
  options.eps = 0.05;
  const HubResult fit = hub_covariance(s, {0.02, 0.02, 0.03, HubNorm::l2}, options, monitor);
  CHECK_NEAR(fit.convergence.gap, 0, 1e-8);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(fit.state.theta);
  CHECK(eigen.eigenvalues()[0] >= 0.05 - 1e-10);
  CHECK_NEAR(eigen.eigenvalues()[0], 0.05, 1e-6);
  CHECK_NEAR(eigen.eigenvalues().array().log().sum(), fit.log_det, 1e-8);
}

TEST("hub: the pseudo-likelihood's gradient, by finite differences") {
  Rng rng(6);
  MatrixXd x(15, 4), theta(4, 4), gradient;
  for (Index k = 0; k < x.size(); ++k) x(k) = rng.bernoulli(0.5) ? 1 : 0;
  for (Index k = 0; k < 16; ++k) theta(k) = rng.normal();
  theta = MatrixXd(theta + theta.transpose());
  ising_loss(x, theta, &gradient);
  const double h = 1e-5;
  for (Index j = 0; j < 4; ++j) {
    for (Index i = 0; i <= j; ++i) {
      MatrixXd up = theta, down = theta;
      up(i, j) += h;
      down(i, j) -= h;
      if (i != j) {
        up(j, i) += h;
        down(j, i) -= h;
      }
      CHECK_NEAR((ising_loss(x, up) - ising_loss(x, down)) / (2 * h), (i == j ? 1 : 2) * gradient(i, j), 1e-5);
    }
  }
}

TEST("hub: binary network, gap and intercepts, both inner solvers") {
  Rng rng(7);
  Monitor monitor;
  MatrixXd theta = MatrixXd::Zero(6, 6);
  for (Index j = 1; j < 6; ++j) theta(0, j) = theta(j, 0) = 1.5;
  theta(0, 0) = -3;
  const MatrixXd x = ising_exact(theta, 150, rng);
  HubOptions options;
  options.tol = 1e-8;
  const HubPenalty penalty{4, 1, 5, HubNorm::l2};
  const HubResult fit = hub_ising(x, penalty, options, monitor);
  CHECK(fit.convergence.converged);
  CHECK(fit.convergence.gap >= -1e-8 && fit.convergence.gap <= 150 * 6e-8);
  MatrixXd gradient;
  CHECK_NEAR(ising_loss(x, fit.state.theta, &gradient), fit.loss, 1e-8);
  CHECK_NEAR(gradient.diagonal().norm(), 0, 1e-8);
  options.barzilai_borwein = true;
  CHECK_NEAR(hub_ising(x, penalty, options, monitor).objective, fit.objective, 1e-5);
  CHECK(fit.state.v.col(0).norm() > 0);
}

TEST("hub: probabilities of the states of an Ising model") {
  MatrixXd theta(2, 2);
  theta << 0.3, -0.7, -0.7, 0.1;
  const VectorXd p = ising_probabilities(theta);
  const double total = 1 + std::exp(0.3) + std::exp(0.1) + std::exp(0.3 + 0.1 - 0.7);
  CHECK_NEAR(p[0], 1 / total, 1e-15);
  CHECK_NEAR(p[1], std::exp(0.3) / total, 1e-15);
  CHECK_NEAR(p[3], std::exp(-0.3) / total, 1e-15);
  CHECK_THROWS(ising_probabilities(MatrixXd::Zero(21, 21)), InputError);
}

TEST("hub: bad input is refused, interruption is heard") {
  Monitor monitor;
  MatrixXd x(4, 2);
  x << 0, 1, 1, 1, 0, 1, 1, 1;
  CHECK_THROWS(hub_ising(x, {1, 1, 1}, {}, monitor), InputError);
  x(0, 1) = 0.5;
  CHECK_THROWS(hub_ising(x, {1, 1, 1}, {}, monitor), InputError);
  CHECK_THROWS(hub_precision(MatrixXd::Zero(2, 3), {1, 1, 1}, {}, monitor), InputError);
  CHECK_THROWS(hub_precision(MatrixXd::Zero(2, 2), {1, 1, 1}, {}, monitor), InputError);
  CHECK_THROWS(hub_precision(MatrixXd::Ones(2, 2), {0, 1, 1}, {}, monitor), NumericalError);
  monitor.request_stop();
  CHECK_THROWS(hub_precision(covariance(8, 20, 4), {0.35, 0.25, 0.5}, {}, monitor), Interrupted);
  Rng rng(1);
  CHECK_THROWS(sim_hub_weights({HubSetup::hub, 3, 4, 0.1, 0.5, false}, rng), InputError);
}
