#include "core/math/special.h"

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/lambert_w.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <limits>

namespace granary {

namespace {

namespace bm = boost::math;
namespace bp = boost::math::policies;

using Quiet =
    bp::policy<bp::domain_error<bp::ignore_error>, bp::pole_error<bp::ignore_error>, bp::overflow_error<bp::ignore_error>,
               bp::underflow_error<bp::ignore_error>, bp::denorm_error<bp::ignore_error>, bp::rounding_error<bp::ignore_error>,
               bp::evaluation_error<bp::ignore_error>, bp::indeterminate_result_error<bp::ignore_error>, bp::promote_float<false>,
               bp::promote_double<false>>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double sqrt_half = 0.70710678118654752440;
constexpr double half_log_two_pi = 0.91893853320467274178;

double horner(double x, const double (&highest_first)[8]) {
  double sum = highest_first[0];
  for (int k = 1; k < 8; ++k) sum = sum * x + highest_first[k];
  return sum;
}

bool is_pole(double x) { return x <= 0 && std::floor(x) == x; }  // of the gamma function

// (1 - Phi(t)) / phi(t) = 1 / (t + 1 / (t + 2 / (t + 3 / ...))): this is its reciprocal, for t >= 5, where 60 terms reach
// rounding.
double mills_reciprocal(double t) {
  double fraction = t;
  for (int k = 60; k > 0; --k) fraction = t + k / fraction;
  return fraction;
}

}  // namespace

double digamma(double x) {
  if (std::isnan(x) || x == -infinity || is_pole(x)) return not_a_number;
  return x == infinity ? x : bm::digamma(x, Quiet());
}

double trigamma(double x) {
  if (std::isnan(x) || x == -infinity) return not_a_number;
  if (is_pole(x)) return infinity;
  return x == infinity ? 0 : bm::trigamma(x, Quiet());
}

double log_gamma(double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x) || is_pole(x)) return infinity;
  return bm::lgamma(x, Quiet());
}

double log_beta(double a, double b) {
  if (!(a > 0 && b > 0)) return not_a_number;
  if (a > b) std::swap(a, b);
  if (b == infinity) return -infinity;
  if (a < 10) {
    // lgamma(b) - lgamma(a + b) cancels for large b; Boost's ratio of gammas does not.
    if (b < 1e3) return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
    return log_gamma(a) + std::log(bm::tgamma_delta_ratio(b, a, Quiet()));
  }
  // Both large: Stirling's leading terms combined by hand, corrections small and added.
  const auto correction = [](double n) {  // log Gamma(n) - (n - 1/2) log n + n - log(2 pi) / 2
    const double s = 1 / (n * n);
    return (1.0 / 12 -
            s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s * (1.0 / 1188 - s * (691.0 / 360360 - s * 1.0 / 156)))))) /
           n;
  };
  return half_log_two_pi - 0.5 * std::log(b) + correction(a) + correction(b) - correction(a + b) +
         (a - 0.5) * std::log(a / (a + b)) - b * std::log1p(a / b);
}

double log_factorial(double n) { return n < 0 ? not_a_number : log_gamma(n + 1); }

double log_choose(double n, double k) {
  if (std::isnan(n) || std::isnan(k) || n < 0) return not_a_number;
  if (k < 0 || k > n) return -infinity;
  if (k == 0 || k == n) return 0;
  return -std::log1p(n) - log_beta(k + 1, n - k + 1);
}

double gamma_p(double shape, double x) {
  if (!(shape > 0 && x >= 0) || shape == infinity) return not_a_number;
  return x == infinity ? 1 : bm::gamma_p(shape, x, Quiet());
}

double gamma_q(double shape, double x) {
  if (!(shape > 0 && x >= 0) || shape == infinity) return not_a_number;
  return x == infinity ? 0 : bm::gamma_q(shape, x, Quiet());
}

double gamma_p_inverse(double shape, double p) {
  if (!(shape > 0 && p >= 0 && p <= 1) || shape == infinity) return not_a_number;
  return p == 1 ? infinity : bm::gamma_p_inv(shape, p, Quiet());
}

double gamma_q_inverse(double shape, double q) {
  if (!(shape > 0 && q >= 0 && q <= 1) || shape == infinity) return not_a_number;
  return q == 0 ? infinity : bm::gamma_q_inv(shape, q, Quiet());
}

double beta_p(double a, double b, double x) {
  return a > 0 && b > 0 && x >= 0 && x <= 1 ? bm::ibeta(a, b, x, Quiet()) : not_a_number;
}

double beta_q(double a, double b, double x) {
  return a > 0 && b > 0 && x >= 0 && x <= 1 ? bm::ibetac(a, b, x, Quiet()) : not_a_number;
}

double beta_p_inverse(double a, double b, double p) {
  return a > 0 && b > 0 && p >= 0 && p <= 1 ? bm::ibeta_inv(a, b, p, Quiet()) : not_a_number;
}

double beta_q_inverse(double a, double b, double q) {
  return a > 0 && b > 0 && q >= 0 && q <= 1 ? bm::ibetac_inv(a, b, q, Quiet()) : not_a_number;
}

double normal_log_pdf(double x) { return -0.5 * x * x - half_log_two_pi; }

double normal_pdf(double x) { return std::exp(normal_log_pdf(x)); }

double normal_cdf(double x) {
  if (std::isinf(x)) return x > 0 ? 1 : 0;
  return x < -5 ? normal_pdf(x) / mills_reciprocal(-x) : 0.5 * bm::erfc(-x * sqrt_half, Quiet());
}

double normal_log_cdf(double x) {
  if (std::isinf(x)) return x > 0 ? 0 : x;
  if (x < -5) return normal_log_pdf(x) - std::log(mills_reciprocal(-x));
  if (x < 1) return std::log(normal_cdf(x));
  return std::log1p(-normal_cdf(-x));
}

// Rational approximations in three pieces to 1e-16 (Wichura 1988, algorithm AS 241), quicker than inverting erfc.
double normal_quantile(double p) {
  if (!(p >= 0 && p <= 1)) return not_a_number;
  if (p == 0 || p == 1) return p == 0 ? -infinity : infinity;
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * horner(r, {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
                          13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608}) /
           horner(r, {5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
                      5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1});
  }
  const double t = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  double value;
  if (t <= 5) {
    const double r = t - 1.6;
    value = horner(r, {7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
                       3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734}) /
            horner(r, {1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
                       0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1});
  } else {
    const double r = t - 5;
    value = horner(r, {2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
                       0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772}) /
            horner(r, {2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
                       0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1});
  }
  return q < 0 ? -value : value;
}

double inverse_mills(double x) {
  if (x == -infinity) return infinity;
  return x < -5 ? mills_reciprocal(-x) : normal_pdf(x) / normal_cdf(x);
}

double lambert_w0(double x) {
  if (std::isnan(x) || x < -0.36787944117144233) return not_a_number;
  return x == infinity ? x : bm::lambert_w0(x, Quiet());
}

double lambert_wm1(double x) {
  if (std::isnan(x) || x < -0.36787944117144233 || x > 0) return not_a_number;
  return x == 0 ? -infinity : bm::lambert_wm1(x, Quiet());
}

}  // namespace granary
