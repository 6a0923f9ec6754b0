#include "eigen.h"
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <random>
#include <set>
#include <type_traits>

#include "core/base/errors.h"
#include "core/random/rng.h"
#include "goodness_of_fit.h"
#include "harness.h"

using namespace granary;
using namespace fit;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
}

TEST("SplitMix64 and xoshiro256++ give the published reference outputs") {
  SplitMix64 mix(1234567);
  for (std::uint64_t expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u}) {
    CHECK(mix() == expected);
  }
  Xoshiro256 bits({1, 2, 3, 4});
  for (std::uint64_t expected : {41943041u, 58720359u}) CHECK(bits() == expected);
  for (std::uint64_t expected : {3588806011781223u, 3591011842654386u, 9228616714210784205u, 9973669472204895162u}) {
    CHECK(bits() == expected);
  }
}

TEST("Rng is a UniformRandomBitGenerator and the same seed gives the same draws") {
  static_assert(std::is_same<Rng::result_type, std::uint64_t>::value, "64 bits");
  Rng rng(5), twin(5), other(6);
  std::uniform_int_distribution<int> die(1, 6);
  CHECK(die(rng) >= 1);
  die(twin);
  int equal = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t draw = rng();
    CHECK(draw == twin());
    equal += draw == other();
  }
  CHECK(equal == 0);
}

TEST("streams do not depend on earlier draws, differ from each other and are uncorrelated") {
  Rng rng(7);
  const std::uint64_t before = rng.stream(3)();
  for (int i = 0; i < 10; ++i) rng.normal();
  CHECK(rng.stream(3)() == before);
  std::set<std::uint64_t> first;
  for (int task = 0; task < 20000; ++task) first.insert(rng.stream(task)());
  for (int task = 0; task < 100; ++task) first.insert(rng.stream(task).stream(task)());
  CHECK(first.size() == 20100);
  // Across neighbouring streams the k-th draws are uniform and uncorrelated.
  double product = 0;
  const int n = 20000;
  for (int task = 0; task < n; ++task) product += rng.stream(task).normal() * rng.stream(task + 1).normal();
  CHECK_NEAR(product / n, 0, 4 / std::sqrt(n));
  int task = 0;
  CHECK(kolmogorov(
            n, [&] { return rng.stream(task++).uniform(); }, [](double u) { return u; }) < 1.95);
}

TEST("addressed draws repeat, tell their keys apart and have the right law") {
  CHECK(Rng::uniform_at(1, 2, 3) == Rng::uniform_at(1, 2, 3));
  CHECK(Rng::uniform_at(1, 2, 3) != Rng::uniform_at(1, 3, 2));
  CHECK(Rng::uniform_at(1, 2, 3) != Rng::uniform_at(2, 1, 3));
  CHECK(Rng::normal_at(1, 2, 3) == Rng::at(1, 2, 3).normal());
  const int n = 40000;
  int i = 0;
  CHECK(kolmogorov(
            n, [&] { return ++i, Rng::uniform_at(9, i / 200, i % 200); }, [](double u) { return u; }) < 1.95);
  CHECK(kolmogorov(
            n, [&] { return ++i, Rng::normal_at(9, i / 200, i % 200); }, normal_cdf) < 1.95);
  CHECK(kolmogorov(
            n, [&] { return ++i, Rng::gumbel_at(9, i); }, [](double g) { return std::exp(-std::exp(-g)); }) < 1.95);
  double rows = 0, columns = 0;  // neighbours in either key are uncorrelated
  for (int k = 0; k < n; ++k) {
    rows += (Rng::uniform_at(9, k, 0) - 0.5) * (Rng::uniform_at(9, k + 1, 0) - 0.5);
    columns += (Rng::uniform_at(9, 0, k) - 0.5) * (Rng::uniform_at(9, 0, k + 1) - 0.5);
  }
  CHECK_NEAR(12 * rows / n, 0, 4 / std::sqrt(n));
  CHECK_NEAR(12 * columns / n, 0, 4 / std::sqrt(n));
}

