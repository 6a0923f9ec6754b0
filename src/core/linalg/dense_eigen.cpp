#include "core/linalg/dense.h"

#include <Eigen/Eigenvalues>

namespace granary {

void SymmetricEigen::compute(ConstMatrixRef a, EigenParts parts) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(a, parts == EigenParts::all ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  info_ = solver.info();
  values_ = solver.eigenvalues();
  vectors_ = parts == EigenParts::all ? solver.eigenvectors() : MatrixXd();
}

void SymmetricEigen::compute_tridiagonal(ConstVectorRef diagonal, ConstVectorRef off_diagonal, EigenParts parts) {
  Eigen::SelfAdjointEigenSolver<MatrixXd> solver;
  solver.computeFromTridiagonal(diagonal, off_diagonal, parts == EigenParts::all ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  info_ = solver.info();
  values_ = solver.eigenvalues();
  vectors_ = parts == EigenParts::all ? solver.eigenvectors() : MatrixXd();
}

}  // namespace granary
