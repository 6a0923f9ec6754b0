#include <numeric>
#include <set>

#include "core/base/errors.h"
#include "core/random/rng.h"
#include "goodness_of_fit.h"
#include "harness.h"

using namespace granary;
using namespace fit;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
}

TEST("below is unbiased, for small and for 64-bit n") {
  Rng rng(12);
  for (std::uint64_t n : {2u, 3u, 7u, 100u}) {
    const double flat = -std::log(static_cast<double>(n));
    const auto draw = [&] { return static_cast<std::int64_t>(rng.below(n)); };
    CHECK(chi_square_score(
              50000, draw, [&](double) { return flat; }, 0, n - 1) < 4);
  }
  CHECK(rng.below(1) == 0);
  for (std::uint64_t n :
       {std::uint64_t{3} << 30, std::uint64_t{0xffffffffu}, std::uint64_t{0x100000000u}, std::uint64_t{3} << 62}) {
    const auto share = [&](std::uint64_t k) { return static_cast<double>(k) / static_cast<double>(n); };
    CHECK(kolmogorov(
              20000, [&] { return rng.below(n); }, share) < 1.95);
  }
  CHECK_THROWS(rng.below(0), InputError);
}

TEST("binomial counts are exact on both sides of the switch and at the edges") {
  Rng rng(19);
  const std::pair<int, double> cases[] = {{1, 0.3},      {10, 0.5},      {10, 0.05},   {19, 0.5},   {20, 0.5},
                                          {25, 0.45},    {40, 0.25},     {100, 0.11},  {100, 0.95}, {1000, 0.3},
                                          {5000, 0.001}, {100000, 2e-4}, {100000, 0.7}};
  for (const auto& c : cases) {
    const auto log_pmf = [&](double k) {
      return log_choose(c.first, k) + k * std::log(c.second) + (c.first - k) * std::log1p(-c.second);
    };
    const double score = chi_square_score(
        100000, [&] { return rng.binomial(c.first, c.second); }, log_pmf, 0, c.first);
    if (!(score < 4)) std::printf("binomial %d %g: %g\n", c.first, c.second, score);
    CHECK(score < 4);
  }
  for (int i = 0; i < 20; ++i) {
    CHECK(rng.binomial(10, 0) == 0);
    CHECK(rng.binomial(10, 1) == 10);
    CHECK(rng.binomial(0, 0.4) == 0);
    CHECK(rng.binomial(1000000, 1e-300) == 0);
  }
  const std::int64_t huge = std::int64_t{1} << 52;  // here the law is normal to all intents
  const double mean = huge * 0.3, sd = std::sqrt(huge * 0.21);
  CHECK(kolmogorov(
            20000, [&] { return (rng.binomial(huge, 0.3) - mean) / sd; }, normal_cdf) < 1.95);
  const auto rare = [&](double k) { return k * std::log(3.0) - 3 - std::lgamma(k + 1); };  // Poisson limit
  CHECK(chi_square_score(
            40000, [&] { return rng.binomial(huge, 3.0 / huge); }, rare, 0, 60) < 4);
  CHECK_THROWS(rng.binomial(-1, 0.5), InputError);
  CHECK_THROWS(rng.binomial(5, 1.5), InputError);
  CHECK_THROWS(rng.binomial(5, std::nan("")), InputError);
}

TEST("Poisson counts from mean 0 to 1e15") {
  Rng rng(20);
  for (double mean : {0.01, 1.0, 9.9, 10.0, 12.5, 40.0, 1000.0}) {
    const auto log_pmf = [&](double k) { return k * std::log(mean) - mean - std::lgamma(k + 1); };
    const auto highest = static_cast<std::int64_t>(mean + 20 * std::sqrt(mean) + 20);
    const double score = chi_square_score(
        mean > 12 && mean < 100 ? 800000 : 50000, [&] { return rng.poisson(mean); }, log_pmf, 0, highest);
    if (!(score < 4)) std::printf("Poisson %g: %g\n", mean, score);
    CHECK(score < 4);
  }
  CHECK(rng.poisson(0) == 0);
  for (double mean : {1e8, 1e15}) {
    CHECK(kolmogorov(
              20000, [&] { return (static_cast<double>(rng.poisson(mean)) - mean) / std::sqrt(mean); }, normal_cdf) < 1.95);
  }
  CHECK_THROWS(rng.poisson(-1), InputError);
  CHECK_THROWS(rng.poisson(infinity), InputError);
}

