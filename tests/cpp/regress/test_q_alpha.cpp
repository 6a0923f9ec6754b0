
#include "eigen.h"
#include "core/linalg/leading_eigenpair.h"
#include "regress/q_alpha.h"
#include "regress/q_alpha_supervised.h"
#include "regress/q_alpha_theory.h"
#include "harness.h"

using namespace granary;
using namespace granary::regress;

namespace {

MatrixXd noise(Index rows, Index cols, std::uint64_t seed) {
  Rng rng(seed);
  return MatrixXd::NullaryExpr(rows, cols, [&](Index, Index) { return rng.normal(); });
}

// Three clusters seen by the first `relevant` of `n` features.
MatrixXd clustered(Index q, Index n, Index relevant, std::uint64_t seed) {
  MatrixXd x = noise(q, n, seed);
  const MatrixXd centre = 3 * noise(3, relevant, seed + 100);
  for (Index r = 0; r < q; ++r) x.row(r).head(relevant) += centre.row(r % 3);
  return standardise_features(x, true).x;
}

MatrixXd dense_g(const MatrixXd& x, const MatrixXd& q) {
  const MatrixXd p = x.transpose() * q;
  return (x.transpose() * x).cwiseProduct(p * p.transpose());
}

VectorXd eigenvalues(const MatrixXd& a) { return Eigen::SelfAdjointEigenSolver<MatrixXd>(a).eigenvalues().reverse(); }

}  // namespace

TEST("leading eigenpair: agrees with the dense solver, indefinite too, and uses its start") {
  Monitor monitor;
  const MatrixXd b = noise(60, 60, 1), a = b + b.transpose();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(a);
  const LinearOperator apply = [&](ConstVectorRef x, VectorRef y) { y.noalias() = a * x; };
  const LeadingEigenpair far = leading_eigenpair(apply, VectorXd::Ones(60), {}, monitor);
  CHECK_NEAR(far.value, solver.eigenvalues()[59], 1e-9);
  CHECK((a * far.vector - far.value * far.vector).norm() < 1e-8);
  const VectorXd near = far.vector + 1e-6 * noise(60, 1, 2);
  CHECK(leading_eigenpair(apply, near, {}, monitor).products < far.products);
  CHECK_THROWS(leading_eigenpair(apply, VectorXd::Zero(60), {}, monitor), InputError);
  const LeadingEigenpair one =
      leading_eigenpair([](ConstVectorRef x, VectorRef y) { y = -2 * x; }, VectorXd::Ones(1), {}, monitor);
  CHECK_NEAR(one.value, -2, 1e-12);
}

TEST("q_alpha: at the end the weights are the leading eigenvector of G, and the objective the sum of squares") {
  Monitor monitor;
  const MatrixXd x = clustered(40, 70, 8, 3);
  for (const QAlphaMethod method : {QAlphaMethod::power, QAlphaMethod::basic, QAlphaMethod::ritz}) {
    QAlphaOptions options;
    options.k = 3;
    options.method = method;
    options.tol = 1e-9;
    options.max_iter = 3000;
    const QAlphaResult fit = q_alpha(x, options, Rng(1), monitor);
    CHECK(fit.convergence.converged);
    const MatrixXd g = dense_g(x, fit.basis);
    CHECK_NEAR(fit.alpha.norm(), 1, 1e-12);
    CHECK((g * fit.alpha - fit.objective * fit.alpha).norm() < 1e-6 * fit.objective);
    CHECK_NEAR(fit.objective, eigenvalues(g)[0], 1e-7 * fit.objective);
    const VectorXd lambda = eigenvalues(x * fit.alpha.asDiagonal() * x.transpose());
    CHECK_NEAR(fit.objective, lambda.head(3).squaredNorm(), 1e-6 * fit.objective);
    for (std::size_t r = 1; r < fit.path.size(); ++r) CHECK(fit.path[r] >= fit.path[r - 1] * (1 - 1e-9));
    CHECK(fit.alpha.head(8).minCoeff() > fit.alpha.tail(62).maxCoeff());
    CHECK(fit.eigen_gap > 0 && fit.eigen_gap <= 1);
  }
}

