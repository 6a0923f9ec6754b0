#include "core/math/rising.h"

#include <cmath>
#include <limits>

#include "core/math/special.h"

namespace granary {
namespace {

constexpr double far = 30;  // from here on the asymptotic series are exact to double precision
constexpr int direct = 64;  // so few factors are multiplied one by one

// log Gamma(x) - [(x - 1/2) log x - x + log(2 pi) / 2]
double stirling_rest(double x) {
  const double u = 1 / (x * x);
  return (1.0 / 12 - u * (1.0 / 360 - u * (1.0 / 1260 - u * (1.0 / 1680 - u / 1188)))) / x;
}

// log of the product of n factors from y * step on, y >= far: the two Stirling series subtracted term by term, the step inside the logarithm.
double log_gamma_ratio(double y, double n, double step) {
  return (y - 0.5) * std::log1p(n / y) - n + n * std::log((y + n) * step) + (stirling_rest(y + n) - stirling_rest(y));
}

// digamma(x) - log x for x >= far
double digamma_rest(double x) {
  const double u = 1 / (x * x);
  return -0.5 / x - u * (1.0 / 12 - u * (1.0 / 120 - u * (1.0 / 252 - u / 240)));
}

}  // namespace

double log_rising(double x, double n, double step) {
  if (!(n > 0)) return n == 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
  const double last = x + (n - 1) * step;
  const double least = std::fmin(x, last);
  if (std::isnan(least) || least < 0) return std::numeric_limits<double>::quiet_NaN();
  if (least == 0) return -std::numeric_limits<double>::infinity();
  if (step == 0) return n * std::log(x);
  if (n <= direct) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += std::log(x + i * step);
    return sum;
  }
  if (step < 0) return log_rising(last, n, -step);  // the same factors from the other end
  const double y = x / step;
  if (!std::isfinite(y)) return n * std::log(x);  // the step is lost beside x
  double sum = 0, from = y, left = n;
  for (; from < far && left > 0; ++from, --left) sum += std::log(from * step);
  return left > 0 ? sum + log_gamma_ratio(from, left, step) : sum;
}

double digamma_difference(double x, double n) {
  if (!(n >= 0) || !(x > 0)) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (; x < far && n > 0; ++x, --n) sum += 1 / x;
  return n > 0 ? sum + std::log1p(n / x) + (digamma_rest(x + n) - digamma_rest(x)) : sum;
}

double inverse_digamma(double y) {
  if (std::isnan(y)) return y;
  double x = y >= -2.22 ? std::exp(y) + 0.5 : -1 / (y + 0.57721566490153286);  // Minka's start; Newton from it is monotone after one step
  for (int i = 0; i < 50; ++i) {
    const double step = (digamma(x) - y) / trigamma(x);
    const double next = x - step > 0 ? x - step : x / 2;
    if (std::fabs(next - x) <= 1e-16 * x || next == x) return next;
    x = next;
  }
  return x;
}

}  // namespace granary
