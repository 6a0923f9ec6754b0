#include "core/math/bessel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/math/special.h"

namespace granary {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double half_log_two_pi = 0.91893853320467274178;

// Olver's polynomials in the uniform expansion of I_nu (DLMF 10.41.9), divided by their lowest power: U_k(p) = p^k V_k(p^2).
// From U_{k+1} = p^2 (1 - p^2) U_k' / 2 + (1/8) int_0^p (1 - 5 t^2) U_k(t) dt, term by term.
constexpr int olver_terms = 14;

std::vector<std::vector<double>> olver_polynomials() {
  std::vector<std::vector<double>> v(olver_terms, std::vector<double>(olver_terms + 1, 0.0));
  v[0][0] = 1;
  for (int k = 0; k + 1 < olver_terms; ++k) {
    for (int j = 0; j <= k; ++j) {  // the term c p^(k + 2j)
      const double c = v[k][j], power = k + 2 * j;
      v[k + 1][j] += c * (0.5 * power + 0.125 / (power + 1));
      v[k + 1][j + 1] -= c * (0.5 * power + 0.625 / (power + 3));
    }
  }
  return v;
}

// sum_k U_k(p) / nu^k with p = nu / s, s = sqrt(nu^2 + x^2): equals sum_k V_k(p^2) / s^k, which holds down to nu = 0.
double olver_sum(double nu, double s) {
  static const std::vector<std::vector<double>> v = olver_polynomials();
  const double p2 = (nu / s) * (nu / s);
  double sum = 0;
  for (int k = olver_terms - 1; k >= 0; --k) {
    double value = 0;
    for (int j = k; j >= 0; --j) value = value * p2 + v[k][j];
    sum = sum / s + value;
  }
  return sum;
}

constexpr double olver_from = 45;  // for s = sqrt(nu^2 + x^2) above this the first neglected term is below rounding

// log Gamma(nu + 1) = (nu + 1/2) log nu - nu + log(2 pi) / 2 + correction, for nu >= 20.
double stirling_correction(double nu) {
  const double u = 1 / (nu * nu);
  return (1.0 / 12 - u * (1.0 / 360 - u * (1.0 / 1260 - u * (1.0 / 1680 - u * (1.0 / 1188))))) / nu;
}

// sum_k (x^2 / 4)^k / (k! (nu + 1)_k) - 1, all terms positive.
double power_series(double nu, double x) {
  const double quarter = 0.25 * x * x;
  double term = 1, sum = 0;
  for (int k = 1; term > 1e-17 * sum; ++k) {
    term *= quarter / (k * (nu + k));
    sum += term;
  }
  return sum;
}

// A_d(k) = sum_j a_j k^-j for large k, whose coefficients follow from A' = 1 - A^2 - (d - 1) A / k: its derivative, where differences of ratios would cancel.
double large_slope(double d, double kappa) {
  constexpr int terms = 14;
  double b[terms] = {1}, slope = 0;  // b_j = a_j k^-j
  for (int j = 1; j < terms; ++j) {
    double sum = ((j - 1) - (d - 1)) / kappa * b[j - 1];
    for (int i = 1; i < j; ++i) sum -= b[i] * b[j - i];
    b[j] = 0.5 * sum;
    slope -= j * b[j];
  }
  return slope / kappa;
}

}  // namespace

double log_bessel_i(double nu, double x) {
  if (!(nu >= 0 && x >= 0) || nu == infinity) return not_a_number;
  if (x == 0) return nu == 0 ? 0 : -infinity;
  if (x == infinity) return x;
  const double s = std::hypot(nu, x);
  if (s >= olver_from) {
    return s - nu * std::asinh(nu / x) - half_log_two_pi - 0.5 * std::log(s) + std::log(olver_sum(nu, s));
  }
  return nu * std::log(0.5 * x) - log_gamma(nu + 1) + std::log1p(power_series(nu, x));
}

