#include "eigen.h"
#include <cstdint>

#include "core/linalg/spd_inverse.h"
#include "core/linalg/spd_steps.h"
#include "harness.h"

using namespace granary;

namespace {

struct Draw {  // a small linear congruential source, enough for test matrices
  std::uint64_t state = 12345;
  double operator()() {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state >> 11) / 9007199254740992.0 - 0.5;
  }
};

SparseMatrix upper_of(const MatrixXd& x) {
  MatrixXd upper = x.triangularView<Eigen::Upper>();
  return upper.sparseView();
}

double check_inverse(const MatrixXd& x) {
  SpdInverse spd;
  CHECK(spd.factorise(upper_of(x)));
  MatrixXd w;
  spd.inverse(w);
  const Eigen::LLT<MatrixXd> llt(x);
  const double log_det = 2 * MatrixXd(llt.matrixL()).diagonal().array().log().sum();
  CHECK_NEAR(spd.log_det(), log_det, 1e-10 * (1 + std::abs(log_det)));
  CHECK((w - w.transpose()).cwiseAbs().maxCoeff() == 0);
  return (w * x - MatrixXd::Identity(x.rows(), x.rows())).cwiseAbs().maxCoeff();
}

MatrixXd chain(Index p) {
  MatrixXd x = 1.25 * MatrixXd::Identity(p, p);
  for (Index i = 1; i < p; ++i) x(i, i - 1) = x(i - 1, i) = -0.5;
  return x;
}

}  // namespace

TEST("dense inverse at sizes around the recursion's base") {
  Draw draw;
  for (Index p : {1, 2, 31, 32, 33, 64, 65, 100, 257}) {
    MatrixXd a(p, p);
    for (Index i = 0; i < a.size(); ++i) a.data()[i] = draw();
    const MatrixXd x = a * a.transpose() + MatrixXd::Identity(p, p);
    CHECK(check_inverse(x) < 1e-10);
    CHECK(check_inverse(1e8 * x) < 1e-10);
    CHECK(check_inverse(1e-8 * x) < 1e-10);
  }
}

TEST("sparse inverse of chains, trees and sparse random patterns") {
  Draw draw;
  for (Index p : {33, 100, 203}) {
    CHECK(check_inverse(chain(p)) < 1e-12);
    MatrixXd tree = 3 * MatrixXd::Identity(p, p);
    for (Index i = 1; i < p; ++i) tree(i, (i - 1) / 2) = tree((i - 1) / 2, i) = draw();
    CHECK(check_inverse(tree) < 1e-12);
    MatrixXd scattered = 5 * MatrixXd::Identity(p, p);
    for (Index k = 0; k < p; ++k) {
      const Index i = Index((draw() + 0.5) * p), j = Index((draw() + 0.5) * p);
      if (i != j) scattered(i, j) = scattered(j, i) = draw();
    }
    CHECK(check_inverse(scattered) < 1e-12);
  }
}

TEST("components are factored apart and cross entries of the inverse are exact zeros") {
  MatrixXd x = MatrixXd::Zero(150, 150);
  for (Index k = 0; k < 50; ++k) {  // interleaved blocks
    for (Index b = 0; b < 3; ++b) {
      x(3 * k + b, 3 * k + b) = 1.25 + b;
      if (k > 0) x(3 * k + b, 3 * (k - 1) + b) = x(3 * (k - 1) + b, 3 * k + b) = 0.5;
    }
  }
  CHECK(check_inverse(x) < 1e-12);
  SpdInverse spd;
  CHECK(spd.factorise(upper_of(x)));
  CHECK(spd.components() == 3);
  MatrixXd w;
  spd.inverse(w);
  CHECK(w(0, 1) == 0 && w(3, 5) == 0 && w(0, 3) != 0);
}

TEST("an indefinite matrix is refused, on the dense and on the sparse route") {
  SpdInverse spd;
  MatrixXd x(2, 2);
  x << 1, 2, 2, 1;
  CHECK(!spd.factorise(upper_of(x)));
  MatrixXd bad = chain(200);
  bad(150, 150) = -1;
  CHECK(!spd.factorise(upper_of(bad)));
  bad(150, 150) = std::numeric_limits<double>::quiet_NaN();
  CHECK(!spd.factorise(upper_of(bad)));
}

TEST("large matrices are factored and inverted in steps, which can be interrupted") {
  Draw draw;
  const Index n = 600;
  MatrixXd a(n, 40);
  for (Index i = 0; i < a.size(); ++i) a.data()[i] = draw();
  const MatrixXd x = a * a.transpose() + MatrixXd::Identity(n, n);
  Monitor monitor;
  MatrixXd lower = x;
  CHECK(cholesky_in_steps(lower, monitor));
  CHECK_NEAR((lower * lower.transpose() - x).norm(), 0, 1e-12 * x.norm());
  MatrixXd inverse = lower;
  inverse_from_cholesky_in_steps(inverse, monitor);
  const MatrixXd whole = inverse.selfadjointView<Eigen::Lower>();
  CHECK_NEAR((whole * x - MatrixXd::Identity(n, n)).norm(), 0, 1e-10);
  MatrixXd bad = x;
  bad(500, 500) = -1;
  CHECK(!cholesky_in_steps(bad, monitor));
  Monitor stopped;
  stopped.request_stop();
  MatrixXd again = x;
  CHECK_THROWS(cholesky_in_steps(again, stopped), Interrupted);
  CHECK_THROWS(inverse_from_cholesky_in_steps(lower, stopped), Interrupted);
}
