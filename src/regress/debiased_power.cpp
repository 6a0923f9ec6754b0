#include "regress/debiased_power.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/math/special.h"

namespace granary::regress {

double two_sided_power(double alpha, double u) {
  const double z = normal_quantile(alpha / 2);  // the lower tail: no loss of digits for a small level
  return normal_cdf(z - u) + normal_cdf(z + u);
}

double needed_shift(double alpha, double power) {
  double low = 0, high = 100;
  for (int k = 0; k < 200 && high - low > 1e-15 * high; ++k) {
    const double middle = (low + high) / 2;
    (two_sided_power(alpha, middle) < power ? low : high) = middle;
  }
  return (low + high) / 2;
}

namespace {

// Theorem 17: the best xi from a grid, then by golden section around it.
double best_power(double n, double gamma, const PowerOptions& o) {
  if (n - o.s0 + 1 <= 0) return 1;
  const double root = std::sqrt(n - o.s0 + 1);
  auto bound = [&](double xi) {
    return two_sided_power(o.alpha, gamma * std::sqrt(o.conditional) * (root + xi) / o.sigma) + std::exp(-xi * xi / 8);
  };
  const int grid = 200;
  const double step = 1.5 * root / (grid - 1);
  int best = 0;
  for (int k = 1; k < grid; ++k)
    if (bound(k * step) < bound(best * step)) best = k;
  double low = std::max(0.0, (best - 1) * step), high = std::min(1.5 * root, (best + 1) * step);
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  for (int k = 0; k < 60; ++k) {
    const double left = high - ratio * (high - low), right = low + ratio * (high - low);
    (bound(left) < bound(right) ? high : low) = bound(left) < bound(right) ? right : left;
  }
  return std::min({1.0, bound((low + high) / 2), bound(best * step)});
}

}  // namespace

PowerTable debiased_power(const PowerOptions& o) {
  PowerTable out{o.n, o.gamma, o.power, {}};
  const std::size_t cases = std::max({o.n.size(), o.gamma.size(), o.power.size()});
  if (o.n.empty() + o.gamma.empty() + o.power.empty() != 1) throw InputError("Give two of `n`, `gamma` and `power`; the third is computed.");
  const double unit = o.sigma * std::sqrt(o.omega);
  for (std::size_t i = 0; i < cases; ++i) {
    if (o.power.empty()) out.power.push_back(two_sided_power(o.alpha, std::sqrt(o.n[i]) * o.gamma[i] / unit));
    if (o.n.empty()) out.n.push_back(std::ceil(std::pow(needed_shift(o.alpha, o.power[i]) * unit / o.gamma[i], 2)));
    if (o.gamma.empty()) out.gamma.push_back(needed_shift(o.alpha, o.power[i]) * unit / std::sqrt(o.n[i]));
    out.upper.push_back(best_power(out.n[i], out.gamma[i], o));
  }
  return out;
}

}  // namespace granary::regress