double bessel_i_ratio(double nu, double x) {
  if (!(nu >= 0 && x >= 0) || nu == infinity) return not_a_number;
  if (x == 0) return 0;
  if (x == infinity) return 1;
  const double s0 = std::hypot(nu, x);
  if (s0 >= olver_from) {  // the difference of two expansions, its large terms combined before rounding can touch them
    const double s1 = std::hypot(nu + 1, x), gap = (2 * nu + 1) / (s0 + s1);
    const double exponent = gap - std::asinh((nu + 1) / x) - nu * std::log1p((1 + gap) / (nu + s0));
    return std::exp(exponent) * std::sqrt(s0 / s1) * olver_sum(nu + 1, s1) / olver_sum(nu, s0);
  }
  // r_nu = x / (2 (nu + 1) + x r_{nu+1}), downwards from where it no longer matters.
  double ratio = 0;
  for (int k = 80; k >= 1; --k) ratio = x / (2 * (nu + k) + x * ratio);
  return ratio;
}

double log_bessel_i_scaled(double nu, double x) {
  if (!(nu >= 0 && x >= 0) || nu == infinity) return not_a_number;
  if (x == infinity) return x;
  const double s = std::hypot(nu, x);
  // The series needs about x^2 / (4 nu) terms: few where x is small against the order, however large that is.
  if (s < olver_from || x * x < 40 * nu) return std::log1p(power_series(nu, x));
  if (nu < 20) return log_bessel_i(nu, x) + log_gamma(nu + 1) - nu * std::log(0.5 * x);
  // The terms of Olver's expansion and of Stirling's that are of the size of nu log nu cancel on paper; what is left is of the size of the result.
  const double above = x * (x / (s + nu));  // s - nu
  return above - nu * std::log1p(above / (2 * nu)) - 0.5 * std::log1p(above / nu) + std::log(olver_sum(nu, s)) + stirling_correction(nu);
}

double log_sphere_density(double d) { return d >= 1 ? log_gamma(0.5 * d) - std::log(2.0) - 0.5 * d * std::log(3.14159265358979323846) : not_a_number; }

double log_vmf_constant(double d, double kappa) { return d >= 2 ? -log_bessel_i_scaled(0.5 * d - 1, kappa) : not_a_number; }

double vmf_resultant(double d, double kappa) { return d >= 2 ? bessel_i_ratio(0.5 * d - 1, kappa) : not_a_number; }

double vmf_resultant_slope(double d, double kappa) {
  if (!(d >= 2 && kappa >= 0)) return not_a_number;
  if (kappa == 0) return 1 / d;
  if (kappa == infinity) return 0;
  if (kappa > 20 * d && kappa > 100) return large_slope(d, kappa);
  const double nu = 0.5 * d - 1, a = bessel_i_ratio(nu, kappa);
  return std::max(a * (bessel_i_ratio(nu + 1, kappa) - a + 1 / kappa), std::numeric_limits<double>::min());
}

Interval vmf_concentration_bounds(double d, double r) {
  if (!(d >= 2 && r >= 0 && r <= 1)) return {not_a_number, not_a_number};
  if (r == 1) return {infinity, infinity};
  const double a = 0.5 * (d - 1), rest = (1 - r) * (1 + r);
  return {2 * a * r / rest, r * (a + std::sqrt(a * a + rest * (2 * a + 1))) / rest};
}

double vmf_concentration(double d, double r) {
  Interval at = vmf_concentration_bounds(d, r);
  if (!(at.lower < at.upper)) return at.lower;  // zero, infinity, or NaN
  double kappa = std::min(std::max((d - r * r) * r / ((1 - r) * (1 + r)), at.lower), at.upper);
  for (int step = 0; step < 60; ++step) {
    const double excess = vmf_resultant(d, kappa) - r;
    (excess > 0 ? at.upper : at.lower) = kappa;
    double next = kappa - excess / vmf_resultant_slope(d, kappa);
    if (!(next >= at.lower && next <= at.upper)) next = 0.5 * (at.lower + at.upper);
    const double change = std::abs(next - kappa);
    kappa = next;
    if (change <= 1e-14 * kappa || excess == 0) break;
  }
  return kappa;
}

}  // namespace granary
