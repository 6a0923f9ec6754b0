// Goodness of fit for tests of samplers, with fixed seeds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "harness.h"

namespace fit {

inline double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// sqrt(n) times the Kolmogorov distance between n draws and a distribution; exceeds 1.95 with chance 1e-3.
template <class Draw, class Cdf>
double kolmogorov(int n, Draw&& draw, Cdf&& cdf) {
  std::vector<double> u(n);
  for (double& value : u) value = cdf(draw());
  std::sort(u.begin(), u.end());
  double distance = 0;
  for (int i = 0; i < n; ++i) distance = std::max({distance, u[i] - static_cast<double>(i) / n, (i + 1.0) / n - u[i]});
  return std::sqrt(n) * distance;
}

// Chi-square statistic of n draws of a count against its log probabilities on lowest..highest, standardised to mean 0 and sd 1.
// Neighbouring counts are pooled until each cell expects at least ten.
template <class Draw, class LogPmf>
double chi_square_score(int n, Draw&& draw, LogPmf&& log_pmf, std::int64_t lowest, std::int64_t highest) {
  std::map<std::int64_t, int> seen;
  for (int i = 0; i < n; ++i) ++seen[draw()];
  CHECK(seen.begin()->first >= lowest);
  CHECK(seen.rbegin()->first <= highest);
  double statistic = 0, expected = 0, observed = 0, left = n;
  int cells = 0;
  for (std::int64_t k = lowest; k <= highest; ++k) {
    expected += n * std::exp(log_pmf(static_cast<double>(k)));
    const auto found = seen.find(k);
    observed += found == seen.end() ? 0 : found->second;
    if ((expected >= 10 && left - expected >= 10) || k == highest) {
      statistic += (observed - expected) * (observed - expected) / expected;
      left -= expected;
      ++cells;
      expected = observed = 0;
    }
  }
  CHECK(cells >= 2);
  CHECK(std::abs(left) < 1e-4 * n);  // the probabilities sum to one
  return (statistic - (cells - 1)) / std::sqrt(2.0 * (cells - 1));
}

inline double log_choose(double n, double k) { return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1); }

struct Moments {
  double mean = 0, variance = 0;
};

template <class Draw>
Moments moments(int n, Draw&& draw) {
  Moments m;
  double squares = 0;
  for (int i = 1; i <= n; ++i) {
    const double x = static_cast<double>(draw()), gap = x - m.mean;
    m.mean += gap / i;
    squares += gap * (x - m.mean);
  }
  m.variance = squares / (n - 1);
  return m;
}

}  // namespace fit
