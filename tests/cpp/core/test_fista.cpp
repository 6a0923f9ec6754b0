#include "eigen.h"
#include <limits>
#include <random>

#include "core/optim/fista.h"
#include "core/prox/proximal.h"
#include "harness.h"

using namespace granary;

namespace {

struct Source {
  std::mt19937_64 engine;
  explicit Source(unsigned seed) : engine(seed) {}
  double uniform() { return (static_cast<double>(engine() >> 11) + 0.5) * 0x1p-53; }
  MatrixXd matrix(Index rows, Index cols) {
    return MatrixXd::NullaryExpr(rows, cols, [this](Index, Index) { return 2 * uniform() - 1; });
  }
};

CompositeProblem<VectorXd> lasso(const MatrixXd& a, const VectorXd& b, double lambda) {
  CompositeProblem<VectorXd> problem;
  problem.smooth = [&a, &b](const VectorXd& x, VectorXd& gradient) {
    const VectorXd r = a * x - b;
    gradient = a.transpose() * r;
    return 0.5 * r.squaredNorm();
  };
  problem.prox = [lambda](const VectorXd& v, double step) { return soft_threshold(v, step * lambda); };
  problem.penalty = [lambda](const VectorXd& x) { return lambda * x.lpNorm<1>(); };
  return problem;
}

double lasso_violation(const MatrixXd& a, const VectorXd& b, double lambda, const VectorXd& x) {
  const VectorXd pull = a.transpose() * (b - a * x);
  double worst = 0;
  for (Index j = 0; j < x.size(); ++j) {
    worst = std::max(worst, x[j] == 0 ? std::abs(pull[j]) - lambda : std::abs(pull[j] - (x[j] > 0 ? lambda : -lambda)));
  }
  return worst;
}

}  // namespace

TEST("FISTA solves the lasso to its KKT conditions at any scale, faster than plain proximal gradient") {
  for (double scale : {1e-8, 1.0, 1e8}) {
    Source source(1);
    const MatrixXd a = source.matrix(30, 60);
    const VectorXd b = scale * source.matrix(30, 1);
    const double lambda = 0.1 * (a.transpose() * b).cwiseAbs().maxCoeff();
    Monitor monitor;
    FistaOptions options;
    options.tol = 1e-11;
    options.max_iter = 50000;
    const auto fast = fista<VectorXd>(lasso(a, b, lambda), VectorXd::Zero(60), options, monitor);
    CHECK(fast.convergence.converged);
    CHECK(lasso_violation(a, b, lambda, fast.x) < 1e-7 * lambda);
    CHECK_NEAR(fast.objective / (0.5 * (a * fast.x - b).squaredNorm() + lambda * fast.x.lpNorm<1>()), 1, 1e-12);
    options.accelerate = false;
    const auto plain = fista<VectorXd>(lasso(a, b, lambda), VectorXd::Zero(60), options, monitor);
    CHECK(plain.convergence.converged);
    CHECK(lasso_violation(a, b, lambda, plain.x) < 1e-6 * lambda);
    CHECK(fast.convergence.iterations < plain.convergence.iterations);
  }
}

TEST("FISTA handles a first step far too long or short, a zero solution, and a start at the solution") {
  Source source(2);
  const MatrixXd a = source.matrix(20, 10);
  const VectorXd b = source.matrix(20, 1);
  Monitor monitor;
  for (double step : {1e-3, 1e6}) {
    FistaOptions options;
    options.step = step;
    options.tol = 1e-10;
    const auto result = fista<VectorXd>(lasso(a, b, 0.3), VectorXd::Zero(10), options, monitor);
    CHECK(result.convergence.converged);
    CHECK(lasso_violation(a, b, 0.3, result.x) < 1e-6);
    const auto again = fista<VectorXd>(lasso(a, b, 0.3), result.x, {}, monitor);
    CHECK(again.convergence.converged);
    CHECK((again.x - result.x).norm() < 1e-6);
  }
  const auto zero = fista<VectorXd>(lasso(a, b, 1e3), VectorXd::Ones(10), {}, monitor);
  CHECK(zero.convergence.converged && zero.x.norm() == 0);
}

TEST("FISTA works on matrices, leaves no domain, and stops on a gap") {
  // minimise -log det X + tr(S X): solution S^-1; the step must shrink whenever X would lose definiteness.
  Source source(3);
  const MatrixXd half = source.matrix(4, 8), s = half * half.transpose();
  CompositeProblem<MatrixXd> problem;
  problem.smooth = [&s](const MatrixXd& x, MatrixXd& gradient) {
    const Eigen::LLT<MatrixXd> llt(x);
    if (llt.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
    gradient = s - MatrixXd(llt.solve(MatrixXd::Identity(4, 4)));
    return s.cwiseProduct(x).sum() - 2 * MatrixXd(llt.matrixL()).diagonal().array().log().sum();
  };
  problem.prox = [](const MatrixXd& v, double) -> MatrixXd { return 0.5 * (v + v.transpose()); };
  problem.gap = [&s](const MatrixXd& x) { return (s * x - MatrixXd::Identity(4, 4)).norm(); };
  Monitor monitor;
  FistaOptions options;
  options.step = 100;
  options.tol = 1e-10;
  const auto result = fista<MatrixXd>(problem, MatrixXd::Identity(4, 4), options, monitor);
  CHECK(result.convergence.converged);
  CHECK((result.x - s.inverse()).norm() < 1e-6 * s.inverse().norm());
  options.gap_tol = 0.1;
  const auto early = fista<MatrixXd>(problem, MatrixXd::Identity(4, 4), options, monitor);
  CHECK(early.convergence.converged && early.convergence.gap <= 0.1);
  CHECK(early.convergence.iterations < result.convergence.iterations);
  CHECK_THROWS(fista<MatrixXd>(problem, -MatrixXd::Identity(4, 4), options, monitor), NumericalError);
}

TEST("FISTA says when it did not finish, and why") {
  Source source(4);
  const MatrixXd a = source.matrix(20, 10);
  const VectorXd b = source.matrix(20, 1);
  Monitor monitor;
  FistaOptions options;
  options.max_iter = 2;
  const auto result = fista<VectorXd>(lasso(a, b, 0.1), VectorXd::Zero(10), options, monitor);
  CHECK(!result.convergence.converged && result.convergence.iterations == 2);
  CHECK(result.convergence.message.find("max_iter") != std::string::npos);
  CompositeProblem<VectorXd> wrong = lasso(a, b, 0.1);
  const auto smooth = wrong.smooth;
  wrong.smooth = [smooth](const VectorXd& x, VectorXd& gradient) {
    const double value = smooth(x, gradient);
    gradient *= -1;
    return value;
  };
  const auto broken = fista<VectorXd>(wrong, VectorXd::Zero(10), {}, monitor);
  CHECK(!broken.convergence.converged);
}
