// Locally constant Gaussian graphs, without R: closed forms, the definition, agreement of the solvers, certificates, mixed
// priors, baselines.
#include "eigen.h"
#include <algorithm>

#include "core/base/errors.h"
#include "core/random/rng.h"
#include "graph/baselines.h"
#include "graph/fused_signal.h"
#include "graph/local.h"
#include "graph/local_bcd.h"
#include "graph/mix.h"
#include "harness.h"

using namespace granary;
using namespace granary::graph;

namespace {

MatrixXd covariance(int p, int n, Rng& rng) {
  MatrixXd x(n, p);
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < n; ++i) x(i, j) = rng.normal() + (j > 0 ? 0.6 * x(i, j - 1) : 0.0);
  }
  return x.transpose() * x / n;
}

EdgeList chain(int p, bool closed = false) {
  EdgeList out;
  for (int i = 0; i + 1 < p; ++i) out.emplace_back(i, i + 1);
  if (closed) out.emplace_back(p - 1, 0);
  return out;
}

double objective(const MatrixXd& s, const EdgeList& pairs, double rho, double tau, const MatrixXd& x) {
  const Eigen::LLT<MatrixXd> llt(x);
  if (llt.info() != Eigen::Success) return 1e300;
  double value = -2 * MatrixXd(llt.matrixL()).diagonal().array().log().sum() + s.cwiseProduct(x).sum() + rho * x.cwiseAbs().sum();
  for (const auto& e : pairs) {
    for (int k = 0; k < x.cols(); ++k) {
      if (k != e.first && k != e.second) value += tau * std::abs(x(e.first, k) - x(e.second, k));
    }
  }
  return value;
}

LocalOptions tight(LocalMethod method = LocalMethod::automatic) {
  LocalOptions options;
  options.method = method;
  options.tol = 1e-11;
  options.max_iter = 20000;
  return options;
}

}  // namespace

TEST("local: three equal variables on a chain share one interaction") {
  MatrixXd s(3, 3);
  s << 1, .5, .2, .5, 1, .35, .2, .35, 1;
  Monitor monitor;
  const LocalOperator op = LocalOperator::differences(3, chain(3));
  for (const LocalMethod method : {LocalMethod::automatic, LocalMethod::fista, LocalMethod::admm, LocalMethod::both}) {
    const LocalResult fit = local_fit(s, op, {0.05, 5}, tight(method), monitor);
    CHECK(fit.convergence.converged);
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 3; ++i) CHECK_NEAR(fit.x(i, j), i == j ? 1.0909090909 : -0.2424242424, 1e-5);
    }
    CHECK(fit.x(0, 1) == fit.x(0, 2) && fit.x(0, 1) == fit.x(1, 2));
  }
}

TEST("local: all exact solvers agree, random moves find nothing better, and the certificate is that of the definition") {
  Rng rng(4);
  Monitor monitor;
  for (int round = 0; round < 12; ++round) {
    const int p = round < 4 ? 3 + round % 3 : 9;
    const EdgeList pairs = round % 3 == 2 ? grid_edges(3, p / 3) : chain(p, round % 2 == 1 && p > 3);
    const int size = round % 3 == 2 ? 3 * (p / 3) : p;
    const MatrixXd s = covariance(size, round % 2 ? 6 : 40, rng);
    const double rho = rng.uniform(0.02, 0.2), tau = rho * rng.uniform(0.1, 2);
    const LocalOperator op = LocalOperator::differences(size, pairs);
    const LocalResult fit = local_fit(s, op, {rho, tau}, tight(), monitor);
    const LocalResult other = local_fit(s, op, {rho, tau}, tight(LocalMethod::admm), monitor);
    const LocalResult bcd = local_fit(s, op, {rho, tau}, tight(LocalMethod::bcd), monitor);
    CHECK(fit.convergence.converged && other.convergence.converged);
    CHECK_NEAR(fit.objective, objective(s, pairs, rho, tau, fit.x), 1e-10);
    CHECK_NEAR(fit.objective, other.objective, 1e-9);
    CHECK((fit.x - other.x).cwiseAbs().maxCoeff() < 1e-4 * fit.x.maxCoeff());
    CHECK(fit.convergence.gap > -1e-9 && fit.convergence.gap < 1e-9);
    CHECK(bcd.objective >= fit.objective - 1e-9);
    CHECK_NEAR(bcd.convergence.gap, bcd.objective - fit.objective, 1e-5);
    CHECK_NEAR(fit.objective + fit.log_det, size, 1e-4);  // <S, X> and the penalties
    for (int k = 0; k < 200; ++k) {
      MatrixXd move = MatrixXd::Zero(size, size);
      for (int j = 0; j < size; ++j) {
        for (int i = 0; i <= j; ++i) move(i, j) = move(j, i) = rng.bernoulli(0.3) ? rng.normal() : 0.0;
      }
      CHECK(objective(s, pairs, rho, tau, fit.x + std::pow(10.0, -1 - k % 6) * move) >= fit.objective - 1e-10);
    }
  }
}

