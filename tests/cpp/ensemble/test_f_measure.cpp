// Decisions by expected F against all decisions, and against the recursions of Chai and of Ye et al.
#include <cmath>
#include <vector>

#include "core/random/rng.h"
#include "ensemble/f_measure.h"
#include "ensemble/f_scores.h"
#include "harness.h"

using namespace granary;
using namespace granary::ensemble;

namespace {

MatrixXd all_vectors(int m) {
  MatrixXd y(1 << m, m);
  for (int v = 0; v < (1 << m); ++v)
    for (int i = 0; i < m; ++i) y(v, i) = (v >> i) & 1;
  return y;
}

double expected_f(const MatrixXd& y, const VectorXd& w, const VectorXd& h, double beta) {
  double sum = 0;
  for (Index v = 0; v < y.rows(); ++v) sum += w[v] * f_value(y.row(v).dot(h), y.row(v).sum(), h.sum(), beta);
  return sum;
}

double best_f(const MatrixXd& y, const VectorXd& w, double beta) {
  double best = -1;
  for (Index v = 0; v < y.rows(); ++v) best = std::max(best, expected_f(y, w, y.row(v).transpose(), beta));
  return best;
}

VectorXd product_law(const MatrixXd& y, const VectorXd& p) {
  VectorXd w(y.rows());
  for (Index v = 0; v < y.rows(); ++v) {
    w[v] = 1;
    for (Index i = 0; i < p.size(); ++i) w[v] *= y(v, i) == 1 ? p[i] : 1 - p[i];
  }
  return w;
}

// Ye et al. (2012) for beta = 1: C_k forward, S_k backward.
VectorXd ye_curve(const VectorXd& p) {
  const Index m = p.size();
  std::vector<VectorXd> c(static_cast<std::size_t>(m) + 1), s(static_cast<std::size_t>(m) + 1);
  c[0] = VectorXd::Ones(1);
  for (Index k = 1; k <= m; ++k) {
    VectorXd next = VectorXd::Zero(k + 1);
    next.head(k) += (1 - p[k - 1]) * c[static_cast<std::size_t>(k - 1)];
    next.tail(k) += p[k - 1] * c[static_cast<std::size_t>(k - 1)];
    c[static_cast<std::size_t>(k)] = next;
  }
  const Index size = 2 * m + 2;
  s[static_cast<std::size_t>(m)] = VectorXd::Zero(size);
  for (Index i = 1; i < size; ++i) s[static_cast<std::size_t>(m)][i] = 1.0 / static_cast<double>(i);
  for (Index k = m; k > 0; --k) {
    VectorXd now = VectorXd::Zero(size);
    for (Index i = 1; i + 1 < size; ++i)
      now[i] = p[k - 1] * s[static_cast<std::size_t>(k)][i + 1] + (1 - p[k - 1]) * s[static_cast<std::size_t>(k)][i];
    s[static_cast<std::size_t>(k - 1)] = now;
  }
  VectorXd out(m + 1);
  out[0] = (1 - p.array()).prod();
  for (Index k = 1; k <= m; ++k) {
    out[k] = 0;
    for (Index j = 0; j <= k; ++j) out[k] += 2.0 * static_cast<double>(j) * c[static_cast<std::size_t>(k)][j] * s[static_cast<std::size_t>(k)][k + j];
  }
  return out;
}

// Chai's recursion, begun at a = k.
double chai(const VectorXd& p, int k) {
  const int m = static_cast<int>(p.size());
  const auto j = [&](const auto& self, int t, int a) -> double {
    if (t == m) return 1.0 / a;
    const double r = p[t] / (1 - p[t]);
    return self(self, t + 1, a) + r * self(self, t + 1, a + 1);
  };
  const auto i = [&](const auto& self, int t, int a) -> double {
    if (t == k) return 0;
    const double r = p[t] / (1 - p[t]);
    return self(self, t + 1, a) + r * self(self, t + 1, a + 1) + r * j(j, t + 1, a + 1);
  };
  return 2 * (1 - p.array()).prod() * i(i, 0, k);
}

VectorXd sorted_probabilities(Rng& rng, Index m) {
  VectorXd p(m);
  for (Index i = 0; i < m; ++i) p[i] = rng.uniform_open();
  std::sort(p.data(), p.data() + m, std::greater<double>());
  return p;
}

}  // namespace

TEST("f: independent labels and any joint law are decided as by all 2^m decisions") {
  Rng rng(1);
  Monitor monitor;
  for (int run = 0; run < 60; ++run) {
    const int m = 1 + static_cast<int>(rng.below(6));
    FOptions options;
    options.beta = run % 3 == 0 ? 1 : std::exp(rng.normal());
    const MatrixXd y = all_vectors(m);
    VectorXd p = sorted_probabilities(rng, m);
    if (run % 7 == 0) p[0] = 1;
    if (run % 11 == 0) p[m - 1] = 0;
    const VectorXd product = product_law(y, p);
    CHECK_NEAR(f_independent(p, options, monitor).expected, best_f(y, product, options.beta), 1e-12);
    VectorXd w(y.rows());
    for (Index v = 0; v < w.size(); ++v) w[v] = std::pow(rng.exponential(), 3);
    w /= w.sum();
    const FDecision found = decide_sample(LabelSample(y, w), options, monitor);
    CHECK_NEAR(found.expected, best_f(y, w, options.beta), 1e-12);
    CHECK_NEAR(found.expected, expected_f(y, w, found.labels.cast<double>(), options.beta), 1e-12);
    CHECK(found.exact && found.consistent);
  }
}

