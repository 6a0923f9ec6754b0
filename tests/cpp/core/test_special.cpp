// Reference values were computed with 50 digits.
#include <limits>
#include <vector>

#include "core/math/special.h"
#include "harness.h"

using namespace granary;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Relative error, absolute near zero.
double error(double value, double expected) { return std::abs(value - expected) / std::max(std::abs(expected), 1e-300); }

struct One {
  double x, value;
};
struct Two {
  double a, b, value;
};
}  // namespace

TEST("digamma, trigamma and log gamma") {
  for (const One& t : {One{1e-8, -1.0000000057721564636e8}, One{0.5, -1.9635100260214234794}, One{1, -0.57721566490153286061},
                       One{10.25, 2.2777047906867239693}, One{1e8, 18.420680738952365464}, One{-0.5, 0.036489973978576520559}}) {
    CHECK_NEAR(error(digamma(t.x), t.value), 0, 1e-14);
  }
  for (const One& t : {One{1e-3, 1.0000016425331958273e6}, One{0.5, 4.9348022005446793094}, One{10.25, 0.1024745215179918668},
                       One{1e8, 1.0000000050000000167e-8}}) {
    CHECK_NEAR(error(trigamma(t.x), t.value), 0, 1e-14);
  }
  for (const One& t : {One{1e-10, 23.025850929882735237}, One{0.5, 0.57236494292470008707}, One{3.7, 1.4280723266653881292},
                       One{100.5, 361.43554046777762156}, One{-0.5, 1.2655121234846453965}, One{-2.25, 0.55550154502064747059},
                       One{1e15, 3.353877639491066891e16}}) {
    CHECK_NEAR(error(log_gamma(t.x), t.value), 0, 1e-14);
  }
  CHECK(log_gamma(0) == infinity && log_gamma(-3) == infinity && log_gamma(infinity) == infinity);
  CHECK(std::isnan(log_gamma(not_a_number)) && std::isnan(digamma(0)) && std::isnan(digamma(-2)));
  CHECK(trigamma(0) == infinity && trigamma(infinity) == 0 && digamma(infinity) == infinity);
  CHECK_NEAR(log_gamma(2), 0, 1e-16);
  CHECK_NEAR(log_factorial(5), std::log(120.0), 1e-14);
  CHECK(std::isnan(log_factorial(-1)));
}

TEST("log beta and log binomial coefficients where differences of log gamma cancel") {
  for (const Two& t :
       {Two{0.5, 0.5, 1.1447298858494001741}, Two{1e-3, 1e10, 6.8841530344539631544}, Two{3, 1e12, -82.199916167228699315},
        Two{25, 40, -43.751709823885420219}, Two{1e5, 2e5, -1.9095888527911684967e5}, Two{12, 1e9, -231.17688226348304778},
        Two{1e-8, 1e-8, 19.113827924512310596}, Two{9.5, 2000, -60.539397231342949547}}) {
    CHECK_NEAR(error(log_beta(t.a, t.b), t.value), 0, 1e-13);
    CHECK(log_beta(t.a, t.b) == log_beta(t.b, t.a));
  }
  for (const Two& t :
       {Two{10, 3, 4.7874917427820459942}, Two{1000, 500, 689.46726156785118008}, Two{1e9, 3, 60.378038038611178465},
        Two{1e15, 2, 68.384405609261424211}, Two{5.5, 2.25, 2.6123032012980446948}}) {
    CHECK_NEAR(error(log_choose(t.a, t.b), t.value), 0, 1e-13);
  }
  CHECK(log_choose(7, 0) == 0 && log_choose(7, 7) == 0 && log_choose(0, 0) == 0);
  CHECK(log_choose(7, 8) == -infinity && log_choose(7, -1) == -infinity && std::isnan(log_choose(-1, 0)));
  CHECK(std::isnan(log_beta(0, 1)) && std::isnan(log_beta(1, -1)) && log_beta(1, infinity) == -infinity);
}

TEST("incomplete gamma and beta, their complements and inverses") {
  struct Case {
    double a, x, p, q;
  };
  for (const Case& t :
       {Case{0.5, 0.1, 0.34527915398142297956, 0.65472084601857702044}, Case{3, 2.5, 0.456186884116670482, 0.543813115883329518},
        Case{10, 50, 0.99999999999874039154, 1.2596084591660907506e-12},
        Case{1e-3, 1e-5, 0.98912304469578266885, 0.010876955304217331149},
        Case{200, 180, 0.074858034984159581898, 0.9251419650158404181}}) {
    CHECK_NEAR(error(gamma_p(t.a, t.x), t.p), 0, 1e-13);
    CHECK_NEAR(error(gamma_q(t.a, t.x), t.q), 0, 2e-13);
    CHECK_NEAR(error(gamma_q_inverse(t.a, t.q), t.x), 0, 1e-11);
    if (t.p < 0.999) CHECK_NEAR(error(gamma_p_inverse(t.a, t.p), t.x), 0, 1e-11);
  }
  struct Beta {
    double a, b, x, p;
  };
  for (const Beta& t :
       {Beta{2, 3, 0.4, 0.5248}, Beta{0.5, 0.5, 0.1, 0.20483276469913345754}, Beta{30, 2, 0.5, 1.490116119384765625e-8},
        Beta{1e-2, 5, 1e-10, 0.81099291044645736764}, Beta{150, 200, 0.45, 0.79151219914037522224}}) {
    CHECK_NEAR(error(beta_p(t.a, t.b, t.x), t.p), 0, 1e-13);
    CHECK_NEAR(beta_q(t.a, t.b, t.x), 1 - t.p, 1e-13);
    CHECK_NEAR(error(beta_p_inverse(t.a, t.b, t.p), t.x), 0, 1e-11);
    CHECK_NEAR(error(beta_q_inverse(t.a, t.b, beta_q(t.a, t.b, t.x)), t.x), 0, 1e-7);
  }
  CHECK(gamma_p(2, 0) == 0 && gamma_p(2, infinity) == 1 && gamma_q(2, infinity) == 0);
  CHECK(gamma_p_inverse(2, 0) == 0 && gamma_p_inverse(2, 1) == infinity && gamma_q_inverse(2, 0) == infinity);
  CHECK(beta_p(2, 3, 0) == 0 && beta_p(2, 3, 1) == 1 && beta_p_inverse(2, 3, 1) == 1);
  CHECK(std::isnan(gamma_p(-1, 1)) && std::isnan(gamma_p(1, -1)) && std::isnan(gamma_p_inverse(1, 2)));
  CHECK(std::isnan(beta_p(1, 1, 2)) && std::isnan(beta_p(0, 1, 0.5)) && std::isnan(beta_p_inverse(1, 1, -0.1)));
}

