#include "kernel/boolean_theory.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/math/logspace.h"

namespace granary::kernel {

namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

double whole(double x) { return std::floor(x + 1e-9); }  // .99 n^(2/3) is 99 for n = 1000, whatever rounding says
double log_rho(double u, int k) { return u < 1 ? minus_infinity : log_conjunctions(u, 1, k, 1); }
double log_power(double u, int k) { return u > 0 ? k * std::log(u) : minus_infinity; }
double log_difference(double a, double b) { return a > b ? a + log1mexp(b - a) : minus_infinity; }
double skew_needed(double n, double m) { return m > 1 ? std::sqrt(n / std::log2(m)) / 66 : 0; }

}  // namespace

std::vector<BooleanBound> boolean_bounds(double n, double m, int k_max) {
  require(n >= 1 && m >= 1 && k_max >= 1, "there must be one attribute, one row and one length at least.");
  const double large = std::pow(n, 2.0 / 3), small = std::pow(n, 1.0 / 3);
  const double u1 = whole(0.99 * large), u2 = whole(1.01 * large), u3 = whole(1.01 * small), log_m = std::log(m),
               log_two = std::log(2.0);
  std::vector<BooleanBound> out;
  for (int k = 1; k <= k_max; ++k) {
    BooleanBound b;
    b.k = k;
    const double a = log_rho(u1, k), c = log_rho(u2, k), d = log_rho(u3, k);
    b.log_margin = log_difference(a, log_m + d) - log_two - 0.5 * (log_m + c);
    b.overfits = a > log_sum_exp(log_two + log_m + 0.5 * (d + c), log_m + d);
    // The polynomial kernel takes the numbers as they are.
    const double p1 = log_power(0.99 * large, k), p2 = log_power(1.01 * large, k), p3 = log_power(1.01 * small, k);
    b.polynomial = log_difference(p1, log_m + p3) - log_two - log_m - 0.5 * p2 > log_m + 0.5 * p3;
    const double size = whole(0.49 * n);
    b.uniform =
        0.5 * log_rho(size, k) >
        std::log(3.0) + log_m + log_sum_exp(0.5 * log_rho(whole(0.26 * n), k), 0.5 * log_rho(whole(size - skew_needed(n, m)), k));
    out.push_back(b);
  }
  return out;
}

BooleanSample sim_boolean(Index m, Index n, const BooleanSim& o, Rng& rng) {
  require(m >= 1 && n >= 1, "there must be one row and one attribute at least.");
  require(o.terms >= 0 && (o.terms == 0 || o.term_length >= 1), "the target must have terms of one attribute or more.");
  const bool first_only = o.terms == 0 || o.law == BooleanLaw::sparse_target;
  const Index relevant = first_only ? 1 : static_cast<Index>(o.terms) * o.term_length;
  require(relevant <= n, message("the target needs ", relevant, " attributes, but there are ", n, "."));
  BooleanSample out{MatrixXd::Zero(m, n), VectorXd::Zero(m)};
  const double sparse = std::pow(static_cast<double>(n), -1.0 / 3);
  const double zero = o.law == BooleanLaw::sparse ? 0.5 : o.law == BooleanLaw::sparse_target ? 0.25 : 0;
  for (Index i = 0; i < m; ++i) {
    if (zero > 0 && rng.uniform() < zero) continue;
    for (Index j = 0; j < n; ++j) {
      double p = 0.5;
      if (o.law == BooleanLaw::sparse_target) p = j == 0 ? 2.0 / 3 : sparse;
      if (o.law == BooleanLaw::sparse && j >= relevant) p = sparse;
      out.x(i, j) = rng.uniform() < p;
    }
    for (Index t = 0; t < (first_only ? 1 : o.terms); ++t) {
      bool all = true;
      const Index length = first_only ? 1 : o.term_length;
      for (Index j = t * length; j < (t + 1) * length; ++j) all = all && out.x(i, j) == 1;
      if (all) out.y[i] = 1;
    }
  }
  return out;
}

BooleanTypical boolean_typical(const BitRows& x, ConstVectorRef label) {
  require(label.size() == x.rows(), "there must be one label per row.");
  const double n = static_cast<double>(x.columns()), large = std::pow(n, 2.0 / 3), small = std::pow(n, 1.0 / 3);
  BooleanTypical t;
  t.sizes_sparse = t.overlaps_sparse = t.sizes_uniform = t.overlaps_uniform = true;
  double up = minus_infinity, down = minus_infinity;
  for (Index i = 0; i < x.rows(); ++i) {
    const double size = x.count(i);
    t.zero_row = t.zero_row || size == 0;
    if (size > 0 && (size < 0.99 * large || size > 1.01 * large)) t.sizes_sparse = false;
    if (size < 0.49 * n || size > 0.51 * n) t.sizes_uniform = false;
    (label[i] > 0 ? up : down) = std::max(label[i] > 0 ? up : down, size);
    for (Index j = 0; label[i] > 0 && j < x.rows(); ++j) {
      if (label[j] > 0) continue;
      const double both = x.both(i, x, j);
      if (both > 1.01 * small) t.overlaps_sparse = false;
      if (both > 0.26 * n) t.overlaps_uniform = false;
    }
  }
  t.skew = std::isfinite(up) && std::isfinite(down) ? up - down : 0;
  t.needed_skew = skew_needed(n, static_cast<double>(x.rows()));
  return t;
}

}  // namespace granary::kernel
