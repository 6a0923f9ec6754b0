#include "eigen.h"
#include <limits>
#include <random>
#include <vector>

#include "core/optim/lbfgs.h"
#include "harness.h"

using namespace granary;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Source {
  std::mt19937_64 engine;
  explicit Source(unsigned seed) : engine(seed) {}
  double uniform() { return (static_cast<double>(engine() >> 11) + 0.5) * 0x1p-53; }
  MatrixXd matrix(Index rows, Index cols) {
    return MatrixXd::NullaryExpr(rows, cols, [this](Index, Index) { return 2 * uniform() - 1; });
  }
  VectorXd vector(Index n) { return matrix(n, 1); }
};

double rosenbrock(const VectorXd& x, VectorXd& g) {
  double f = 0;
  g.setZero();
  for (Index i = 0; i + 1 < x.size(); ++i) {
    const double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
    f += 100 * a * a + b * b;
    g[i] += -400 * a * x[i] - 2 * b;
    g[i + 1] += 200 * a;
  }
  return f;
}

MatrixXd conditioned(Index n, double condition, Source& source) {
  const MatrixXd q = Eigen::HouseholderQR<MatrixXd>(source.matrix(n, n)).householderQ();
  VectorXd values(n);
  for (Index i = 0; i < n; ++i) values[i] = std::pow(condition, static_cast<double>(i) / static_cast<double>(n - 1));
  return q * values.asDiagonal() * q.transpose();
}

Objective quadratic(const MatrixXd& a, const VectorXd& b, double scale = 1) {
  return [&a, &b, scale](const VectorXd& x, VectorXd& g) {
    g = scale * (a * x - b);
    return scale * (0.5 * x.dot(a * x) - b.dot(x));
  };
}

Objective logistic(const MatrixXd& x, const VectorXd& y, double ridge) {  // y in {-1, 1}
  return [&x, &y, ridge](const VectorXd& w, VectorXd& g) {
    const VectorXd margin = y.cwiseProduct(x * w);
    double f = 0.5 * ridge * w.squaredNorm();
    VectorXd pull(y.size());
    for (Index i = 0; i < y.size(); ++i) {
      f += std::max(-margin[i], 0.0) + std::log1p(std::exp(-std::abs(margin[i])));
      pull[i] = -y[i] / (1 + std::exp(margin[i]));
    }
    g = x.transpose() * pull + ridge * w;
    return f;
  };
}

// All assignments of each variable to {lower, free, upper}; the best feasible stationary point of a convex quadratic.
VectorXd best_in_box(const MatrixXd& a, const VectorXd& b, const VectorXd& lower, const VectorXd& upper) {
  const Index n = b.size();
  Index total = 1;
  for (Index i = 0; i < n; ++i) total *= 3;
  double best = infinity;
  VectorXd answer;
  for (Index code = 0; code < total; ++code) {
    VectorXd x(n);
    std::vector<Index> free;
    Index rest = code;
    bool valid = true;
    for (Index i = 0; i < n; ++i, rest /= 3) {
      if (rest % 3 == 0) x[i] = lower[i];
      if (rest % 3 == 1) x[i] = upper[i];
      if (rest % 3 == 2) {
        x[i] = 0;
        free.push_back(i);
      }
      valid = valid && std::isfinite(x[i]);
    }
    if (!valid) continue;
    const Index m = static_cast<Index>(free.size());
    MatrixXd inner(m, m);
    VectorXd right(m);
    for (Index i = 0; i < m; ++i) {
      right[i] = b[free[i]] - a.row(free[i]).dot(x);
      for (Index j = 0; j < m; ++j) inner(i, j) = a(free[i], free[j]);
    }
    if (m > 0) {
      const VectorXd solution = inner.llt().solve(right);
      for (Index i = 0; i < m; ++i) x[free[i]] = solution[i];
    }
    if (!((x.array() >= lower.array()).all() && (x.array() <= upper.array()).all())) continue;
    const double value = 0.5 * x.dot(a * x) - b.dot(x);
    if (value < best) {
      best = value;
      answer = x;
    }
  }
  return answer;
}

