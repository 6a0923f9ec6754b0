// Integrals of exp f over the real line, for f with one peak that matters: find it, go down both sides until f has fallen by `fall`, and
// sum over equally spaced points between. For an analytic f that falls off on both sides the error of such a sum falls exponentially with the
// number of points, so doubling them tells how good it is.
#pragma once

#include <cmath>
#include <limits>

#include "core/base/types.h"

namespace granary {

struct PeakRange {
  double mode = 0, lower = 0, upper = 0;  // f(lower), f(upper) are about f(mode) - fall, unless the end of the search was met first
  double value = -std::numeric_limits<double>::infinity();  // f(mode)
  bool cut_lower = false, cut_upper = false;                // ... as it was here
};

// The largest value of f between `from` and `to`: the best of a scan with `steps` points, refined between its neighbours.
template <class F>
PeakRange find_peak(const F& f, double from, double to, int steps, double fall = 40) {
  PeakRange out;
  const double width = (to - from) / steps;
  for (int i = 0; i <= steps; ++i) {
    const double at = from + i * width, value = f(at);
    if (value > out.value) {
      out.value = value;
      out.mode = at;
    }
  }
  if (!std::isfinite(out.value)) return out;
  double a = std::fmax(from, out.mode - width), b = std::fmin(to, out.mode + width);
  constexpr double golden = 0.38196601125010515;
  double x = a + golden * (b - a), y = b - golden * (b - a), fx = f(x), fy = f(y);
  while (b - a > 1e-7 * (1 + std::fabs(out.mode))) {
    if (fx > fy) {
      b = y;
      y = x;
      fy = fx;
      x = a + golden * (b - a);
      fx = f(x);
    } else {
      a = x;
      x = y;
      fx = fy;
      y = b - golden * (b - a);
      fy = f(y);
    }
  }
  if (fx > out.value) out.value = fx, out.mode = x;
  if (fy > out.value) out.value = fy, out.mode = y;
  // Outwards in growing steps, then back by halving, until the fall is met within a tenth of the way.
  const auto side = [&](double sign, double end, bool& cut) {
    double near = 0, far = 1e-6 * (1 + std::fabs(out.mode));
    const double most = std::fabs(end - out.mode);
    while (far < most && f(out.mode + sign * far) > out.value - fall) {
      near = far;
      far *= 2;
    }
    if (far >= most) {
      far = most;
      if (!(f(end) < out.value - fall)) {
        cut = true;
        return end;
      }
    }
    for (int i = 0; i < 4; ++i) {
      const double middle = 0.5 * (near + far);
      (f(out.mode + sign * middle) > out.value - fall ? near : far) = middle;
    }
    return out.mode + sign * far;
  };
  out.lower = side(-1, from, out.cut_lower);
  out.upper = side(1, to, out.cut_upper);
  return out;
}

}  // namespace granary
