// Reweighted graphs (graph/reweighted.h, graph/multi_irls.h) and neighbourhood selection (graph/neighbourhood.h).
#include "eigen.h"
#include <cmath>
#include <vector>

#include "core/random/rng.h"
#include "graph/multi_irls.h"
#include "graph/neighbourhood.h"
#include "graph/reweighted.h"
#include "harness.h"

using namespace granary;
using namespace granary::graph;

namespace {

MatrixXd covariance(Rng& rng, Index n, Index p) {
  MatrixXd x(n, p);
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < n; ++i) x(i, j) = rng.normal() + (j > 0 ? 0.7 * x(i, j - 1) : 0);
  }
  return x.transpose() * x / static_cast<double>(n);
}

struct Tasks {
  std::vector<MatrixXd> s;
  MultiProblem problem;
  Tasks(Rng& rng, int tasks, Index p, double lambda) {
    for (int k = 0; k < tasks; ++k) s.push_back(covariance(rng, 30 + 5 * k, p));
    for (const MatrixXd& m : s) problem.s.emplace_back(m.data(), p, p);
    problem.weight = VectorXd::LinSpaced(tasks, 1, 2);
    problem.off = {MultiNorm::l2, 0, lambda};
  }
};

MatrixXd dense(const GlassoState& state) { return MatrixXd(symmetric_from_upper(state.upper)); }

}  // namespace

TEST("weighted ridge steps reach a point with no gradient, at any scale") {
  Rng rng(3);
  const MatrixXd base = covariance(rng, 12, 5);
  for (const double unit : {1e-8, 1.0, 1e8}) {
    Monitor monitor;
    const MatrixXd s = unit * base, c = MatrixXd::Constant(5, 5, 0.3 * unit * unit);
    MatrixXd x = (s.diagonal().cwiseInverse()).asDiagonal();
    CHECK(weighted_ridge(s, c, 1e-14, 100, monitor, x));
    const MatrixXd w = Eigen::LLT<MatrixXd>(x).solve(MatrixXd::Identity(5, 5));
    CHECK((s - w + c.cwiseProduct(x)).cwiseAbs().maxCoeff() <= 1e-6 * unit);
  }
}

TEST("reweighted ridge penalties come near the exact l1,2 solution from above") {
  Rng rng(5);
  Monitor monitor;
  Tasks tasks(rng, 3, 6, 0.4);
  const MultiResult exact = multi(tasks.problem, MultiOptions(), monitor);
  MultiIrlsOptions options;
  options.tol = 1e-9;
  options.max_iter = 1000;
  const MultiResult found = multi_irls(tasks.problem, options, monitor);
  CHECK(found.convergence.converged);
  CHECK(found.objective >= exact.objective - 1e-8);
  CHECK(found.objective <= exact.objective + 1e-4);
  CHECK(found.convergence.gap >= found.objective - exact.objective - 1e-6);
  MultiProblem other = tasks.problem;
  other.off.norm = MultiNorm::linf;
  CHECK_THROWS(multi_irls(other, options, monitor), InputError);
}

TEST("the hierarchical penalty: stationary, empty from its top on, and one task is a root penalty") {
  Rng rng(7);
  Monitor monitor;
  Tasks tasks(rng, 3, 6, 0);
  ReweightedOptions options;
  options.tol = 1e-10;
  options.max_iter = 200;
  const double top = hierarchical_top(tasks.problem, options);
  CHECK(hierarchical(tasks.problem, 1.01 * top, options, monitor).state.pattern.nonZeros() == 6);
  const double lambda = 0.02 * top;
  const MultiResult fit = hierarchical(tasks.problem, lambda, options, monitor);
  CHECK(fit.convergence.converged);
  CHECK(fit.state.pattern.nonZeros() > 6);
  CHECK(std::isnan(fit.convergence.gap));
  for_each_entry(fit.state.pattern, [&](Index i, Index j, Index e) {
    if (i == j) return;
    const double size = fit.state.values.col(e).cwiseAbs().sum();
    for (int k = 0; k < 3; ++k) {
      const double x = fit.state.values(k, e), t = tasks.problem.weight[k];
      const double force = t * (fit.state.w[k](i, j) - tasks.s[k](i, j)), bound = lambda / (2 * std::sqrt(size));
      if (x != 0) CHECK_NEAR(force, x > 0 ? bound : -bound, 1e-3);
      if (x == 0) CHECK(std::abs(force) <= bound + 1e-3);
    }
  });
}