VectorXd lasso_by_coordinates(const MatrixXd& a, const VectorXd& b, const VectorXd& w) {  // 1/2 x'Ax - b'x + w'|x|
  VectorXd x = VectorXd::Zero(b.size());
  for (int sweep = 0; sweep < 20000; ++sweep) {
    double change = 0;
    for (Index j = 0; j < x.size(); ++j) {
      const double pull = b[j] - a.row(j).dot(x) + a(j, j) * x[j];
      const double value = std::copysign(std::max(std::abs(pull) - w[j], 0.0), pull) / a(j, j);
      change = std::max(change, std::abs(value - x[j]));
      x[j] = value;
    }
    if (change < 1e-15) break;
  }
  return x;
}

LbfgsOptions tight(double tol) {
  LbfgsOptions options;
  options.tol = tol;
  options.value_tol = 0;  // only the gradient may end the run, or rounding
  options.max_iter = 20000;
  return options;
}

}  // namespace

TEST("L-BFGS finds the minimum of Rosenbrock's function in 2 and 100 dimensions") {
  Monitor monitor;
  VectorXd start(2);
  start << -1.2, 1;
  const LbfgsResult two = lbfgs(rosenbrock, start, tight(1e-10), monitor);
  CHECK(two.convergence.converged && two.evaluations < 120);
  CHECK((two.x - VectorXd::Ones(2)).norm() < 1e-7);
  VectorXd far(100);
  for (Index i = 0; i < 100; ++i) far[i] = i % 2 ? 1 : -1.2;
  const LbfgsResult many = lbfgs(rosenbrock, far, tight(1e-10), monitor);
  CHECK(many.convergence.converged && many.convergence.iterations < 1000);
  VectorXd gradient(100);
  CHECK_NEAR(rosenbrock(many.x, gradient), many.value, 0);
  CHECK(gradient.cwiseAbs().maxCoeff() < 1e-5);
  CHECK((many.x - VectorXd::Ones(100)).norm() < 1e-6 || std::abs(many.value - 3.98) < 0.1);  // its one other local minimum
}

TEST("the residual is relative to the largest slope met, though the start has less") {
  Monitor monitor;
  double largest = 0;
  for (int steps = 1; steps <= 20; ++steps) {  // Rosenbrock's valley is flat where it begins: a slope of 2
    LbfgsOptions options = tight(1e-10);
    options.max_iter = steps;
    const LbfgsResult result = lbfgs(rosenbrock, VectorXd::Zero(2), options, monitor);
    CHECK(result.convergence.residual <= 1);
    VectorXd gradient(2);
    rosenbrock(result.x, gradient);
    largest = std::max(largest, gradient.cwiseAbs().maxCoeff());
  }
  CHECK(largest > 2.5);
}

TEST("L-BFGS solves ill-conditioned quadratics whatever the units of x and f") {
  Source source(1);
  Monitor monitor;
  const MatrixXd a = conditioned(30, 1e5, source);
  const VectorXd truth = source.vector(30), b = a * truth;
  for (double f_scale : {1e-8, 1.0, 1e8}) {
    for (double x_scale : {1e-8, 1.0, 1e8}) {
      const MatrixXd scaled_a = a / (x_scale * x_scale);
      const VectorXd scaled_b = b / x_scale;
      const LbfgsResult fit = lbfgs(quadratic(scaled_a, scaled_b, f_scale), VectorXd::Zero(30), tight(1e-10), monitor);
      CHECK(fit.convergence.converged);
      CHECK((fit.x / x_scale - truth).norm() < 1e-3 * truth.norm());
      const LbfgsResult from_afar =
          lbfgs(quadratic(scaled_a, scaled_b, f_scale), 1e3 * x_scale * VectorXd::Ones(30), tight(1e-12), monitor);
      CHECK(from_afar.convergence.converged);
      CHECK((from_afar.x / x_scale - truth).norm() < 1e-2 * truth.norm());
    }
  }
}

