// Reference values were computed with 60 digits.
#include "core/math/saddle_point.h"
#include "harness.h"

using namespace granary;

TEST("log probabilities of counts keep their digits up to 2^52") {
  const double n = 0x1p52;
  CHECK_NEAR(log_binomial_pmf(3, 10, 0.25, 0.75), -1.3851658477400923543, 1e-14);
  CHECK_NEAR(log_binomial_pmf(0, 10, 0.25, 0.75), -2.8768207245178092744, 1e-14);
  CHECK_NEAR(log_binomial_pmf(10, 10, 0.25, 0.75), -13.862943611198906188, 1e-14);
  CHECK_NEAR(log_binomial_pmf(n / 2, n, 0.5, 0.5), -18.247618047203305533, 1e-13);
  CHECK_NEAR(log_binomial_pmf(n / 4 + 1e7, n, 0.25, 0.75), -18.162988908467816538, 1e-13);
  CHECK_NEAR(log_binomial_pmf(500, 100000, 0x1p-9, 1 - 0x1p-9), -169.80558694784891648, 2e-13);
  CHECK_NEAR(log_poisson_pmf(0, 3.5), -3.5, 0);
  CHECK_NEAR(log_poisson_pmf(7, 3.5), -3.2558205815978383303, 1e-14);
  CHECK_NEAR(log_poisson_pmf(200, 3.5), -616.17939349333187436, 1e-12);
  CHECK_NEAR(log_poisson_pmf(1e15 + 1e7, 1e15), -18.238326735493348764, 1e-13);
  CHECK_NEAR(log_hypergeometric_pmf(2, 5, 7, 4), -0.85745023185122162093, 1e-14);
  CHECK_NEAR(log_hypergeometric_pmf(0, 5, 7, 4), -2.6492097010792766217, 1e-14);
  CHECK_NEAR(log_hypergeometric_pmf(40, 40, 60, 50), -41.737847753194382184, 1e-13);
  CHECK_NEAR(log_hypergeometric_pmf(0x1p48 + 1e6, 0x1p50, 0x1p50, 0x1p49), -17.068793191709231525, 1e-13);
}

TEST("log probabilities at the edges, and their sums") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(log_binomial_pmf(0, 0, 0.3, 0.7) == 0 && log_binomial_pmf(0, 5, 0, 1) == 0 && log_binomial_pmf(5, 5, 1, 0) == 0);
  CHECK(log_binomial_pmf(1, 5, 0, 1) == -infinity && log_binomial_pmf(4, 5, 1, 0) == -infinity);
  CHECK(log_binomial_pmf(-1, 5, 0.5, 0.5) == -infinity && log_binomial_pmf(6, 5, 0.5, 0.5) == -infinity);
  CHECK(log_poisson_pmf(0, 0) == 0 && log_poisson_pmf(2, 0) == -infinity && log_poisson_pmf(-1, 2) == -infinity);
  CHECK(log_hypergeometric_pmf(0, 3, 4, 0) == 0 && log_hypergeometric_pmf(3, 3, 4, 7) == 0);
  CHECK(log_hypergeometric_pmf(4, 3, 4, 5) == -infinity && log_hypergeometric_pmf(0, 3, 4, 5) == -infinity);
  double binomial = 0, poisson = 0, hypergeometric = 0;
  for (int k = 0; k <= 300; ++k) {
    binomial += std::exp(log_binomial_pmf(k, 300, 0.9, 0.1));
    poisson += std::exp(log_poisson_pmf(k, 100));
    hypergeometric += std::exp(log_hypergeometric_pmf(k, 80, 200, 70));
  }
  CHECK_NEAR(binomial, 1, 1e-13);
  CHECK_NEAR(poisson, 1, 1e-13);
  CHECK_NEAR(hypergeometric, 1, 1e-13);
}
