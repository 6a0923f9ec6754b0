#include <cmath>

#include "core/base/errors.h"
#include "core/infer/calibration.h"
#include "core/random/rng.h"
#include "harness.h"

using namespace granary;

TEST("Platt's sigmoid has zero gradient, also for scores of size 1e-8 and 1e8") {
  Rng rng(7);
  const Index n = 300;
  VectorXd score(n), label(n), weight(n);
  for (Index i = 0; i < n; ++i) {
    score[i] = rng.normal();
    label[i] = rng.uniform() < 1 / (1 + std::exp(-2 * score[i])) ? 1 : -1;
    weight[i] = 0.5 + rng.uniform();
  }
  const Sigmoid s = fit_sigmoid(score, label, weight);
  CHECK(s.convergence.converged && s.slope < 0);
  const VectorXd p = sigmoid_values(s, score), w = weight * (n / weight.sum());
  const double positive = (label.array() > 0).select(w, 0.0).sum();
  double slope = 0, level = 0;
  for (Index i = 0; i < n; ++i) {
    const double target = label[i] > 0 ? (positive + 1) / (positive + 2) : 1 / (n - positive + 2);
    slope += w[i] * (target - p[i]) * score[i];
    level += w[i] * (target - p[i]);
  }
  CHECK_NEAR(slope, 0, 1e-3);
  CHECK_NEAR(level, 0, 1e-3);
  for (const double unit : {1e-8, 1e8}) {
    const Sigmoid scaled = fit_sigmoid(score * unit, label, weight);
    CHECK_NEAR(scaled.slope * unit, s.slope, 1e-6 * std::abs(s.slope));
    CHECK_NEAR(scaled.intercept, s.intercept, 1e-6);
  }
  CHECK_THROWS(fit_sigmoid(VectorXd(), VectorXd(), VectorXd()), InputError);
}

TEST("isotonic steps rise, pool ties and violators, and keep the weighted mean") {
  VectorXd score(5), label(5), weight(5);
  score << 2, 1, 3, 3, 5;
  label << -1, 1, 1, -1, 1;
  weight << 1, 2, 1, 1, 4;
  const Steps steps = fit_isotonic(score, label, weight);
  CHECK(steps.at.size() == 3 && steps.at[0] == 1 && steps.at[1] == 3 && steps.at[2] == 5);
  CHECK_NEAR(steps.value[0], 3.0 / 5, 1e-15);  // 1, 0 and the tie 1/2 are pooled
  CHECK_NEAR(steps.value[1], 3.0 / 5, 1e-15);
  CHECK_NEAR(steps.value[2], 1, 1e-15);
}

TEST("between isotonic steps a line, beyond them their ends") {
  const Steps steps{{0, 1, 3}, {0.2, 0.2, 0.6}};
  VectorXd at(5);
  at << -1, 0.5, 2, 3, 9;
  const VectorXd p = step_values(steps, at);
  CHECK_NEAR(p[0], 0.2, 1e-15);
  CHECK_NEAR(p[1], 0.2, 1e-15);
  CHECK_NEAR(p[2], 0.4, 1e-15);
  CHECK_NEAR(p[3], 0.6, 1e-15);
  CHECK_NEAR(p[4], 0.6, 1e-15);
  CHECK_NEAR(step_values(Steps{{2, }, {0.3}}, at)[4], 0.3, 1e-15);
  CHECK_THROWS(step_values(Steps(), at), InputError);
}

TEST("beta calibration finds the law the labels come from, and 1, 1, 0 where scores are calibrated") {
  Rng rng(8);
  const Index n = 40000;
  for (const double a : {1.0, 2.5}) {
    VectorXd score(n), label(n);
    const BetaCurve truth{a, a == 1 ? 1 : 0.5, a == 1 ? 0 : 0.7, {}};
    for (Index i = 0; i < n; ++i) score[i] = rng.uniform();
    const VectorXd p = beta_values(truth, score);
    for (Index i = 0; i < n; ++i) label[i] = rng.uniform() < p[i] ? 1 : -1;
    const BetaCurve found = fit_beta(score, label, VectorXd::Ones(n));
    CHECK(found.convergence.converged);
    CHECK_NEAR(found.log_slope, truth.log_slope, 0.12);
    CHECK_NEAR(found.complement_slope, truth.complement_slope, 0.12);
    CHECK_NEAR(found.intercept, truth.intercept, 0.12);
  }
}

TEST("beta calibration: weights count rows, slopes stay positive, scores that separate have a finite answer") {
  VectorXd score(6), label(6), weight(6);
  score << 0, 0.2, 0.4, 0.6, 0.8, 1;
  label << -1, 1, -1, -1, 1, 1;
  weight << 1, 2, 1, 1, 1, 1;
  VectorXd long_score(7), long_label(7);
  long_score << score, 0.2;
  long_label << label, 1;
  const BetaCurve one = fit_beta(score, label, weight), two = fit_beta(long_score, long_label, VectorXd::Ones(7));
  // Equal but for the number of rows that the softened labels count: the weights are scaled to it.
  CHECK(one.convergence.converged && two.convergence.converged);
  CHECK_NEAR(beta_values(one, score)[3], beta_values(two, score)[3], 0.05);
  const BetaCurve reversed = fit_beta(score, -label, weight);
  CHECK(reversed.convergence.converged && reversed.log_slope >= 0 && reversed.complement_slope >= 0);
  VectorXd apart(4), sides(4);
  apart << 0.1, 0.2, 0.8, 0.9;
  sides << -1, -1, 1, 1;
  const VectorXd p = beta_values(fit_beta(apart, sides, VectorXd::Ones(4)), apart);
  CHECK(p.allFinite() && p[0] < 0.35 && p[3] > 0.65);
  CHECK_THROWS(fit_beta(2 * apart, sides, VectorXd::Ones(4)), InputError);
  CHECK_THROWS(fit_beta(apart, sides, VectorXd::Zero(4)), InputError);
}
