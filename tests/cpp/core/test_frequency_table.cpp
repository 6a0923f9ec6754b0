#include <cmath>

#include "core/base/errors.h"
#include "core/math/frequency_table.h"
#include "core/math/peak_integral.h"
#include "core/math/special.h"
#include "core/random/rng.h"
#include "harness.h"

using namespace granary;

TEST("a frequency table counts counts, whether they are small or far apart") {
  VectorXd counts(8);
  counts << 3, 0, 1, 1, 3, 0, 7, 1;
  for (const double factor : {1.0, 1e9}) {
    const FrequencyTable t = frequency_table(factor * counts);
    CHECK(t.count.size() == 3);
    CHECK(t.total == 16 * factor);
    CHECK(t.distinct == 6);
    CHECK(t.seen(factor) == 3);
    CHECK(t.seen(3 * factor) == 2);
    CHECK(t.seen(2 * factor) == 0);
  }
  CHECK_NEAR(good_turing_coverage(frequency_table(counts)), 1 - 3.0 / 16, 1e-15);
  CHECK(frequency_table(VectorXd::Zero(4)).total == 0);
}

TEST("a frequency table refuses what is no count") {
  for (const double bad : {-1.0, 0.5, std::nan(""), HUGE_VAL, 1e17}) CHECK_THROWS(frequency_table(VectorXd::Constant(1, bad)), InputError);
  CHECK_THROWS(frequency_table(VectorXd::Constant(3, 8e15)), InputError);
}

TEST("a condensed table has the sums of the whole, for functions of the kind entropies are made of") {
  Rng rng(1);
  VectorXd counts(200000);
  for (Index i = 0; i < counts.size(); ++i) counts[i] = std::floor(std::exp(25 * rng.uniform()));
  const FrequencyTable t = frequency_table(counts);
  const WeightedCounts few = condense(t);
  CHECK(t.count.size() > 100000);
  CHECK(few.count.size() < 900);
  const auto compare = [&](auto f, double tol) {
    long double exact = 0, size = 0;
    for (Index i = 0; i < t.count.size(); ++i) {
      exact += t.times[i] * f(t.count[i]);
      size += t.times[i] * std::abs(f(t.count[i]));
    }
    long double sum = 0;
    for (Index i = 0; i < few.count.size(); ++i) sum += few.times[i] * f(few.count[i]);
    CHECK_NEAR(static_cast<double>((sum - exact) / size), 0.0, tol);
  };
  compare([](double) { return 1.0; }, 1e-14);
  compare([](double n) { return n; }, 1e-14);
  compare([](double n) { return log_gamma(n - 0.9); }, 1e-13);
  compare([](double n) { return n * digamma(n + 0.3); }, 1e-13);
  compare([](double n) { return 1 / (n * n); }, 1e-13);
  compare([](double n) { return std::log(n + 1e5); }, 1e-13);
}

TEST("peaks are found and bounded, from wide to narrow") {
  for (const double width : {1e-4, 0.1, 3.0}) {
    const PeakRange r = find_peak([&](double x) { return -0.5 * std::pow((x - 2.3) / width, 2); }, -50, 50, 40);
    CHECK_NEAR(r.mode, 2.3, 1e-6 + 1e-4 * width);
    CHECK(r.upper > 2.3 + 8.9 * width && r.upper < 2.3 + 11 * width);
    CHECK(r.lower < 2.3 - 8.9 * width && r.lower > 2.3 - 11 * width);
    CHECK(!r.cut_lower && !r.cut_upper);
  }
  CHECK(find_peak([](double x) { return 0.1 * x; }, -50, 50, 40).cut_upper);
}
