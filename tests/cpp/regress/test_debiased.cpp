// Scaled lasso, decorrelating rows and the compatibility constant, without R.
#include "eigen.h"
#include <cmath>

#include "core/base/errors.h"
#include "core/random/rng.h"
#include "regress/compatibility.h"
#include "regress/decorrelate.h"
#include "regress/decorrelate_path.h"
#include "regress/scaled_lasso.h"
#include "harness.h"

using namespace granary;
using namespace granary::regress;

namespace {

MatrixXd normal_matrix(Index n, Index p, std::uint64_t seed) {
  Rng rng(seed);
  MatrixXd x(n, p);
  for (Index j = 0; j < p; ++j)
    for (Index i = 0; i < n; ++i) x(i, j) = rng.normal();
  return x;
}

std::vector<int> all_columns(Index p) {
  std::vector<int> which;
  for (Index j = 0; j < p; ++j) which.push_back(static_cast<int>(j));
  return which;
}

}  // namespace

TEST("decorrelated rows satisfy their constraint with no duality gap") {
  Monitor monitor;
  for (const Index p : {10, 60}) {
    const MatrixXd x = normal_matrix(40, p, 3);
    const MatrixXd s = x.transpose() * x / 40;
    DecorrelateOptions o;
    o.mu = 0.3;
    o.keep_m = true;
    const Decorrelation d = decorrelate(x, all_columns(p), o, monitor);
    for (Index i = 0; i < p; ++i) {
      const VectorXd& m = d.row[i].m;
      CHECK(d.row[i].feasible && d.row[i].converged);
      VectorXd slack = s * m;
      slack[i] -= 1;
      CHECK(slack.cwiseAbs().maxCoeff() <= 0.3 * (1 + 1e-7));
      CHECK_NEAR(m.dot(s * m), m[i] - 0.3 * m.cwiseAbs().sum(), 1e-7);
      CHECK_NEAR(d.row[i].variance, m.dot(s * m), 1e-10);
      CHECK(d.row[i].variance >= std::pow(1 - 0.3, 2) / s(i, i) - 1e-9);
      CHECK_NEAR((d.rows.col(i) - x * m).norm(), 0.0, 1e-9);
    }
  }
}

TEST("mu = 0 inverts a nonsingular covariance, and two threads agree with one") {
  Monitor monitor;
  const MatrixXd x = normal_matrix(50, 8, 4);
  DecorrelateOptions o;
  o.keep_m = true;
  o.mu = 0;
  const Decorrelation d = decorrelate(x, all_columns(8), o, monitor);
  const MatrixXd inverse = (x.transpose() * x / 50).inverse();
  for (Index i = 0; i < 8; ++i) CHECK_NEAR((d.row[i].m - inverse.col(i)).norm(), 0.0, 1e-7);
  o.threads = 2;
  o.mu = 0.1;
  const MatrixXd two = decorrelate(x, all_columns(8), o, monitor).rows;
  o.threads = 1;
  CHECK((two - decorrelate(x, all_columns(8), o, monitor).rows).cwiseAbs().maxCoeff() == 0);
}

TEST("a column that occurs twice needs mu = 1/2, and says so") {
  Monitor monitor;
  MatrixXd x = normal_matrix(30, 6, 5);
  x.col(5) = x.col(2);
  CHECK_NEAR(smallest_mu(row_space(x), 2, monitor), 0.5, 1e-5);
  CHECK_NEAR(smallest_mu(row_space(x), 0, monitor), 0.0, 1e-5);
  DecorrelateOptions o;
  o.mu = 0.2;
  const Decorrelation d = decorrelate(x, all_columns(6), o, monitor);
  CHECK(!d.row[2].feasible && !d.row[5].feasible && d.row[0].feasible);
  CHECK(d.row[2].mu > 0.5 && d.row[2].coherence <= d.row[2].mu + 1e-7);
  o.infeasible = Infeasible::error;
  CHECK_THROWS(decorrelate(x, all_columns(6), o, monitor), NumericalError);
}