TEST("q_alpha: k = q leaves the entrywise squares of the correlations, whose Perron vector are the weights") {
  Monitor monitor;
  const MatrixXd x = standardise_features(noise(12, 30, 5), true).x;
  QAlphaOptions options;
  options.k = 12;
  options.n_start = 1;
  options.tol = 1e-10;
  const QAlphaResult fit = q_alpha(x, options, Rng(1), monitor);
  const MatrixXd squares = (x.transpose() * x).cwiseAbs2();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(squares);
  VectorXd perron = solver.eigenvectors().col(29);
  if (perron.sum() < 0) perron = -perron;
  CHECK((fit.alpha - perron).norm() < 1e-7);
  CHECK(fit.alpha.minCoeff() > 0);
  CHECK(fit.convergence.iterations <= 4);
}

TEST("q_alpha: gap criterion and Laplacian against their dense definitions") {
  Monitor monitor;
  const MatrixXd x = clustered(30, 40, 6, 7);
  QAlphaOptions options;
  options.k = 3;
  options.criterion = QAlphaCriterion::gap;
  options.tol = 1e-9;
  options.max_iter = 3000;
  const QAlphaResult gap = q_alpha(x, options, Rng(1), monitor);
  const MatrixXd gram = x.transpose() * x, p = x.transpose() * gap.basis;
  const MatrixXd g = gram.cwiseProduct(2 * p * p.transpose() - gram);
  CHECK_NEAR(gap.objective, eigenvalues(g)[0], 1e-7);
  const VectorXd lambda = eigenvalues(x * gap.alpha.asDiagonal() * x.transpose());
  CHECK_NEAR(gap.objective, 2 * lambda.head(3).squaredNorm() - lambda.squaredNorm(), 1e-6);

  const MatrixXd positive = standardise_features(noise(20, 25, 9).cwiseAbs(), false).x;
  options.criterion = QAlphaCriterion::energy;
  options.spectrum = QAlphaSpectrum::laplacian;
  const QAlphaResult lap = q_alpha(positive, options, Rng(1), monitor);
  const VectorXd sums = positive.colwise().sum().transpose();
  const double d = (positive * lap.alpha.cwiseProduct(sums)).maxCoeff() / lap.alpha.sum();
  std::vector<MatrixXd> lq;
  for (Index i = 0; i < 25; ++i) {
    MatrixXd l = positive.col(i) * positive.col(i).transpose();
    l.diagonal() -= positive.col(i) * sums[i];
    l.diagonal().array() += d;
    lq.push_back(l * lap.basis);
  }
  MatrixXd f(25, 25);
  for (Index i = 0; i < 25; ++i) {
    for (Index j = 0; j < 25; ++j) f(i, j) = lq[i].cwiseProduct(lq[j]).sum();
  }
  CHECK_NEAR(lap.objective, eigenvalues(f)[0], 1e-6 * lap.objective);
  CHECK((f * lap.alpha - lap.objective * lap.alpha).norm() < 1e-5 * lap.objective);
}

TEST("q_alpha: a linear kernel gives the same weights") {
  Monitor monitor;
  const MatrixXd x = clustered(25, 40, 6, 11);
  QAlphaOptions options;
  options.k = 3;
  options.n_start = 1;
  const MatrixXd v = x.transpose() * x;
  options.max_iter = 3;  // the first rounds are the same ones; later the linear version extrapolates
  CHECK((q_alpha(x, options, Rng(1), monitor).alpha - q_alpha_kernel(v, options, Rng(1), monitor).alpha).norm() < 1e-9);
  options.max_iter = 5000;
  options.tol = 1e-9;
  const QAlphaResult plain = q_alpha(x, options, Rng(1), monitor), kernel = q_alpha_kernel(v, options, Rng(1), monitor);
  CHECK((plain.alpha - kernel.alpha).norm() < 1e-4);
  CHECK_NEAR(plain.objective, kernel.objective, 1e-8);
  options.k = 30;  // more than the rank
  CHECK_THROWS(q_alpha_kernel(x.transpose() * x, options, Rng(1), monitor), InputError);
  CHECK_THROWS(q_alpha(x, options, Rng(1), monitor), InputError);
}

