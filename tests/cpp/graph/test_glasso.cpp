#include "eigen.h"
#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "core/random/rng.h"
#include "graph/face_newton.h"
#include "graph/glasso.h"
#include "graph/glasso_barrier.h"
#include "harness.h"

using namespace granary;
using namespace granary::graph;

namespace {

MatrixXd random_covariance(Index p, Index n, Rng& rng) {
  MatrixXd x(n, p);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < p; ++j) x(i, j) = rng.normal() + (j > 0 ? 0.6 * x(i, j - 1) : 0);
  }
  return x.transpose() * x / static_cast<double>(n);
}

MatrixXd random_lambda(Index p, double low, double high, Rng& rng) {
  MatrixXd lambda(p, p);
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i <= j; ++i) lambda(i, j) = lambda(j, i) = rng.uniform(low, high);
  }
  return lambda;
}

SparseMatrix upper_of(const MatrixXd& x) {
  const MatrixXd upper = x.triangularView<Eigen::Upper>();
  return upper.sparseView();
}

MatrixXd dense(const GlassoState& state) { return MatrixXd(symmetric_from_upper(state.upper)); }

double objective(const MatrixXd& x, const MatrixXd& s, const MatrixXd& lambda) {
  const VectorXd values = Eigen::SelfAdjointEigenSolver<MatrixXd>(x).eigenvalues();
  return -values.array().log().sum() + s.cwiseProduct(x).sum() + lambda.cwiseProduct(x.cwiseAbs()).sum();
}

// Sum, size and largest violation of the optimality conditions, from their definition.
struct Violation {
  double sum = 0, largest = 0;
};
Violation violation(const MatrixXd& x, const MatrixXd& s, const MatrixXd& lambda) {
  const MatrixXd g = s - x.inverse();
  Violation out;
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      const double l = lambda(i, j);
      const double v = x(i, j) != 0 ? std::abs(g(i, j) + (x(i, j) > 0 ? l : -l)) : std::max(0.0, std::abs(g(i, j)) - l);
      out.sum += v;
      out.largest = std::max(out.largest, v);
    }
  }
  return out;
}

GlassoOptions tight(GlassoMethod method = GlassoMethod::bcd) {
  GlassoOptions options;
  options.method = method;
  options.tol = 1e-10;
  options.max_iter = 100000;
  return options;
}

}  // namespace

TEST("Penalty: scalar, vector and matrix, scaled and restricted") {
  MatrixXd m(3, 3);
  m << 1, 2, 3, 2, 4, 5, 3, 5, 6;
  VectorXd w(3);
  w << 4, 9, 16;
  CHECK(Penalty::scalar(0.5)(0, 1) == 0.5 && Penalty::scalar(0.5)(1, 1) == 0.5 && Penalty::scalar(0.5, false)(1, 1) == 0);
  CHECK_NEAR(Penalty::vector(w)(0, 1), 6, 1e-15);
  CHECK_NEAR(Penalty::vector(w)(2, 2), 16, 1e-15);
  CHECK(Penalty::matrix(m)(1, 2) == 5 && Penalty::matrix(m, false)(2, 2) == 0);
  for (const Penalty& lambda : {Penalty::scalar(2), Penalty::vector(w), Penalty::matrix(m), Penalty::matrix(m, false)}) {
    const Penalty part = lambda.scaled(0.5).restricted({2, 0, 1}).restricted({0, 2});  // variables 2 and 1
    CHECK(part(0, 0) == 0.5 * lambda(2, 2));
    CHECK(part(0, 1) == 0.5 * lambda(2, 1));
    CHECK(part(1, 1) == 0.5 * lambda(1, 1));
  }
  m(0, 2) = m(2, 0) = Penalty::forbidden;
  const Penalty none = Penalty::matrix(m).scaled(0);
  CHECK(none(0, 2) == Penalty::forbidden && none(0, 1) == 0);
  MatrixXd large = MatrixXd::Zero(5, 5);
  large.block(1, 1, 3, 3) = m;
  CHECK(Penalty::matrix(large.block(1, 1, 3, 3))(1, 2) == m(1, 2));  // a view with a stride
}

