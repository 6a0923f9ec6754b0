// The graphical lasso by block coordinate descent on the dual: one row and column of W at a time.
//
// Friedman, Hastie, Tibshirani (Biostatistics 2008). With W_11 the current W without row and column j, the column solves
//
//   beta = argmin 1/2 b' W_11 b - s_12' b + sum_i Lambda_ij |b_i|,     w_12 = W_11 beta,
//   X_jj = 1 / (W_jj - w_12' beta),   X_ij = -beta_i X_jj,
//
// and W_jj = S_jj + Lambda_jj throughout. A baseline: QUIC reaches the same point sooner. Unlike the original, the iterations end only when
// the symmetrised X, put back into the optimality conditions with its true inverse, satisfies the stopping rule.
#pragma once

#include "glasso.h"

namespace granary::graph {

SolverReport glasso_bcd(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor,
                        GlassoState& state);

}  // namespace granary::graph
