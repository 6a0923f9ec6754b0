// Sparse inverse covariance by quadratic approximation (QUIC).
//
//   minimise  f(X) = g(X) + h(X),   g = -log det X + tr(S X),   h = sum_ij Lambda_ij |X_ij|     over X > 0
//
// Hsieh, Sustik, Dhillon, Ravikumar (JMLR 2014), Algorithm 2; equation numbers in the body are theirs. Each Newton step picks the free
// set (33), minimises the quadratic model over it by coordinate descent (16), and backtracks until Armijo's rule (21) holds.
//
// What differs from the printed algorithm, and why:
// - The start is diag(1 / (S_ii + Lambda_ii)), not the identity: the identity is a poor point when variances are far from one.
// - newton_direction.h says how the direction is found; memory is S, W and one dense matrix for the factor.
// - The default inner rule sweeps until the direction is accurate to min(0.1, relative subgradient), which keeps the quadratic tail; the
//   paper's rule of ceil(t / 3) sweeps in step t is InnerRule::paper.
// - Armijo's test carries a slack of a few rounding errors of f, without which it halves for ever near the optimum.
#pragma once

#include "graph/glasso.h"

namespace granary::graph {

SolverReport quic(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor, GlassoState& state);

}  // namespace granary::graph