TEST("objective, optimality and gap are their definitions") {
  Rng rng(1);
  for (Index p : {1, 2, 6}) {
    const MatrixXd s = random_covariance(p, 8, rng), l = random_lambda(p, 0.05, 0.3, rng);
    MatrixXd x = MatrixXd::Identity(p, p) + 0.3 * random_covariance(p, 5, rng);
    if (p > 2) x(0, 2) = x(2, 0) = 0;
    const MatrixXd w = x.inverse();
    const Penalty lambda = Penalty::matrix(l);
    CHECK_NEAR(linear_and_penalty(s, lambda, upper_of(x)), s.cwiseProduct(x).sum() + l.cwiseProduct(x.cwiseAbs()).sum(), 1e-12);
    const Optimality mine = optimality(s, lambda, upper_of(x), w);
    const Violation reference = violation(x, s, l);
    CHECK_NEAR(mine.subgradient, reference.sum, 1e-12);
    CHECK_NEAR(mine.largest, reference.largest, 1e-12);
    CHECK_NEAR(mine.size, x.cwiseAbs().sum(), 1e-12);
    const double unit = s.trace() / static_cast<double>(p);
    CHECK_NEAR(mine.relative(), reference.sum / (unit * unit * x.cwiseAbs().sum()), 1e-12);

    const double f = objective(x, s, l);
    MatrixXd v = (w - s).cwiseMax(-l).cwiseMin(l) + s;
    v.diagonal() = (s + l).diagonal();
    const double low = Eigen::SelfAdjointEigenSolver<MatrixXd>(v).eigenvalues()[0];
    if (low > 0) CHECK_NEAR(duality_gap(s, lambda, f, w), f - std::log(v.determinant()) - static_cast<double>(p), 1e-10);
    Monitor monitor;
    const double best = glasso(s, lambda, tight(), monitor).objective;
    CHECK(duality_gap(s, lambda, f, w) >= f - best - 1e-12);
    CHECK(f > best - 1e-12);
  }
}

TEST("duality_gap moves towards S where the clipped inverse leaves the cone, and is NaN where nothing is feasible") {
  Rng rng(2);
  const Index p = 8;
  int moved = 0;
  Monitor monitor;
  const MatrixXd s = MatrixXd::Identity(p, p);
  const Penalty lambda = Penalty::scalar(1);
  const double best = glasso(s, lambda, tight(), monitor).objective;
  for (int k = 0; k < 20; ++k) {
    // clipped, the off-diagonal is +-1 beside a diagonal of 2: rarely positive definite
    MatrixXd w = 20 * MatrixXd::Identity(p, p);
    for (Index j = 0; j < p; ++j) {
      for (Index i = 0; i < j; ++i) w(i, j) = w(j, i) = rng.bernoulli(0.5) ? 2 : -2;
    }
    MatrixXd v = w.cwiseMax(-1).cwiseMin(1);
    v.diagonal().setConstant(2);
    moved += Eigen::SelfAdjointEigenSolver<MatrixXd>(v).eigenvalues()[0] <= 0;
    const double f = objective(w.inverse(), s, MatrixXd::Constant(p, p, 1));
    CHECK(duality_gap(s, lambda, f, w) >= f - best - 1e-10);
  }
  CHECK(moved > 10);
  MatrixXd bad(2, 2);
  bad << 1, 3, 3, 1;
  CHECK(std::isnan(duality_gap(bad, Penalty::scalar(0.1, false), 0, MatrixXd::Identity(2, 2))));
}