TEST("hypergeometric counts in every quadrant, and at its limits") {
  Rng rng(21);
  const int cases[][3] = {{5, 7, 4},     {30, 50, 20},   {50, 30, 20},    {30, 50, 65},        {50, 30, 70}, {1, 1000, 400},
                          {3, 5000, 60}, {400, 600, 30}, {400, 600, 500}, {2000, 100000, 900}, {40, 40, 40}};
  for (const auto& c : cases) {
    const double marked = c[0], others = c[1], draws = c[2];
    const auto log_pmf = [&](double k) {
      return log_choose(marked, k) + log_choose(others, draws - k) - log_choose(marked + others, draws);
    };
    const int lowest = std::max(0, c[2] - c[1]), highest = std::min(c[0], c[2]);
    const double score = chi_square_score(
        30000, [&] { return rng.hypergeometric(c[0], c[1], c[2]); }, log_pmf, lowest, highest);
    if (!(score < 4)) std::printf("hypergeometric %d %d %d: %g\n", c[0], c[1], c[2], score);
    CHECK(score < 4);
  }
  const std::int64_t big = std::int64_t{1} << 50;  // sampling fraction 1/4: variance n p q (1 - 1/4)
  const double mean = big * 0.25, sd = std::sqrt(big * 0.5 * 0.5 * 0.5 * 0.75);
  CHECK(kolmogorov(
            20000, [&] { return (rng.hypergeometric(big, big, big / 2) - mean) / sd; }, normal_cdf) < 1.95);
  CHECK(rng.hypergeometric(0, 10, 5) == 0);
  CHECK(rng.hypergeometric(0, 100, 50) == 0);
  CHECK(rng.hypergeometric(10, 0, 5) == 5);
  CHECK(rng.hypergeometric(10, 20, 30) == 10);
  CHECK(rng.hypergeometric(10, 20, 0) == 0);
  CHECK(rng.hypergeometric(0, 0, 0) == 0);
  CHECK_THROWS(rng.hypergeometric(5, 5, 11), InputError);
  CHECK_THROWS(rng.hypergeometric(-1, 5, 2), InputError);
}

TEST("geometric counts") {
  Rng rng(22);
  for (double p : {0.9, 0.3, 0.01}) {
    const auto log_pmf = [&](double k) { return std::log(p) + k * std::log1p(-p); };
    CHECK(chi_square_score(
              40000, [&] { return rng.geometric(p); }, log_pmf, 0, static_cast<std::int64_t>(40 / p)) < 4);
  }
  CHECK(rng.geometric(1) == 0);
  CHECK(rng.geometric(1e-14) > 0);
  CHECK_THROWS(rng.geometric(0), InputError);
  CHECK_THROWS(rng.geometric(1.1), InputError);
}