TEST("L-BFGS agrees with Newton on logistic regression") {
  Source source(2);
  const MatrixXd x = source.matrix(80, 5);
  VectorXd y(80);
  for (Index i = 0; i < 80; ++i) y[i] = source.uniform() < 1 / (1 + std::exp(-3 * x(i, 0) + x(i, 1))) ? 1 : -1;
  Monitor monitor;
  const LbfgsResult fit = lbfgs(logistic(x, y, 0.1), VectorXd::Zero(5), tight(1e-11), monitor);
  VectorXd w = VectorXd::Zero(5), g(5);
  for (int step = 0; step < 50; ++step) {
    logistic(x, y, 0.1)(w, g);
    const VectorXd p = (1 / (1 + (-(x * w)).array().exp())).matrix();
    const MatrixXd hessian =
        x.transpose() * (p.array() * (1 - p.array())).matrix().asDiagonal() * x + 0.1 * MatrixXd::Identity(5, 5);
    w -= hessian.llt().solve(g);
  }
  CHECK(fit.convergence.converged);
  CHECK((fit.x - w).norm() < 1e-8);
  const LbfgsResult again = lbfgs(logistic(x, y, 0.1), fit.x, tight(1e-11), monitor);  // a start at the solution ends at once
  CHECK(again.convergence.converged && again.convergence.iterations < 20);
  // the gradient under test is a gradient
  VectorXd forward(5), other(5);
  for (Index j = 0; j < 5; ++j) {
    const double h = 1e-6;
    const double difference =
        (logistic(x, y, 0.1)(w + h * VectorXd::Unit(5, j), other) - logistic(x, y, 0.1)(w - h * VectorXd::Unit(5, j), other)) /
        (2 * h);
    logistic(x, y, 0.1)(w, forward);
    CHECK_NEAR(difference, forward[j], 1e-6);
  }
}

TEST("steps out of the domain are shortened") {
  // x - log x with a start where the first step is far too long; the minimum is at one.
  Monitor monitor;
  for (double start : {1e-6, 0.5, 1e6}) {
    const Objective f = [](const VectorXd& x, VectorXd& g) {
      g = VectorXd::Constant(1, 1 - 1 / x[0]);
      return x[0] - std::log(x[0]);  // NaN below zero
    };
    const LbfgsResult fit = lbfgs(f, VectorXd::Constant(1, start), tight(1e-14), monitor);
    CHECK(fit.convergence.converged);
    CHECK_NEAR(fit.x[0], 1, 1e-6);
    const LbfgsResult box = lbfgs_box(f, VectorXd::Constant(1, start), VectorXd::Constant(1, -1.0),
                                      VectorXd::Constant(1, infinity), tight(1e-14), monitor);
    CHECK(box.convergence.converged);
    CHECK_NEAR(box.x[0], 1, 1e-6);
  }
}

TEST("box-constrained quadratics match enumeration of active sets") {
  Monitor monitor;
  for (unsigned seed = 0; seed < 40; ++seed) {
    Source source(100 + seed);
    const double x_scale = seed % 3 == 0 ? 1e-8 : seed % 3 == 1 ? 1.0 : 1e8;
    const Index n = 6;
    const MatrixXd a = conditioned(n, seed % 2 ? 1e1 : 1e4, source);
    const VectorXd b = x_scale * a * (2 * source.vector(n));
    VectorXd lower = x_scale * (source.vector(n).array() - 0.7), upper = lower;
    for (Index i = 0; i < n; ++i) upper[i] += x_scale * 1.4 * source.uniform();
    if (seed % 4 == 0) upper[0] = infinity;
    if (seed % 4 == 1) lower[1] = -infinity;
    if (seed % 4 == 2) lower[2] = upper[2];
    const VectorXd best = best_in_box(a, b, lower, upper);
    const LbfgsResult fit = lbfgs_box(quadratic(a, b), 10 * x_scale * source.vector(n), lower, upper, tight(1e-11), monitor);
    CHECK(fit.convergence.converged);
    CHECK((fit.x.array() >= lower.array()).all() && (fit.x.array() <= upper.array()).all());
    CHECK((fit.x - best).norm() < 1e-6 * x_scale);
    for (Index i = 0; i < n; ++i) {
      if (best[i] == lower[i] || best[i] == upper[i]) CHECK_NEAR(fit.x[i], best[i], 1e-9 * x_scale);
    }
  }
}