TEST("certify: V is feasible and complementary, and the gap is that of V, bounded from above") {
  Rng rng(20);
  Monitor monitor;
  for (Index p : {2, 6, 12}) {
    for (bool diagonal : {true, false}) {
      const MatrixXd s = random_covariance(p, 2 * p, rng), l = random_lambda(p, 0.05, 0.3, rng);
      const Penalty lambda = Penalty::matrix(l, diagonal);
      MatrixXd used = l;
      if (!diagonal) used.diagonal().setZero();
      const GlassoResult best = glasso(s, lambda, tight(), monitor);
      for (double noise : {0.0, 1e-6, 1e-3}) {
        SparseMatrix upper = best.state.upper;  // the optimum, disturbed on its support
        for (Index k = 0; k < upper.nonZeros(); ++k) upper.valuePtr()[k] *= 1 + noise * rng.uniform(-1, 1);
        const MatrixXd x = symmetric_from_upper(upper);
        MatrixXd v = x.inverse() + MatrixXd::Constant(p, p, noise), product;
        const Certificate proof = certify(s, lambda, upper, v, product);
        CHECK(((v - s).cwiseAbs() - used).maxCoeff() < 1e-14);
        CHECK_NEAR((v - s).cwiseProduct(x).sum(), used.cwiseProduct(x.cwiseAbs()).sum(), 1e-12 * x.cwiseAbs().sum());
        const double exact = objective(x, s, used) -
                             Eigen::SelfAdjointEigenSolver<MatrixXd>(v).eigenvalues().array().log().sum() -
                             static_cast<double>(p);
        CHECK(proof.gap >= exact - 1e-12 && proof.gap <= 1.5 * exact + 1e-12);
        CHECK(proof.gap >= objective(x, s, used) - best.objective - 1e-12);
        const MatrixXd off = v * x - MatrixXd::Identity(p, p);
        CHECK_NEAR(proof.residual, std::sqrt(std::max((off * off).trace(), 0.0) / static_cast<double>(p)), 1e-12);
        const VectorXd sd = v.diagonal().cwiseSqrt();
        CHECK_NEAR(proof.largest, (sd.cwiseInverse().asDiagonal() * off * sd.asDiagonal()).cwiseAbs().maxCoeff(), 1e-12);
      }
      MatrixXd far = s + MatrixXd::Identity(p, p), product;
      CHECK(std::isnan(certify(s, lambda, upper_of(100 * MatrixXd::Identity(p, p)), far, product).gap));
    }
  }
}

TEST("bcd hands over to Newton's method where it loses the cone, and that says when there is no solution") {
  Monitor monitor;
  MatrixXd s(3, 3);
  s << 1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1;  // indefinite
  const GlassoResult fit = glasso(s, Penalty::scalar(0.8), tight(), monitor);
  CHECK(fit.convergence.converged && fit.convergence.gap < 1e-8);
  CHECK_THROWS(glasso(s, Penalty::scalar(0.01), tight(), monitor), NumericalError);
  CHECK_THROWS(glasso(s, Penalty::scalar(0.01), tight(GlassoMethod::quic), monitor), NumericalError);
}

TEST("screening finds the connected components of the thresholded covariance") {
  Rng rng(3);
  for (int k = 0; k < 30; ++k) {
    const int p = 12;
    const MatrixXd s = random_covariance(p, 15, rng), l = random_lambda(p, 0.2, 1.2, rng);
    // transitive closure by repeated squaring
    MatrixXd reach = ((s.cwiseAbs() - l).array() > 0).cast<double>().matrix() + MatrixXd::Identity(p, p);
    for (int t = 0; t < 4; ++t) reach = ((reach * reach).array() > 0).cast<double>();
    const auto components = screen_components(s, Penalty::matrix(l));
    std::vector<int> seen;
    for (const auto& members : components) {
      CHECK(std::is_sorted(members.begin(), members.end()));
      for (int i : members) {
        for (int j = 0; j < p; ++j) CHECK((reach(i, j) > 0) == std::binary_search(members.begin(), members.end(), j));
      }
      if (!seen.empty()) CHECK(members[0] > seen.back());
      seen.push_back(members[0]);
    }
  }
}

TEST("the three solvers satisfy the optimality conditions, for any penalty") {
  Rng rng(4);
  Monitor monitor;
  for (Index p : {2, 5, 11}) {
    for (Index n : {p / 2 + 1, 4 * p}) {
      const MatrixXd s = random_covariance(p, n, rng), l = random_lambda(p, 0.05, 0.3, rng);
      for (bool diagonal : {true, false}) {
        const Penalty lambda = Penalty::matrix(l, diagonal);
        MatrixXd used = l;
        if (!diagonal) used.diagonal().setZero();
        for (GlassoMethod method : {GlassoMethod::quic, GlassoMethod::bcd, GlassoMethod::admm}) {
          GlassoOptions options = tight(method);
          if (method == GlassoMethod::admm) options.tol = 1e-7;
          const GlassoResult fit = glasso(s, lambda, options, monitor);
          const MatrixXd x = dense(fit.state);
          CHECK(fit.convergence.converged);
          CHECK(violation(x, s, used).largest < 1e4 * options.tol);
          CHECK_NEAR(fit.objective, objective(x, s, used), 1e-9 * (1 + std::abs(fit.objective)));
          CHECK((fit.state.w * x - MatrixXd::Identity(p, p)).cwiseAbs().maxCoeff() < 1e-8);
          CHECK(fit.convergence.gap > -1e-10 && fit.convergence.gap < 1e-3);
        }
      }
    }
  }
}

