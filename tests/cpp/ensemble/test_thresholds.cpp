// Thresholds and lines against enumeration, Chernoff's law against its known moments, the jump against its formula.
#include <algorithm>
#include <cmath>

#include "core/math/chernoff.h"
#include "core/math/student_t.h"
#include "core/math/studentized_range.h"
#include "core/random/rng.h"
#include "ensemble/linear01.h"
#include "ensemble/threshold_limits.h"
#include "ensemble/thresholds.h"
#include "harness.h"

using namespace granary;
using namespace granary::ensemble;

namespace {

struct Sample {
  VectorXd x, y, weight;
  Sample(Rng& rng, Index n, bool ties, bool weighted) : x(n), y(n), weight(n) {
    for (Index i = 0; i < n; ++i) {
      x[i] = ties ? static_cast<double>(rng.below(6)) : rng.uniform();
      y[i] = rng.bernoulli(0.5) ? 1 : 0;
      weight[i] = weighted ? rng.uniform(0.1, 2) : 1;
    }
  }
};

// Least risk with at most k cuts by trying all places.
double brute(const Sample& s, int k, int first, const ThresholdOptions& o) {
  std::vector<double> places{-1e9};
  VectorXd sorted = s.x;
  std::sort(sorted.data(), sorted.data() + sorted.size());
  for (Index i = 0; i + 1 < sorted.size(); ++i)
    if (sorted[i] < sorted[i + 1]) places.push_back((sorted[i] + sorted[i + 1]) / 2);
  places.push_back(1e9);
  double best = 1e300;
  std::vector<std::size_t> at(static_cast<std::size_t>(k), 0);
  for (;;) {
    VectorXd cuts(k);
    for (int j = 0; j < k; ++j) cuts[j] = places[at[static_cast<std::size_t>(j)]];
    if (std::is_sorted(cuts.data(), cuts.data() + k)) best = std::min(best, threshold_risk(s.x, s.y, s.weight, cuts, o, first));
    std::size_t j = 0;
    while (j < at.size() && ++at[j] == places.size()) at[j++] = 0;
    if (j == at.size()) break;
  }
  return best;
}

}  // namespace

TEST("thresholds are the best of all places, for every number of cuts, ties, weights and costs") {
  Rng rng(1);
  for (int run = 0; run < 40; ++run) {
    const Sample s(rng, run % 2 ? 9 : 7, run % 3 == 0, run % 4 == 0);
    ThresholdOptions o;
    o.false_positive = run % 5 == 0 ? 3 : 1;
    for (const FirstLabel first : {FirstLabel::negative, FirstLabel::positive, FirstLabel::free})
      for (int k = 0; k <= 3; ++k) {
        o.k = k;
        o.first = first;
        const ThresholdFit fit = thresholds(s.x, s.y, s.weight, o);
        double wanted = 1e300;
        if (first != FirstLabel::positive) wanted = std::min(wanted, brute(s, k, -1, o));
        if (first != FirstLabel::negative) wanted = std::min(wanted, brute(s, k, 1, o));
        CHECK_NEAR(fit.risk, wanted, 1e-12);
        CHECK_NEAR(threshold_risk(s.x, s.y, s.weight, fit.thresholds, o, fit.first), fit.risk, 1e-12);
        CHECK(std::is_sorted(fit.thresholds.data(), fit.thresholds.data() + fit.thresholds.size()));
        if (k < fit.path.size()) CHECK_NEAR(fit.path[k], wanted, 1e-12);
        for (Index j = 1; j < fit.path.size(); ++j) CHECK(fit.path[j] <= fit.path[j - 1]);
      }
  }
}

