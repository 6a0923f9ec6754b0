#include <cmath>
#include <limits>

#include "core/linalg/wide_loops.h"
#include "core/random/rng.h"
#include "harness.h"

using namespace granary;

TEST("the Gaussian profile is the exponential to the last places, at any length") {
  for (const Index n : {1, 3, 7, 1000}) {
    VectorXd xx(n), k(n);
    for (Index i = 0; i < n; ++i) {
      xx[i] = 0.3 * static_cast<double>(i);
      k[i] = std::sin(static_cast<double>(i));
    }
    const VectorXd inner = k;
    gaussian_profile(xx.data(), 2.5, 1.7, k.data(), n);
    for (Index i = 0; i < n; ++i) {
      const double expected = 1.7 * std::exp(-0.5 * std::max(xx[i] + 2.5 - 2 * inner[i], 0.0));
      CHECK_NEAR(k[i] / expected, 1, 1e-13);  // the argument's own rounding, times its size
    }
  }
}

TEST("the Gaussian of squared distances is the exponential to the last places, at any length") {
  for (const Index n : {1, 2, 5, 1000}) {
    VectorXd s(n);
    for (Index i = 0; i < n; ++i) s[i] = 1.3 * static_cast<double>(i);
    const VectorXd squares = s;
    gaussian_of_squares(0.7, s.data(), n);
    for (Index i = 0; i < n; ++i) CHECK_NEAR(s[i] / (0.7 * std::exp(-0.5 * squares[i])), 1, 1e-15 * (2 + 0.5 * squares[i]));
  }
}

TEST("the Gaussian profile at its ends: equal points, far points, overflow and NaN") {
  const double infinity = std::numeric_limits<double>::infinity();
  VectorXd xx(6), k(6);
  xx << 4, 4, 1e6, infinity, 1, 1400;
  k << 2, 2 + 1e-9, 0, 0, std::numeric_limits<double>::quiet_NaN(), 0;
  gaussian_profile(xx.data(), 0, 2, k.data(), 6);
  CHECK(k[0] == 2 && k[1] == 2);  // a distance is not negative
  CHECK(k[2] >= 0 && k[2] < 1e-300 && k[3] >= 0 && k[3] < 1e-300);
  CHECK(std::isnan(k[4]));
  CHECK_NEAR(k[5] / (2 * std::exp(-700.0)), 1, 1e-12);
}

TEST("scores of pairs: zero where nothing is violated or nothing can move, a floor under the curvature") {
  const double infinity = std::numeric_limits<double>::infinity();
  VectorXd down(5), f(5), diagonal = VectorXd::Ones(5), scores(5);
  Eigen::VectorXf k(5);
  down << 0, 3, infinity, -1, -1;
  f << 0.5, 0, 0, 0, 0;
  k << 0.5f, 0, 0, 1, -1;
  pair_scores(1, down.data(), f.data(), 1, diagonal.data(), k.data(), 1e-12, scores.data(), 5);
  CHECK_NEAR(scores[0], 1.5 * 1.5, 1e-15);
  CHECK(scores[1] == 0 && scores[2] == 0);
  CHECK_NEAR(scores[3], 4e12, 1);
  CHECK_NEAR(scores[4], 1, 1e-15);
  const VectorXd same = k.cast<double>();
  VectorXd again(5);
  pair_scores(1, down.data(), f.data(), 1, diagonal.data(), same.data(), 1e-12, again.data(), 5);
  CHECK(scores == again);
}

TEST("differences added, and their extremes, at every length: as one by one") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (Index size = 1; size <= 19; ++size) {
    Eigen::VectorXf a(size), b(size);
    VectorXd f(size), up(size), down(size);
    for (Index t = 0; t < size; ++t) {
      a[t] = static_cast<float>(std::sin(1.0 + t));
      b[t] = static_cast<float>(std::cos(2.0 * t));
      f[t] = std::sin(3.0 * t);
      up[t] = t % 3 == 0 ? -infinity : std::cos(5.0 * t);
      down[t] = t % 4 == 1 ? infinity : std::sin(7.0 * t);
    }
    VectorXd expected = f, g = f;
    for (Index t = 0; t < size; ++t) expected[t] += 0.3 * (static_cast<double>(a[t]) - static_cast<double>(b[t]));
    add_difference(0.3, a.data(), b.data(), f.data(), size);
    const VectorXd wide_a = a.cast<double>(), wide_b = b.cast<double>();
    add_difference(0.3, wide_a.data(), wide_b.data(), g.data(), size);
    CHECK(f == expected && g == expected);
    double largest = 0, least = 0;
    extreme_differences(up.data(), down.data(), f.data(), size, largest, least);
    CHECK(largest == (up - f).maxCoeff() && least == (down - f).minCoeff());
  }
}

