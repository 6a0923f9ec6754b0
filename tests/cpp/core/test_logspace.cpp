#include "core/math/logspace.h"
#include "harness.h"

using namespace granary;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();

VectorXd vec(std::initializer_list<double> values) {
  VectorXd x(values.size());
  Index i = 0;
  for (double value : values) x[i++] = value;
  return x;
}

double streamed(const VectorXd& x) {
  LogSumExp sum;
  for (Index i = 0; i < x.size(); ++i) sum.add(x[i]);
  return sum.value();
}
}  // namespace

TEST("log_sum_exp: the three forms agree with the plain sum, at any offset and in any order") {
  const VectorXd x = vec({0.3, -1.2, 2.5, -40, 0.7});
  const double plain = std::log(x.array().exp().sum());
  for (double shift : {0.0, 1e3, -1e3, 1e8, -1e8}) {
    const VectorXd moved = x.array() + shift;
    double folded = -infinity;
    for (Index i = 0; i < moved.size(); ++i) folded = log_sum_exp(folded, moved[i]);
    CHECK_NEAR(log_sum_exp(moved) - shift, plain, 1e-15 + 4e-16 * std::abs(shift));
    CHECK_NEAR(streamed(moved) - shift, plain, 1e-15 + 4e-16 * std::abs(shift));
    CHECK_NEAR(streamed(moved.reverse()) - shift, plain, 1e-15 + 4e-16 * std::abs(shift));
    CHECK_NEAR(folded - shift, plain, 2e-15 + 4e-16 * std::abs(shift));
  }
  CHECK_NEAR(log_sum_exp(0.0, -50.0), std::exp(-50.0), 1e-30);  // the small term survives beside log 1
}

TEST("log_sum_exp at infinities, of nothing and of NaN") {
  for (const auto& f : {+[](const VectorXd& x) { return log_sum_exp(x); }, +[](const VectorXd& x) { return streamed(x); }}) {
    CHECK(f(VectorXd(0)) == -infinity);
    CHECK(f(vec({-infinity, -infinity})) == -infinity);
    CHECK(f(vec({-infinity, 2})) == 2);
    CHECK(f(vec({2, -infinity})) == 2);
    CHECK(f(vec({infinity, 1, infinity})) == infinity);
    CHECK(f(vec({1, infinity, -infinity})) == infinity);
    CHECK(std::isnan(f(vec({1, std::nan(""), 2}))));
    CHECK(std::isnan(f(vec({std::nan(""), infinity}))));
  }
  CHECK(log_sum_exp(-infinity, -infinity) == -infinity);
  CHECK(log_sum_exp(infinity, infinity) == infinity);
  CHECK(log_sum_exp(infinity, -infinity) == infinity);
  CHECK(log_sum_exp(-infinity, 3) == 3);
  CHECK(std::isnan(log_sum_exp(std::nan(""), infinity)));
  CHECK_NEAR(log_mean_exp(vec({1e4, 1e4 + std::log(3.0)})), 1e4 + std::log(2.0), 1e-11);
  CHECK(std::isnan(log_mean_exp(VectorXd(0))));
  CHECK(log_mean_exp(vec({-infinity})) == -infinity);
}

TEST("softmax sums to one and keeps ratios") {
  for (double shift : {0.0, 1e5, -1e5}) {
    const VectorXd p = softmax(vec({shift, shift + std::log(3.0), -infinity}));
    CHECK_NEAR(p[0], 0.25, 1e-10);
    CHECK_NEAR(p[1], 0.75, 1e-10);
    CHECK(p[2] == 0);
    CHECK_NEAR(p.sum(), 1, 1e-15);
  }
  const VectorXd shared = softmax(vec({infinity, 5, infinity}));
  CHECK(shared[0] == 0.5 && shared[1] == 0 && shared[2] == 0.5);
  CHECK(softmax(VectorXd(0)).size() == 0);
  CHECK_THROWS(softmax(vec({-infinity, -infinity})), InputError);
}

TEST("log1mexp, log1pexp and log_diff_exp keep their digits at both ends") {
  CHECK_NEAR(log1mexp(-1e-20), std::log(1e-20), 1e-13);
  CHECK_NEAR(log1mexp(-50), -std::exp(-50.0), 1e-37);
  CHECK_NEAR(log1mexp(-0.6931471805599453), -0.6931471805599453, 1e-15);
  CHECK(log1mexp(0) == -infinity);
  CHECK(log1mexp(-infinity) == 0);
  CHECK_NEAR(log1pexp(-50), std::exp(-50.0), 1e-37);
  CHECK_NEAR(log1pexp(0), std::log(2.0), 1e-16);
  CHECK_NEAR(log1pexp(20) - 20, std::exp(-20.0), 4e-15);
  CHECK(log1pexp(1e4) == 1e4);
  CHECK(log1pexp(infinity) == infinity);
  CHECK(log1pexp(-infinity) == 0);
  for (double edge : {18.0, 33.3}) CHECK_NEAR(log1pexp(edge * (1 - 1e-15)), log1pexp(edge * (1 + 1e-15)), 2e-13);
  CHECK_NEAR(log_diff_exp(1000 + std::log(5.0), 1000 + std::log(2.0)), 1000 + std::log(3.0), 1e-12);
  CHECK(log_diff_exp(2, -infinity) == 2);
  CHECK(log_diff_exp(2, 2) == -infinity);
  CHECK(log_diff_exp(-infinity, -infinity) == -infinity);
  CHECK(log_diff_exp(infinity, 3) == infinity);
  CHECK(std::isnan(log_diff_exp(infinity, infinity)));
  CHECK(std::isnan(log_diff_exp(1, 2)));
}

TEST("logit and expit are inverse to each other and saturate quietly") {
  for (double x : {-700.0, -30.0, -1e-8, 0.0, 2.0, 15.0}) CHECK_NEAR(logit(expit(x)), x, 1e-9 + 1e-15 * std::abs(x));
  CHECK(expit(-1e4) == 0 && expit(1e4) == 1);
  CHECK(logit(0) == -infinity && logit(1) == infinity);
  CHECK(expit(-infinity) == 0 && expit(infinity) == 1);
  CHECK_NEAR(log_expit(-800), -800, 1e-12);
  CHECK_NEAR(log_expit(3), std::log(expit(3)), 1e-15);
}
