// Numbers marked "prototype" were computed independently of this code.
#include "eigen.h"
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/math/marchenko_pastur.h"
#include "core/random/rng.h"
#include "kernel/committee.h"
#include "kernel/committee_simulate.h"
#include "kernel/sgd_optimize.h"
#include "harness.h"

using namespace granary;
using namespace granary::kernel;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

CommitteeModel committee(double alpha, double eta, int units, double noise, int blocks = 10) {
  CommitteeModel model;
  model.students = model.teachers = units;
  model.teacher = MatrixXd::Identity(units, units);
  model.noise = VectorXd::Constant(units + 1, noise);
  model.eta = eta;
  model.ratio = VectorXd::Ones(1);
  if (std::isfinite(alpha)) {
    model.ratio = spectrum_blocks(MarchenkoPastur(alpha), blocks).mean / alpha;
    model.inverse_alpha = 1 / alpha;
  }
  return model;
}

CommitteeCurve curve_of(const CommitteeModel& model, const MatrixXd& r, const VectorXd& times, double q0 = 0.25) {
  Monitor monitor;
  return committee_curve(model, q0 * MatrixXd::Identity(model.students, model.students), r, times, {}, monitor);
}

VectorXd times_of(std::initializer_list<double> values) {
  VectorXd t(static_cast<Index>(values.size()));
  Index k = 0;
  for (const double v : values) t[k++] = v;
  return t;
}

MatrixXd two_by_two(double a, double b, double c, double d) {
  MatrixXd r(2, 2);
  r << a, b, c, d;
  return r;
}

double g(double u) { return std::erf(u / std::sqrt(2.0)); }
double slope(double u) { return std::sqrt(2 / 3.14159265358979324) * std::exp(-0.5 * u * u); }

}  // namespace

TEST("committee: Gaussian averages against Monte Carlo") {
  Rng rng(11);
  for (int trial = 0; trial < 2; ++trial) {
    const Index students = trial == 0 ? 2 : 1, teachers = trial == 0 ? 1 : 2, n = students + teachers + 1;
    // One more variable, v, correlated with all others.
    MatrixXd root(n + 1, n + 1);
    for (Index j = 0; j <= n; ++j) root.col(j) = 0.6 * rng.normals(n + 1);
    const MatrixXd c = root * root.transpose();
    const MatrixXd inner = c.topLeftCorner(n, n);
    const MatrixXd b = gradient_coefficients(inner, students, false), d = gradient_products(inner, students, false);
    const int draws = 200000;
    MatrixXd sum_d = MatrixXd::Zero(students, students), square_d = sum_d;
    VectorXd sum_v = VectorXd::Zero(students), square_v = sum_v;
    double sum_e = 0, square_e = 0;
    for (int k = 0; k < draws; ++k) {
      const VectorXd z = root * rng.normals(n + 1);
      double error = -z[n - 1];
      for (Index i = 0; i < n - 1; ++i) error += (i < students ? 1 : -1) * g(z[i]);
      VectorXd delta(students);
      for (Index l = 0; l < students; ++l) delta[l] = slope(z[l]) * error;
      sum_d += delta * delta.transpose();
      square_d += (delta * delta.transpose()).cwiseAbs2();
      sum_v += z[n] * delta;
      square_v += (z[n] * delta).cwiseAbs2();
      sum_e += 0.5 * error * error;
      square_e += 0.25 * std::pow(error, 4);
    }
    const auto check = [&](double sum, double square, double exact) {
      const double mean = sum / draws, se = std::sqrt((square / draws - mean * mean) / draws);
      CHECK_NEAR(exact, mean, 4 * se);
    };
    for (Index l = 0; l < students; ++l) {
      check(sum_v[l], square_v[l], b.row(l).dot(c.col(n).head(n)));
      for (Index k = 0; k < students; ++k) check(sum_d(l, k), square_d(l, k), d(l, k));
    }
    check(sum_e, square_e, mean_half_square(inner, students, false));
  }
}

