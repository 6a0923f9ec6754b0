// The dual of the graphical lasso by a primal-dual interior point method, for small problems that are badly conditioned.
//
//   minimise  -log det V   subject to   |V_ij - S_ij| <= Lambda_ij  (i < j),    V_ii = S_ii + Lambda_ii
//
// With X = V^-1, slacks u = Lambda - (V - S) and l = Lambda + (V - S) and multipliers a, b > 0 the conditions are X_ij = a_ij - b_ij,
// a u = mu, b l = mu; a Newton step on them is
//
//   X D X + (a / u + b / l) o D = X - mu / u + mu / l   over the pairs i < j,
//
// one dense Cholesky factor of size p (p - 1) / 2 (Boyd and Vandenberghe, Convex Optimization, section 11.7). Some forty steps, however
// badly S is conditioned; where p exceeds the number of rows and the penalty is small all methods that move along faces need thousands.
#pragma once

#include <optional>

#include "graph/glasso.h"

namespace granary::graph {

constexpr Index barrier_most = 100;  // variables: the factor is that of a matrix of 4950 rows then, 200 megabytes and a minute in all

// X near the optimum, entries that the multipliers say are zero set to it; nothing where S + diag(Lambda) is not positive definite or a
// factor fails. `tol` is the size of mu relative to Lambda X at which to stop.
std::optional<SparseMatrix> glasso_barrier(const ConstMatrixRef& s, const Penalty& lambda, double tol, Monitor& monitor);

}  // namespace granary::graph
