#include "process/ec_box.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/infer/ep_sites.h"
#include "core/base/errors.h"
#include "core/math/logspace.h"
#include "core/base/parallel.h"
#include "core/cluster/space_filling.h"
#include "core/math/special.h"
#include "core/linalg/dense.h"

namespace granary::process {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The order of integration, with the box in it and the factor: rows of C below the diagonal, bounds in units of its diagonal.
struct Ordered {
  MatrixXd c;  // C_ij / C_ii, column-major by j so that row i is read with stride; kept transposed
  VectorXd lower, upper;
  std::vector<bool> fixed;  // no variance left: the bounds are then in the user's units
};

Ordered order_variables(ConstVectorRef lower, ConstVectorRef upper, ConstVectorRef mean, ConstMatrixRef sigma) {
  const Index n = lower.size();
  MatrixXd c = MatrixXd::Zero(n, n);
  std::vector<Index> at(n);
  for (Index i = 0; i < n; ++i) at[i] = i;
  VectorXd left = sigma.diagonal(), expected = VectorXd::Zero(n);
  Ordered out{MatrixXd::Zero(n, n), VectorXd(n), VectorXd(n), std::vector<bool>(n, false)};
  for (Index k = 0; k < n; ++k) {
    Index pick = k;
    double least = infinity;
    for (Index i = k; i < n; ++i) {
      const Index v = at[i];
      double log_p = infinity;  // those without variance come last
      if (left[v] > 1e-12 * sigma(v, v)) {
        log_p = truncation_moments(lower[v] - mean[v], upper[v] - mean[v], expected[v], left[v]).log_z;
      }
      if (log_p < least) {
        least = log_p;
        pick = i;
      }
    }
    std::swap(at[k], at[pick]);
    const Index v = at[k];
    const bool fixed = !(left[v] > 1e-12 * sigma(v, v));
    const double sd = fixed ? 1 : std::sqrt(left[v]);
    out.fixed[k] = fixed;
    out.lower[k] = (lower[v] - mean[v]) / sd;
    out.upper[k] = (upper[v] - mean[v]) / sd;
    out.c.col(k).head(k) = c.row(v).head(k).transpose() / sd;
    if (fixed) continue;
    const double y = (truncation_moments(lower[v] - mean[v], upper[v] - mean[v], expected[v], left[v]).mean - expected[v]) / sd;
    for (Index i = k + 1; i < n; ++i) {
      const Index u = at[i];
      c(u, k) = (sigma(u, v) - c.row(u).head(k).dot(c.row(v).head(k))) / sd;
      left[u] -= c(u, k) * c(u, k);
      expected[u] += c(u, k) * y;
    }
  }
  return out;
}

// The shifts (tilt) of the header. With A = (I + C)(I + C)' their system is psi = g(-(A - I) psi), g_k(t) the mean of a
// standard normal variable between lower_k + t and upper_k + t, and mu = C' psi; as g' = 1 - variance lies in [0, 1], Newton's
// matrix I + diag(g')(A - I) is never singular. Any shifts are valid, so where it fails there are none.
VectorXd tilting(const Ordered& box, Monitor& monitor) {
  const Index n = box.lower.size();
  MatrixXd root = box.c.transpose();
  root.diagonal().setOnes();
  MatrixXd a = root * root.transpose();
  a.diagonal().array() -= 1;
  VectorXd psi = VectorXd::Zero(n), slope = VectorXd::Zero(n);
  const auto residual = [&](const VectorXd& at) {
    const VectorXd t = -a * at;
    VectorXd r = at;
    for (Index k = 0; k < n; ++k) {
      if (box.fixed[k]) continue;
      const SiteMoments moments = truncation_moments(box.lower[k] + t[k], box.upper[k] + t[k], 0, 1);
      r[k] -= moments.mean;
      slope[k] = std::min(1.0, std::max(0.0, 1 - moments.variance));
    }
    return r;
  };
  VectorXd r = residual(psi);
  for (int iteration = 0; iteration < 50; ++iteration) {
    monitor.check();
    const double size = r.norm();
    if (size <= 1e-8 * (1 + psi.norm())) return box.c * psi;
    MatrixXd newton = slope.asDiagonal() * a;
    newton.diagonal().array() += 1;
    const VectorXd step = Lu(newton).solve(VectorXd(r));
    double share = 1;
    VectorXd trial;
    for (; share > 1e-6; share /= 2) {
      trial = psi - share * step;
      r = residual(trial);
      if (r.norm() < size) break;
    }
    if (!(share > 1e-6)) break;
    psi = trial;
  }
  return VectorXd::Zero(n);
}

double lower_tail(double x) { return 0.5 * std::erfc(-0.70710678118654752440 * x); }

// The probability of (a, b) under the standard normal, and the point y that cuts off the share u of it. What underflows is added
// to log_p instead, and 1 returned.
double interval(double a, double b, double u, double& y, double& log_p) {
  if (a > 0) {
    const double p = interval(-b, -a, 1 - u, y, log_p);
    y = -y;
    return p;
  }
  if (b > -30) {
    const double from = lower_tail(a), p = lower_tail(b) - from;
    y = std::min(b, std::max(a, normal_quantile(from + u * p)));
    if (p > 0) return p;
    log_p += truncation_moments(a, b, 0, 1).log_z;
    return 1;
  }
  // Far out, in logarithms: log Phi(y) = log((1 - u) Phi(a) + u Phi(b)), by Newton's method on a nearly quadratic function.
  const double log_a = normal_log_cdf(a), log_b = normal_log_cdf(b);
  const double target = log_sum_exp(log_a + std::log1p(-u), log_b + std::log(u));
  y = -std::sqrt(std::max(b * b, b * b + 2 * (log_b - target)));
  for (int step = 0; step < 4 && std::isfinite(y); ++step) y -= (normal_log_cdf(y) - target) / inverse_mills(y);
  y = std::isfinite(y) ? std::min(b, std::max(a, y)) : b;
  log_p += log_b + std::log1p(-std::exp(log_a - log_b));
  return 1;
}

}  // namespace

