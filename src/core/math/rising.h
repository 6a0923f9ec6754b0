// Rising factorials on the log scale, for Dirichlet and Pitman-Yor laws. Differences of log-gammas lose every digit once x is far above n;
// these do not, and cost O(1).
#pragma once

namespace granary {

// log of x (x + step) (x + 2 step) ... (x + (n - 1) step), n a whole number; 0 for n = 0. All factors must be positive, or the value is
// -infinity where one of them is zero and NaN where one is negative. step = 1 is log(Gamma(x + n) / Gamma(x)), step = 0 is n log x.
double log_rising(double x, double n, double step = 1);

// d/dx log_rising(x, n) = digamma(x + n) - digamma(x), without cancellation.
double digamma_difference(double x, double n);

double inverse_digamma(double y);  // x > 0 with digamma(x) = y, for every real y that double precision can reach

}  // namespace granary
