#include "core/math/studentized_range.h"

#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/math/special.h"

namespace granary {

namespace {

// int phi(z) g(Phi(z) - Phi(z - q)) dz, z the largest of the k: the smallest lies below z - q or it does not.
template <class F>
double integrate(double q, const F& g) {
  constexpr double low = -9, high = 9, h = 1.0 / 32;
  const int steps = static_cast<int>((high - low) / h);
  double sum = 0;
  for (int i = 0; i <= steps; ++i) {
    const double z = low + h * i;
    sum += normal_pdf(z) * g(normal_cdf(z), normal_cdf(z - q));
  }
  return sum * h;
}

void check_count(Index k) {
  if (k < 2) throw InputError("a range needs at least two values.");
}

}  // namespace

double normal_range_cdf(double q, Index k) {
  check_count(k);
  if (!(q > 0)) return 0;
  const double power = static_cast<double>(k - 1);
  return std::min(1.0, static_cast<double>(k) * integrate(q, [&](double up, double down) { return up > down ?
      std::pow(up - down, power) : 0.0; }));
}

// k int phi(z) [Phi(z)^(k-1) - (Phi(z) - Phi(z - q))^(k-1)] dz, the bracket without cancellation.
double normal_range_upper(double q, Index k) {
  check_count(k);
  if (!(q > 0)) return 1;
  const double power = static_cast<double>(k - 1);
  return std::min(1.0, static_cast<double>(k) * integrate(q, [&](double up, double down) {
    if (!(up > 0)) return 0.0;
    const double share = std::min(1.0, down / up);
    return -std::pow(up, power) * (share < 1 ? std::expm1(power * std::log1p(-share)) : -1.0);
  }));
}

double normal_range_quantile(double p, Index k) {
  check_count(k);
  if (!(p >= 0 && p <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (p == 0) return 0;
  if (p == 1) return std::numeric_limits<double>::infinity();
  double low = 0, high = 1;
  while (normal_range_upper(high, k) > 1 - p && high < 100) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-13 * high; ++i) {
    const double middle = (low + high) / 2;
    (normal_range_upper(middle, k) > 1 - p ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace granary
