// Univariate regressions and the one operation that conditional Gaussian propagation makes on them: EXCHANGE, an arc reversal.
//
// Given   Z | Y, W ~ N(a0 + a'W + b Y, s2z)   and   Y | W ~ N(c0 + c'W, s2y),   with t = s2z + b^2 s2y,
//
//   Z | W    ~ N((a0 + b c0) + (a + b c)'W, t)
//   Y | Z, W ~ N((c0 w - a0 g) + (c w - a g)'W + g Z, s2y w),      w = s2z / t,  g = b s2y / t.
//
// s2z = 0 < s2y has the limit w = 0, g = 1 / b; s2y = 0 the limit w = 1, g = 0: Y stays the linear function of W that it was
// (Cowell 2005, section 5.3; his appendix prints the mean of the former case for the latter). No difference of variances is ever
// taken, so none can become negative.
#pragma once

#include <cmath>
#include <limits>

namespace granary::graph {

struct Exchange {
  double w, g;  // Y | Z, W = w (Y | W) + g (Z - a0 - a'W)
};

inline Exchange exchange_weights(double b, double s2y, double s2z) {
  if (s2y <= 0) return {1, 0};
  if (s2z <= 0) return {0, 1 / b};
  const double spread = b * b * s2y;
  return {s2z / (s2z + spread), (b / (s2z + spread)) * s2y};
}

// a + b c; what cancels to rounding is zero, or else a deterministic Z would seem to depend on Y and be divided by 1e-17.
inline double add_product(double a, double b, double c) {
  const double product = b * c, sum = a + product;
  return std::abs(sum) <= 1e-15 * (std::abs(a) + std::abs(product)) ? 0 : sum;
}

inline bool matches_point(double y, double mean, double scale) { return std::abs(y - mean) <= 1e-9 * scale; }

inline double log_normal(double y, double mean, double variance) {
  const double z = (y - mean) / std::sqrt(variance);
  return -0.5 * (z * z + std::log(variance)) - 0.91893853320467274178;
}

// With variance zero: 0 (probability one) at the point, -infinity elsewhere.
inline double log_normal_or_point(double y, double mean, double variance, double scale) {
  if (variance > 0) return log_normal(y, mean, variance);
  return matches_point(y, mean, scale) ? 0 : -std::numeric_limits<double>::infinity();
}

}  // namespace granary::graph
