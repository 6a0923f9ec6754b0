#include "ensemble/level_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/math/logspace.h"
#include "core/math/special.h"

namespace granary::ensemble {

double entropy_cost(const double* counts, Index j) {
  double n = 0, sum = 0;
  for (Index c = 0; c < j; ++c)
    if (counts[c] > 0) {
      n += counts[c];
      sum += counts[c] * std::log(counts[c]);
    }
  return n > 0 ? std::max(0.0, n * std::log(n) - sum) : 0;
}

// Column by column of Stirling's triangle one would lose the small ones beside the large; their ratios r_k = S(n, k - 1) / S(n,
// k) are kept instead,
//   S(n + 1, k) = S(n, k) (k + r_k),   r_k <- r_k (k - 1 + r_(k-1)) / (k + r_k)
// and the products of (k + r_k) with an exponent of their own.
PartitionCounts partition_counts(double levels, Index k) {
  const Index n = static_cast<Index>(levels);
  if (n < 1) throw InputError("there must be at least one level.");
  k = std::min(k, n);
  std::vector<double> ratio(static_cast<std::size_t>(k) + 1, 0.0), product(static_cast<std::size_t>(k) + 1, 1.0);
  std::vector<double> exponent(static_cast<std::size_t>(k) + 1, 0.0);
  for (Index rows = 1; rows < n; ++rows) {
    // From `rows` to rows + 1 things; there are min(rows, k) columns, and one more comes.
    const Index top = std::min(rows, k);
    double before_factor = 0;  // c - 1 + r of the column to the left, before this step
    for (Index c = 1; c <= top; ++c) {
      const double r = ratio[static_cast<std::size_t>(c)], factor = static_cast<double>(c) + r;
      if (c > 1) ratio[static_cast<std::size_t>(c)] = r * before_factor / factor;
      before_factor = factor;
      double& p = product[static_cast<std::size_t>(c)];
      p *= factor;
      if (p > 1e200) {
        p *= 1e-200;
        exponent[static_cast<std::size_t>(c)] += 200;
      }
    }
    if (rows < k) {  // S(rows + 1, rows + 1) = 1 beside S(rows + 1, rows) = rows (rows + 1) / 2
      const double count = static_cast<double>(rows);
      ratio[static_cast<std::size_t>(rows + 1)] = count * (count + 1) / 2;
    }
  }
  PartitionCounts out;
  double sum = -std::numeric_limits<double>::infinity();
  for (Index c = 1; c <= k; ++c) {
    const double s = std::log(product[static_cast<std::size_t>(c)]) + exponent[static_cast<std::size_t>(c)] * std::log(10.0);
    sum = log_sum_exp(sum, s);
    out.log_stirling.push_back(s);
    out.log_bell.push_back(sum);
  }
  return out;
}

GroupCost::GroupCost(GroupCostKind kind, const VectorXd& classes, double levels)
    : kind_(kind), j_(classes.size()), share_(classes / classes.sum()), total_(classes.sum()), levels_(levels) {
  if (kind == GroupCostKind::modl) {
    const std::size_t size = static_cast<std::size_t>(std::min(total_ + static_cast<double>(j_) + 1, 4e6));
    table_.resize(size);
    for (std::size_t i = 0; i < size; ++i) table_[i] = log_factorial(static_cast<double>(i));
  }
}

double GroupCost::log_fact(double n) const {
  return n < static_cast<double>(table_.size()) ? table_[static_cast<std::size_t>(n)] : log_factorial(n);
}

double GroupCost::class_part(double n) const {
  const double j = static_cast<double>(j_ - 1);
  return log_fact(n + j) - log_fact(j) - log_fact(n);
}

double GroupCost::operator()(const double* counts) const {
  switch (kind_) {
    case GroupCostKind::modl: {
      double n = 0, parts = 0;
      for (Index c = 0; c < j_; ++c) {
        n += counts[c];
        parts += log_fact(counts[c]);
      }
      const double j = static_cast<double>(j_ - 1);
      return log_fact(n + j) - log_fact(j) - parts;
    }
    case GroupCostKind::bic:
      return 2 * entropy_cost(counts, j_);
    case GroupCostKind::entropy:
      return entropy_cost(counts, j_);
    case GroupCostKind::chi2:
      break;
  }
  double n = 0, sum = 0;
  for (Index c = 0; c < j_; ++c) {
    n += counts[c];
    if (share_[c] > 0) sum += counts[c] * counts[c] / share_[c];
  }
  return n > 0 ? -sum / n : 0;
}

double GroupCost::sum(const double* a, const double* b) const {
  double few[32];
  if (j_ <= 32) {
    for (Index c = 0; c < j_; ++c) few[c] = a[c] + b[c];
    return (*this)(few);
  }
  std::vector<double> all(static_cast<std::size_t>(j_));
  for (Index c = 0; c < j_; ++c) all[static_cast<std::size_t>(c)] = a[c] + b[c];
  return (*this)(all.data());
}

double GroupCost::groups(Index k) const {
  if (kind_ == GroupCostKind::bic) return std::log(total_) * static_cast<double>((k - 1) * (j_ - 1));
  if (kind_ != GroupCostKind::modl) return 0;
  if (k == 1) return 0;
  if (k == 2) return (levels_ - 1) * std::log(2.0);
  if (static_cast<Index>(bell_.size()) < k) bell_ = partition_counts(levels_, std::max<Index>(2 * k, 16)).log_bell;
  return bell_[static_cast<std::size_t>(std::min<Index>(k, static_cast<Index>(bell_.size())) - 1)];
}

double GroupCost::groups_at_least(Index k) const {
  if (kind_ != GroupCostKind::modl || k <= 2) return groups(k);
  if (static_cast<Index>(bell_.size()) >= k) return bell_[static_cast<std::size_t>(k - 1)];
  // Every partition into at most K groups is met by at most K! functions from levels to groups.
  return std::max((levels_ - 1) * std::log(2.0),
                  levels_ * std::log(static_cast<double>(k)) - log_factorial(static_cast<double>(k)));
}

}  // namespace granary::ensemble
