#include "eigen.h"
#include <random>

#include "core/linalg/spd.h"
#include "harness.h"

using namespace granary;

namespace {

struct Source {
  std::mt19937_64 engine;
  explicit Source(unsigned seed) : engine(seed) {}
  double uniform() { return (static_cast<double>(engine() >> 11) + 0.5) * 0x1p-53; }
  double centred() { return 2 * uniform() - 1; }
  MatrixXd matrix(Index rows, Index cols) {
    return MatrixXd::NullaryExpr(rows, cols, [this](Index, Index) { return centred(); });
  }
  VectorXd vector(Index n) { return matrix(n, 1); }
  MatrixXd spd(Index n) {
    const MatrixXd a = matrix(n, n + 3);
    return a * a.transpose() + 0.1 * MatrixXd::Identity(n, n);
  }
};

std::string message_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

double gap(const MatrixXd& a, const MatrixXd& b) {
  return (a - b).cwiseAbs().maxCoeff() / std::max(1e-300, b.cwiseAbs().maxCoeff());
}

}  // namespace

TEST("Cholesky solves, and reads only the lower triangle, at any scale") {
  Source source(1);
  for (double scale : {1e-8, 1.0, 1e8}) {
    const MatrixXd a = scale * source.spd(7);
    MatrixXd lower_only = a;
    lower_only.triangularView<Eigen::StrictlyUpper>().setConstant(std::nan(""));
    const Cholesky factor(lower_only);
    const VectorXd b = source.vector(7);
    CHECK(gap(factor.reconstruct(), a) < 1e-13);
    CHECK(gap(factor.solve(b), a.fullPivLu().solve(b)) < 1e-9);
    CHECK(gap(factor.solve(a), MatrixXd::Identity(7, 7)) < 1e-9);
    CHECK_NEAR(factor.log_determinant(), std::log(a.determinant()), 1e-8);
    CHECK_NEAR(factor.quadratic_form(b) / b.dot(a * b), 1, 1e-12);
    CHECK_NEAR(quadratic_form(a, b) / b.dot(a * b), 1, 1e-12);
    CHECK_NEAR(factor.inverse_quadratic_form(b) / b.dot(a.inverse() * b), 1, 1e-9);
    CHECK(gap(factor.lower() * factor.solve_lower(b), b) < 1e-12);
    CHECK(gap(factor.lower().transpose() * factor.solve_upper(b), b) < 1e-12);
  }
}

TEST("Cholesky says which leading minor failed and which row is not finite") {
  MatrixXd a = MatrixXd::Identity(4, 4);
  a(2, 2) = -3;
  CHECK_THROWS(Cholesky(a), NumericalError);
  CHECK(message_of([&] { Cholesky{a}; }).find("leading minor of order 3 of 4") != std::string::npos);
  CHECK(message_of([&] { Cholesky{a}; }).find("pivot -3") != std::string::npos);
  a(2, 2) = std::nan("");
  CHECK(message_of([&] { Cholesky{a}; }).find("row 3") != std::string::npos);
  CHECK_THROWS(Cholesky(MatrixXd::Zero(2, 3)), InputError);
  CHECK_THROWS(Cholesky(MatrixXd::Identity(2, 2)).solve(VectorXd::Zero(3)), InputError);
  CHECK_THROWS(Cholesky::from_lower(MatrixXd::Zero(2, 2)), InputError);
  CHECK_NEAR(Cholesky(MatrixXd(0, 0)).log_determinant(), 0, 0);
}

TEST("the jitter ladder reports what it added and gives up on a truly indefinite matrix") {
  Source source(2);
  for (double scale : {1e-8, 1.0, 1e8}) {
    const VectorXd v = source.vector(6);
    const MatrixXd singular = scale * v * v.transpose();
    const Cholesky factor = cholesky_with_jitter(singular);
    CHECK(factor.jitter() > 0);
    CHECK(factor.jitter() <= 1e-8 * singular.diagonal().mean());
    CHECK(gap(factor.reconstruct(), singular + factor.jitter() * MatrixXd::Identity(6, 6)) < 1e-12);
    CHECK_NEAR(cholesky_with_jitter(scale * source.spd(5)).jitter(), 0, 0);
  }
  MatrixXd indefinite = MatrixXd::Identity(3, 3);
  indefinite(0, 1) = indefinite(1, 0) = 5;
  CHECK_THROWS(cholesky_with_jitter(indefinite), NumericalError);
  CHECK_THROWS(cholesky_with_jitter(-MatrixXd::Identity(3, 3)), NumericalError);
  CHECK_THROWS(cholesky_with_jitter(MatrixXd::Constant(3, 3, std::nan(""))), NumericalError);
}