TEST("box: a large problem with many active bounds, Rosenbrock in a box, and no bounds at all") {
  Monitor monitor;
  Source source(3);
  const Index n = 300;
  const MatrixXd a = conditioned(n, 1e4, source);
  const VectorXd b = a * (3 * source.vector(n)), lower = VectorXd::Constant(n, -1), upper = VectorXd::Constant(n, 0.5);
  const LbfgsResult fit = lbfgs_box(quadratic(a, b), VectorXd::Zero(n), lower, upper, tight(1e-9), monitor);
  CHECK(fit.convergence.converged && fit.convergence.iterations < 2000);
  const VectorXd g = a * fit.x - b;
  double worst = 0;
  Index active = 0;
  for (Index i = 0; i < n; ++i) {
    if (fit.x[i] == lower[i]) {
      worst = std::max(worst, -g[i]);
    } else if (fit.x[i] == upper[i]) {
      worst = std::max(worst, g[i]);
    } else {
      worst = std::max(worst, std::abs(g[i]));
      --active;
    }
    ++active;
  }
  CHECK(worst < 1e-4);
  CHECK(active > 50);

  // With x1 <= 0.5 the minimum of Rosenbrock's function is at (0.5, 0.25); with x2 >= 1.5 at x1^3 - (1.5 - 0.005) x1 - 0.005 = 0.
  VectorXd start(2), top(2);
  start << -1.2, 1;
  top << 0.5, infinity;
  const LbfgsResult left = lbfgs_box(rosenbrock, start, VectorXd::Constant(2, -infinity), top, tight(1e-12), monitor);
  CHECK(left.convergence.converged);
  CHECK_NEAR(left.x[0], 0.5, 0);
  CHECK_NEAR(left.x[1], 0.25, 1e-8);
  const LbfgsResult open =
      lbfgs_box(rosenbrock, start, VectorXd::Constant(2, -infinity), VectorXd::Constant(2, infinity), tight(1e-10), monitor);
  CHECK(open.convergence.converged);
  CHECK((open.x - VectorXd::Ones(2)).norm() < 1e-7);
}

TEST("orthant-wise L-BFGS equals soft thresholding and coordinate descent") {
  Monitor monitor;
  for (double scale : {1e-8, 1.0, 1e8}) {
    Source source(4);
    const VectorXd b = scale * source.vector(20), w = VectorXd::Constant(20, 0.3 * scale);
    const MatrixXd identity = MatrixXd::Identity(20, 20);
    const LbfgsResult closed = lbfgs_l1(quadratic(identity, b), VectorXd::Zero(20), w, tight(1e-11), monitor);
    CHECK(closed.convergence.converged);
    CHECK((closed.x - lasso_by_coordinates(identity, b, w)).norm() < 1e-9 * scale);

    const MatrixXd x = source.matrix(40, 25), a = x.transpose() * x;
    const VectorXd r = scale * x.transpose() * source.vector(40);
    VectorXd weights = VectorXd::Constant(25, 0.3 * r.cwiseAbs().maxCoeff());
    weights[3] = 0;  // an intercept
    const LbfgsResult fit = lbfgs_l1(quadratic(a, r), scale * source.vector(25), weights, tight(1e-11), monitor);
    const VectorXd reference = lasso_by_coordinates(a, r, weights);
    CHECK(fit.convergence.converged);
    CHECK((fit.x - reference).norm() < 1e-7 * scale);
    for (Index j = 0; j < 25; ++j) CHECK((fit.x[j] == 0) == (reference[j] == 0));
    CHECK((reference.array() == 0).count() > 5);
    CHECK_NEAR(fit.value / (0.5 * fit.x.dot(a * fit.x) - r.dot(fit.x) + weights.dot(fit.x.cwiseAbs())), 1, 1e-12);
  }
}

