// Draws from N(mean, covariance) when the covariance is only just positive definite, as those of smooth processes at near points
// are: by Cholesky with a little jitter, and where that fails by eigenvectors with negative eigenvalues as zero.
#pragma once

#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/random/rng.h"

namespace granary {

// One draw per column. A covariance that is below 1e-14 of `size` is zero but for rounding, and its draws are the mean.
MatrixXd gaussian_draws(ConstVectorRef mean, ConstMatrixRef covariance, double size, Index count, Rng& rng, Monitor& monitor);
MatrixXd gaussian_draws(ConstVectorRef mean, ConstMatrixRef covariance, Index count, Rng& rng, Monitor& monitor);

}  // namespace granary
