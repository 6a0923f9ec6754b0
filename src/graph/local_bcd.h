// The thesis' Algorithm 2.1 for the locally constant Gaussian graph: block coordinate-direction descent.
//
// One row and column at a time, with y = X_{-n,n}, H = (X_{-n,-n})^-1, v = S_nn and u = S_{-n,n}, the row problem (2.10)
//
//   minimise  1/2 (v + rho) y'Hy + u'y + rho ||y||_1 + (tau/2) ||A y - b||_1
//
// is searched exactly along single coordinates, along pairs of neighbours, and (not in the thesis) along every group of equal
// neighbouring values; along a line it is a parabola with kinks, (2.12)-(2.13). Then X_nn = 1 / (v + rho) + y'Hy, so every
// iterate is positive definite.
//
// The thesis says that these directions suffice. They do not: kinks shared by neighbours, and by two rows, hold the descent up
// where moving several rows at once would help, mostly when tau / rho is 0.5 or more.
#pragma once

#include <vector>

#include "graph/local_problem.h"

namespace granary::graph {

struct LocalBcdReport {
  std::vector<double> objective;  // after each sweep
  int sweeps = 0;
  bool settled = false;  // a sweep moved no entry by more than tol of the largest one
};

// From x = X and w = X^-1, both replaced. InputError unless `op` is the difference operator.
LocalBcdReport local_bcd(const ConstMatrixRef& s, const LocalOperator& op, const LocalPenalty& penalty, double tol, int sweeps,
                         Monitor& monitor, MatrixXd& x, MatrixXd& w);

// argmin_t  p t^2 / 2 + q t + sum_m weight_m |t - at_m|, p > 0. `kinks` holds (at, weight) and is sorted.
double minimise_kinked_parabola(double p, double q, std::vector<std::pair<double, double>>& kinks);

}  // namespace granary::graph
