// Sample moments of the columns of a data matrix.
#pragma once

#include "core/base/types.h"

namespace granary {

// Centred first, then multiplied: accurate when means are large beside the standard deviations. Divisor n - 1.
inline MatrixXd sample_covariance(ConstMatrixRef x) {
  const MatrixXd centred = x.rowwise() - x.colwise().mean();
  MatrixXd s = MatrixXd::Zero(x.cols(), x.cols());
  s.selfadjointView<Eigen::Lower>().rankUpdate(centred.transpose(), 1 / static_cast<double>(x.rows() - 1));
  s.triangularView<Eigen::StrictlyUpper>() = s.transpose();
  return s;
}

}  // namespace granary
