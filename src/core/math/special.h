// Special functions behind a small, stable interface. Outside their domain they return NaN, at poles and on overflow an infinity;
// nothing throws. All work in double throughout, so that results agree between platforms whose long double differ.
#pragma once

namespace granary {

double digamma(double x);
double trigamma(double x);
double log_gamma(double x);  // log |Gamma(x)|; thread-safe, unlike the C library's lgamma
double log_beta(double a, double b);
double log_factorial(double n);
double log_choose(double n,
                  double k);  // log of the binomial coefficient, -infinity for k outside 0..n; n and k may be fractional

double gamma_p(double shape, double x);  // regularised lower incomplete gamma: P(X <= x)
double gamma_q(double shape, double x);  // its complement
double gamma_p_inverse(double shape, double p);
double gamma_q_inverse(double shape, double q);
double beta_p(double a, double b, double x);  // regularised incomplete beta: P(X <= x)
double beta_q(double a, double b, double x);
double beta_p_inverse(double a, double b, double p);
double beta_q_inverse(double a, double b, double q);

double normal_log_pdf(double x);
double normal_pdf(double x);
double normal_cdf(double x);      // full relative accuracy in the lower tail
double normal_log_cdf(double x);  // at any x: normal_log_cdf(-40) = -804.6...
double normal_quantile(double p);
double inverse_mills(double x);  // pdf(x) / cdf(x), the derivative of normal_log_cdf; tends to -x for x -> -infinity

double lambert_w0(double x);   // w >= -1 with w e^w = x, for x >= -1/e
double lambert_wm1(double x);  // w <= -1 with w e^w = x, for -1/e <= x < 0

}  // namespace granary
