#include "graph/hub_screen.h"

#include "core/base/errors.h"
#include "core/linalg/dense.h"

namespace granary::graph {

MatrixXd partial_correlations(ConstMatrixRef s) {
  if (!(s.diagonal().array() > 0).all()) throw InputError("partial correlations need variables that vary.");
  const VectorXd root = s.diagonal().cwiseSqrt().cwiseInverse();
  const SymmetricEigen eigen(root.asDiagonal() * s * root.asDiagonal());
  const VectorXd& values = eigen.eigenvalues();
  const double top = values[values.size() - 1];
  const VectorXd inverse = values.unaryExpr([&](double d) { return d > 1e-10 * top ? 1 / d : 0.0; });
  const MatrixXd precision = eigen.eigenvectors() * inverse.asDiagonal() * eigen.eigenvectors().transpose();
  const VectorXd scale = precision.diagonal().cwiseSqrt().cwiseInverse();
  MatrixXd partial = -(scale.asDiagonal() * precision * scale.asDiagonal());
  partial.diagonal().setZero();
  return partial;
}

}  // namespace granary::graph