TEST("Matern kernels and their slopes are those of the formulas, near and far") {
  for (const Index n : {1, 2, 3, 7, 64, 129}) {
    VectorXd q(n), g(n), three(n), five(n), k3(n), k5(n), h3(n), h5(n);
    for (Index i = 0; i < n; ++i) {
      q[i] = 0.37 * static_cast<double>(i);
      g[i] = std::sin(static_cast<double>(i)) + 0.3;
    }
    three = five = k3 = k5 = q;
    matern_three_profile(1.7, three.data(), n);
    matern_five_profile(1.7, five.data(), n);
    matern_three_slopes(1.7, g.data(), k3.data(), h3.data(), n);
    matern_five_slopes(1.7, g.data(), k5.data(), h5.data(), n);
    for (Index i = 0; i < n; ++i) {
      const double e = 1.7 * std::exp(-q[i]);
      CHECK_NEAR(three[i] / ((1 + q[i]) * e), 1, 1e-14);
      CHECK_NEAR(five[i] / ((1 + q[i] + q[i] * q[i] / 3) * e), 1, 1e-14);
      CHECK_NEAR(k3[i] / three[i], 1, 1e-14);
      CHECK_NEAR(k5[i] / five[i], 1, 1e-14);
      CHECK_NEAR(h3[i] / (-1.5 * g[i] * e), 1, 1e-14);
      CHECK_NEAR(h5[i] / (-5.0 / 6 * g[i] * (1 + q[i]) * e), 1, 1e-14);
    }
  }
  VectorXd far(4);
  far << 1e3, 1e160, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN();
  VectorXd also = far;
  matern_five_profile(2, far.data(), 4);
  matern_three_profile(2, also.data(), 4);
  for (Index i = 0; i < 3; ++i) CHECK(far[i] >= 0 && far[i] < 1e-300 && also[i] >= 0 && also[i] < 1e-300);
  CHECK(std::isnan(far[3]) && std::isnan(also[3]));
}

TEST("Student's logs agree with the library's to rounding, from nothing to the largest squares") {
  for (const Index size : {1, 3, 4, 9}) {
    VectorXd s(size), constant(size), power(size);
    for (Index t = 0; t < size; ++t) {
      s[t] = std::pow(10.0, 7.0 * static_cast<double>(t * t) - 18) * 1.37;
      constant[t] = 0.3 * static_cast<double>(t) - 1;
      power[t] = 1.5 + static_cast<double>(t);
    }
    s[0] = 0;
    VectorXd out = s;
    student_logs(constant.data(), power.data(), out.data(), size);
    for (Index t = 0; t < size; ++t) {
      const double exact = constant[t] - power[t] * std::log(1 + s[t]);
      CHECK_NEAR(out[t], exact, 4e-16 * (1 + std::abs(exact)));
    }
  }
  Rng rng(3);
  VectorXd s(20000), zero = VectorXd::Zero(20000), one = VectorXd::Ones(20000);
  for (Index t = 0; t < s.size(); ++t) s[t] = std::exp(30 * rng.uniform() - 20);
  VectorXd out = s;
  student_logs(zero.data(), one.data(), out.data(), s.size());
  CHECK((out.array() + (1 + s.array()).log()).abs().maxCoeff() < 8e-16 * 11);
}

TEST("weights times exponentials below a top, and their sum in order") {
  VectorXd s(6), weight(6);
  s << 2, 1.5, -3, -800, 2, 0;
  weight << 1, 2, 3, 4, 0, 0.5;
  VectorXd out = s;
  const double sum = weighted_exp_below(2, weight.data(), out.data(), 6);
  double exact = 0;
  for (Index t = 0; t < 6; ++t) {
    CHECK_NEAR(out[t], weight[t] * std::exp(s[t] - 2), 4e-16);
    exact += out[t];
  }
  CHECK(sum == exact);
}