TEST("the two inner rules end at the same point") {
  Rng rng(5);
  Monitor monitor;
  const MatrixXd s = random_covariance(15, 10, rng);
  GlassoOptions options = tight(GlassoMethod::quic);
  const MatrixXd forcing = dense(glasso(s, Penalty::scalar(0.1), options, monitor).state);
  options.inner = InnerRule::paper;
  CHECK_NEAR((dense(glasso(s, Penalty::scalar(0.1), options, monitor).state) - forcing).cwiseAbs().maxCoeff(), 0, 1e-7);
}

TEST("components: the same as alone, at any number of threads") {
  Rng rng(6);
  Monitor monitor;
  const std::vector<int> sizes = {6, 1, 9, 3};
  MatrixXd s = MatrixXd::Zero(19, 19);
  std::vector<MatrixXd> alone;
  for (int start = 0, k = 0; k < 4; start += sizes[k++]) {
    const MatrixXd part = random_covariance(sizes[k], 3 * sizes[k], rng);
    s.block(start, start, sizes[k], sizes[k]) = part;
    alone.push_back(dense(glasso(part, Penalty::scalar(0.01), tight(), monitor).state));
  }
  for (int threads : {1, 2, 4}) {
    GlassoOptions options = tight();
    options.threads = threads;
    const GlassoResult fit = glasso(s, Penalty::scalar(0.01), options, monitor);
    const MatrixXd x = dense(fit.state);
    CHECK(fit.components.size() == 4);
    double inside = 0;
    for (int start = 0, k = 0; k < 4; start += sizes[k++]) {
      CHECK(x.block(start, start, sizes[k], sizes[k]) == alone[k]);
      inside += alone[k].cwiseAbs().sum();
    }
    CHECK_NEAR(x.cwiseAbs().sum(), inside, 1e-9);
  }
}

TEST("a path is the single fits, warm starts change nothing but the work") {
  Rng rng(7);
  Monitor monitor;
  const MatrixXd s = random_covariance(14, 30, rng);
  const std::vector<double> multipliers = {0.5, 0.2, 0.2, 0.05, 0.3};
  for (GlassoMethod method : {GlassoMethod::quic, GlassoMethod::bcd}) {
    for (bool keep : {true, false}) {
      GlassoOptions options = tight(method);
      options.covariance = keep;
      const auto path = glasso_path(s, Penalty::scalar(1), multipliers, options, monitor);
      for (std::size_t k = 0; k < multipliers.size(); ++k) {
        const GlassoResult alone = glasso(s, Penalty::scalar(multipliers[k]), tight(), monitor);
        CHECK_NEAR((dense(path[k].state) - dense(alone.state)).cwiseAbs().maxCoeff(), 0, 1e-7);
        CHECK((path[k].state.w.size() > 0) == (keep || k + 1 == multipliers.size()));
        if (keep) CHECK((path[k].state.w * dense(path[k].state) - MatrixXd::Identity(14, 14)).cwiseAbs().maxCoeff() < 1e-11);
      }
      CHECK(path[2].convergence.iterations == (method == GlassoMethod::bcd ? 1 : 0));
    }
    GlassoOptions cold = tight(method);
    cold.covariance = cold.warm = false;
    CHECK(glasso_path(s, Penalty::scalar(1), {0.5, 0.4}, cold, monitor)[1].state.w.size() == 0);
  }
}

TEST("units: scales 1e-8 and 1e8 take the same steps") {
  Rng rng(8);
  Monitor monitor;
  const MatrixXd s = random_covariance(10, 25, rng);
  for (GlassoMethod method : {GlassoMethod::quic, GlassoMethod::bcd, GlassoMethod::admm}) {
    GlassoOptions options = tight(method);
    options.tol = 1e-8;
    const GlassoResult plain = glasso(s, Penalty::scalar(0.1), options, monitor);
    CHECK(plain.convergence.iterations > 2);
    for (double c : {1e-8, 1e8}) {
      const GlassoResult scaled = glasso(c * s, Penalty::scalar(0.1 * c), options, monitor);
      CHECK_NEAR((c * dense(scaled.state) - dense(plain.state)).cwiseAbs().maxCoeff(), 0, 1e-6);
      CHECK(std::abs(scaled.convergence.iterations - plain.convergence.iterations) <= 1);
    }
  }
}