TEST("orthant-wise L-BFGS meets the KKT conditions of l1 logistic regression with more columns than rows") {
  Source source(5);
  const MatrixXd x = source.matrix(60, 200);
  VectorXd y(60);
  for (Index i = 0; i < 60; ++i) y[i] = source.uniform() < 1 / (1 + std::exp(-6 * x(i, 0) + 4 * x(i, 1))) ? 1 : -1;
  const VectorXd weights = VectorXd::Constant(200, 2.0);
  Monitor monitor;
  const LbfgsResult fit = lbfgs_l1(logistic(x, y, 0), VectorXd::Zero(200), weights, tight(1e-9), monitor);
  CHECK(fit.convergence.converged);
  double worst = 0;
  for (Index j = 0; j < 200; ++j) {
    worst = std::max(worst, fit.x[j] == 0 ? std::abs(fit.gradient[j]) - 2 : std::abs(fit.gradient[j] + (fit.x[j] > 0 ? 2 : -2)));
  }
  CHECK(worst < 1e-6);
  CHECK((fit.x.array() != 0).count() < 60);
  CHECK(fit.x[0] > 0);
}

TEST("the three report failures, bad input and early stops") {
  Monitor monitor;
  VectorXd start(2);
  start << -1.2, 1;
  LbfgsOptions few;
  few.max_iter = 3;
  const LbfgsResult cut = lbfgs(rosenbrock, start, few, monitor);
  CHECK(!cut.convergence.converged && cut.convergence.iterations == 3);
  CHECK(cut.convergence.message.find("max_iter") != std::string::npos);
  const Objective wrong = [](const VectorXd& x, VectorXd& g) {
    const double value = rosenbrock(x, g);
    g *= -1;
    return value;
  };
  const VectorXd low = VectorXd::Constant(2, -5), high = VectorXd::Constant(2, 5), none = VectorXd::Zero(2);
  const LbfgsResult results[] = {lbfgs(wrong, start, {}, monitor), lbfgs_box(wrong, start, low, high, {}, monitor),
                                 lbfgs_l1(wrong, start, none, {}, monitor)};
  for (const LbfgsResult& bad : results) {
    CHECK(!bad.convergence.converged);
    CHECK(bad.convergence.reason == Stop::stalled);
  }
  const Objective nowhere = [](const VectorXd&, VectorXd&) { return std::nan(""); };
  CHECK_THROWS(lbfgs(nowhere, start, {}, monitor), NumericalError);
  CHECK_THROWS(lbfgs_box(nowhere, start, low, high, {}, monitor), NumericalError);
  CHECK_THROWS(lbfgs_box(rosenbrock, start, high, low, {}, monitor), InputError);
  CHECK_THROWS(lbfgs_box(rosenbrock, start, VectorXd::Zero(3), high, {}, monitor), InputError);
  CHECK_THROWS(lbfgs_l1(rosenbrock, start, VectorXd::Constant(2, -1), {}, monitor), InputError);
  const Objective short_gradient = [](const VectorXd&, VectorXd& g) {
    g = VectorXd::Ones(1);
    return 1.0;
  };
  CHECK_THROWS(lbfgs(short_gradient, start, {}, monitor), InputError);
  const Objective constant = [](const VectorXd&, VectorXd& g) {
    g.setZero();
    return 7.0;
  };
  CHECK(lbfgs(constant, start, {}, monitor).convergence.converged);
  CHECK(lbfgs(constant, VectorXd(), {}, monitor).convergence.converged);
  const Objective falls = [](const VectorXd& x, VectorXd& g) {  // unbounded below
    g = VectorXd::Ones(x.size());
    return x.sum();
  };
  CHECK(!lbfgs(falls, start, {}, monitor).convergence.converged);
}