TEST("uniform draws stay in their interval") {
  Rng rng(11);
  CHECK(kolmogorov(
            50000, [&] { return rng.uniform(); }, [](double u) { return u; }) < 1.95);
  CHECK(kolmogorov(
            50000, [&] { return rng.uniform_open(); }, [](double u) { return u; }) < 1.95);
  CHECK(kolmogorov(
            50000, [&] { return rng.uniform(-3, 5); }, [](double u) { return (u + 3) / 8; }) < 1.95);
  bool inside = true;
  for (int i = 0; i < 10000; ++i) inside = inside && rng.uniform_open() > 0 && rng.uniform_open() < 1;
  CHECK(inside);
  CHECK(std::isfinite(rng.uniform(-1e308, 1e308)));
  CHECK(rng.uniform(2, 2) == 2);
  CHECK_THROWS(rng.uniform(1, 0), InputError);
  CHECK_THROWS(rng.uniform(0, infinity), InputError);
}

TEST("normal and exponential draws follow their laws, into the tails") {
  Rng rng(13);
  const int n = 400000;
  CHECK(kolmogorov(
            n, [&] { return rng.normal(); }, normal_cdf) < 1.95);
  CHECK(kolmogorov(
            50000, [&] { return rng.normal(1e8, 1e-2); }, [](double x) { return normal_cdf((x - 1e8) / 1e-2); }) < 1.95);
  int beyond3 = 0, beyond4 = 0;
  double fourth = 0;
  for (int i = 0; i < n; ++i) {
    const double z = rng.normal();
    beyond3 += std::abs(z) > 3;
    beyond4 += std::abs(z) > 3.7;  // past the lowest layer
    fourth += z * z * z * z / n;
  }
  const double p3 = 2 * normal_cdf(-3), p4 = 2 * normal_cdf(-3.7);
  CHECK_NEAR(beyond3, n * p3, 4 * std::sqrt(n * p3));
  CHECK_NEAR(beyond4, n * p4, 4 * std::sqrt(n * p4));
  CHECK_NEAR(fourth, 3, 4 * std::sqrt(96.0 / n));
  CHECK(kolmogorov(
            100000, [&] { return rng.exponential(2.5); }, [](double x) { return -std::expm1(-2.5 * x); }) < 1.95);
  CHECK(kolmogorov(
            100000, [&] { return rng.gumbel(); }, [](double g) { return std::exp(-std::exp(-g)); }) < 1.95);
  CHECK(rng.normal(3, 0) == 3);
  CHECK_THROWS(rng.normal(0, -1), InputError);
  CHECK_THROWS(rng.exponential(0), InputError);
}

TEST("gamma draws follow their law from shape 1e-3 to 1e15") {
  Rng rng(14);
  for (double shape : {0.3, 0.999, 1.0, 1.5, 4.0, 50.0, 1e4}) {
    const auto cdf = [&](double x) { return boost::math::gamma_p(shape, x / 2); };
    CHECK(kolmogorov(
              20000, [&] { return rng.gamma(shape, 2); }, cdf) < 1.95);
  }
  // For tiny shapes P(log X <= t) = gamma_p(a, e^t), which is e^(a t) / Gamma(1 + a) far below zero.
  const double a = 1e-3;
  const auto log_cdf = [&](double t) {
    return t < -50 ? std::exp(a * t) / std::tgamma(1 + a) : boost::math::gamma_p(a, std::exp(t));
  };
  CHECK(kolmogorov(
            20000, [&] { return rng.log_gamma_draw(a); }, log_cdf) < 1.95);
  CHECK(kolmogorov(
            20000, [&] { return rng.log_gamma_draw(3); }, [](double t) { return boost::math::gamma_p(3, std::exp(t)); }) < 1.95);
  for (double shape : {1e8, 1e15}) {
    const auto scaled = [&] { return (rng.gamma(shape) - shape) / std::sqrt(shape); };
    CHECK(kolmogorov(20000, scaled, normal_cdf) < 1.95);
  }
  CHECK(std::isfinite(rng.log_gamma_draw(1e-300)));
  CHECK_THROWS(rng.gamma(0), InputError);
  CHECK_THROWS(rng.gamma(-1), InputError);
  CHECK_THROWS(rng.gamma(1, 0), InputError);
  CHECK_THROWS(rng.gamma(std::nan("")), InputError);
  CHECK_THROWS(rng.log_gamma_draw(infinity), InputError);
}

