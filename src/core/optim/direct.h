// Global minimisation over a box by dividing rectangles (DIRECT).
//
//   minimise f(x),   lower <= x <= upper
//
// The box is kept as rectangles sampled at their centres. With size d_j (half the diagonal in the unit cube) and value f_j a
// rectangle is divided when some slope K > 0 makes it the most promising one:
//
//   f_j - K d_j <= f_i - K d_i for all i,   f_j - K d_j <= f_min - epsilon |f_min|
//
// that is, when (d_j, f_j) lies on the lower right convex hull and a step as steep as the hull would improve on the best value
// by epsilon. It is cut in three along each of its longest sides, those with the better samples first, so that good points keep
// large rectangles. Jones, Perttunen and Stuckman (JOTA 1993). Of rectangles with equal size and value one is divided per sweep,
// the oldest, which keeps plateaus cheap. Samples of a sweep are evaluated together, so f can work on a block of points.
//
// Where f is infinite or NaN the point is taken as infeasible: it never is the answer, and its rectangle ranks with the worst
// value seen so far.
#pragma once

#include <functional>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

using BatchObjective = std::function<VectorXd(const MatrixXd& points)>;  // one point per row

struct DirectOptions {
  int max_evaluations = 1000;
  double epsilon = 1e-4;
  double min_side = 1e-9;  // of a rectangle that is still divided, relative to the box
};

struct DirectResult {
  VectorXd x;  // empty when no point was feasible
  double value = 0;
  MatrixXd points;  // every point evaluated, one per row, and its value
  VectorXd values;
  Convergence convergence;  // converged: every rectangle worth dividing is as small as it may be; iterations: sweeps
};

DirectResult direct(const BatchObjective& f, ConstVectorRef lower, ConstVectorRef upper, const DirectOptions& options,
                    Monitor& monitor);

}  // namespace granary