TEST("the scale-free penalty: stationary, and units do not matter") {
  Rng rng(9);
  Monitor monitor;
  const MatrixXd s = covariance(rng, 40, 6);
  ReweightedOptions options;
  options.tol = 1e-11;
  options.max_iter = 200;
  const double alpha = 0.1;
  const GlassoResult fit = scale_free(s, alpha, options, monitor);
  CHECK(fit.convergence.converged);
  const MatrixXd x = dense(fit.state);
  VectorXd slope(6);
  for (Index i = 0; i < 6; ++i) slope[i] = 1 / (x.col(i).cwiseAbs().sum() - x(i, i) + 1 / s(i, i));
  for (Index j = 0; j < 6; ++j) {
    CHECK_NEAR(fit.state.w(j, j), s(j, j) * (1 + alpha), 1e-5);
    for (Index i = 0; i < j; ++i) {
      const double bound = alpha / 2 * (slope[i] + slope[j]), force = fit.state.w(i, j) - s(i, j);
      if (x(i, j) != 0) CHECK_NEAR(force, x(i, j) > 0 ? bound : -bound, 1e-4);
      if (x(i, j) == 0) CHECK(std::abs(force) <= bound + 1e-4);
    }
  }
  for (const double unit : {1e-8, 1e8}) {
    const MatrixXd y = unit * dense(scale_free(unit * s, alpha, options, monitor).state);
    CHECK((y - x).cwiseAbs().maxCoeff() <= 1e-4);
  }
  CHECK_THROWS(scale_free(MatrixXd::Zero(2, 2), alpha, options, monitor), InputError);
}

TEST("neighbourhoods satisfy the optimality conditions of every lasso; AND is inside OR") {
  Rng rng(11);
  Monitor monitor;
  MatrixXd s = covariance(rng, 20, 7);
  s.col(6).setZero();
  s.row(6).setZero();  // a constant variable
  for (const bool standardize : {true, false}) {
    NeighbourOptions options;
    options.standardize = standardize;
    const std::vector<double> lambda = {0.5, 0.2, 0.05};
    const auto path = neighbourhoods(s, lambda, options, monitor);
    options.threads = 2;
    const auto again = neighbourhoods(s, lambda, options, monitor);
    for (std::size_t l = 0; l < lambda.size(); ++l) {
      const MatrixXd b = path[l].coefficients;
      CHECK(path[l].convergence.converged);
      CHECK((MatrixXd(again[l].coefficients) - b).cwiseAbs().maxCoeff() == 0);
      CHECK(b.diagonal().cwiseAbs().maxCoeff() == 0);
      CHECK(b.col(6).cwiseAbs().maxCoeff() == 0);
      for (Index j = 0; j < 6; ++j) {
        const VectorXd g = s.col(j) - s * b.col(j);
        for (Index k = 0; k < 6; ++k) {
          if (k == j) continue;
          const double bound = lambda[l] * (standardize ? std::sqrt(s(j, j) * s(k, k)) : 1);
          if (b(k, j) != 0) CHECK_NEAR(g[k], b(k, j) > 0 ? bound : -bound, 1e-6);
          if (b(k, j) == 0) CHECK(std::abs(g[k]) <= bound + 1e-6);
        }
      }
      const MatrixXd both = neighbour_weights(path[l].coefficients, NeighbourRule::both, 0);
      const MatrixXd either = neighbour_weights(path[l].coefficients, NeighbourRule::either, 0);
      CHECK((both - either).minCoeff() >= 0);
    }
  }
  CHECK_THROWS(neighbourhoods(s, {-1.0}, NeighbourOptions(), monitor), InputError);
}
