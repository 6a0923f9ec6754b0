// Ordinary differential equations y' = f(t, y), not stiff: the fifth-order Runge-Kutta pair of Dormand and Prince (J. Comp. Appl.
// Math. 1980) with adaptive steps and its fourth-order interpolant between them (Hairer, Norsett, Wanner, Solving ODEs I, II.6),
// so that asking for many times costs no extra steps.
//
//   integrate_ode(f, y0, times, options, monitor, output)
//
// f(t, y, dy) writes the derivative; output(k, y) receives the state at times[k], k in order; times ascend, times[0] is the
// start.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/errors.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

struct OdeOptions {
  double relative = 1e-7;  // error of a step allowed: absolute + relative |y|, root mean square over the components
  double absolute = 1e-9;
  double first_step = 0;  // 0: chosen from the derivatives at the start
  double limit = 1e8;     // the solution has diverged once a component is beyond it
  long max_steps = 1000000;
};

struct OdeResult {
  long steps = 0, rejected = 0;
  bool diverged = false;  // then output() was not called for the times after `time`
  double time = 0;        // reached
};

namespace ode_detail {

inline double scaled_norm(const VectorXd& error, const VectorXd& a, const VectorXd& b, const OdeOptions& options) {
  double sum = 0;
  for (Index i = 0; i < error.size(); ++i) {
    const double scale = options.absolute + options.relative * std::max(std::abs(a[i]), std::abs(b[i]));
    sum += (error[i] / scale) * (error[i] / scale);
  }
  return std::sqrt(sum / static_cast<double>(std::max<Index>(1, error.size())));
}

}  // namespace ode_detail

template <class Derivative, class Output>
OdeResult integrate_ode(Derivative&& f, const VectorXd& start, ConstVectorRef times, const OdeOptions& options, Monitor& monitor,
                        Output&& output) {
  if (times.size() == 0) throw InputError("there must be at least one time.");
  for (Index k = 1; k < times.size(); ++k) {
    if (times[k] < times[k - 1]) throw InputError("times must ascend.");
  }
  const Index n = start.size(), last = times.size() - 1;
  OdeResult result;
  double t = times[0];
  const double end = times[last];
  VectorXd y = start, next(n), k1(n), k2(n), k3(n), k4(n), k5(n), k6(n), k7(n), error(n), between(n);
  result.time = t;
  output(Index(0), y);
  Index shown = 1;
  while (shown <= last && times[shown] == t) output(shown++, y);
  if (shown > last) return result;
  f(t, y, k1);

  double h = options.first_step;
  if (!(h > 0)) {
    const double size = ode_detail::scaled_norm(y, y, y, options), slope = ode_detail::scaled_norm(k1, y, y, options);
    h = slope > 0 ? 0.01 * std::max(size, 1.0) / slope : 1e-3 * (end - t);
  }
  h = std::min(h, end - t);
  while (t < end) {
    monitor.progress((t - times[0]) / (end - times[0]));
    if (result.steps + result.rejected >= options.max_steps) {
      throw NumericalError(message("the equations need more than ", options.max_steps, " steps; they stopped at time ", t,
                                   ". Ask for a shorter time or a smaller rate."));
    }
    const bool final_step = t + h >= end * (1 - 1e-14) || end - t <= h;
    if (final_step) h = end - t;
    f(t + h / 5, between = y + h * (k1 / 5), k2);
    f(t + 3 * h / 10, between = y + h * (3.0 / 40 * k1 + 9.0 / 40 * k2), k3);
    f(t + 4 * h / 5, between = y + h * (44.0 / 45 * k1 - 56.0 / 15 * k2 + 32.0 / 9 * k3), k4);
    f(t + 8 * h / 9, between = y + h * (19372.0 / 6561 * k1 - 25360.0 / 2187 * k2 + 64448.0 / 6561 * k3 - 212.0 / 729 * k4), k5);
    f(t + h,
      between = y + h * (9017.0 / 3168 * k1 - 355.0 / 33 * k2 + 46732.0 / 5247 * k3 + 49.0 / 176 * k4 - 5103.0 / 18656 * k5), k6);
    next = y + h * (35.0 / 384 * k1 + 500.0 / 1113 * k3 + 125.0 / 192 * k4 - 2187.0 / 6784 * k5 + 11.0 / 84 * k6);
    f(t + h, next, k7);
    error =
        h * (71.0 / 57600 * k1 - 71.0 / 16695 * k3 + 71.0 / 1920 * k4 - 17253.0 / 339200 * k5 + 22.0 / 525 * k6 - 1.0 / 40 * k7);
    const double norm = ode_detail::scaled_norm(error, y, next, options);
    if (!std::isfinite(norm) || norm > 1) {
      ++result.rejected;
      h *= std::isfinite(norm) ? std::max(0.2, 0.9 * std::pow(norm, -0.2)) : 0.1;
      if (h <= 1e-14 * std::max(std::abs(t), 1e-300) || h < 1e-300) {  // no step is small enough: the solution leaves the finite
        result.diverged = true;
        return result;
      }
      continue;
    }
    ++result.steps;
    const double reached = final_step ? end : t + h;
    if (shown <= last && times[shown] <= reached) {
      const VectorXd delta = next - y, bend = h * k1 - delta;
      const VectorXd c4 = delta - h * k7 - bend;
      const VectorXd c5 =
          h * (-12715105075.0 / 11282082432.0 * k1 + 87487479700.0 / 32700410799.0 * k3 - 10690763975.0 / 1880347072.0 * k4 +
               701980252875.0 / 199316789632.0 * k5 - 1453857185.0 / 822651844.0 * k6 + 69997945.0 / 29380423.0 * k7);
      while (shown <= last && times[shown] <= reached) {
        const double s = times[shown] >= reached ? 1 : (times[shown] - t) / h, r = 1 - s;
        between = y + s * (delta + r * (bend + s * (c4 + r * c5)));
        output(shown++, between);
      }
    }
    t = reached;
    result.time = t;
    std::swap(y, next);
    std::swap(k1, k7);
    if (y.cwiseAbs().maxCoeff() > options.limit) {
      result.diverged = true;
      return result;
    }
    h *= std::min(5.0, 0.9 * std::pow(std::max(norm, 1e-8), -0.2));
  }
  return result;
}

}  // namespace granary
