// The thesis' Algorithm 3.1: primal block coordinate descent for the node-selecting Gaussian graph, here for reproduction.
//
// For every node n, with W = X[-n,-n], y = X[-n,n], u = S[-n,n], v = S_nn, H = W^-1 and t_k the q-norm of row k of W without its
// diagonal, one pass of coordinate descent over the row problem (3.10)
//
//   minimise  1/2 (v + rho) y'Hy + u'y + rho ||y||_1 + tau/2 ||y||_q + tau/2 sum_k ||(y_k, t_k)||_q,
//
// then X_nn = 1 / (v + rho) + y'Hy (3.9), which keeps X positive definite (Theorem 3.3).
//
// Differences from the print. (1) H comes from the kept inverse of X; Appendix B's rank-two update lacks the inverse of its
// middle matrix. (2) For q = 2 the test for a zero counts tau/2 for each of a = 0 and b = 0, where the norm has a kink, in place
// of a small constant under the roots; zeros are exact. (3) The start is diag(1 / (S_nn + rho)), the solution without edges,
// rather than diag(1 / S_nn).
//
// The sequence descends but need not reach the minimum: ||y||_q and ||(y_k, t_k)||_q are not separable where they are not smooth,
// and from a diagonal X an edge can only enter on its own, if |c| > rho + tau, when the optimum asks for far less.
#pragma once

#include <vector>

#include "core/base/monitor.h"
#include "core/base/types.h"
#include "graph/nodes_problem.h"

namespace granary::graph {

// argmin_x 1/2 q x^2 - c x + rho |x| + tau/2 ||(x, a)|| + tau/2 ||(x, b)||, equation (3.11); q > 0, a, b >= 0.
double nodes_scalar(double q, double c, double a, double b, const NodesPenalty& penalty);

struct NodesBcdReport {
  bool settled = false;  // no entry moved by more than tol in the last sweep
  int sweeps = 0;
  std::vector<double> objective;  // after each sweep
};
// From the positive definite x in place; `w` is its inverse on entry and on return.
NodesBcdReport nodes_bcd(const ConstMatrixRef& s, const NodesPenalty& penalty, double tol, int max_sweeps, Monitor& monitor,
                         MatrixXd& x, MatrixXd& w);

}  // namespace granary::graph
