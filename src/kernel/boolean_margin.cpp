#include "kernel/boolean_margin.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"

namespace granary::kernel {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index most_rows = 8000;    // half a gigabyte of kernel values
constexpr double hulls_meet = 1e-6;  // distance of the hulls, over the radius, below which the classes are not separable
constexpr double steps_between_checks = 50;

double median(std::vector<double> x) {
  if (x.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto half = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
  std::nth_element(x.begin(), half, x.end());
  if (x.size() % 2 == 1) return *half;
  return 0.5 * (*half + *std::max_element(x.begin(), half));
}

struct Bracket {
  double lower, upper, theta, norm;
};

Bracket bracket(const VectorXd& beta, const VectorXd& f, ConstVectorRef b) {
  double low_positive = infinity, high_negative = -infinity, mass = 0;
  for (Index i = 0; i < b.size(); ++i) {
    if (b[i] > 0) {
      low_positive = std::min(low_positive, f[i]);
      mass += beta[i];
    } else {
      high_negative = std::max(high_negative, f[i]);
    }
  }
  const double norm = std::sqrt(std::max(0.0, beta.dot(f)));
  return {norm > 0 ? 0.5 * (low_positive - high_negative) / norm : -infinity, mass > 0 ? 0.5 * norm / mass : infinity,
          0.5 * (low_positive + high_negative), norm};
}

// How alike rows are to themselves, and to the row most like them.
void describe_overlap(const BooleanTable& table, const BitRows& x, BooleanMarginResult& r) {
  std::vector<double> self, cross;
  for (Index i = 0; i < x.rows(); ++i) {
    double most = -infinity;
    for (Index j = 0; j < x.rows(); ++j)
      if (j != i) most = std::max(most, table.log_value(x.both(i, x, j), x.count(i), x.count(j)));
    self.push_back(table.log_value(x.count(i), x.count(i), x.count(i)));
    cross.push_back(most);
  }
  r.self_overlap = median(self);
  r.cross_overlap = median(cross);
  r.memorisation = r.cross_overlap > 0 ? r.self_overlap / r.cross_overlap : r.self_overlap > 0 ? infinity : 1;
}

}  // namespace

BooleanMarginResult boolean_margin(const BitRows& x, ConstVectorRef b, const BooleanMarginOptions& o, Monitor& monitor) {
  const Stopwatch watch;
  const Index m = x.rows();
  if (b.size() != m) throw InputError("there must be one label per row.");
  if (m > most_rows)
    throw InputError(message("the exact margin holds the kernel of all rows, ", m, " x ", m, " numbers, and is for at most ",
                             most_rows, " rows. Use svm() with k_boolean() and a finite cost."));
  if (!((b.array() == 1).any() && (b.array() == -1).any())) throw InputError("there must be rows of both classes.");
  const BooleanTable table(o.kernel, x.columns());
  MatrixXd k = boolean_kernel(table, x, x);
  BooleanMarginResult r;
  const double largest = k.diagonal().maxCoeff(), scale = k.diagonal().mean();
  if (!(scale > 0)) throw InputError("no row satisfies any conjunction of these lengths.");
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < i; ++j)
      if (b[i] != b[j] && x.count(i) == x.count(j) && x.both(i, x, j) == x.count(i))
        throw InputError(message("rows ", j + 1, " and ", i + 1,
                                 " are equal but have different labels, so no rule has a margin. Use svm() with k_boolean()."));
  r.radius = std::sqrt(largest);
  k /= scale;
  const double radius = std::sqrt(largest / scale);

