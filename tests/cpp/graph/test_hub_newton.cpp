// The proximal Newton solver of the hub problems: models against finite differences, answers against the alternating direction
// method.
#include "eigen.h"
#include <cmath>

#include "core/base/errors.h"
#include "core/random/rng.h"
#include "graph/hub.h"
#include "graph/hub_frobenius.h"
#include "graph/hub_ising.h"
#include "graph/hub_log_det.h"
#include "graph/hub_sim.h"
#include "graph/ising_sample.h"
#include "harness.h"

using namespace granary;
using namespace granary::graph;

namespace {

MatrixXd hub_covariance_matrix(int p, int n, std::uint64_t seed) {
  Rng rng(seed);
  MatrixXd x(n, p);
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < n; ++i) x(i, j) = rng.normal() + (j > 0 ? 0.7 * x(i, 0) : 0);
  }
  return x.transpose() * x / n;
}

HubPattern full_pattern(int p) {
  HubPattern out;
  for (int j = 0; j < p; ++j) {
    out.start.push_back(j * p);
    for (int i = 0; i < p; ++i) {
      out.row.push_back(i);
      out.mirror.push_back(i * p + j);
    }
  }
  out.start.push_back(p * p);
  return out;
}

// The loss at T + D plus and minus h along entry (i, j) and (j, i), against slope and curvature of the model at D = 0; then the
// slopes after some moves against the exact second derivative, by differences of gradients.
void check_model(HubModel& model, const MatrixXd& theta) {
  const int p = static_cast<int>(theta.rows());
  const HubPattern pattern = full_pattern(p);
  model.evaluate(theta);
  model.accept();
  const MatrixXd g = model.gradient();
  model.begin_direction(pattern);
  const double h = 1e-4;
  VectorXd d = VectorXd::Zero(p * p);
  for (int j = 0; j < p; ++j) {
    model.begin_column(j, d);
    for (int i = 0; i < p; ++i) {
      MatrixXd e = MatrixXd::Zero(p, p);
      e(i, j) = e(j, i) = 1;
      const double up = model.evaluate(theta + h * e), down = model.evaluate(theta - h * e), here = model.evaluate(theta);
      const double half = i == j ? 1 : 0.5;
      CHECK_NEAR(model.slope(i), half * (up - down) / (2 * h), 1e-6);
      CHECK_NEAR(model.curvature(i), half * (up - 2 * here + down) / (h * h), 1e-5);
    }
  }
  // Moves in two columns, small enough for the difference of gradients to be the second derivative.
  MatrixXd move = MatrixXd::Zero(p, p);
  const auto shift = [&](int j, int i, double by) {
    model.begin_column(j, d);
    model.move(i, by);
    d[j * p + i] += by;
    if (i != j) d[i * p + j] += by;
    move(i, j) += by;
    if (i != j) move(j, i) += by;
  };
  shift(0, 2, 1);
  shift(1, 1, -0.5);
  shift(1, 0, 0.3);
  model.evaluate(theta + 1e-6 * move);
  model.accept();
  const MatrixXd change = (model.gradient() - g) / 1e-6;
  model.evaluate(theta);
  model.accept();
  for (int j = 0; j < p; ++j) {
    model.begin_column(j, d);
    for (int i = 0; i < p; ++i) CHECK_NEAR(model.slope(i) - g(i, j), change(i, j), 1e-4);
    // and within a visit
    if (j == 2) {
      const double before = model.slope(3);
      model.move(3, 0.25);
      CHECK_NEAR(model.slope(3) - before, 0.25 * model.curvature(3), 1e-10);
    }
  }
}

}  // namespace

TEST("hub newton: the quadratic models, by finite differences") {
  const MatrixXd s = hub_covariance_matrix(5, 12, 1);
  MatrixXd theta = 2 * MatrixXd::Identity(5, 5);
  theta(0, 1) = theta(1, 0) = 0.3;
  theta(2, 4) = theta(4, 2) = -0.4;
  const HubPenalty penalty{0.3, 0.2, 0.4, HubNorm::l2};
  LogDetModel precision(s, penalty);
  check_model(precision, theta);
  CHECK(std::isnan(precision.evaluate(-theta)));
  FrobeniusModel covariance(s, penalty);
  check_model(covariance, theta);
}

