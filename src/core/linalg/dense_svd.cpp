#include "core/linalg/dense.h"

#include <Eigen/SVD>

// Compiled in dense_svd_jacobi.cpp: they take as long as all the rest of this file.
extern template class Eigen::JacobiSVD<Eigen::MatrixXd>;
extern template class Eigen::internal::UpperBidiagonalization<Eigen::MatrixXd>;

namespace granary {

namespace {

unsigned flags(SvdParts parts) {
  if (parts == SvdParts::values) return 0;
  return parts == SvdParts::thin ? Eigen::ComputeThinU | Eigen::ComputeThinV : Eigen::ComputeFullU | Eigen::ComputeFullV;
}

template <class Solver>
void take(const Solver& solver, SvdParts parts, VectorXd& d, MatrixXd& u, MatrixXd& v) {
  d = solver.singularValues();
  u = parts == SvdParts::values ? MatrixXd() : MatrixXd(solver.matrixU());
  v = parts == SvdParts::values ? MatrixXd() : MatrixXd(solver.matrixV());
}

}  // namespace

// Small ones by Jacobi's rotations, which lose no digit of the small values; large ones by bidiagonals, which are faster.
void Svd::compute(ConstMatrixRef a, SvdParts parts) {
  constexpr Index small = 32;
  if (std::min(a.rows(), a.cols()) <= small) {
    take(Eigen::JacobiSVD<MatrixXd>(a, flags(parts)), parts, d_, u_, v_);
  } else {
    take(Eigen::BDCSVD<MatrixXd>(a, flags(parts)), parts, d_, u_, v_);
    const auto good = [&] { return d_.allFinite() && u_.allFinite() && v_.allFinite(); };
    if (good() || !a.allFinite()) return;
    // Divide and conquer may end in NaN where many singular values are zero. A' has other bidiagonals; Jacobi's never fails.
    take(Eigen::BDCSVD<MatrixXd>(a.transpose(), flags(parts)), parts, d_, v_, u_);
    if (!good()) take(Eigen::JacobiSVD<MatrixXd>(a, flags(parts)), parts, d_, u_, v_);
  }
}

}  // namespace granary