TEST("every place inside an interval of optima is one, and those beside it are not") {
  Rng rng(2);
  for (int run = 0; run < 30; ++run) {
    const Sample s(rng, 12, false, false);
    ThresholdOptions o;
    o.k = 1;
    const ThresholdFit fit = thresholds(s.x, s.y, s.weight, o);
    if (fit.thresholds.size() != 1) continue;
    VectorXd sorted = s.x;
    std::sort(sorted.data(), sorted.data() + sorted.size());
    for (Index i = 0; i + 1 < sorted.size(); ++i) {
      const double place = (sorted[i] + sorted[i + 1]) / 2;
      const bool best = std::abs(threshold_risk(s.x, s.y, s.weight, VectorXd::Constant(1, place), o, -1) - fit.risk) < 1e-12;
      bool listed = false;
      for (Index j = 0; j < fit.from.size(); ++j) listed = listed || (place > fit.from[j] && place < fit.to[j]);
      CHECK(best == listed);
    }
  }
}

TEST("as many cuts as signs change leave no error; one class needs none; a monotone map moves the cuts with it") {
  VectorXd x(6), y(6);
  x << 1, 2, 3, 4, 5, 6;
  y << 0, 1, 1, 0, 1, 0;
  const VectorXd w = VectorXd::Ones(6);
  ThresholdOptions o;
  o.k = 10;
  const ThresholdFit fit = thresholds(x, y, w, o);
  CHECK(fit.thresholds.size() == 4);
  CHECK_NEAR(fit.risk, 0, 0);
  const ThresholdFit moved = thresholds(x.array().exp(), y, w, o);
  CHECK(((threshold_labels(x, fit.thresholds, -1) - threshold_labels(x.array().exp(), moved.thresholds, -1)).array() == 0).all());
  const ThresholdFit none = thresholds(x, VectorXd::Zero(6), w, o);
  CHECK(none.thresholds.size() == 0 && none.risk == 0);
  const ThresholdFit all = thresholds(x, VectorXd::Ones(6), w, o);
  CHECK(all.thresholds.size() == 1 && std::isinf(all.thresholds[0]) && all.risk == 0);
  o.first = FirstLabel::free;
  CHECK(thresholds(x, VectorXd::Ones(6), w, o).thresholds.size() == 0);
  CHECK_THROWS(thresholds(x, y, VectorXd::Zero(6), o), InputError);
  CHECK_THROWS(thresholds(x, y, -w, o), InputError);
  VectorXd some = w;
  some[2] = 0;
  CHECK(thresholds(x, y, some, o).distinct == 5);
}

TEST("moving one cut costs what the profile says") {
  Rng rng(3);
  const Sample s(rng, 30, false, false);
  ThresholdOptions o;
  o.k = 3;
  const ThresholdFit fit = thresholds(s.x, s.y, s.weight, o);
  if (fit.thresholds.size() < 2) return;
  const CutProfile p = cut_profile(s.x, s.y, s.weight, fit.thresholds, 1, o, fit.first);
  CHECK_NEAR(p.excess.minCoeff(), 0, 0);
  for (Index i = 0; i < p.place.size(); ++i) {
    VectorXd cuts = fit.thresholds;
    cuts[1] = p.place[i] + 1e-9;
    if (!std::is_sorted(cuts.data(), cuts.data() + cuts.size())) continue;
    CHECK_NEAR(30 * (threshold_risk(s.x, s.y, s.weight, cuts, o, fit.first) - fit.risk), p.excess[i], 1e-9);
  }
}

TEST("resamples are the same on one and two threads") {
  Rng rng(4), again(4);
  const Sample s(rng, 100, false, false), t(again, 100, false, false);
  ThresholdOptions o;
  ResampleOptions r;
  r.size = 30;
  r.n_draws = 40;
  Monitor monitor;
  Rng one(5), two(5);
  const MatrixXd a = resampled_thresholds(s.x, s.y, s.weight, o, r, one, monitor);
  r.threads = 2;
  const MatrixXd b = resampled_thresholds(t.x, t.y, t.weight, o, r, two, monitor);
  CHECK(((a.array() == b.array()) || (a.array().isNaN() && b.array().isNaN())).all());
}

