#include "core/random/gaussian.h"

#include "core/linalg/dense.h"
#include "core/linalg/spd.h"

namespace granary {

namespace {

MatrixXd root_of(ConstMatrixRef covariance) {
  try {
    return cholesky_with_jitter(covariance, {1e-12, 1e-6}).lower();
  } catch (const NumericalError&) {
    const SymmetricEigen parts(covariance);
    return parts.eigenvectors() * parts.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal();
  }
}

}  // namespace

MatrixXd gaussian_draws(ConstVectorRef mean, ConstMatrixRef covariance, double size, Index count, Rng& rng, Monitor& monitor) {
  if (covariance.rows() != mean.size() || covariance.cols() != mean.size())
    throw InputError(message("the mean has ", mean.size(), " entries, but the covariance is ", covariance.rows(), " x ",
                             covariance.cols(), "."));
  MatrixXd result = mean.replicate(1, count);
  if (mean.size() == 0 || covariance.diagonal().maxCoeff() <= 1e-14 * size) return result;
  const MatrixXd root = root_of(covariance);
  for (Index j = 0; j < count; ++j) {
    if (j % 16 == 0) monitor.check();
    result.col(j).noalias() += root * rng.normals(covariance.rows());
  }
  return result;
}

MatrixXd gaussian_draws(ConstVectorRef mean, ConstMatrixRef covariance, Index count, Rng& rng, Monitor& monitor) {
  return gaussian_draws(mean, covariance, 0, count, rng, monitor);
}

}  // namespace granary
