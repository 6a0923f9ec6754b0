#include "core/linalg/engine.h"

#include <string>

#include "core/base/errors.h"
#include "core/linalg/dense.h"
#include "eigen.h"
#include "harness.h"

using namespace granary;

namespace {

// Numbers without a pattern, the same everywhere.
MatrixXd filled(Index rows, Index columns, double shift) {
  MatrixXd m(rows, columns);
  for (Index j = 0; j < columns; ++j)
    for (Index i = 0; i < rows; ++i) m(i, j) = std::sin(1.7 * static_cast<double>(i) + 2.3 * static_cast<double>(j) + shift);
  return m;
}

MatrixXd plain_product(const MatrixXd& a, const MatrixXd& b) {  // no engine: sums in long double
  MatrixXd c(a.rows(), b.cols());
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < b.cols(); ++j) {
      long double sum = 0;
      for (Index k = 0; k < a.cols(); ++k) sum += static_cast<long double>(a(i, k)) * b(k, j);
      c(i, j) = static_cast<double>(sum);
    }
  }
  return c;
}

double distance(const MatrixXd& a, const MatrixXd& b) { return a.size() == 0 ? 0 : (a - b).cwiseAbs().maxCoeff(); }

MatrixXd dominant(Index n) {  // well conditioned, so that triangular solves lose nothing
  MatrixXd a = filled(n, n, 0.3);
  a.diagonal().array() += 2.0 * static_cast<double>(n);
  return a;
}

struct Restore {
  ~Restore() { use_engine("auto"); }
};

// The sizes around the edges of blocks, and the empty ones.
const Index sizes[] = {0, 1, 3, 31, 64, 65, 130, 200};

}  // namespace

TEST("every engine multiplies, from both sides and transposed") {
  const Restore restore;
  for (const std::string& name : engine_names()) {
    use_engine(name);
    for (const Index n : sizes) {
      const Index m = n + 5, k = n + 2;
      const MatrixXd a = filled(m, k, 0), b = filled(k, n, 1), at = a.transpose(), bt = b.transpose(), want = plain_product(a, b);
      MatrixXd c = MatrixXd::Ones(m, n);
      c.noalias() += a * b;
      CHECK_NEAR(distance(c, want + MatrixXd::Ones(m, n)), 0, 1e-12 * static_cast<double>(k));
      CHECK_NEAR(distance(at.transpose() * b, want), 0, 1e-12 * static_cast<double>(k));
      CHECK_NEAR(distance(a * bt.transpose(), want), 0, 1e-12 * static_cast<double>(k));
      CHECK_NEAR(distance(at.transpose() * bt.transpose(), want), 0, 1e-12 * static_cast<double>(k));
      const VectorXd x = filled(k, 1, 2);
      CHECK_NEAR(distance(a * x, plain_product(a, x)), 0, 1e-12 * static_cast<double>(k));
      CHECK_NEAR(distance(at.transpose() * x, plain_product(a, x)), 0, 1e-12 * static_cast<double>(k));
      const VectorXd z = filled(m, 1, 2);
      CHECK_NEAR(distance(a.transpose() * z, plain_product(at, z)), 0, 1e-12 * static_cast<double>(m));
      CHECK_NEAR(distance(a.row(0).transpose(), at.col(0)), 0, 0);
      const MatrixXd wide = filled(k, k + 1, 5);
      CHECK_NEAR(distance(a * wide.row(0).leftCols(k).transpose(), plain_product(a, wide.row(0).leftCols(k).transpose())), 0, 1e-12 * static_cast<double>(k));
    }
  }
}

TEST("products with a vector do not depend on where it lies in memory, nor on how many columns go together") {
  const Restore restore;
  for (const std::string& name : engine_names()) {
    use_engine(name);
    for (const Index n : {1, 3, 4, 15, 16, 17, 37, 130}) {
      const MatrixXd a = filled(n, 9, 0);
      const VectorXd x = filled(n, 1, 1), want = a.transpose() * x;
      for (const Index shift : {1, 2, 3}) {
        MatrixXd room = MatrixXd::Zero(n + 5, 9);
        room.middleRows(shift, n) = a;
        VectorXd late(n + 5);
        late.segment(shift, n) = x;
        const VectorXd found = room.middleRows(shift, n).transpose() * late.segment(shift, n);
        if (name != "r") CHECK(found == want);
        CHECK_NEAR(distance(found, plain_product(a.transpose(), x)), 0, 1e-13 * static_cast<double>(n));
      }
      const VectorXd some = a.middleCols(2, 3).transpose() * x;
      if (name != "r") CHECK(some == want.segment(2, 3));
    }
  }
}

