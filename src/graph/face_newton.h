// Newton's method on the face of the current signs, for the graphical lasso where it is badly conditioned.
//
//   minimise  f(X) = -log det X + tr(S X) + sum_ij Lambda_ij |X_ij|   over X > 0
//
// The signs Z of X, and of the free zeros the sign they would take, make f smooth: with G = S - W + Lambda o Z the direction D solves
//
//   (W D W)_ij = -G_ij  on the free set,    D_ij = 0 elsewhere,
//
// and the step ends where an entry would change its sign: it stays at zero there. Olsen, Oztoprak, Nocedal and Rennie (NIPS 2012) search
// such faces with plain conjugate gradients. Here they are preconditioned by R -> X R X, the inverse of the operator when every pair is
// free; that is nearly so at the small penalties for which this is, and takes the square of the condition number of W, on which QUIC's
// coordinate descent creeps, out of the equations. Each iteration of them costs four dense products.
#pragma once

#include "graph/glasso.h"

namespace granary::graph {

// Stops by the certificate alone: root mean square eigenvalue of V X - I at most tol, or, where rounding stops it earlier, a gap of at
// most tol per variable. `state` needs W = X^-1 and log det X.
SolverReport face_newton(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor, GlassoState& state);

}  // namespace granary::graph