TEST("hub newton: the answer of the alternating direction method, in all regimes, in a few steps") {
  Monitor monitor;
  for (const HubPenalty& penalty :
       {HubPenalty{0.35, 0.25, 0.5}, HubPenalty{0.35, 0.1, 0.5}, HubPenalty{0.2, 0.1, 0.45}, HubPenalty{0.6, 0.2, 0.4}}) {
    const MatrixXd s = hub_covariance_matrix(14, 20, 2);
    HubOptions sharp;
    sharp.tol = 1e-11;
    HubOptions admm = sharp;
    admm.reduce = false;
    admm.tol = 1e-8;
    const HubResult ours = hub_precision(s, penalty, sharp, monitor), other = hub_precision(s, penalty, admm, monitor);
    CHECK(ours.convergence.converged && ours.convergence.iterations < 20);
    CHECK_NEAR(ours.objective, other.objective, 14e-8);
    CHECK_NEAR((ours.state.theta - other.state.theta).norm(), 0, 2e-3);
    const HubResult cov = hub_covariance(s, penalty, sharp, monitor), cov_other = hub_covariance(s, penalty, admm, monitor);
    CHECK_NEAR(cov.objective, cov_other.objective, 14e-8);
    CHECK_NEAR((cov.state.theta - cov_other.state.theta).norm(), 0, 2e-3);
    CHECK_NEAR(cov.log_det, cov_other.log_det, 2e-3);
  }
}

TEST("hub newton: certified to 1e-6 on the paper's graphs, and a warm start takes no step") {
  Monitor monitor;
  for (const HubSetup setup : {HubSetup::hub, HubSetup::two_blocks, HubSetup::scale_free}) {
    Rng rng(3);
    const int p = 60, n = 40;
    MatrixXd precision = sim_hub_weights({setup, p, 2, 0.02, 0.7, false}, rng).weights;
    precision.diagonal().array() += 0.1 + precision.cwiseAbs().rowwise().sum().maxCoeff();
    MatrixXd x(n, p);
    for (Index k = 0; k < x.size(); ++k) x(k) = rng.normal();
    const MatrixXd sigma = precision.inverse();
    x = x * sigma.llt().matrixL().transpose();
    MatrixXd s = x.transpose() * x / n;
    const VectorXd scale = s.diagonal().cwiseSqrt().cwiseInverse();
    s = scale.asDiagonal() * s * scale.asDiagonal();
    for (const double l3 : {0.5, 1.0, 2.0}) {
      const HubPenalty penalty{0.4, 0.2, l3, HubNorm::l2};
      const HubResult fit = hub_precision(s, penalty, {}, monitor);
      CHECK(fit.convergence.converged);
      CHECK(fit.convergence.gap <= 1e-6 * p && fit.convergence.gap >= -1e-10 * p);
      const HubResult again = hub_precision(s, penalty, {}, monitor, &fit.state);
      CHECK(again.convergence.iterations == 0);
      CHECK_NEAR(again.objective, fit.objective, 1e-12);
    }
  }
}

TEST("hub newton: binary networks, against the alternating direction method, also with q = 1") {
  Rng rng(5);
  Monitor monitor;
  const MatrixXd weights = sim_hub_weights({HubSetup::hub, 12, 1, 0.1, 0.8, false}, rng).weights;
  const MatrixXd x = ising_exact(2 * weights, 120, rng);
  HubOptions sharp;
  sharp.tol = 1e-10;
  HubOptions admm = sharp;
  admm.reduce = false;
  admm.tol = 1e-8;
  for (const HubPenalty& penalty : {HubPenalty{5, 2, 8}, HubPenalty{2, 1, 4}, HubPenalty{5, 2, 4, HubNorm::l1}}) {
    const HubResult ours = hub_ising(x, penalty, sharp, monitor), other = hub_ising(x, penalty, admm, monitor);
    CHECK(ours.convergence.converged && ours.convergence.iterations < 20);
    CHECK_NEAR(ours.objective, other.objective, 120 * 12e-8);
    CHECK_NEAR((ours.state.theta - other.state.theta).norm(), 0, 1e-2);
  }
}

TEST("hub newton: an early stop says so, a start outside the domain is not used") {
  Monitor monitor;
  const MatrixXd s = hub_covariance_matrix(14, 20, 2);
  const HubPenalty penalty{0.35, 0.1, 0.5, HubNorm::l2};
  HubOptions options;
  options.max_iter = 1;
  const HubResult cut = hub_precision(s, penalty, options, monitor);
  CHECK(!cut.convergence.converged);
  CHECK(!cut.convergence.message.empty());
  HubState bad;
  bad.theta = bad.z = -MatrixXd::Identity(14, 14);
  bad.v = bad.l = MatrixXd::Zero(14, 14);
  const HubResult fit = hub_precision(s, penalty, {}, monitor, &bad), usual = hub_precision(s, penalty, {}, monitor);
  CHECK_NEAR(fit.objective, usual.objective, 1e-12);
}