TEST("local regression recovers a parabola, and the density of even points") {
  VectorXd x(400), y(400);
  for (Index i = 0; i < 400; ++i) {
    x[i] = (static_cast<double>(i) + 0.5) / 400;
    y[i] = x[i] > 0.5;
  }
  const LocalFit fit = local_fit(x, y, VectorXd::Ones(400), VectorXd::Constant(1, 0.5), 0.2, 0.05, 30);
  CHECK_NEAR(fit.prob[0], 0.5, 1e-6);
  CHECK(fit.slope[0] > 3);
  CHECK_NEAR(fit.density[0], 1, 1e-3);
  CHECK_NEAR(fit.left[0], 0, 0);
  CHECK_NEAR(fit.right[0], 1, 0);
}

TEST("Chernoff's law has its known moments and quantiles") {
  CHECK_NEAR(chernoff_moment(0), 1, 1e-9);
  CHECK_NEAR(chernoff_moment(1), 0.41273655, 1e-8);
  CHECK_NEAR(chernoff_moment(2), 0.26355964, 1e-8);
  const double p[] = {0.9, 0.95, 0.975, 0.99, 0.995}, q[] = {0.664235, 0.845081, 0.998181, 1.171534, 1.286659};
  for (int i = 0; i < 5; ++i) {
    CHECK_NEAR(chernoff_quantile(p[i]), q[i], 1e-6);
    CHECK_NEAR(chernoff_cdf(chernoff_quantile(p[i])), p[i], 1e-12);
    CHECK_NEAR(chernoff_quantile(1 - p[i]), -chernoff_quantile(p[i]), 1e-9);
  }
  const double h = 1e-5;
  for (const double z : {-2.5, -0.3, 0.0, 0.7, 2.9, 3.1}) {
    CHECK_NEAR((chernoff_cdf(z + h) - chernoff_cdf(z - h)) / (2 * h), chernoff_pdf(z), 1e-6);
    CHECK_NEAR(chernoff_pdf(z), chernoff_pdf(-z), 0);
  }
  CHECK(std::isinf(chernoff_quantile(1)) && std::isnan(chernoff_quantile(2)));
  CHECK_NEAR(chernoff_pdf(3 - 1e-9) / chernoff_pdf(3 + 1e-9), 1, 0.05);  // the first term of the expansion beyond
}

TEST("the scale and the excess risk of the smooth limit") {
  const SmoothLimit limit = smooth_limit(VectorXd::Constant(3, 1.2 * 3.14159265358979), VectorXd::Ones(3));
  CHECK_NEAR(limit.scale[0], 0.4128, 1e-4);
  CHECK_NEAR(limit.excess_mean, 0.5080, 1e-4);
  Rng rng(6);
  const VectorXd draws = excess_draws(limit, 20000, rng);
  CHECK_NEAR(draws.mean(), limit.excess_mean, 0.012);
  CHECK_NEAR(std::sqrt((draws.array() - draws.mean()).square().mean()), limit.excess_sd, 0.02);
}

TEST("the limit set of a jump has the law of its formula") {
  CHECK_NEAR(jump_tail(1, 0.4, 0.7), 0.8095, 1e-4);
  CHECK_NEAR(jump_tail(4, 0.4, 0.7), 0.2246, 1e-4);
  CHECK_NEAR(jump_tail(0, 0.4, 0.7), 1, 0);
  CHECK(jump_tail(jump_quantile(0.95, 0.4, 0.7) + 1, 0.4, 0.7) <= 0.05);
  CHECK(jump_tail(jump_quantile(0.95, 0.4, 0.7), 0.4, 0.7) > 0.05);
  Rng rng(7);
  const MatrixXd draws = poisson_argmin(0.4, 0.7, 1, 20000, rng);
  for (int m = 1; m <= 4; ++m)
    CHECK_NEAR((draws.col(2).array() <= -m).count() / 20000.0, jump_tail(m, 0.4, 0.7), 0.015);
  CHECK((draws.col(0).array() < draws.col(1).array()).all());
  CHECK_THROWS(jump_tail(1, 0.6, 0.7), InputError);
}