TEST("local: general operators give the same answer as differences, and their dual points are feasible") {
  Rng rng(5);
  Monitor monitor;
  const MatrixXd s = covariance(7, 30, rng);
  const LocalOperator exact = LocalOperator::differences(7, chain(7));
  const SparseMatrix d = SparseMatrix(exact.matrix());
  const LocalOperator rows = LocalOperator::rows(d);
  LocalOptions options = tight();
  options.tol = 1e-8;
  const LocalResult a = local_fit(s, exact, {0.05, 0.06}, options, monitor);
  const LocalResult b = local_fit(s, rows, {0.05, 0.06}, options, monitor);
  CHECK_NEAR(a.objective, b.objective, 1e-6);
  CHECK(b.convergence.gap >= b.objective - a.objective - a.convergence.gap - 1e-12);
  const SparseMatrix flipped = -2.0 * d;
  CHECK_NEAR(local_fit(s, LocalOperator::rows(flipped), {0.05, 0.03}, options, monitor).objective, a.objective, 1e-6);
  const LocalOperator laplacian = LocalOperator::laplacian(7, chain(7));
  const LocalResult f = local_fit(s, laplacian, {0.05, 0.03}, options, monitor);
  options.method = LocalMethod::admm;
  CHECK_NEAR(f.objective, local_fit(s, laplacian, {0.05, 0.03}, options, monitor).objective, 1e-6);
  options.method = LocalMethod::bcd;
  CHECK_THROWS(local_fit(s, laplacian, {0.05, 0.03}, options, monitor), InputError);
}

TEST("local: units, isolated variables, blocks, empty graphs") {
  Rng rng(6);
  Monitor monitor;
  const MatrixXd s = covariance(8, 30, rng);
  const LocalOperator op = LocalOperator::differences(8, chain(8));
  const LocalResult fit = local_fit(s, op, {0.1, 0.05}, tight(), monitor);
  for (const double c : {1e-8, 1e8}) {
    const LocalResult scaled = local_fit(c * s, op, {c * 0.1, c * 0.05}, tight(), monitor);
    CHECK((c * scaled.x - fit.x).cwiseAbs().maxCoeff() < 1e-5);
  }
  MatrixXd quiet = s;
  for (int k = 0; k < 8; ++k) {
    if (k != 3) quiet(3, k) = quiet(k, 3) = 0.04;
  }
  const LocalResult alone = local_fit(quiet, op, {0.1, 0.06}, tight(), monitor);
  CHECK(alone.isolated[3]);
  CHECK_NEAR(alone.x(3, 3), 1 / (quiet(3, 3) + 0.1), 1e-6);
  for (int k = 0; k < 8; ++k) CHECK(k == 3 || alone.x(3, k) == 0);
  const LocalResult empty = local_fit(s, op, {100, 1}, tight(), monitor);
  CHECK(empty.convergence.iterations == 0);
  CHECK_NEAR(empty.x(2, 2), 1 / (s(2, 2) + 100), 1e-15);

  const Eigen::MatrixXi block = local_blocks(fit.x, op, 0);
  for (int j = 0; j < 8; ++j) {
    for (int i = 0; i < j; ++i) {
      CHECK((block(i, j) > 0) == (fit.x(i, j) != 0));
      if (i + 1 < j && fit.x(i, j) != 0 && fit.x(i, j) == fit.x(i + 1, j)) CHECK(block(i, j) == block(i + 1, j));
    }
  }
}

TEST("local: one and two threads agree; bad problems are refused") {
  Rng rng(7);
  Monitor monitor;
  const MatrixXd s = covariance(9, 20, rng);
  const LocalOperator op = LocalOperator::differences(9, grid_edges(3, 3));
  LocalOptions options = tight(LocalMethod::admm);
  const LocalResult one = local_fit(s, op, {0.05, 0.05}, options, monitor);
  options.threads = 2;
  CHECK(one.x == local_fit(s, op, {0.05, 0.05}, options, monitor).x);
  CHECK_THROWS(LocalOperator::differences(3, {{0, 0}}), InputError);
  CHECK_THROWS(LocalOperator::differences(3, {{0, 1}, {1, 0}}), InputError);
  CHECK_THROWS(local_fit(s, LocalOperator::differences(3, chain(3)), {1, 1}, options, monitor), InputError);
  CHECK_THROWS(local_fit(s, op, {-1, 1}, options, monitor), InputError);
  CHECK_THROWS(local_fit(MatrixXd::Ones(2, 2), LocalOperator::differences(2, chain(2)), {0, 1}, options, monitor),
               NumericalError);
  const MatrixXd bad = -MatrixXd::Identity(9, 9);
  CHECK_THROWS(local_fit(s, op, {0.1, 0.1}, options, monitor, &bad), InputError);
}

