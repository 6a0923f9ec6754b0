// Partial correlations from a covariance matrix, by the pseudo-inverse of its correlations where they are singular: Hero and
// Rajaratnam (IEEE Transactions on Information Theory 58, 2012).
#pragma once

#include "core/base/types.h"

namespace granary::graph {

// Zero on the diagonal. Eigenvalues below 1e-10 of the largest count as zero. InputError unless all variances are positive.
MatrixXd partial_correlations(ConstMatrixRef s);

}  // namespace granary::graph