TEST("committee: the published I4 of Saad and Solla") {
  // One student, one teacher, no noise: <d d> = I4(h,h,h,h) - 2 I4(h,h,h,u) + I4(h,h,u,u).
  const double q = 0.7, r = 0.3, t = 1.1;
  const auto i4 = [](const MatrixXd& c) {  // <g'(1) g'(2) g(3) g(4)>
    const double l4 = (1 + c(0, 0)) * (1 + c(1, 1)) - c(0, 1) * c(0, 1);
    const double l0 = l4 * c(2, 3) - c(1, 2) * c(1, 3) * (1 + c(0, 0)) - c(0, 2) * c(0, 3) * (1 + c(1, 1)) +
                      c(0, 1) * c(0, 2) * c(1, 3) + c(0, 1) * c(0, 3) * c(1, 2);
    const auto li = [&](Index i) {
      return l4 * (1 + c(i, i)) - c(1, i) * c(1, i) * (1 + c(0, 0)) - c(0, i) * c(0, i) * (1 + c(1, 1)) +
             2 * c(0, 1) * c(0, i) * c(1, i);
    };
    const double pi = 3.14159265358979324;
    return 4 / (pi * pi) / std::sqrt(l4) * std::asin(l0 / std::sqrt(li(2) * li(3)));
  };
  const auto four = [&](std::initializer_list<int> which) {  // 0: h, 1: u
    MatrixXd base = two_by_two(q, r, r, t), c(4, 4);
    Index i = 0;
    for (const int a : which) {
      Index j = 0;
      for (const int b : which) c(i, j++) = base(a, b);
      ++i;
    }
    return i4(c);
  };
  MatrixXd c = MatrixXd::Zero(3, 3);
  c.topLeftCorner(2, 2) = two_by_two(q, r, r, t);
  CHECK_NEAR(gradient_products(c, 1, false)(0, 0), four({0, 0, 0, 0}) - 2 * four({0, 0, 0, 1}) + four({0, 0, 1, 1}), 1e-14);
}

TEST("committee: error of a silent student, and of a perfect one") {
  for (const int units : {1, 2}) {
    const CommitteeModel model = committee(infinity, 1, units, 0);
    const MatrixXd zero = MatrixXd::Zero(units, units), one = MatrixXd::Identity(units, units);
    CHECK_NEAR(mean_half_square(test_covariance(model, zero, zero), units, false), units / 6.0, 1e-15);
    CHECK_NEAR(mean_half_square(test_covariance(model, one, one), units, false), 0, 1e-15);
    for (const double alpha : {0.5, 2.0, infinity}) {
      const CommitteeModel at = committee(alpha, 1.5, units, 0);
      const VectorXd start = committee_start(at, one, one);
      VectorXd derivative;
      committee_derivative(at, start, derivative);
      CHECK_NEAR(derivative.cwiseAbs().maxCoeff(), 0, 1e-14);
    }
  }
}

TEST("committee: prototype values of Figures 1 and 2") {
  const MatrixXd r = MatrixXd::Constant(1, 1, 1e-3);
  CHECK_NEAR(curve_of(committee(2, 1, 1, 0.01), r, times_of({0, 100})).test[1], 0.0137, 5e-5);
  CHECK_NEAR(curve_of(committee(3, 1, 1, 0.01), r, times_of({0, 100})).test[1], 0.0111, 5e-5);
  CHECK_NEAR(curve_of(committee(4, 1, 1, 0.01), r, times_of({0, 100})).test[1], 0.0102, 5e-5);
  CHECK_NEAR(curve_of(committee(infinity, 1, 1, 0.01), r, times_of({0, 100})).test[1], 0.00864, 5e-6);
  const CommitteeCurve three = curve_of(committee(3, 1, 1, 0.01), 0 * r, times_of({0, 1, 5, 10, 20}));
  CHECK_NEAR(three.test[1], 0.130925, 1e-6);
  CHECK_NEAR(three.test[2], 0.033897, 1e-6);
  CHECK_NEAR(three.test[3], 0.016649, 1e-6);
  CHECK_NEAR(three.test[4], 0.011604, 1e-6);
  CHECK(three.least_eigenvalue > -1e-10);
  const CommitteeCurve over = curve_of(committee(2, 1, 1, 0.1), r, times_of({0, 10, 100}));
  CHECK_NEAR(over.test[1], 0.121, 5e-4);
  CHECK_NEAR(over.test[2], 0.130, 5e-4);
  const MatrixXd r2 = two_by_two(1e-3, -5e-4, -3e-4, 7e-4);
  const CommitteeCurve two = curve_of(committee(0.5, 2, 2, 0), r2, times_of({0, 10, 50}));
  CHECK_NEAR(two.test[1], 0.258, 1e-3);
  CHECK_NEAR(two.test[2], 0.229, 2e-3);
  CHECK(two.least_eigenvalue > -1e-10);
}

