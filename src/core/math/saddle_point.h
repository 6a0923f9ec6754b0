// Log probabilities of binomial, Poisson and hypergeometric counts by Loader's saddle-point form (Fast and Accurate Computation
// of Binomial Probabilities, 2000).
//
//   log n! = n log n - n + log(2 pi n) / 2 + stirling_error(n),    deviance(x, m) = x log(x / m) + m - x
//
// Every term is of the size of the answer, so that nothing cancels even at counts near 2^53, where differences of lgamma have
// lost all digits. Counts are doubles holding integers.
#pragma once

#include <cmath>
#include <limits>

namespace granary {

inline double stirling_error(double n) {
  static constexpr double small[16] = {0,  // unused: log 0! is taken care of by the callers
                                       0.08106146679532725822,
                                       0.04134069595540929409,
                                       0.02767792568499833915,
                                       0.02079067210376509311,
                                       0.01664469118982119217,
                                       0.01387612882307074800,
                                       0.01189670994589177010,
                                       0.01041126526197209650,
                                       0.009255462182712732918,
                                       0.008330563433362871256,
                                       0.007573675487951840795,
                                       0.006942840107209529866,
                                       0.006408994188004207068,
                                       0.005951370112758847736,
                                       0.005554733551962801371};
  if (n < 16) return small[static_cast<int>(n)];
  const double s = 1 / (n * n);
  return (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s * (1.0 / 1188 - s * 691.0 / 360360))))) / n;
}

// x log(x / mean) + mean - x for x >= 0, mean > 0.
inline double deviance(double x, double mean) {
  const double gap = x - mean;
  if (std::abs(gap) < 0.1 * (x + mean)) {  // with v = gap / (x + mean): gap v + 2 x sum_j v^(2j+1) / (2j+1)
    const double v = gap / (x + mean);
    double sum = gap * v, power = 2 * x * v;
    for (int j = 1; j < 100; ++j) {
      power *= v * v;
      const double next = sum + power / (2 * j + 1);
      if (next == sum) break;
      sum = next;
    }
    return sum;
  }
  return (x > 0 ? x * std::log(x / mean) : 0) - gap;
}

// log of the probability of k successes in n trials; q = 1 - p is passed so that neither end loses digits.
inline double log_binomial_pmf(double k, double n, double p, double q) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (k < 0 || k > n) return -infinity;
  if (p == 0) return k == 0 ? 0 : -infinity;
  if (q == 0) return k == n ? 0 : -infinity;
  if (k == 0) return n == 0 ? 0 : n * (p < 0.5 ? std::log1p(-p) : std::log(q));
  if (k == n) return n * (q < 0.5 ? std::log1p(-q) : std::log(p));
  constexpr double log_two_pi = 1.8378770664093454836;
  return stirling_error(n) - stirling_error(k) - stirling_error(n - k) - deviance(k, n * p) - deviance(n - k, n * q) -
         0.5 * (log_two_pi + std::log(k) + std::log1p(-k / n));
}

inline double log_poisson_pmf(double k, double mean) {
  if (k < 0) return -std::numeric_limits<double>::infinity();
  if (mean == 0) return k == 0 ? 0 : -std::numeric_limits<double>::infinity();
  if (k == 0) return -mean;
  constexpr double log_two_pi = 1.8378770664093454836;
  return -stirling_error(k) - deviance(k, mean) - 0.5 * (log_two_pi + std::log(k));
}

// k marked among `draws` taken without replacement from `marked` + `others`.
inline double log_hypergeometric_pmf(double k, double marked, double others, double draws) {
  if (k < 0 || k > marked || draws - k < 0 || draws - k > others) return -std::numeric_limits<double>::infinity();
  const double total = marked + others;
  if (draws == 0 || draws == total) return 0;
  const double p = draws / total, q = (total - draws) / total;
  return log_binomial_pmf(k, marked, p, q) + log_binomial_pmf(draws - k, others, p, q) - log_binomial_pmf(draws, total, p, q);
}

}  // namespace granary
