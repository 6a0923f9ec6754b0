#include "graph/precision_loss.h"

#include <cmath>
#include <limits>

#include "core/linalg/dense.h"

namespace granary::graph {

PrecisionLoss precision_loss(ConstMatrixRef truth, ConstMatrixRef estimate) {
  if (truth.rows() != estimate.rows() || truth.cols() != estimate.cols()) throw InputError("both matrices must have the same size.");
  PrecisionLoss out;
  out.frobenius = (estimate - truth).norm() / truth.norm();
  out.kl = std::numeric_limits<double>::quiet_NaN();
  const Llt own(estimate), known(truth);
  if (own.info() != Eigen::Success || known.info() != Eigen::Success) return out;
  MatrixXd half = own.matrixL();  // tr(X T^-1) = ||R^-1 L||^2 with X = L L', T = R R'
  known.matrixL().solveInPlace(half);
  const auto log_det = [](const Llt& factor) { return 2 * factor.matrixLLT().diagonal().array().log().sum(); };
  out.kl = (half.squaredNorm() - log_det(own) + log_det(known) - static_cast<double>(truth.rows())) / 2;
  return out;
}

}  // namespace granary::graph