TEST("level_set_bounds contains the eigenvalues of every matrix in the level set") {
  Rng rng(9);
  int inside = 0;
  for (Index p : {1, 2, 5}) {
    for (bool diagonal : {true, false}) {
      const MatrixXd s = random_covariance(p, 3 * p, rng);
      MatrixXd l = random_lambda(p, 0.1, 0.4, rng);
      const Penalty lambda = Penalty::matrix(l, diagonal);
      MatrixXd used = l;
      if (!diagonal) used.diagonal().setZero();
      const MatrixXd start = dense(diagonal_state(s, lambda));
      const double f0 = objective(start, s, used) + 1;  // a roomier level set than the diagonal's, to have something inside
      const EigenvalueBounds bounds = level_set_bounds(s, lambda, f0);
      CHECK(std::isfinite(bounds.upper) && std::isfinite(bounds.log_lower));
      for (int k = 0; k < 400; ++k) {
        MatrixXd x = start * rng.uniform(0.3, 2) + rng.uniform(0, 1) * random_covariance(p, 2, rng);
        if (objective(x, s, used) > f0) continue;
        ++inside;
        const VectorXd values = Eigen::SelfAdjointEigenSolver<MatrixXd>(x).eigenvalues();
        CHECK(values[p - 1] <= bounds.upper && std::log(values[0]) >= bounds.log_lower);
      }
      // M solves its equation
      double beta = 0, smallest = std::numeric_limits<double>::infinity();
      for (Index j = 0; j < p; ++j) {
        for (Index i = 0; i < j; ++i) {
          beta = std::max(beta, std::abs(s(i, j)));
          smallest = std::min(smallest, l(i, j));
        }
      }
      const double factor = p > 1 ? 1 + beta / smallest : 1;
      const double side = factor * (f0 + static_cast<double>(p) * std::log(bounds.upper));
      CHECK_NEAR(s.diagonal().minCoeff() * bounds.upper, side, 1e-9 * std::abs(side));
    }
  }
  CHECK(inside > 200);
  CHECK(std::isinf(level_set_bounds(MatrixXd::Identity(2, 2), Penalty::scalar(0), 2).upper));
  // the start is the only point of the level set
  CHECK_NEAR(level_set_bounds(MatrixXd::Constant(1, 1, 0.3), Penalty::scalar(0.1, false), 1 + std::log(0.3)).upper, 1 / 0.3,
             1e-5);
}

TEST("make_state and diagonal_state: X with its inverse, or an error") {
  Rng rng(10);
  const MatrixXd x = MatrixXd::Identity(5, 5) + random_covariance(5, 9, rng);
  const SparseMatrix sparse = x.sparseView();
  const GlassoState state = make_state(sparse);
  CHECK_NEAR((state.w - x.inverse()).cwiseAbs().maxCoeff(), 0, 1e-12);
  CHECK_NEAR(state.log_det, std::log(x.determinant()), 1e-12);
  CHECK((dense(state) - x).cwiseAbs().maxCoeff() < 1e-15);
  MatrixXd bad = x;
  bad(0, 0) = -1;
  CHECK_THROWS(make_state(bad.sparseView()), InputError);
  CHECK_THROWS(make_state(SparseMatrix(3, 3)), InputError);

  MatrixXd s(2, 2);
  s << 1, 0.3, 0.3, 3;
  const GlassoState diagonal = diagonal_state(s, Penalty::scalar(1));
  CHECK_NEAR(diagonal.log_det, -std::log(8.0), 1e-15);
  CHECK(diagonal.w(0, 0) == 2 && diagonal.w(1, 1) == 4 && diagonal.w(0, 1) == 0);
  CHECK(dense(diagonal)(1, 1) == 0.25 && dense(diagonal)(0, 1) == 0);
}