TEST("local: a parabola with kinks against a fine search") {
  Rng rng(8);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::pair<double, double>> kinks;
    for (int k = 0; k < 5; ++k) kinks.emplace_back(std::round(4 * rng.normal()) / 2, rng.uniform(0, 1));
    const double p = rng.uniform(0.1, 2), q = 2 * rng.normal();
    const auto value = [&](double t) {
      double sum = 0.5 * p * t * t + q * t;
      for (const auto& kink : kinks) sum += kink.second * std::abs(t - kink.first);
      return sum;
    };
    const double best = value(minimise_kinked_parabola(p, q, kinks));
    for (int k = -4000; k <= 4000; ++k) {
      if (value(0.01 * k) < best - 1e-12) CHECK(false);
    }
    CHECK(best <= value(0));
  }
}

TEST("mixed priors equal the special solvers, in any order") {
  Rng rng(9);
  Monitor monitor;
  const MatrixXd s = covariance(9, 25, rng);
  const LocalOperator op = LocalOperator::differences(9, chain(9));
  MixOptions options;
  options.tol = 1e-8;
  const MixPrior l1{MixPrior::Kind::l1, 0.05, true, RowNorm::l2, nullptr},
      local{MixPrior::Kind::local, 0.08, true, RowNorm::l2, &op}, nodes{MixPrior::Kind::nodes, 0.2, true, RowNorm::l2, nullptr};
  const MixResult two = mix_fit(s, {l1, local}, options, monitor);
  CHECK(two.convergence.converged);
  CHECK_NEAR(two.objective, local_fit(s, op, {0.05, 0.08}, tight(), monitor).objective, 1e-6);
  const MixResult a = mix_fit(s, {l1, local, nodes}, options, monitor), b = mix_fit(s, {nodes, l1, local}, options, monitor);
  CHECK(a.convergence.gap >= -1e-10 && a.convergence.gap <= 9e-8);
  CHECK_NEAR(a.objective, b.objective, 2e-7);
  CHECK((a.x - b.x).cwiseAbs().maxCoeff() < 1e-3);
  CHECK_NEAR(a.penalties.sum(),
             nodes_penalty(a.x, {0.05, nodes.weight, nodes.norm}) + local_penalty(a.x, *local.op, {0, local.weight}), 1e-12);
  CHECK_THROWS(mix_fit(s, std::vector<MixPrior>(), options, monitor), InputError);
  CHECK_THROWS(mix_fit(MatrixXd::Zero(2, 2), {nodes}, options, monitor), InputError);
}

TEST("baselines: the ridge") {
  Rng rng(10);
  const MatrixXd s = covariance(8, 60, rng);
  CHECK((ridge_precision(s, 0.3).x * (s + 0.3 * MatrixXd::Identity(8, 8)) - MatrixXd::Identity(8, 8)).cwiseAbs().maxCoeff() <
        1e-12);
  CHECK_THROWS(ridge_precision(MatrixXd::Ones(3, 3), 0), NumericalError);
}

TEST("fused signals: thresholds, means, the smooth system") {
  Rng rng(11);
  Monitor monitor;
  VectorXd y(12);
  for (Index i = 0; i < 12; ++i) y[i] = rng.normal();
  const FusedSignalResult soft = fused_signal(y, chain(12), {0.4, 0}, monitor);
  const FusedSignalResult mean = fused_signal(y, chain(12), {0, 100}, monitor);
  for (Index i = 0; i < 12; ++i) {
    CHECK_NEAR(soft.x[i], std::copysign(std::max(std::abs(y[i]) - 0.4, 0.0), y[i]), 1e-15);
    CHECK_NEAR(mean.x[i], y.mean(), 1e-12);
  }
  for (const double rho : {0.0, 0.2}) {
    const FusedSignalResult smooth = fused_signal(y, chain(12, true), {rho, 3, Smoothness::squared}, monitor);
    CHECK(smooth.convergence.converged && smooth.convergence.residual < 1e-10);
  }
  CHECK_THROWS(fused_signal(y, chain(13), {0, 1}, monitor), InputError);
}
