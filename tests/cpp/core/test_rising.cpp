#include <cmath>
#include <limits>

#include "core/math/rising.h"
#include "core/math/special.h"
#include "harness.h"

using namespace granary;

TEST("log rising factorials are the sums they stand for, from tiny to huge arguments") {
  for (const double x : {1e-12, 0.3, 1.0, 7.5, 29.9, 1e3, 1e9, 1e15}) {
    for (const double step : {1.0, 0.25, 1e-9, 3.0}) {
      for (const int n : {0, 1, 2, 63, 64, 65, 1000}) {
        long double sum = 0;
        for (int i = 0; i < n; ++i) sum += std::log(static_cast<long double>(x) + static_cast<long double>(step) * i);
        CHECK_NEAR(log_rising(x, n, step), static_cast<double>(sum), 2e-13 * (1 + std::abs(static_cast<double>(sum))));
      }
    }
  }
}

TEST("rising factorials that fall, vanish or turn negative") {
  CHECK_NEAR(log_rising(100, 80, -1), log_rising(21, 80, 1), 1e-11);
  CHECK(log_rising(3, 4, -1) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(log_rising(3, 5, -1)));
  CHECK(std::isnan(log_rising(-0.5, 1)));
}

TEST("differences of digammas keep their digits far out") {
  CHECK_NEAR(digamma_difference(1e12, 5), 5e-12, 1e-23);
  CHECK_NEAR(digamma_difference(0.7, 10), digamma(10.7) - digamma(0.7), 1e-13);
  CHECK_NEAR(digamma_difference(45.5, 1e6), digamma(45.5 + 1e6) - digamma(45.5), 1e-12);
}

TEST("the inverse digamma inverts") {
  for (const double x : {1e-9, 1e-3, 0.2, 1.0, 1.4616, 5.0, 1e4, 1e12}) {
    const double y = digamma(x);
    CHECK_NEAR(inverse_digamma(y) / x, 1, 1e-14 + 4e-16 * std::abs(y) / (x * trigamma(x)));
  }
}
