#include "eigen.h"
#include <random>

#include "core/optim/admm.h"
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

MatrixXd covariance(unsigned seed, Index p) {
  const MatrixXd x = Source(seed).matrix(4 * p, p);
  return x.transpose() * x / static_cast<double>(4 * p);
}

AdmmProblem graphical_lasso(const MatrixXd& s, double lambda) {
  AdmmProblem problem;
  problem.f = [&s](const MatrixXd& v, double rho) { return prox_log_det(s, v, rho).x; };
  problem.g.push_back([lambda](const MatrixXd& v, double rho) -> MatrixXd {
    MatrixXd z = soft_threshold(v, lambda / rho);
    z.diagonal() = v.diagonal();
    return z;
  });
  return problem;
}

}  // namespace

TEST("ADMM on the graphical lasso meets the KKT conditions at any scale, from any rho") {
  const MatrixXd base = covariance(1, 8);
  for (double scale : {1e-8, 1.0, 1e8}) {
    for (double rho : {0.01, 1.0, 100.0}) {
      const MatrixXd s = scale * base;
      const double lambda = 0.03 * scale;
      Monitor monitor;
      AdmmOptions options;
      options.tol = 1e-9;
      options.rho = rho * scale * scale;  // the penalty's units
      const AdmmResult fit = admm(graphical_lasso(s, lambda), MatrixXd::Identity(8, 8) / scale, options, monitor);
      CHECK(fit.convergence.converged);
      const MatrixXd gradient = s - fit.z[0].inverse();
      double worst = gradient.diagonal().cwiseAbs().maxCoeff();
      for (Index i = 0; i < 8; ++i) {
        for (Index j = 0; j < 8; ++j) {
          if (i == j) continue;
          const double z = fit.z[0](i, j);
          worst =
              std::max(worst, z == 0 ? std::abs(gradient(i, j)) - lambda : std::abs(gradient(i, j) + (z > 0 ? lambda : -lambda)));
        }
      }
      CHECK(worst < 1e-6 * scale);
      CHECK((fit.z[0].array() == 0).any());
    }
  }
}

TEST("ADMM with several terms: quadratic f with l1, box and group penalties agrees with the combined prox") {
  Source source(2);
  const MatrixXd target = 2 * source.matrix(6, 1);
  const auto f = [&target](const MatrixXd& v, double rho) -> MatrixXd { return (target + rho * v) / (1 + rho); };
  Monitor monitor;
  AdmmOptions options;
  options.tol = 1e-11;
  AdmmProblem sparse_group;
  sparse_group.f = f;
  sparse_group.g.push_back([](const MatrixXd& v, double rho) { return soft_threshold(v, 0.2 / rho); });
  sparse_group.g.push_back([](const MatrixXd& v, double rho) -> MatrixXd { return prox_group_l2(v.col(0), 0.4 / rho); });
  const AdmmResult two = admm(sparse_group, MatrixXd::Zero(6, 1), options, monitor);
  CHECK(two.convergence.converged);
  const VectorXd expected = prox_sparse_group(target.col(0), 0.2, 0.4);
  CHECK((two.x.col(0) - expected).norm() < 1e-8);
  for (const MatrixXd& z : two.z) CHECK((z.col(0) - expected).norm() < 1e-8);

  AdmmProblem three = sparse_group;
  three.g.push_back([](const MatrixXd& v, double) -> MatrixXd { return v.cwiseMax(-0.1).cwiseMin(0.1); });
  const AdmmResult boxed = admm(three, MatrixXd::Zero(6, 1), options, monitor);
  CHECK(boxed.convergence.converged);
  const auto cost = [&](const VectorXd& x) {
    return 0.5 * (x - target.col(0)).squaredNorm() + 0.2 * x.lpNorm<1>() + 0.4 * x.norm();
  };
  const VectorXd best = boxed.z[2].col(0);
  bool optimal = true;
  for (int trial = 0; trial < 500; ++trial) {
    const VectorXd other =
        (best + std::pow(10.0, -5 * source.uniform()) * VectorXd(source.matrix(6, 1))).cwiseMax(-0.1).cwiseMin(0.1);
    optimal = optimal && cost(best) <= cost(other) + 1e-9;
  }
  CHECK(optimal);
}

TEST("ADMM converges where the penalty does nothing, so that the multipliers vanish") {
  const MatrixXd s = covariance(3, 5) + 0.1 * MatrixXd::Identity(5, 5);
  Monitor monitor;
  const AdmmResult fit = admm(graphical_lasso(s, 0), MatrixXd::Identity(5, 5), {}, monitor);
  CHECK(fit.convergence.converged);
  CHECK((fit.x - s.inverse()).norm() < 1e-4 * s.inverse().norm());
}

TEST("ADMM warm starts, stops on a gap, and reports a stop that came too early") {
  const MatrixXd s = covariance(4, 8);
  AdmmProblem problem = graphical_lasso(s, 0.03);
  Monitor monitor;
  const AdmmResult cold = admm(problem, MatrixXd::Identity(8, 8), {}, monitor);
  const AdmmResult warm = admm(problem, AdmmState(cold), {}, monitor);
  CHECK(cold.convergence.converged && warm.convergence.converged);
  CHECK(warm.convergence.iterations <= 3 && cold.convergence.iterations > 10);
  CHECK((warm.z[0] - cold.z[0]).norm() < 1e-4 * cold.z[0].norm());
  problem.gap = [](const AdmmState& state) { return (state.x - state.z[0]).norm(); };
  AdmmOptions by_gap;
  by_gap.gap_tol = 0.05;
  by_gap.gap_every = 1;
  const AdmmResult early = admm(problem, MatrixXd::Identity(8, 8), by_gap, monitor);
  CHECK(early.convergence.converged && early.convergence.gap <= 0.05);
  CHECK(early.convergence.iterations < cold.convergence.iterations);
  AdmmOptions few;
  few.max_iter = 3;
  const AdmmResult cut = admm(problem, MatrixXd::Identity(8, 8), few, monitor);
  CHECK(!cut.convergence.converged && cut.convergence.iterations == 3 && !cut.convergence.message.empty());
  AdmmOptions bad;
  bad.relaxation = 2;
  CHECK_THROWS(admm(problem, MatrixXd::Identity(8, 8), bad, monitor), InputError);
  problem.g.clear();
  CHECK_THROWS(admm(problem, MatrixXd::Identity(8, 8), {}, monitor), InputError);
  AdmmProblem poisoned = graphical_lasso(s, 0.03);
  poisoned.g[0] = [](const MatrixXd& v, double) -> MatrixXd { return v * std::nan(""); };
  CHECK_THROWS(admm(poisoned, MatrixXd::Identity(8, 8), {}, monitor), NumericalError);
}