TEST("f: the whole curve is that of Ye et al., and of Chai with the right start") {
  Rng rng(2);
  Monitor monitor;
  FOptions options;
  for (const Index m : {1, 2, 9, 60, 400}) {
    const VectorXd p = sorted_probabilities(rng, m);
    const VectorXd found = f_independent(p, options, monitor).curve, ye = ye_curve(p);
    CHECK_NEAR((found - ye).cwiseAbs().maxCoeff(), 0, 1e-12);
    if (m > 9) continue;
    for (int k = 1; k <= m; ++k) CHECK_NEAR(found[k], chai(p, k), 1e-12);
  }
}

TEST("f: what bounds leave out is not the best, at sizes where few are left") {
  Rng rng(3);
  Monitor monitor;
  FOptions all, some;
  some.max_curve = 10;
  for (int run = 0; run < 20; ++run) {
    VectorXd p(300);
    const double power = std::exp(2 * rng.normal());
    for (Index i = 0; i < p.size(); ++i) p[i] = std::pow(rng.uniform(), power);
    all.beta = some.beta = std::exp(rng.normal());
    const FDecision a = f_independent(p, all, monitor), b = f_independent(p, some, monitor);
    CHECK(a.k == b.k);
    CHECK_NEAR(a.expected, b.expected, 1e-13);
    for (Index k = 0; k < b.curve.size(); ++k)
      if (!std::isnan(b.curve[k])) CHECK_NEAR(b.curve[k], a.curve[k], 1e-12);
  }
}

TEST("f: probabilities at the ends of double precision") {
  Monitor monitor;
  FOptions options;
  VectorXd p(6);
  p << 1 - 1e-16, 0.5, 0.5, 1e-17, 1e-300, 0;
  const FDecision found = f_independent(p, options, monitor);
  CHECK(std::isfinite(found.expected) && found.expected <= 1);
  CHECK_NEAR((found.curve - ye_curve(p)).cwiseAbs().maxCoeff(), 0, 1e-14);
  CHECK_NEAR(f_independent(VectorXd::Zero(50), options, monitor).expected, 1, 0);
  CHECK_NEAR(f_independent(VectorXd::Ones(50), options, monitor).expected, 1, 1e-14);
  const FDecision none = f_independent(VectorXd::Constant(2000, 0.5), options, monitor);  // P(none) underflows to 0
  CHECK(none.k == 2000);
}

TEST("f: the Jaccard index of independent labels is decided as by all decisions") {
  Rng rng(4);
  Monitor monitor;
  for (int run = 0; run < 30; ++run) {
    const int m = 1 + static_cast<int>(rng.below(6));
    const MatrixXd y = all_vectors(m);
    const VectorXd p = sorted_probabilities(rng, m), w = product_law(y, p);
    for (const double empty : {0.0, 1.0}) {
      double best = -1;
      for (Index h = 0; h < y.rows(); ++h) {
        double value = 0;
        for (Index v = 0; v < y.rows(); ++v) value += w[v] * jaccard_value(y.row(v).dot(y.row(h)), y.row(v).sum(), y.row(h).sum(), empty);
        best = std::max(best, value);
      }
      CHECK_NEAR(jaccard_independent(p, empty, monitor).expected, best, 1e-12);
    }
  }
}

TEST("f: a law that is none is told, and inputs of the wrong shape are refused") {
  CHECK(!f_gfm(MatrixXd::Constant(3, 3, 0.9), 0.5).consistent);
  CHECK_THROWS(f_gfm(MatrixXd::Zero(2, 3), 0), InputError);
  MatrixXd y = MatrixXd::Constant(1, 1, 0.5);
  CHECK_THROWS(LabelSample(y, VectorXd()), InputError);
  y(0, 0) = 1;
  CHECK_THROWS(LabelSample(y, VectorXd::Zero(1)), InputError);
}

TEST("f: the regret of independence reaches its bound on the law of all or none") {
  for (const double m : {3.0, 10.0, 40.0}) {
    const double q = (f_bounds(FBound::independence, VectorXd::Constant(1, m), 1)[0] + 1) / 2 - 1e-9;
    MatrixXd y = MatrixXd::Zero(2, static_cast<Index>(m));
    y.row(1).setOnes();
    VectorXd w(2);
    w << q, 1 - q;
    Monitor monitor;
    const DecisionTable table = decision_table(LabelSample(y, w), MatrixXd::Zero(0, static_cast<Index>(m)), 1, 1, monitor);
    CHECK_NEAR(table.rows[1].regret, 2 * q - 1, 1e-12);
  }
}