TEST("every engine solves triangles of all kinds") {
  const Restore restore;
  for (const std::string& name : engine_names()) {
    use_engine(name);
    for (const Index n : sizes) {
      const MatrixXd a = dominant(n), b = filled(n, 7, 1), c = filled(7, n, 4);
      const MatrixXd lower = a.triangularView<Eigen::Lower>(), upper = a.triangularView<Eigen::Upper>();
      MatrixXd unit = 0.01 * filled(n, n, 2).triangularView<Eigen::StrictlyLower>().toDenseMatrix();
      unit.diagonal().setOnes();
      const double tol = 1e-11;
      CHECK_NEAR(distance(plain_product(lower, a.triangularView<Eigen::Lower>().solve(b)), b), 0, tol);
      CHECK_NEAR(distance(plain_product(upper, a.triangularView<Eigen::Upper>().solve(b)), b), 0, tol);
      CHECK_NEAR(distance(plain_product(lower.transpose(), a.transpose().triangularView<Eigen::Upper>().solve(b)), b), 0, tol);
      CHECK_NEAR(distance(plain_product(upper.transpose(), a.transpose().triangularView<Eigen::Lower>().solve(b)), b), 0, tol);
      CHECK_NEAR(distance(plain_product(unit, unit.triangularView<Eigen::UnitLower>().solve(b)), b), 0, tol);
      CHECK_NEAR(distance(plain_product(a.triangularView<Eigen::Lower>().solve<Eigen::OnTheRight>(c), lower), c), 0, tol);
      CHECK_NEAR(distance(plain_product(a.triangularView<Eigen::Upper>().solve<Eigen::OnTheRight>(c), upper), c), 0, tol);
      CHECK_NEAR(distance(plain_product(a.transpose().triangularView<Eigen::Upper>().solve<Eigen::OnTheRight>(c), lower.transpose()), c), 0, tol);
      CHECK_NEAR(distance(plain_product(a.transpose().triangularView<Eigen::Lower>().solve<Eigen::OnTheRight>(c), upper.transpose()), c), 0, tol);
    }
  }
}

TEST("every engine multiplies triangles and symmetric matrices, and updates them") {
  const Restore restore;
  for (const std::string& name : engine_names()) {
    use_engine(name);
    for (const Index n : sizes) {
      const MatrixXd a = filled(n, n, 0), b = filled(n, 9, 1), c = filled(9, n, 4);
      const MatrixXd lower = a.triangularView<Eigen::Lower>(), upper = a.triangularView<Eigen::Upper>();
      const MatrixXd symmetric = a.selfadjointView<Eigen::Lower>(), mirrored = a.selfadjointView<Eigen::Upper>();
      const double tol = 1e-12 * static_cast<double>(n + 1);
      CHECK_NEAR(distance(a.triangularView<Eigen::Lower>() * b, plain_product(lower, b)), 0, tol);
      CHECK_NEAR(distance(a.triangularView<Eigen::Upper>() * b, plain_product(upper, b)), 0, tol);
      CHECK_NEAR(distance(a.transpose().triangularView<Eigen::Upper>() * b, plain_product(lower.transpose(), b)), 0, tol);
      CHECK_NEAR(distance(c * a.triangularView<Eigen::Lower>(), plain_product(c, lower)), 0, tol);
      CHECK_NEAR(distance(c * a.triangularView<Eigen::Upper>(), plain_product(c, upper)), 0, tol);
      CHECK_NEAR(distance(VectorXd(a.triangularView<Eigen::Lower>() * b.col(0)), plain_product(lower, b.col(0))), 0, tol);
      CHECK_NEAR(distance(VectorXd(a.transpose().triangularView<Eigen::Lower>() * b.col(0)), plain_product(upper.transpose(), b.col(0))), 0, tol);
      CHECK_NEAR(distance(a.selfadjointView<Eigen::Lower>() * b, plain_product(symmetric, b)), 0, tol);
      CHECK_NEAR(distance(a.selfadjointView<Eigen::Upper>() * b, plain_product(mirrored, b)), 0, tol);
      CHECK_NEAR(distance(c * a.selfadjointView<Eigen::Lower>(), plain_product(c, symmetric)), 0, tol);
      CHECK_NEAR(distance(VectorXd(a.selfadjointView<Eigen::Lower>() * b.col(1)), plain_product(symmetric, b.col(1))), 0, tol);
      CHECK_NEAR(distance(VectorXd(a.selfadjointView<Eigen::Upper>() * b.col(1)), plain_product(mirrored, b.col(1))), 0, tol);
      MatrixXd update = MatrixXd::Zero(n, n);
      update.selfadjointView<Eigen::Lower>().rankUpdate(b, -2);
      CHECK_NEAR(distance(update.triangularView<Eigen::Lower>().toDenseMatrix(),
                          (-2 * plain_product(b, b.transpose())).triangularView<Eigen::Lower>().toDenseMatrix()), 0, tol);
      CHECK_NEAR(update.triangularView<Eigen::StrictlyUpper>().toDenseMatrix().cwiseAbs().sum(), 0, 0);
      MatrixXd other = MatrixXd::Zero(n, n);
      other.selfadjointView<Eigen::Upper>().rankUpdate(c.transpose());
      CHECK_NEAR(distance(other.triangularView<Eigen::Upper>().toDenseMatrix(),
                          plain_product(c.transpose(), c).triangularView<Eigen::Upper>().toDenseMatrix()), 0, tol);
    }
  }
}

