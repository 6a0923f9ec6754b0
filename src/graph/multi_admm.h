// Alternating directions for the multi-task problem (multi_problem.h): for comparison, and the method of the JGL package.
//
// The K matrices stand side by side in one p x pK matrix. f is the likelihood, whose proximal operator is an eigenvalue problem
// per task; g is the penalty, a block problem (4.11) with q = rho per pair. Boyd et al. (2011); Danaher, Wang and Witten (2014),
// Section 3.
#pragma once

#include "graph/multi.h"

namespace granary::graph {

MultiReport multi_admm(const MultiProblem& problem, const MultiOptions& options, Monitor& monitor, MultiState& state);

}  // namespace granary::graph