TEST("committee: many examples are infinitely many; more blocks change little") {
  const MatrixXd r2 = two_by_two(1e-3, -5e-4, -3e-4, 7e-4);
  const VectorXd t = times_of({0, 5, 30});
  const CommitteeCurve many = curve_of(committee(1e7, 2, 2, 0.1), r2, t), all = curve_of(committee(infinity, 2, 2, 0.1), r2, t);
  CHECK_NEAR((many.test - all.test).cwiseAbs().maxCoeff(), 0, 1e-6);
  const CommitteeCurve ten = curve_of(committee(2, 1, 1, 0.1), MatrixXd::Constant(1, 1, 1e-3), t);
  const CommitteeCurve twenty = curve_of(committee(2, 1, 1, 0.1, 20), MatrixXd::Constant(1, 1, 1e-3), t);
  CHECK_NEAR(((ten.test - twenty.test).array() / twenty.test.array()).abs().maxCoeff(), 0, 0.01);
}

TEST("committee: linear units and small weights are the linear theory") {
  Monitor monitor;
  const double alpha = 2;
  CommitteeModel model = committee(alpha, 1, 1, 0, 400);
  model.noise[0] = 0.1;
  model.linear = true;
  model.noisy_test = false;
  const VectorXd t = times_of({0, 1, 2, 5});
  const CommitteeCurve linear = curve_of(model, MatrixXd::Zero(1, 1), t, 0);
  const SgdModes modes = teacher_modes(MarchenkoPastur(alpha).quadrature(300), alpha, 0.1);
  const SgdCurve train = online_curve(modes, {1, 0}, t, {}, monitor);
  for (Index k = 0; k < 4; ++k) {
    CHECK_NEAR(linear.test[k], test_error({MarchenkoPastur(alpha).quadrature(300), alpha, 0.1, true}, {1, 0}, t[k], monitor),
               1e-4);
    CHECK_NEAR(linear.train[k], train.train[k], 1e-4);
  }
  // Teacher of length tau -> 0: g(u) is sqrt(2/pi) u, so errors scale with tau 2/pi and the step with 2/pi.
  const double tau = 1e-6, factor = 2 / 3.14159265358979324;
  CommitteeModel small = committee(alpha, 1 / factor, 1, 0, 400);
  small.teacher *= tau;
  OdeOptions tight;
  tight.absolute = 1e-9 * tau;
  const CommitteeCurve scaled = committee_curve(small, MatrixXd::Zero(1, 1), MatrixXd::Zero(1, 1), t, tight, monitor);
  CHECK_NEAR(scaled.test[1] / (tau * factor), 0.2180, 1e-4);
  CHECK_NEAR(scaled.test[2] / (tau * factor), 0.1151, 1e-4);
}

TEST("committee: permuting hidden units permutes the overlaps; small rates never raise the training error") {
  const MatrixXd r = two_by_two(2e-2, -1e-2, 1e-2, 3e-2);
  const VectorXd t = VectorXd::LinSpaced(41, 0, 40);
  const CommitteeModel model = committee(3, 1, 2, 0.05);
  const CommitteeCurve a = curve_of(model, r, t), b = curve_of(model, two_by_two(1e-2, 3e-2, 2e-2, -1e-2), t);
  CHECK_NEAR((a.test - b.test).cwiseAbs().maxCoeff(), 0, 1e-9);
  CHECK_NEAR(std::abs(a.r(0, 40) - b.r(1, 40)) + std::abs(a.r(2, 40) - b.r(3, 40)), 0, 1e-8);
  const CommitteeCurve slow = curve_of(committee(3, 0.01, 2, 0.05), r, 100 * t);
  CHECK((slow.train.tail(40) - slow.train.head(40)).maxCoeff() < 1e-9);
  CHECK(slow.train[40] < 0.8 * slow.train[0]);
}

TEST("committee: enough clean examples are learned perfectly, too few are not") {
  const MatrixXd r = MatrixXd::Constant(1, 1, 1e-3);
  CHECK(curve_of(committee(2, 1, 1, 0), r, times_of({0, 300})).test[1] < 1e-6);
  CHECK(curve_of(committee(0.5, 1, 1, 0), r, times_of({0, 300})).test[1] > 0.03);
  // Where the eigenvalue is zero nothing moves.
  const CommitteeModel model = committee(0.5, 1, 1, 0.1);
  VectorXd derivative;
  committee_derivative(model, committee_start(model, MatrixXd::Constant(1, 1, 0.25), r), derivative);
  CHECK_NEAR(derivative.head(4 * model.block_size()).cwiseAbs().maxCoeff(), 0, 1e-12);
  CHECK(derivative.tail(model.block_size()).cwiseAbs().maxCoeff() > 0.1);
}