TEST("symmetric_from_upper mirrors, and drops exact zeros") {
  SparseMatrix upper(3, 3);
  upper.insert(0, 0) = 1;
  upper.insert(0, 2) = -2;
  upper.insert(1, 2) = 0;
  upper.insert(2, 2) = 3;
  const SparseMatrix full = symmetric_from_upper(upper);
  CHECK(full.nonZeros() == 4);
  CHECK(full.coeff(2, 0) == -2 && full.coeff(0, 2) == -2);
}

TEST("problems without a solution are refused") {
  Monitor monitor;
  MatrixXd s = MatrixXd::Identity(2, 2);
  s(1, 1) = 0;
  CHECK_THROWS(check_problem(s, Penalty::scalar(0.1, false)), InputError);
  check_problem(s, Penalty::scalar(0.1));
  CHECK_THROWS(check_problem(MatrixXd::Identity(2, 2), Penalty::scalar(-0.1)), InputError);
  const MatrixXd ones = MatrixXd::Constant(3, 3, 1);
  for (GlassoMethod method : {GlassoMethod::quic, GlassoMethod::bcd, GlassoMethod::admm}) {
    CHECK_THROWS(glasso(ones, Penalty::scalar(0), tight(method), monitor), NumericalError);
  }
  MatrixXd indefinite(3, 3);
  indefinite << 1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1;
  CHECK_THROWS(glasso(indefinite, Penalty::scalar(0.01), tight(), monitor), NumericalError);
  CHECK(glasso(indefinite, Penalty::scalar(0.6), tight(), monitor).convergence.converged);
}

TEST("an early stop is reported") {
  Rng rng(11);
  Monitor monitor;
  const MatrixXd s = random_covariance(10, 8, rng);
  for (GlassoMethod method : {GlassoMethod::quic, GlassoMethod::bcd, GlassoMethod::admm}) {
    GlassoOptions options = tight(method);
    options.max_iter = 1;
    const GlassoResult fit = glasso(s, Penalty::scalar(0.05), options, monitor);
    CHECK(!fit.convergence.converged && fit.convergence.iterations == 1 && !fit.convergence.message.empty());
  }
}

namespace {
struct StopsAtOnce : Monitor {
  bool poll() override { return true; }
};
}  // namespace

TEST("every solver stops when the monitor says so") {
  Rng rng(12);
  const MatrixXd s = random_covariance(10, 8, rng);
  for (GlassoMethod method : {GlassoMethod::quic, GlassoMethod::bcd, GlassoMethod::admm}) {
    StopsAtOnce monitor;
    monitor.request_stop();
    CHECK_THROWS(glasso(s, Penalty::scalar(0.05), tight(method), monitor), Interrupted);
  }
}

TEST("the interior point method and Newton's method on faces reach the optimum of block descent") {
  Rng rng(11);
  const MatrixXd s = random_covariance(9, 30, rng);
  MatrixXd weights = random_lambda(9, 0.05, 0.3, rng);
  weights(1, 4) = weights(4, 1) = Penalty::forbidden;
  weights(2, 3) = weights(3, 2) = 0;
  const Penalty lambda = Penalty::matrix(weights);
  Monitor monitor;
  GlassoOptions options;
  options.tol = 1e-8;
  const GlassoResult known = glasso(s, lambda, options, monitor);
  const std::optional<SparseMatrix> near = glasso_barrier(s, lambda, 1e-12, monitor);
  CHECK(near.has_value());
  GlassoState state = make_state(symmetric_from_upper(*near));
  const SolverReport report = face_newton(s, lambda, options, monitor, state);
  CHECK(report.converged);
  CHECK(report.iterations <= 5);
  CHECK_NEAR((dense(state) - dense(known.state)).cwiseAbs().maxCoeff(), 0, 1e-6);
  CHECK(dense(state)(1, 4) == 0);
  GlassoState cold = diagonal_state(s, lambda);
  CHECK(face_newton(s, lambda, options, monitor, cold).converged);
  CHECK_NEAR((dense(cold) - dense(known.state)).cwiseAbs().maxCoeff(), 0, 1e-6);
}

TEST("the interior point method has nothing to say where it cannot start") {
  MatrixXd s = MatrixXd::Ones(3, 3);  // singular, and the diagonal is not penalised
  Monitor monitor;
  CHECK(!glasso_barrier(s, Penalty::scalar(0.1, false), 1e-10, monitor).has_value());
}