TEST("a line in the plane is the best of all lines through two rows") {
  Monitor monitor;
  for (int run = 0; run < 25; ++run) {
    Rng rng(static_cast<std::uint64_t>(100 + run));
    const Index n = 4 + run % 8;
    MatrixXd x(n, 2);
    VectorXd y(n), w(n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < 2; ++j) x(i, j) = run % 3 == 0 ? static_cast<double>(rng.below(3)) : rng.normal();
      y[i] = rng.bernoulli(0.5);
      w[i] = run % 2 ? 1 : rng.uniform(0.2, 2);
    }
    Linear01Options o;
    const Linear01 fit = linear01(x, y, w, o, rng, monitor);
    // many directions with the best threshold each: partitions of so few rows do not escape
    double best = 1e300;
    for (int a = 0; a < 20000; ++a) {
      const double angle = 6.283185307179586 * (a + 0.37) / 20000;
      VectorXd v(2);
      v << std::cos(angle), std::sin(angle);
      const VectorXd f = x * v;
      std::vector<double> cuts{-1e9};
      for (Index i = 0; i < n; ++i) cuts.push_back(f[i]);
      if (a % 10 == 0 || run % 3 != 0)
        for (const double c : cuts) best = std::min(best, half_space_risk(x, y, w, v, -c, o));
    }
    CHECK(fit.exact);
    CHECK(fit.risk <= best + 1e-12);
    CHECK_NEAR(half_space_risk(x, y, w, fit.coefficients, fit.intercept, o), fit.risk, 1e-12);
  }
}

TEST("lines follow rotation and scale, separable rows have no error, and the search finds it too") {
  Monitor monitor;
  Rng rng(8);
  MatrixXd x(60, 2);
  VectorXd y(60);
  for (Index i = 0; i < 60; ++i) {
    x.row(i) << rng.normal(), rng.normal();
    y[i] = x(i, 0) - 0.4 * x(i, 1) + 0.5 * rng.normal() > 0.2;
  }
  const VectorXd w = VectorXd::Ones(60);
  Linear01Options o;
  const double risk = linear01(x, y, w, o, rng, monitor).risk;
  MatrixXd turn(2, 2);
  turn << std::cos(1.0), -std::sin(1.0), std::sin(1.0), std::cos(1.0);
  CHECK_NEAR(linear01(x * turn, y, w, o, rng, monitor).risk, risk, 1e-12);
  for (const double scale : {1e-8, 1e8}) CHECK_NEAR(linear01(scale * x, y, w, o, rng, monitor).risk, risk, 1e-12);
  for (Index i = 0; i < 60; ++i) y[i] = x(i, 0) - 0.4 * x(i, 1) > 0.2;
  CHECK_NEAR(linear01(x, y, w, o, rng, monitor).risk, 0, 0);
  o.exact = false;
  CHECK_NEAR(linear01(x, y, w, o, rng, monitor).risk, 0, 0);
  CHECK_NEAR(linear01(MatrixXd::Ones(60, 2), y, w, Linear01Options{}, rng, monitor).risk, std::min(y.mean(), 1 - y.mean()), 1e-12);
}

TEST("Tukey's range and Student's t") {
  CHECK_NEAR(normal_range_cdf(3.633160, 4), 0.95, 1e-6);
  CHECK_NEAR(normal_range_cdf(2.771808, 2), 0.95, 1e-6);
  CHECK_NEAR(normal_range_quantile(0.95, 4), 3.633160, 1e-5);
  CHECK_NEAR(normal_range_upper(3, 5) + normal_range_cdf(3, 5), 1, 1e-12);
  CHECK_NEAR(student_t_cdf(2.228139, 10), 0.975, 1e-7);
  CHECK_NEAR(student_t_quantile(0.975, 10), 2.228139, 1e-6);
  CHECK_NEAR(student_t_quantile(0.1, 3), -1.637744, 1e-6);
}
