// The graphical lasso by block coordinate descent on the dual: one row and column of W at a time.
//
// Friedman, Hastie, Tibshirani (Biostatistics 2008). With W_11 the current W without row and column j, the column solves
//
//   beta = argmin 1/2 b' W_11 b - s_12' b + sum_i Lambda_ij |b_i|,     w_12 = W_11 beta,
//   X_jj = 1 / (W_jj - w_12' beta),   X_ij = -beta_i X_jj,
//
// and W_jj = S_jj + Lambda_jj throughout. What differs from the original, and why:
// - A column is solved over its support and the violators of |w_12 - s_12| <= Lambda only, with their part of W copied to one place. The
//   long vectors w_12 are then touched twice per coordinate and sweep, not once per move: p times the number of nonzeros of X per sweep.
// - The column problem is solved to a tenth of its first move. More accuracy is lost anyway when the other columns change.
// - The end is not when W stands still but when the symmetrised X passes its certificate (glasso_problem.h). It is asked for when the last
//   two sweeps let one expect that it will.
// Measured against QUIC this needs far less work per digit: no sweep inverts a matrix, and each gains one to two digits.
#pragma once

#include "graph/glasso.h"

namespace granary::graph {

// `report.lost`: W left the positive definite cone, which needs a start from afar or a covariance that is not positive semi-definite.
SolverReport glasso_bcd(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor,
                        GlassoState& state);

}  // namespace granary::graph
