#include "kernel/hard_margin.h"

#include <algorithm>
#include <cmath>

namespace granary::kernel {

HardMarginResult hard_margin(KernelRows& rows, ConstVectorRef y, const HardMarginOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  const Index n = rows.size();
  if (n == 0 || y.size() != n) throw InputError("There must be one label per row, and one row at least.");
  HardMarginResult r;
  r.radius = std::sqrt(std::max(0.0, rows.diagonal().maxCoeff()));
  r.weights = VectorXd::Zero(n);
  r.weights[0] = 1;
  VectorXd value(n), near_row(n), far_row(n);  // value: y_i <w, phi(x_i)>
  const auto load = [&](Index i, VectorXd& row) {
    rows.row(i, 0, n, row.data());
    row.array() *= y.array() * y[i];
  };
  // From the weights afresh: the bracket reported is that of the weights returned, not of the sums on the way to them.
  const auto refresh = [&] {
    value.setZero();
    for (Index i = 0; i < n; ++i) {
      if (r.weights[i] == 0) continue;
      load(i, near_row);
      value += r.weights[i] * near_row;
      monitor.check();
    }
  };
  load(0, value);
  double steps = 0;
  bool fresh = true;
  for (; steps < options.max_iter; ++steps) {
    Index nearest = 0, farthest = -1;
    for (Index i = 0; i < n; ++i) {
      if (value[i] < value[nearest]) nearest = i;
      if (r.weights[i] > 0 && (farthest < 0 || value[i] > value[farthest])) farthest = i;
    }
    const double square = std::max(0.0, r.weights.dot(value));
    r.upper = std::sqrt(square);
    r.lower = r.upper > 0 ? value[nearest] / r.upper : 0;
    if (r.upper - r.lower <= options.tol * r.radius || r.upper <= options.tol * r.radius) {
      r.convergence.converged = fresh;
      if (fresh) break;
      refresh();
      fresh = true;
      continue;
    }
    load(nearest, near_row);
    load(farthest, far_row);
    const double slope = value[farthest] - value[nearest];
    const double curvature = near_row[nearest] + far_row[farthest] - 2 * near_row[farthest];
    double length = r.weights[farthest];
    if (curvature > 0) length = std::min(length, slope / curvature);
    if (!(slope > 0) || !(length > 0)) {  // rounding: no better
      r.convergence.reason = Stop::stalled;
      break;
    }
    fresh = false;
    r.weights[nearest] += length;
    r.weights[farthest] = length >= r.weights[farthest] ? 0 : r.weights[farthest] - length;
    value += length * (near_row - far_row);
    monitor.check();
  }
  r.convergence.iterations = static_cast<int>(std::min(steps, 2e9));
  r.convergence.gap = r.radius > 0 ? (r.upper - std::max(r.lower, -r.upper)) / r.radius : 0;
  r.convergence.seconds = watch.seconds();
  return r;
}

}  // namespace granary::kernel
