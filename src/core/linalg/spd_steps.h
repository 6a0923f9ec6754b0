// Factor and inverse of large symmetric positive definite matrices in steps of at most some tenths of a second, between which the
// user can interrupt. Same flops as Eigen's blocked factorisation and as spd_inverse.h.
#pragma once

#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

// L in place of the lower triangle of A, zeros above. False where A is not positive definite or not finite: A is then spoilt.
bool cholesky_in_steps(MatrixXd& a, Monitor& monitor);

// The two halves of the inverse: L^-1 in place of L, and the lower triangle of M'M in place of the lower triangular M.
void invert_lower_in_steps(MatrixRef lower, Monitor& monitor);
void cross_product_lower_in_steps(MatrixRef m, Monitor& monitor);

// The lower triangle of (L L')^-1 in place of the lower triangular L.
void inverse_from_cholesky_in_steps(MatrixRef lower, Monitor& monitor);

}  // namespace granary