TEST("beta, chi-square, Student t and Dirichlet draws") {
  Rng rng(15);
  const double shapes[][2] = {{0.5, 0.5}, {2, 3}, {0.1, 4}, {1e4, 2e4}};
  for (const auto& s : shapes) {
    CHECK(kolmogorov(
              20000, [&] { return rng.beta(s[0], s[1]); }, [&](double x) { return boost::math::ibeta(s[0], s[1], x); }) < 1.95);
  }
  int ones = 0;  // beta(1e-3, 3e-3) is almost a coin that shows one with probability a / (a + b) = 1 / 4
  for (int i = 0; i < 4000; ++i) {
    const double x = rng.beta(1e-3, 3e-3);
    CHECK(x >= 0 && x <= 1);
    ones += x > 0.5;
  }
  CHECK_NEAR(ones, 1000, 4 * std::sqrt(750.0));
  CHECK(kolmogorov(
            20000, [&] { return rng.chi_square(3); }, [](double x) { return boost::math::gamma_p(1.5, x / 2); }) < 1.95);
  for (double df : {0.5, 1.0, 4.0, 30.0}) {
    const auto cdf = [&](double t) {
      const double tail = 0.5 * boost::math::ibeta(0.5 * df, 0.5, df / (df + t * t));
      return t > 0 ? 1 - tail : tail;
    };
    CHECK(kolmogorov(
              20000, [&] { return rng.student_t(df); }, cdf) < 1.95);
  }
  CHECK(kolmogorov(
            20000, [&] { return rng.student_t(infinity); }, normal_cdf) < 1.95);
  CHECK(!std::isnan(rng.student_t(1e-6)));

  VectorXd alpha(3);
  alpha << 0.2, 1.5, 3;
  VectorXd mean = VectorXd::Zero(3), square = VectorXd::Zero(3);
  const int n = 20000;
  bool simplex = true;
  for (int i = 0; i < n; ++i) {
    const VectorXd x = rng.dirichlet(alpha);
    simplex = simplex && std::abs(x.sum() - 1) < 1e-12 && x.minCoeff() >= 0;
    mean += x / n;
    square += x.cwiseAbs2() / n;
  }
  CHECK(simplex);
  const double total = alpha.sum();
  for (int j = 0; j < 3; ++j) {
    const double m = alpha[j] / total, v = m * (1 - m) / (total + 1);
    CHECK_NEAR(mean[j], m, 4 * std::sqrt(v / n));
    CHECK_NEAR(square[j] - mean[j] * mean[j], v, 0.05 * v);
  }
  int corner = 0;
  for (int i = 0; i < 3000; ++i) corner += rng.dirichlet(VectorXd::Constant(3, 1e-5))[1] > 0.99;
  CHECK_NEAR(corner, 1000, 4 * std::sqrt(3000 * 2.0 / 9));
  CHECK_THROWS(rng.dirichlet(VectorXd(0)), InputError);
  CHECK_THROWS(rng.dirichlet(VectorXd::Zero(2)), InputError);
  CHECK_THROWS(rng.beta(0, 1), InputError);
  CHECK_THROWS(rng.student_t(0), InputError);
}

TEST("truncated normal draws, in the middle and far out") {
  Rng rng(16);
  const double bounds[][2] = {
      {-1, 2},  {-0.1, 0.2}, {0.3, 5},   {0.3, 0.9},       {2, 2.5}, {-infinity, 1}, {-infinity, -3},
      {3, 3.1}, {-6, -2},    {-0.01, 9}, {0.45, infinity}, {0, 0.5}, {-1, 0},        {-infinity, infinity}};
  for (const auto& b : bounds) {
    // Tail differences keep their digits when both bounds are on one side.
    const double sign = b[0] > 0 ? -1 : 1;
    const double low = normal_cdf(sign * b[0]), high = normal_cdf(sign * b[1]);
    const auto cdf = [&](double x) { return (normal_cdf(sign * x) - low) / (high - low); };
    const double d = kolmogorov(
        5000, [&] { return rng.truncated_normal(b[0], b[1]); }, cdf);
    if (!(d < 1.95)) std::printf("bounds %g %g: %g\n", b[0], b[1], d);
    CHECK(d < 1.95);
  }
  // Far out the excess over the bound is exponential with rate a, up to O(1 / a^2).
  for (double a : {100.0, 1e8}) {
    const auto cdf = [&](double x) { return -std::expm1(-a * (x - a) - 0.5 * (x - a) * (x - a)); };
    if (a < 1e4)
      CHECK(kolmogorov(
                5000, [&] { return rng.truncated_normal(a, infinity); }, cdf) < 1.95);
    const double x = rng.truncated_normal(-infinity, -a);
    CHECK(x <= -a && x > -a - 1);
  }
  CHECK(rng.truncated_normal(1e200, infinity) == 1e200);
  CHECK(rng.truncated_normal(-1e300, -1e299) == -1e299);
  const Moments m = moments(5000, [&] { return rng.truncated_normal(5, 7, 5, 1e-3); });  // half normal, scaled
  CHECK_NEAR(m.mean, 5 + 1e-3 * std::sqrt(2 / std::acos(-1.0)), 5e-5);
  CHECK(rng.truncated_normal(3, 3) == 3);
  CHECK_THROWS(rng.truncated_normal(1, 0), InputError);
  CHECK_THROWS(rng.truncated_normal(infinity, infinity), InputError);
  CHECK_THROWS(rng.truncated_normal(0, 1, 0, 0), InputError);
  CHECK_THROWS(rng.truncated_normal(std::nan(""), 1), InputError);
}