TEST("categorical draws: by weights, by log weights and by alias table") {
  Rng rng(23);
  VectorXd weights(6);
  weights << 0, 3, 1e-3, 5, 0, 2;
  for (double scale : {1e-8, 1.0, 1e8}) {
    const VectorXd scaled = scale * weights, logs = scaled.array().log();
    const AliasTable table(scaled);
    const auto log_pmf = [&](double k) { return std::log(weights[static_cast<int>(k)] / weights.sum()); };
    CHECK(chi_square_score(
              30000, [&] { return rng.categorical(scaled); }, log_pmf, 0, 5) < 4);
    CHECK(chi_square_score(
              30000, [&] { return rng.categorical_log(logs); }, log_pmf, 0, 5) < 4);
    CHECK(chi_square_score(
              30000, [&] { return table.draw(rng); }, log_pmf, 0, 5) < 4);
  }
  VectorXd large(2);
  large << 1e5, 1e5 + std::log(3.0);  // exp would overflow
  CHECK_NEAR(moments(20000, [&] { return rng.categorical_log(large); }).mean, 0.75, 0.013);
  for (int i = 0; i < 2000; ++i) {
    const int a = rng.categorical(weights), b = AliasTable(weights).draw(rng);
    CHECK(a != 0 && a != 4 && b != 0 && b != 4);
  }
  const VectorXd one = VectorXd::Ones(1);
  CHECK(rng.categorical(one) == 0 && AliasTable(one).draw(rng) == 0 && rng.categorical_log(one) == 0);
  CHECK_THROWS(rng.categorical(VectorXd::Zero(3)), InputError);
  CHECK_THROWS(rng.categorical(VectorXd(0)), InputError);
  CHECK_THROWS(rng.categorical(VectorXd::Constant(2, -1)), InputError);
  CHECK_THROWS(AliasTable(VectorXd::Zero(3)), InputError);
  CHECK_THROWS(rng.categorical_log(VectorXd::Constant(3, -infinity)), InputError);
  CHECK_THROWS(rng.categorical_log(VectorXd::Constant(3, infinity)), InputError);
}

TEST("alias table at size 1000 matches its weights") {
  Rng rng(24);
  VectorXd weights(1000);
  for (int i = 0; i < 1000; ++i) weights[i] = rng.gamma(0.3);
  const AliasTable table(weights);
  const auto log_pmf = [&](double k) { return std::log(weights[static_cast<int>(k)] / weights.sum()); };
  CHECK(chi_square_score(
            100000, [&] { return table.draw(rng); }, log_pmf, 0, 999) < 4);
}

TEST("permutations and samples without replacement are uniform") {
  Rng rng(25);
  const auto rank = [](const std::vector<int>& order) {  // of the ordered choice, in base 5
    std::int64_t code = 0;
    for (int i : order) code = code * 5 + i;
    return code;
  };
  std::map<std::int64_t, int> orders, picks;
  for (int i = 0; i < 24000; ++i) ++orders[rank(rng.permutation(4))];
  CHECK(orders.size() == 24);
  for (const auto& o : orders) CHECK_NEAR(o.second, 1000, 5 * std::sqrt(1000.0));
  for (int i = 0; i < 20000; ++i) ++picks[rank(rng.sample_without_replacement(5, 2))];
  CHECK(picks.size() == 20);
  for (const auto& p : picks) CHECK_NEAR(p.second, 1000, 5 * std::sqrt(1000.0));

  std::vector<int> hits(100, 0);  // 5 of 100 takes the sparse path
  for (int i = 0; i < 20000; ++i) {
    const std::vector<int> some = rng.sample_without_replacement(100, 5);
    CHECK(std::set<int>(some.begin(), some.end()).size() == 5);
    for (int s : some) ++hits[s];
  }
  for (int h : hits) CHECK_NEAR(h, 1000, 5 * std::sqrt(1000.0));
  // The sparse path is the dense one on an array that is not stored: same seed, same answer.
  Rng a(3), b(3);
  std::vector<int> dense(200);
  std::iota(dense.begin(), dense.end(), 0);
  for (int i = 0; i < 12; ++i) std::swap(dense[i], dense[i + static_cast<int>(a.below(200 - i))]);
  dense.resize(12);
  CHECK(b.sample_without_replacement(200, 12) == dense);
  CHECK(rng.sample_without_replacement(7, 0).empty());
  CHECK(rng.sample_without_replacement(7, 7).size() == 7);
  CHECK(rng.permutation(0).empty());
  CHECK_THROWS(rng.sample_without_replacement(3, 4), InputError);
  CHECK_THROWS(rng.permutation(-1), InputError);
}