BoxEstimate box_monte_carlo(ConstVectorRef lower, ConstVectorRef upper, ConstVectorRef mean, ConstMatrixRef sigma, int samples,
                            int shifts, int threads, Rng& rng, Monitor& monitor) {
  const Index n = lower.size();
  if (n == 0 || upper.size() != n || mean.size() != n || sigma.rows() != n || sigma.cols() != n) {
    throw InputError("bounds, mean and covariance must be of one size, at least 1.");
  }
  if (samples < 1 || shifts < 2) throw InputError("at least one sample and two shifts are needed.");
  const Ordered box = order_variables(lower, upper, mean, sigma);
  // The last variable is integrated exactly; dimensions that Sobol's sequence does not have are left to chance.
  const Index sequence = std::min<Index>(std::max<Index>(n - 1, 1), 3667);
  int levels = 0;
  while ((1LL << levels) * shifts < samples) ++levels;
  const Index points = Index(1) << levels;
  const SobolNumbers numbers(sequence, levels);
  const VectorXd mu = tilting(box, monitor);
  VectorXd log_mean(shifts);
  const Rng streams = rng.stream(rng());
  parallel_for(shifts, threads, monitor, [&](Index s) {
    Rng mine = streams.stream(static_cast<std::uint64_t>(s));
    ScrambledSobol sobol(numbers, mine);
    VectorXd u(std::max(sequence, n)), y = VectorXd::Zero(n);
    LogSumExp sum;
    for (Index t = 0; t < points; ++t) {
      if (t % 64 == 0) monitor.check();
      sobol.next(u.data());
      for (Index k = sequence; k < n; ++k) u[k] = mine.uniform_open();
      double log_p = 0, p = 1;
      for (Index k = 0; k < n && p > 0; ++k) {
        const double shift = box.c.col(k).head(k).dot(y.head(k)), a = box.lower[k] - shift, b = box.upper[k] - shift;
        if (box.fixed[k]) {
          y[k] = 0;
          if (a > 0 || b < 0) p = 0;
          continue;
        }
        p *= interval(a - mu[k], b - mu[k], u[k], y[k], log_p);
        y[k] += mu[k];
        log_p += mu[k] * (0.5 * mu[k] - y[k]);
        if (p < 1e-250) {
          log_p += std::log(p);
          p = log_p > -infinity ? 1 : 0;
        }
      }
      sum.add(p > 0 ? log_p + std::log(p) : -infinity);
    }
    log_mean[s] = sum.value() - std::log(static_cast<double>(points));
  });
  BoxEstimate result;
  const double top = log_mean.maxCoeff();
  if (!std::isfinite(top)) {
    result.log_probability = -infinity;
    return result;
  }
  const Eigen::ArrayXd scaled = (log_mean.array() - top).exp();
  const double average = scaled.mean();
  result.log_probability = top + std::log(average);
  result.standard_error = std::sqrt((scaled - average).square().sum() / (shifts - 1.0) / shifts) / average;
  return result;
}

}  // namespace granary::process