TEST("the path of a row ends in a ray that proves what is infeasible, where columns are near copies") {
  Monitor monitor;
  const Index n = 25, p = 300;
  MatrixXd x = normal_matrix(n, p, 5);
  x.leftCols(40) = x.middleCols(100, 40) + 0.15 * x.middleCols(200, 40);
  x.leftCols(40) += 0.05 * normal_matrix(n, 40, 6);
  x.rowwise() -= x.colwise().mean().eval();  // rank n - 1: every later column is a pivot
  const MatrixXd space = row_space(x);
  for (const Index i : {0, 7, 19}) {
    const RowPath path(x, i, 0, monitor);
    CHECK(path.end() == RowPath::End::ray);
    CHECK_NEAR(path.ray().cwiseAbs().sum(), 1, 1e-12);
    CHECK((x * path.ray()).norm() < 1e-10 * x.col(i).norm());
    CHECK_NEAR(path.ray()[i], path.mu(), 1e-9);
    CHECK_NEAR(path.mu(), smallest_mu(space, i, monitor), 1e-5);  // the linear program, which is perturbed by 1e-7
    // On the way: the conditions of the dual, g = Sv - e_i with |g| <= mu and g_j = -mu sign(v_j).
    for (const double mu : {0.9, 1.1 * path.mu(), 1.001 * path.mu()}) {
      const VectorXd v = path.at(mu);
      VectorXd g = x.transpose() * (x * v) / static_cast<double>(n);
      g[i] -= 1;
      CHECK(g.cwiseAbs().maxCoeff() <= mu + 1e-8);
      for (Index j = 0; j < p; ++j)
        if (v[j] != 0) CHECK_NEAR(g[j], v[j] > 0 ? -mu : mu, 1e-8);
    }
  }
}

TEST("nodewise rows solve the regression of a column on the others") {
  Monitor monitor;
  const MatrixXd x = normal_matrix(60, 5, 6);
  const MatrixXd s = x.transpose() * x / 60;
  DecorrelateOptions o;
  o.keep_m = true;
  const Decorrelation d = nodewise(x, all_columns(5), 0.05, o, monitor);
  for (Index i = 0; i < 5; ++i) {
    const VectorXd product = s * d.row[i].m;  // e_i on the diagonal; lambda sqrt(S_ii S_jj) / tau^2 off it
    CHECK_NEAR(product[i], 1.0, 1e-8);
    for (Index j = 0; j < 5; ++j)
      if (j != i) CHECK(std::abs(product[j]) <= 0.05 * std::sqrt(s(i, i) * s(j, j)) * d.row[i].m[i] + 1e-7);
  }
}

TEST("the scaled lasso stops at its fixed point") {
  Monitor monitor;
  const MatrixXd x = normal_matrix(50, 80, 7);
  const VectorXd y = 3 + (2 * x.col(0) - x.col(5) + normal_matrix(50, 1, 8)).array();
  const ScaledLassoResult fit = scaled_lasso(ConstMatrixRef(x), y, ScaledLassoOptions(), monitor);
  CHECK(fit.convergence.converged);
  const VectorXd residual = (y - x * fit.coefficients).array() - fit.intercept;
  CHECK_NEAR(fit.sigma, std::sqrt(residual.squaredNorm() / 50), 1e-10);
  CHECK_NEAR(fit.lambda, fit.lambda0 * fit.sigma, 1e-7);
  CHECK_THROWS(scaled_lasso(ConstMatrixRef(x), VectorXd::Constant(50, 2), ScaledLassoOptions(), monitor), InputError);
}

TEST("the compatibility constant of uncorrelated columns is one") {
  Monitor monitor;
  CHECK_NEAR(compatibility(MatrixXd::Identity(6, 6), {0, 2, 4}, 3, 1, monitor).value, 1.0, 1e-7);
  MatrixXd s = MatrixXd::Identity(3, 3);
  s(0, 1) = s(1, 0) = 1;  // columns 0 and 1 are the same, so t = (1, -1, 0) costs nothing
  CHECK_NEAR(compatibility(s, {0}, 3, 1, monitor).value, 0.0, 1e-7);
}
