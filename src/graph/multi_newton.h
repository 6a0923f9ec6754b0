// Proximal Newton for all tasks at once: the default solver of the multi-task problem (multi_problem.h).
//
// The second derivative of f is block diagonal over tasks, so the quadratic model at X couples tasks only through the penalty,
// and its block coordinate step is (4.11) with q_k = T_k (W_ij^2 + W_ii W_jj), for each of the norms. The rest is as in quic.h: a
// free set of blocks, a direction found to an accuracy that follows the residual, Armijo's rule on f with a Cholesky factor per
// task. Where the thesis' Algorithm 4.1 (multi_bcd.h) converges linearly, this ends with quadratic steps, and one inverse per
// step replaces N rank-one updates.
#pragma once

#include "graph/multi.h"

namespace granary::graph {

MultiReport multi_newton(const MultiProblem& problem, const MultiOptions& options, Monitor& monitor, MultiState& state);

}  // namespace granary::graph
