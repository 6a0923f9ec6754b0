// The graphical lasso by the alternating direction method of multipliers, on the splitting X = Z.
//
// Boyd, Parikh, Chu, Peleato, Eckstein (2011), Section 6.5, with the over-relaxation and penalty the QUIC paper tuned (Section 5.2):
//
//   X <- argmin -log det X + tr(S X) + rho/2 ||X - Z + U||^2      one symmetric eigendecomposition
//   Z <- soft(a X + (1 - a) Z + U, Lambda / rho)                  exact zeros
//   U <- U + a X + (1 - a) Z_old - Z
//
// A baseline. rho is in units of the mean variance squared, so that rescaling the data does not change the iterations. The answer is Z,
// accepted only when it is positive definite and satisfies the stopping rule with its true inverse.
#pragma once

#include "graph/glasso.h"

namespace granary::graph {

SolverReport glasso_admm(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor,
                         GlassoState& state);

}  // namespace granary::graph