TEST("committee: divergence and bad input") {
  Monitor monitor;
  CommitteeModel model = committee(2, 3, 1, 0.1);
  model.linear = true;
  const CommitteeCurve wild = curve_of(model, MatrixXd::Zero(1, 1), VectorXd::LinSpaced(101, 0, 1000));
  CHECK(wild.ode.diverged && wild.test.size() < 101 && wild.q.cols() == wild.test.size() && wild.ode.time < 1000);
  const VectorXd t = times_of({0, 1});
  CHECK_THROWS(curve_of(model, MatrixXd::Zero(2, 2), t), InputError);
  model.students = 0;
  CHECK_THROWS(committee_curve(model, MatrixXd(), MatrixXd(), t, {}, monitor), InputError);
  model = committee(2, 1, 2, 0);
  model.noise = VectorXd::Zero(2);
  CHECK_THROWS(curve_of(model, MatrixXd::Zero(2, 2), t), InputError);
}

TEST("committee simulator: theory where it is exact, threads, shared training sets") {
  Monitor monitor;
  const CommitteeModel model = committee(infinity, 1, 1, 0.05);
  CommitteeSimulation setting;
  setting.inputs = 100;
  const VectorXd t = times_of({0, 2, 6});
  const CommitteeRuns one = simulate_committee(model, setting, t, 24, Rng(3), 1, monitor),
                      two = simulate_committee(model, setting, t, 24, Rng(3), 2, monitor);
  CHECK(one.test == two.test && one.q[5] == two.q[5] && one.train.rows() == 0 && one.kurtosis.rows() == 0);
  const CommitteeCurve theory = curve_of(model, MatrixXd::Zero(1, 1), t);
  for (Index k = 1; k < 3; ++k) {
    const double mean = one.test.row(k).mean(), se = std::sqrt((one.test.row(k).array() - mean).square().mean() / 23);
    CHECK_NEAR(mean, theory.test[k], 3.5 * se + 0.01 * mean);  // 1/N corrections
  }
  // Linear units on a finite set.
  CommitteeModel linear = committee(2, 1, 1, 0, 100);
  linear.noise[0] = 0.1;
  linear.linear = true;
  setting.examples = 200;
  setting.start = 0;
  const CommitteeRuns runs = simulate_committee(linear, setting, t, 40, Rng(4), 1, monitor);
  const CommitteeCurve curve = curve_of(linear, MatrixXd::Zero(1, 1), t, 0);
  const double mean = runs.test.row(1).mean(), se = std::sqrt((runs.test.row(1).array() - mean).square().mean() / 39);
  CHECK_NEAR(mean, curve.test[1], 3.5 * se + 0.02 * mean);
  CHECK_NEAR(runs.train.row(1).mean(), curve.train[1], 0.03);
  CHECK(runs.activations.size() == 200 && std::abs(runs.kurtosis.mean()) < 0.5);
  // One training set: all start alike, histories differ.
  setting.start = 0.25;
  setting.same_set = true;
  const CommitteeRuns same = simulate_committee(committee(2, 1, 1, 0.1), setting, t, 10, Rng(5), 2, monitor);
  CHECK(same.test.row(0).maxCoeff() == same.test.row(0).minCoeff() && same.test.row(2).maxCoeff() > same.test.row(2).minCoeff());
  // The teacher has the overlaps asked for, singular ones too: an identical pair of units is one of twice the output.
  CommitteeModel twin = committee(infinity, 0, 2, 0);
  twin.teacher.setOnes();
  CommitteeSimulation still;
  still.inputs = 30;
  still.start = 0;
  const CommitteeRuns flat = simulate_committee(twin, still, times_of({0}), 1, Rng(6), 1, monitor);
  CHECK_NEAR(flat.test(0, 0), 4.0 / 6, 1e-12);
  still.inputs = 1;
  CHECK_THROWS(simulate_committee(twin, still, times_of({0}), 1, Rng(6), 1, monitor), InputError);
}