TEST("rank-one changes, appended and erased rows agree with factoring afresh") {
  Source source(3);
  for (double scale : {1e-8, 1.0, 1e8}) {
    MatrixXd a = scale * source.spd(6);
    Cholesky factor(a);
    for (int round = 0; round < 20; ++round) {
      const VectorXd v = std::sqrt(scale) * source.vector(a.rows());
      factor.update(v);
      a += v * v.transpose();
      CHECK(gap(factor.lower(), Cholesky(a).lower()) < 1e-11);
      factor.downdate(0.9 * v);
      a -= 0.81 * v * v.transpose();
      CHECK(gap(factor.lower(), Cholesky(a).lower()) < 1e-11);
      VectorXd column = 0.1 * scale * source.vector(a.rows());
      factor.append(column, 3 * scale);
      a.conservativeResize(a.rows() + 1, a.cols() + 1);
      a.bottomRows(1).leftCols(column.size()) = column.transpose();
      a.rightCols(1).topRows(column.size()) = column;
      a(a.rows() - 1, a.rows() - 1) = 3 * scale;
      CHECK(gap(factor.lower(), Cholesky(a).lower()) < 1e-11);
      if (round % 2 == 1) {
        const Index out = round % a.rows();
        Eigen::PermutationMatrix<Eigen::Dynamic> last(a.rows());
        last.setIdentity();
        for (Index i = out; i < a.rows(); ++i) last.indices()[i] = static_cast<int>(i == out ? a.rows() - 1 : i - 1);
        a = (last * a * last.transpose()).eval();
        a.conservativeResize(a.rows() - 1, a.cols() - 1);
        factor.erase(out);
        CHECK(gap(factor.lower(), Cholesky(a).lower()) < 1e-11);
      }
    }
  }
}

TEST("a factor grows from nothing and refuses what would make it indefinite, unharmed") {
  Cholesky factor;
  factor.append(VectorXd(), 4);
  factor.append(VectorXd::Constant(1, 2.0), 5);
  CHECK_NEAR(factor.log_determinant(), std::log(16.0), 1e-14);
  const MatrixXd before = factor.lower();
  CHECK_THROWS(factor.append(VectorXd(before.col(0)), 1e-3), NumericalError);
  CHECK_THROWS(factor.downdate(VectorXd::Constant(2, 3.0)), NumericalError);
  CHECK_THROWS(factor.downdate(before.col(0)), NumericalError);  // exactly singular
  CHECK_THROWS(factor.erase(2), InputError);
  CHECK_NEAR((factor.lower() - before).norm(), 0, 0);
  factor.erase(0);
  factor.erase(0);
  CHECK(factor.size() == 0);
}

TEST("diagonal plus low rank solves as the dense matrix does") {
  Source source(4);
  for (double scale : {1e-8, 1.0, 1e8}) {
    const VectorXd d = scale * (source.vector(9).array().abs() + 0.1);
    const MatrixXd u = std::sqrt(scale) * 10 * source.matrix(9, 3);
    const MatrixXd dense = MatrixXd(d.asDiagonal()) + u * u.transpose();
    const DiagonalPlusLowRank low(d, u);
    const MatrixXd b = source.matrix(9, 2);
    CHECK(gap(low.solve(b), dense.fullPivLu().solve(b)) < 1e-9);
    CHECK(gap(low.solve(VectorXd(b.col(0))), dense.fullPivLu().solve(b.col(0))) < 1e-9);
    CHECK_NEAR(low.log_determinant(), std::log(dense.determinant()), 1e-8);
    CHECK(gap(low.inverse_diagonal(), dense.inverse().diagonal()) < 1e-8);
  }
  const DiagonalPlusLowRank diagonal(VectorXd::Constant(3, 2.0), MatrixXd(3, 0));
  CHECK_NEAR(diagonal.solve(VectorXd::Ones(3))[1], 0.5, 1e-15);
  CHECK_THROWS(DiagonalPlusLowRank(VectorXd::Zero(3), MatrixXd(3, 1)), InputError);
}

TEST("banded Cholesky agrees with the dense one") {
  Source source(5);
  for (Index b : {0, 1, 3, 6}) {
    for (double scale : {1e-8, 1.0, 1e8}) {
      const Index n = 7;
      MatrixXd bands = scale * source.matrix(b + 1, n), dense = MatrixXd::Zero(n, n);
      bands.row(0).array() += scale * 8;
      for (Index j = 0; j < n; ++j) {
        for (Index k = 0; k <= b && j + k < n; ++k) dense(j + k, j) = dense(j, j + k) = bands(k, j);
      }
      const BandedCholesky banded(bands);
      const Cholesky full(dense);
      const VectorXd v = source.vector(n);
      CHECK(gap(banded.solve(v), full.solve(v)) < 1e-12);
      CHECK(gap(banded.solve_lower(v), full.solve_lower(v)) < 1e-12);
      CHECK(gap(banded.solve_upper(v), full.solve_upper(v)) < 1e-12);
      CHECK_NEAR(banded.log_determinant(), full.log_determinant(), 1e-11);
    }
  }
  MatrixXd bad = MatrixXd::Ones(2, 4);
  CHECK(message_of([&] { BandedCholesky{bad}; }).find("order 2 of 4") != std::string::npos);
}

