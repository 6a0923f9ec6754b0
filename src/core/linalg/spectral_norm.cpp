#include "core/linalg/spectral_norm.h"

#include <cmath>

#include "core/linalg/spectral.h"

namespace granary {

double spectral_norm_above(const ConstMatrixRef& a, Monitor& monitor) {
  EigenOptions options;
  options.tol = 1e-6;
  return (1 + 2 * options.tol) * std::abs(top_eigenpairs(MatrixXd(a), 1, Which::largest_magnitude, options, monitor).values[0]);
}

EigenvalueRange eigenvalue_range(const ConstMatrixRef& a) {
  const VectorXd values = SymmetricEigen(a, EigenParts::values).eigenvalues();
  return {values[0], values[values.size() - 1]};
}

std::optional<MatrixXd> definite_inverse(const ConstMatrixRef& a) {
  const Llt factor(a);
  if (factor.info() != Eigen::Success) return {};
  const MatrixXd inverse = factor.solve(MatrixXd::Identity(a.rows(), a.cols()));
  return MatrixXd(0.5 * (inverse + inverse.transpose()));
}

}  // namespace granary