TEST("every engine factors, leaves the upper triangle alone, and names the bad pivot") {
  const Restore restore;
  for (const std::string& name : engine_names()) {
    use_engine(name);
    for (const Index n : sizes) {
      const MatrixXd b = filled(n, n + 3, 0);
      MatrixXd a = plain_product(b, b.transpose());
      a.diagonal().array() += 1;
      const Llt llt(a);
      CHECK(llt.info() == Eigen::Success);
      const MatrixXd l = llt.matrixL();
      CHECK_NEAR(distance(plain_product(l, l.transpose()), a), 0, 1e-11 * static_cast<double>(n + 1));
      if (n > 1) CHECK_NEAR(llt.matrixLLT()(0, n - 1), a(0, n - 1), 0);
      if (n < 3) continue;
      a(n - 1, n - 1) = -1;
      CHECK(Llt(a).info() != Eigen::Success);
      CHECK(Llt(a).bad_pivot() == n - 1);
      a(n - 1, n - 1) = std::numeric_limits<double>::quiet_NaN();
      CHECK(Llt(a).info() != Eigen::Success);
    }
  }
}

TEST("an engine that is not there is refused with the names of those that are") {
  CHECK_THROWS(use_engine("blas of the future"), InputError);
}

TEST("factorisations of dense.h give back the matrix") {
  for (const Index n : {1, 5, 33, 70}) {
    const MatrixXd a = dominant(n), b = filled(n, 4, 1), tall = filled(2 * n, n, 3);
    const Lu lu(a);
    CHECK_NEAR(distance(plain_product(a, lu.solve(b)), b), 0, 1e-11);
    CHECK_NEAR(distance(plain_product(a.transpose(), lu.solve_transposed(b.col(0))), b.col(0)), 0, 1e-11);
    CHECK_NEAR(lu.determinant() / Eigen::PartialPivLU<MatrixXd>(a).determinant(), 1, 1e-9);
    const Qr qr(tall);
    CHECK_NEAR(distance(plain_product(qr.thin_q(), qr.r()), tall), 0, 1e-12 * static_cast<double>(n + 1));
    CHECK_NEAR(distance(plain_product(qr.full_q().transpose(), qr.full_q()), MatrixXd::Identity(2 * n, 2 * n)), 0, 1e-13 * static_cast<double>(n + 9));
    MatrixXd twice(2 * n, n + 1);
    twice << dominant(2 * n).leftCols(n), dominant(2 * n).col(0);
    const PivotedQr pivoted(twice);
    CHECK(pivoted.rank() == n);
    CHECK_NEAR(distance(plain_product(twice, pivoted.solve(dominant(2 * n).leftCols(1))), dominant(2 * n).leftCols(1)), 0, 1e-9);
    const Svd thin(tall, SvdParts::thin);
    CHECK_NEAR(distance(plain_product(thin.matrixU() * thin.singularValues().asDiagonal(), thin.matrixV().transpose()), tall), 0, 1e-11);
    const MatrixXd symmetric = a + a.transpose();
    const SymmetricEigen eigen(symmetric);
    CHECK_NEAR(distance(plain_product(eigen.eigenvectors() * eigen.eigenvalues().asDiagonal(), eigen.eigenvectors().transpose()), symmetric), 0, 1e-10);
    CHECK_NEAR(distance(SymmetricEigen(symmetric, EigenParts::values).eigenvalues(), eigen.eigenvalues()), 0, 1e-10);
  }
}