TEST("conjugate gradients solve, with and without preconditioner, and report an indefinite operator") {
  Source source(6);
  Monitor monitor;
  MatrixXd a = source.spd(40);
  const VectorXd spread = VectorXd::LinSpaced(40, -3, 3).unaryExpr([](double e) { return std::pow(10.0, e); });
  a = spread.asDiagonal() * a * spread.asDiagonal();
  const VectorXd truth = source.vector(40).cwiseQuotient(spread), b = a * truth;
  const LinearOperator apply = [&](ConstVectorRef x, VectorRef y) { y.noalias() = a * x; };
  const LinearOperator jacobi = [&](ConstVectorRef x, VectorRef y) { y = x.cwiseQuotient(a.diagonal()); };
  const CgResult plain = conjugate_gradient(apply, b, {}, monitor);
  const CgResult better = conjugate_gradient(apply, b, {}, monitor, jacobi);
  CHECK(better.convergence.converged);
  CHECK((a * better.x - b).norm() <= 2e-10 * b.norm());
  CHECK(!plain.convergence.converged || better.convergence.iterations < plain.convergence.iterations);
  const CgResult warm = conjugate_gradient(apply, b, {}, monitor, jacobi, better.x);
  CHECK(warm.convergence.converged && warm.convergence.iterations <= 2);
  const LinearOperator indefinite = [](ConstVectorRef x, VectorRef y) { y = -x; };
  const CgResult bad = conjugate_gradient(indefinite, b, {}, monitor);
  CHECK(!bad.convergence.converged && !bad.convergence.message.empty());
  CHECK(conjugate_gradient(apply, VectorXd::Zero(40), {}, monitor).convergence.converged);
  CgOptions few;
  few.max_iter = 3;
  CHECK(!conjugate_gradient(apply, b, few, monitor).convergence.converged);
}

TEST("is_symmetric is relative") {
  Source source(7);
  for (double scale : {1e-8, 1.0, 1e8}) {
    MatrixXd a = scale * source.spd(4);
    CHECK(is_symmetric(a));
    a(0, 3) += 1e-5 * scale;
    CHECK(!is_symmetric(a));
    CHECK(is_symmetric(a, 1e-3));
  }
  CHECK(!is_symmetric(MatrixXd::Zero(2, 3)));
  CHECK(is_symmetric(MatrixXd(0, 0)));
}

TEST("nearest_psd meets the optimality conditions of the projection onto the cone") {
  Source source(8);
  for (double scale : {1e-8, 1.0, 1e8}) {
    const MatrixXd half = scale * source.matrix(6, 6), a = half + half.transpose();
    const MatrixXd x = nearest_psd(a), dual = x - a;  // both PSD and orthogonal
    const Eigen::SelfAdjointEigenSolver<MatrixXd> primal_eigen(x), dual_eigen(dual);
    CHECK(primal_eigen.eigenvalues()[0] > -1e-13 * scale);
    CHECK(dual_eigen.eigenvalues()[0] > -1e-13 * scale);
    CHECK(std::abs((x * dual).trace()) < 1e-12 * scale * scale);
    CHECK(gap(nearest_psd(x), x) < 1e-12);
    CHECK(Eigen::SelfAdjointEigenSolver<MatrixXd>(nearest_psd(a, 0.5 * scale)).eigenvalues()[0] > 0.4999 * scale);
  }
}

TEST("nearest_correlation reproduces Higham's example") {
  // Higham (2002, section 4): the tridiagonal (1, 1, 1) matrix of order 3 has nearest correlation 0.7607, 0.1573 at
  // distance 0.5278.
  MatrixXd a(3, 3);
  a << 1, 1, 0, 1, 1, 1, 0, 1, 1;
  Monitor monitor;
  const auto result = nearest_correlation(a, {}, monitor);
  CHECK(result.convergence.converged);
  CHECK_NEAR(result.correlation(0, 1), 0.7607, 5e-5);
  CHECK_NEAR(result.correlation(0, 2), 0.1573, 5e-5);
  CHECK_NEAR((a - result.correlation).norm(), 0.5278, 5e-5);
  NearestCorrelationOptions floored;
  floored.min_eigenvalue = 0.05;
  const MatrixXd safe = nearest_correlation(a, floored, monitor).correlation;
  CHECK(Eigen::SelfAdjointEigenSolver<MatrixXd>(safe).eigenvalues()[0] > 0.0499);
  CHECK_NEAR((safe.diagonal() - VectorXd::Ones(3)).norm(), 0, 0);
  floored.min_eigenvalue = 1;
  CHECK_THROWS(nearest_correlation(a, floored, monitor), InputError);
  NearestCorrelationOptions short_run;
  short_run.max_iter = 1;
  CHECK(!nearest_correlation(a, short_run, monitor).convergence.converged);
}
