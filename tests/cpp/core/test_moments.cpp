#include "draw.h"
#include "eigen.h"
#include "harness.h"
#include "core/linalg/moments.h"

using namespace granary;

TEST("moments of pieces are those of the whole whatever the mean") {
  for (double shift : {0.0, 1e7}) {
    MatrixXd x = Draw{3}.matrix(50, 4);
    x.array() += shift;
    const Moments whole = moments(x);
    Moments parts = moments(x.topRows(1));
    parts = combine(parts, moments(x.middleRows(1, 20)));
    parts = combine(parts, moments(MatrixXd(0, 4)));
    parts = combine(moments(x.bottomRows(29)), parts);
    CHECK(parts.n == 50);
    CHECK((parts.mean - whole.mean).cwiseAbs().maxCoeff() <= 1e-14 * (1 + shift));
    CHECK((parts.scatter - whole.scatter).cwiseAbs().maxCoeff() <= 1e-12 * (1 + 1e-4 * shift) * whole.scatter.norm());
  }
}

TEST("weights of moments count rows") {
  const MatrixXd x = Draw{1}.matrix(6, 3);
  VectorXd w(6);
  w << 1, 0, 2, 1, 3, 0;
  MatrixXd repeated(7, 3);
  repeated << x.row(0), x.row(2), x.row(2), x.row(3), x.row(4), x.row(4), x.row(4);
  const Moments a = moments(x, w), b = moments(repeated);
  CHECK(a.n == 7);
  CHECK(a.rows == 4);
  CHECK((a.mean - b.mean).norm() < 1e-14);
  CHECK((a.scatter - b.scatter).norm() < 1e-13);
}

TEST("rows with given moments have them at any scale") {
  MatrixXd x = Draw{7}.matrix(40, 5);
  x.col(1) *= 1e8;
  x.col(2) *= 1e-8;
  x.col(3).setConstant(2);
  x.col(4) = x.col(0);  // a singular matrix
  const Moments of = moments(x);
  const MatrixXd rows = rows_with_moments(of);
  CHECK(rows.rows() == 6);
  const Moments back = moments(rows);
  const VectorXd sd = (of.scatter.diagonal() / of.n).cwiseSqrt();
  for (Index i = 0; i < 5; ++i) {
    CHECK(std::abs(back.mean(i) - of.mean(i)) <= 1e-14 * (sd(i) + std::abs(of.mean(i))));
    for (Index j = 0; j < 5; ++j) {
      CHECK(std::abs(back.scatter(i, j) / back.n - of.scatter(i, j) / of.n) <= 1e-13 * sd(i) * sd(j));
    }
  }
}