TEST("multivariate normal from covariance and precision factors") {
  Rng rng(17);
  MatrixXd sigma(3, 3);
  sigma << 4, 1, 0.5, 1, 2, -0.3, 0.5, -0.3, 1;
  const MatrixXd chol = sigma.llt().matrixL(),
                 chol_precision = MatrixXd(sigma.llt().solve(MatrixXd::Identity(3, 3))).llt().matrixL();
  const VectorXd mean = VectorXd::LinSpaced(3, -1, 1);
  const int n = 40000;
  for (bool precision : {false, true}) {
    VectorXd sum = VectorXd::Zero(3);
    MatrixXd squares = MatrixXd::Zero(3, 3);
    for (int i = 0; i < n; ++i) {
      const VectorXd x =
          precision ? rng.multivariate_normal_precision(mean, chol_precision) : rng.multivariate_normal(mean, chol);
      sum += x / n;
      squares += (x - mean) * (x - mean).transpose() / n;
    }
    CHECK_NEAR((sum - mean).cwiseAbs().maxCoeff(), 0, 4 * 2 / std::sqrt(n));
    CHECK_NEAR((squares - sigma).cwiseAbs().maxCoeff(), 0, 4 * std::sqrt(2.0) * 4 / std::sqrt(n));
  }
  CHECK_THROWS(rng.multivariate_normal(mean, MatrixXd::Identity(2, 2)), InputError);
}

TEST("Wishart draws have the right mean, variance and determinant") {
  Rng rng(18);
  MatrixXd sigma(2, 2);
  sigma << 2, 0.6, 0.6, 1;
  const MatrixXd chol = sigma.llt().matrixL();
  const double df = 4.5;
  const int n = 20000;
  MatrixXd mean = MatrixXd::Zero(2, 2);
  double off_square = 0, log_det = 0;
  for (int i = 0; i < n; ++i) {
    const MatrixXd w = rng.wishart(df, chol);
    CHECK(w(0, 1) == w(1, 0));
    mean += w / n;
    off_square += w(0, 1) * w(0, 1) / n;
    log_det += std::log(w(0, 0) * w(1, 1) - w(0, 1) * w(1, 0)) / n;
  }
  const double variance = df * (sigma(0, 1) * sigma(0, 1) + sigma(0, 0) * sigma(1, 1));
  CHECK_NEAR((mean - df * sigma).cwiseAbs().maxCoeff(), 0, 4 * std::sqrt(2 * df * 4 / n));
  CHECK_NEAR(off_square - mean(0, 1) * mean(0, 1), variance, 0.06 * variance);
  // E log det W = psi(df / 2) + psi((df - 1) / 2) + 2 log 2 + log det Sigma; psi by a difference of lgamma.
  const auto psi = [](double x) { return (std::lgamma(x + 1e-5) - std::lgamma(x - 1e-5)) / 2e-5; };
  CHECK_NEAR(log_det, psi(df / 2) + psi((df - 1) / 2) + 2 * std::log(2.0) + std::log(2 - 0.36), 0.03);
  CHECK_THROWS(rng.wishart(1, chol), InputError);
  CHECK_THROWS(rng.wishart(5, MatrixXd::Identity(2, 3)), InputError);
}