  VectorXd beta = VectorXd::Zero(m), f = VectorXd::Zero(m);
  double steps = 0;
  Bracket now{-infinity, infinity, 0, 0};
  for (;; ++steps) {
    Index up = -1;
    double high = -infinity, low = infinity;
    for (Index i = 0; i < m; ++i) {
      const double v = b[i] - f[i];
      if ((b[i] > 0 || beta[i] < 0) && v > high) {
        high = v;
        up = i;
      }
      if (b[i] < 0 || beta[i] > 0) low = std::min(low, v);
    }
    if (std::fmod(steps, steps_between_checks) == 0 || high - low < 1e-12) {
      f = k * beta;
      now = bracket(beta, f, b);
      monitor.check();
      const bool solved = now.upper < infinity && now.upper - now.lower <= o.tol * now.upper;
      const bool meet = now.upper < hulls_meet * radius;
      if (solved || meet || steps >= o.max_iter || high - low < 1e-14) {
        r.convergence.converged = solved && !meet;
        r.convergence.reason = meet                  ? Stop::unbounded
                               : solved              ? Stop::solved
                               : steps >= o.max_iter ? Stop::iterations
                                                     : Stop::stalled;
        break;
      }
    }
    Index down = -1;
    double best = 0;
    for (Index j = 0; j < m; ++j) {
      if (!(b[j] < 0 || beta[j] > 0)) continue;
      const double gain = high - (b[j] - f[j]);
      if (!(gain > 0)) continue;
      const double curvature = std::max(1e-12, k(up, up) + k(j, j) - 2 * k(up, j));
      if (gain * gain / curvature > best) {
        best = gain * gain / curvature;
        down = j;
      }
    }
    if (down < 0) {
      steps = std::max(steps, 0.0);
      f = k * beta;
      now = bracket(beta, f, b);
      r.convergence.converged = now.upper < infinity && now.upper - now.lower <= o.tol * now.upper;
      r.convergence.reason = r.convergence.converged ? Stop::solved : Stop::stalled;
      break;
    }
    const double curvature = std::max(1e-12, k(up, up) + k(down, down) - 2 * k(up, down));
    double step = (high - (b[down] - f[down])) / curvature;
    if (b[up] < 0) step = std::min(step, -beta[up]);
    if (b[down] > 0) step = std::min(step, beta[down]);
    beta[up] += step;
    beta[down] -= step;
    if (std::abs(beta[up]) < 1e-300) beta[up] = 0;
    f += step * (k.col(up) - k.col(down));
  }
  const double unit = std::sqrt(scale);
  r.lower = now.lower * unit;
  r.upper = now.upper * unit;
  // The nearest rows at -1 and 1: divide by half the gap between the classes.
  const double half = now.lower * now.norm > 0 ? now.lower * now.norm : 1;
  r.coefficients = beta / (half * scale);
  r.theta = now.theta / half;
  r.decision = (f.array() / half - r.theta).matrix();
  r.norm = now.norm / (half * unit);
  r.convergence.iterations = static_cast<int>(std::min(steps, 2e9));
  r.convergence.gap = now.upper > 0 && now.upper < infinity ? (now.upper - now.lower) / now.upper : infinity;
  r.convergence.seconds = watch.seconds();

  VectorXd positive = VectorXd::Zero(m);
  for (Index i = 0; i < m; ++i)
    if (b[i] > 0) positive[i] = 1;
  const VectorXd votes = k * positive;
  r.certificate = bracket(positive, votes, b).lower * unit;
  if (o.kernel.literals != Literals::parity) describe_overlap(table, x, r);
  return r;
}

BooleanScores boolean_scores(const BitRows& x, ConstVectorRef coefficients, const BooleanSpec& kernel, const BitRows& z,
                             Monitor& monitor) {
  if (x.columns() != z.columns())
    throw InputError(message("the rows must have ", x.columns(), " attributes, not ", z.columns(), "."));
  const BooleanTable table(kernel, x.columns());
  BooleanScores out;
  out.score = VectorXd::Zero(z.rows());
  out.reach = VectorXd::Zero(z.rows());
  for (Index j = 0; j < z.rows(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      const double k = table.value(x.both(i, z, j), x.count(i), z.count(j));
      out.score[j] += coefficients[i] * k;
      out.reach[j] += k;
    }
    if (j % 64 == 0) monitor.check();
  }
  out.reach = out.reach.cwiseMax(0).cwiseSqrt();
  return out;
}

}  // namespace granary::kernel