TEST("the normal law into its far tails") {
  struct Case {
    double x, cdf, log_cdf;
  };
  for (const Case& t :
       {Case{-40, 0, -804.60844201375378817}, Case{-20, 2.7536241186062336951e-89, -203.91715537109726394},
        Case{-8, 6.2209605742717841235e-16, -35.013437159914549896},
        Case{-5.001, 2.8516856322317610979e-7, -15.070185381609440084},
        Case{-4.999, 2.8814201414641366029e-7, -15.059812373671576348}, Case{-1, 0.15865525393145705141, -1.8410216450092635058},
        Case{0, 0.5, -0.69314718055994530942}, Case{0.5, 0.69146246127401310364, -0.36894641528865639307},
        Case{1, 0.84134474606854294859, -0.17275377902344988953}, Case{2, 0.9772498680518207928, -0.023012909328963488465},
        Case{6, 0.99999999901341235496, -9.8658764552437573169e-10}, Case{9, 1, -1.1285884059538406478e-19}}) {
    CHECK_NEAR(error(normal_cdf(t.x), t.cdf), 0, 1e-13);
    CHECK_NEAR(error(normal_log_cdf(t.x), t.log_cdf), 0, 1e-13);
  }
  for (const One& t : {One{-1e4, 1.0000000099999998e4}, One{-40, 40.024968847207263723}, One{-5.001, 5.1874712761032597325},
                       One{-4.999, 5.1855366689741892565}, One{0, 0.79788456080286535588}, One{3, 4.4378390421256637933e-3}}) {
    CHECK_NEAR(error(inverse_mills(t.x), t.value), 0, 1e-13);
  }
  for (const One& t : {One{0.025, -1.9599639845400542118}, One{1e-10, -6.3613409024040561991}, One{0.7, 0.52440051270804065631},
                       One{1e-300, -37.047096299361199237}}) {
    CHECK_NEAR(error(normal_quantile(t.x), t.value), 0, 1e-14);
  }
  CHECK(normal_cdf(-infinity) == 0 && normal_cdf(infinity) == 1 && normal_cdf(1e10) == 1);
  CHECK(normal_log_cdf(-infinity) == -infinity && normal_log_cdf(infinity) == 0);
  CHECK_NEAR(error(normal_log_cdf(-1e8), -5e15), 0, 1e-13);
  CHECK(normal_quantile(0) == -infinity && normal_quantile(1) == infinity && normal_quantile(0.5) == 0);
  CHECK(std::isnan(normal_quantile(-0.1)) && std::isnan(normal_cdf(not_a_number)) && std::isnan(normal_log_cdf(not_a_number)));
  CHECK(inverse_mills(-infinity) == infinity && inverse_mills(infinity) == 0 && std::isnan(inverse_mills(not_a_number)));
}

TEST("Lambert W") {
  for (const One& t :
       {One{-0.35, -0.71663881645607369014}, One{-0.1, -0.11183255915896297182}, One{1e-8, 9.9999999000000017092e-9},
        One{1, 0.567143290409783873}, One{10, 1.7455280027406993831}, One{1e10, 20.028685413304950781}}) {
    CHECK_NEAR(error(lambert_w0(t.x), t.value), 0, 1e-14);
  }
  for (const One& t :
       {One{-0.35, -1.3497172521922490782}, One{-0.1, -3.5771520639572971414}, One{-1e-5, -14.163600815810182921}}) {
    CHECK_NEAR(error(lambert_wm1(t.x), t.value), 0, 1e-14);
  }
  CHECK(lambert_w0(0) == 0 && lambert_w0(infinity) == infinity && lambert_wm1(0) == -infinity);
  CHECK(std::isnan(lambert_w0(-0.5)) && std::isnan(lambert_wm1(-0.5)) && std::isnan(lambert_wm1(0.1)) &&
        std::isnan(lambert_w0(not_a_number)));
  CHECK_NEAR(lambert_w0(-0.36787944117144233), -1, 1e-7);
}
