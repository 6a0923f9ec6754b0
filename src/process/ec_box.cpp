#include "ec_box.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../core/ep_sites.h"
#include "../core/errors.h"
#include "../core/logspace.h"
#include "../core/parallel.h"
#include "../core/special.h"

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

// log of the probability of (a, b) under the standard normal, and the point y that cuts off the share u of it.
double interval(double a, double b, double u, double& y) {
  if (a > 0) {
    const double log_p = interval(-b, -a, 1 - u, y);
    y = -y;
    return log_p;
  }
  if (b > -30) {
    const double from = normal_cdf(a), p = normal_cdf(b) - from;
    y = std::min(b, std::max(a, normal_quantile(from + u * p)));
    return p > 0 ? std::log(p) : truncation_moments(a, b, 0, 1).log_z;
  }
  // Far out, in logarithms: log Phi(y) = log((1 - u) Phi(a) + u Phi(b)), by Newton's method on a nearly quadratic function.
  const double log_a = normal_log_cdf(a), log_b = normal_log_cdf(b);
  const double target = log_sum_exp(log_a + std::log1p(-u), log_b + std::log(u));
  y = -std::sqrt(std::max(b * b, b * b + 2 * (log_b - target)));
  for (int step = 0; step < 4 && std::isfinite(y); ++step) y -= (normal_log_cdf(y) - target) / inverse_mills(y);
  y = std::isfinite(y) ? std::min(b, std::max(a, y)) : b;
  return log_b + std::log1p(-std::exp(log_a - log_b));
}

std::vector<double> root_primes(Index n) {
  std::vector<double> roots;
  for (int candidate = 2; static_cast<Index>(roots.size()) < n; ++candidate) {
    bool prime = true;
    for (int d = 2; d * d <= candidate && prime; ++d) prime = candidate % d != 0;
    if (prime) roots.push_back(std::fmod(std::sqrt(static_cast<double>(candidate)), 1.0));
  }
  return roots;
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
  const std::vector<double> step = root_primes(n);
  const int points = std::max(1, (samples + shifts - 1) / shifts);
  VectorXd log_mean(shifts);
  const Rng streams = rng.stream(rng());
  parallel_for(shifts, threads, monitor, [&](Index s) {
    Rng mine = streams.stream(static_cast<std::uint64_t>(s));
    std::vector<double> at(n);
    for (double& value : at) value = mine.uniform();
    VectorXd y = VectorXd::Zero(n);
    LogSumExp sum;
    for (int t = 0; t < points; ++t) {
      if (t % 64 == 0) monitor.check();
      double log_p = 0;
      for (Index k = 0; k < n && log_p > -infinity; ++k) {
        at[k] += step[k];
        if (at[k] >= 1) at[k] -= 1;
        const double shift = box.c.col(k).head(k).dot(y.head(k)), a = box.lower[k] - shift, b = box.upper[k] - shift;
        if (box.fixed[k]) {
          y[k] = 0;
          if (a > 0 || b < 0) log_p = -infinity;
          continue;
        }
        log_p += interval(a, b, std::abs(2 * at[k] - 1), y[k]);
      }
      sum.add(log_p);
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
