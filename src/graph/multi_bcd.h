// Block coordinate descent on the primal: Algorithm 4.1 of Honorio (thesis 2012), norms l2 and linf.
//
// For every variable n its row and column of all K matrices are updated, the others fixed: one pass over the K-blocks x_nj by
// (4.11) with q_k = T_k v_k H_k,jj, H_k the inverse of X_k without n, then the diagonal in closed form (Remark 4.5). The inverses
// follow by rank-one formulas (Appendix B), here through W_k = X_k^-1 and H_k = W_k - w_n w_n' / w_nn, refreshed by a Cholesky
// factor after each sweep. The thesis makes L = 10 sweeps (max_iter); a sweep costs O(K N^3) and convergence is linear, so the
// default solver is multi_newton.h.
//
// Penalised diagonal (Section 4.8): the diagonal step is log_knapsack or log_trust_region. The thesis lets the y-step of (4.10)
// stand; it must use the current 1/xi_k in place of v_k (xi_k the Schur complement), and as xi_k then moves after the y-step,
// ascent is not guaranteed. When such a sweep does not lower f, or at the iteration limit, Newton steps finish the job and the
// report says so.
#pragma once

#include "graph/multi.h"

namespace granary::graph {

MultiReport multi_bcd(const MultiProblem& problem, const MultiOptions& options, Monitor& monitor, MultiState& state);

}  // namespace granary::graph
