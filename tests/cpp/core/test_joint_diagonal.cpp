
#include "eigen.h"
#include "core/linalg/joint_diagonal.h"
#include "core/random/rng.h"
#include "harness.h"

using namespace granary;

namespace {

MatrixXd rotation_of(Index n, Rng& rng) {
  MatrixXd g(n, n);
  for (Index j = 0; j < n; ++j) g.col(j) = rng.normals(n);
  return Eigen::HouseholderQR<MatrixXd>(g).householderQ();
}

}  // namespace

TEST("joint_diagonal: matrices with common eigenvectors become diagonal, at any scale") {
  Monitor monitor;
  for (double scale : {1e-8, 1.0, 1e8}) {
    Rng rng(3);
    const MatrixXd v = rotation_of(6, rng);
    std::vector<MatrixXd> matrices;
    for (int k = 0; k < 4; ++k) matrices.push_back(scale * v * rng.normals(6).asDiagonal() * v.transpose());
    const JointDiagonal found = joint_diagonal(matrices, JointDiagonalOptions(), monitor);
    CHECK(found.convergence.converged);
    CHECK(found.off < 1e-17 * scale * scale);
    // each column of V'v is a signed unit vector
    const MatrixXd match = (found.rotation.transpose() * v).cwiseAbs();
    for (Index j = 0; j < 6; ++j) CHECK_NEAR(match.col(j).maxCoeff(), 1, 1e-9);
    CHECK_NEAR((found.rotation.transpose() * found.rotation - MatrixXd::Identity(6, 6)).norm(), 0, 1e-12);
    CHECK_NEAR((found.rotation.transpose() * matrices[2] * found.rotation).diagonal().isApprox(found.diagonals.col(2), 1e-9), 1,
               0);
  }
}

TEST("joint_diagonal: of matrices that share no basis, no rotation of a pair does better") {
  Monitor monitor;
  Rng rng(5);
  std::vector<MatrixXd> matrices;
  for (int k = 0; k < 3; ++k) {
    MatrixXd a(4, 4);
    for (Index j = 0; j < 4; ++j) a.col(j) = rng.normals(4);
    matrices.push_back(a + a.transpose());
  }
  const JointDiagonal found = joint_diagonal(matrices, JointDiagonalOptions(), monitor);
  const auto off = [&](const MatrixXd& v) {
    double sum = 0;
    for (const MatrixXd& a : matrices) {
      MatrixXd b = v.transpose() * a * v;
      b.diagonal().setZero();
      sum += b.squaredNorm();
    }
    return sum;
  };
  CHECK_NEAR(off(found.rotation), found.off, 1e-9);
  CHECK(found.off < off(MatrixXd::Identity(4, 4)));
  for (Index p = 0; p < 4; ++p) {
    for (Index q = p + 1; q < 4; ++q) {
      for (double angle : {-0.7, -0.1, -1e-3, 1e-3, 0.1, 0.7}) {
        MatrixXd v = found.rotation;
        v.col(p) = std::cos(angle) * found.rotation.col(p) + std::sin(angle) * found.rotation.col(q);
        v.col(q) = std::cos(angle) * found.rotation.col(q) - std::sin(angle) * found.rotation.col(p);
        CHECK(off(v) >= found.off * (1 - 1e-12));
      }
    }
  }
}

TEST("joint_diagonal: one matrix is an eigenproblem, one dimension nothing to do, and wrong input is refused") {
  Monitor monitor;
  MatrixXd a(2, 2);
  a << 2, 1, 1, 2;
  const JointDiagonal found = joint_diagonal({a}, JointDiagonalOptions(), monitor);
  CHECK_NEAR(found.diagonals.col(0).maxCoeff(), 3, 1e-12);
  CHECK_NEAR(found.diagonals.col(0).minCoeff(), 1, 1e-12);
  CHECK(joint_diagonal({MatrixXd::Constant(1, 1, 4)}, JointDiagonalOptions(), monitor).convergence.converged);
  CHECK_THROWS(joint_diagonal({}, JointDiagonalOptions(), monitor), InputError);
  CHECK_THROWS(joint_diagonal({a, MatrixXd::Zero(3, 3)}, JointDiagonalOptions(), monitor), InputError);
  a(0, 0) = std::nan("");
  CHECK_THROWS(joint_diagonal({a}, JointDiagonalOptions(), monitor), InputError);
  JointDiagonalOptions one;
  one.max_sweeps = 1;
  Rng rng(1);
  std::vector<MatrixXd> matrices(2, MatrixXd(5, 5));
  for (MatrixXd& b : matrices) {
    for (Index j = 0; j < 5; ++j) b.col(j) = rng.normals(5);
  }
  CHECK(!joint_diagonal(matrices, one, monitor).convergence.converged);
}