TEST("q_alpha: entries of G are at least -k/8") {
  const MatrixXd x = standardise_features(noise(5, 200, 13), true).x;
  const MatrixXd q = Eigen::SelfAdjointEigenSolver<MatrixXd>(x * x.transpose()).eigenvectors().rightCols(2);
  CHECK(dense_g(x, q).minCoeff() >= -2.0 / 8 - 1e-12);
  CHECK(dense_g(x, q).minCoeff() < 0);
}

TEST("q_alpha with classes: the product is that of the dense matrix, the criterion a sum of squared singular values") {
  Monitor monitor;
  MatrixXd raw = noise(24, 15, 17).cwiseAbs();
  std::vector<int> labels(24);
  for (int r = 0; r < 24; ++r) {
    labels[static_cast<std::size_t>(r)] = r % 3;
    raw.row(r).head(9) *= 0.05;
    raw.row(r).segment(3 * (r % 3), 3).array() += 2;  // active in one class, silent in the others
  }
  const MatrixXd x = standardise_features(raw, false).x;
  const QAlphaResult fit = q_alpha_classes(x, labels, {}, monitor);
  double value = 0;
  for (int g = 0; g < 3; ++g) {
    for (int h = 0; h < 3; ++h) {
      MatrixXd a = MatrixXd::Zero(8, 8);
      for (int r = 0; r < 8; ++r) {
        for (int s = 0; s < 8; ++s)
          a(r, s) = (x.row(3 * r + g).array() * x.row(3 * s + h).array() * fit.alpha.transpose().array()).sum();
      }
      const VectorXd squares = eigenvalues(a.transpose() * a);
      value += g == h ? squares.head(2).sum() : -0.5 * squares[0];
    }
  }
  CHECK_NEAR(fit.objective, value, 1e-9 * std::abs(value));
  for (double along : fit.path) CHECK(along <= fit.objective * (1 + 1e-12));
  CHECK(fit.alpha.head(9).maxCoeff() > fit.alpha.tail(6).maxCoeff());
  CHECK_THROWS(q_alpha_classes(x, std::vector<int>(3, 0), {}, monitor), InputError);
}

TEST("standardise_features: any scale, constant columns marked") {
  MatrixXd x = noise(10, 4, 19);
  x.col(1) *= 1e-200;
  x.col(2) *= 1e150;
  x.col(3).setConstant(0.1);
  const Standardised s = standardise_features(x, true);
  for (Index j = 0; j < 3; ++j) {
    CHECK_NEAR(s.x.col(j).norm(), 1, 1e-12);
    CHECK_NEAR(s.x.col(j).sum(), 0, 1e-12);
  }
  CHECK(s.constant[3] && !s.constant[0] && s.x.col(3).norm() == 0);
}

TEST("positivity: certain without noise, one in 2^(n-1) for a rotation-free matrix of mean zero") {
  Monitor monitor;
  CHECK_NEAR(positivity_share(30, 1, 0.01, 50, 1, Rng(1), monitor), 1, 0);
  CHECK_NEAR(positivity_share(2, 0, 1, 4000, 2, Rng(1), monitor), 0.5, 0.04);
  CHECK_NEAR(positivity_share(10, 0.3, 0.5, 300, 1, Rng(2), monitor), positivity_share(10, 0.3, 0.5, 300, 2, Rng(2), monitor), 0);
}

TEST("q_alpha: with the Laplacian spectrum the rounds climb, and end where the shift stays and the residual vanishes") {
  Monitor monitor;
  for (const QAlphaMethod method : {QAlphaMethod::power, QAlphaMethod::basic}) {
    const MatrixXd positive = standardise_features(clustered(30, 50, 8, 4).cwiseAbs(), false).x;
    QAlphaOptions options;
    options.k = 3;
    options.n_start = 3;
    options.spectrum = QAlphaSpectrum::laplacian;
    options.method = method;
    const QAlphaResult fit = q_alpha(positive, options, Rng(1), monitor);
    CHECK(fit.convergence.converged);
    CHECK(fit.convergence.residual < 1e-6);
    for (std::size_t k = 1; k < fit.path.size(); ++k) CHECK(fit.path[k] >= fit.path[k - 1] * (1 - 1e-7));
    CHECK(fit.objective >= fit.path.back() * (1 - 1e-6));
  }
}
