#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/math/special.h"
#include "ensemble/level_groups.h"

namespace granary::ensemble {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// log P(chi-square with df > x), far into the tail.
double log_tail(double x, double df) {
  const double p = gamma_q(df / 2, x / 2);
  if (p > 1e-290) return std::log(p);
  const double a = df / 2, z = x / 2;  // z^(a - 1) e^-z / Gamma(a) (1 + (a - 1) / z + ...)
  return (a - 1) * std::log(z) - z - log_gamma(a) + std::log1p((a - 1) / z);
}

// Of the two groups alone: chi-square and its degrees of freedom, which count the classes that the two have.
struct PairTest {
  double statistic = 0, df = 0;
};
PairTest pair_test(const double* a, const double* b, Index j) {
  double na = 0, nb = 0, used = 0, sum = 0;
  for (Index c = 0; c < j; ++c) {
    na += a[c];
    nb += b[c];
    used += a[c] + b[c] > 0 ? 1 : 0;
  }
  for (Index c = 0; c < j; ++c) {
    const double both = a[c] + b[c];
    if (both > 0) sum += (a[c] * nb - b[c] * na) * (a[c] * nb - b[c] * na) / both;
  }
  return {sum / (na * nb), used - 1};
}

}  // namespace

// Merges down by the loss of the criterion and keeps the best place on the way.
Partition group_by_chi2(const Items& items, const LevelOptions& options, double& criterion, double levels, Monitor& monitor) {
  const Index m = items.size(), j = items.counts.rows();
  const GroupMethod method = options.method;
  const bool pairwise = method == GroupMethod::chaid || method == GroupMethod::chaid_exhaustive;
  const VectorXd totals = items.counts.rowwise().sum();
  const double n = totals.sum();
  const GroupCost loss(method == GroupMethod::gain_ratio ? GroupCostKind::entropy : GroupCostKind::chi2, totals, levels);
  const PartitionCounts ways = partition_counts(levels, method == GroupMethod::chaid_exhaustive ? m : 1);
  MatrixXd counts = items.counts;
  std::vector<Index> alive(static_cast<std::size_t>(m));
  std::iota(alive.begin(), alive.end(), Index{0});
  VectorXi root(m);
  for (Index i = 0; i < m; ++i) root[i] = static_cast<int>(i);
  const auto whole = [&] {
    double sum = 0;
    for (const Index k : alive) sum += loss(counts.col(k).data());
    return sum;
  };
  const double class_entropy = entropy_cost(totals.data(), j);
  // Smaller is better.
  const auto value = [&]() -> double {
    const double k = static_cast<double>(alive.size()), sum = whole();
    if (alive.size() < 2) return infinity;
    if (method == GroupMethod::gain_ratio) {
      double split = 0;
      for (const Index g : alive) {
        const double size = counts.col(g).sum();
        split -= size * std::log(size / n);
      }
      return split > 0 ? -(class_entropy - sum) / split : infinity;
    }
    const double chi2 = std::max(0.0, -sum - n), df = (k - 1) * static_cast<double>(j - 1);
    if (method == GroupMethod::tschuprow) return -std::sqrt(chi2 / (n * std::sqrt(df)));
    if (method == GroupMethod::khiops) return log_tail(chi2, df);
    return std::min(0.0, log_tail(chi2, df) + ways.log_stirling[alive.size() - 1]);  // Bonferroni
  };
  VectorXi best = root;
  criterion = value();
  if (method == GroupMethod::khiops) {
    // A level with an expected count below 5 counts for nothing by itself: such levels are one item.
    Index pool = -1;
    for (Index i = 0; i < m; ++i) {
      if (counts.col(i).sum() * totals.minCoeff() / n >= 5) continue;
      if (pool < 0) {
        pool = i;
        continue;
      }
      counts.col(pool) += counts.col(i);
      root[i] = static_cast<int>(pool);
      alive.erase(std::find(alive.begin(), alive.end(), i));
    }
    best = root;
    criterion = value();
  }
  const std::size_t end = options.groups > 0                                    ? static_cast<std::size_t>(options.groups)
                          : pairwise && method == GroupMethod::chaid_exhaustive ? 2
                                                                                : 1;
  // Change of the criterion by the merge of each pair, for the first of the two.
  const auto change = [&](Index a, Index b) {
    if (pairwise) {
      const PairTest test = pair_test(counts.col(a).data(), counts.col(b).data(), j);
      return test.df > 0 ? -log_tail(test.statistic, test.df) : 0;
    }
    return loss.sum(counts.col(a).data(), counts.col(b).data()) - loss(counts.col(a).data()) - loss(counts.col(b).data());
  };
  std::vector<double> gain(static_cast<std::size_t>(m), infinity);
  std::vector<Index> partner(static_cast<std::size_t>(m), -1);
  const auto look = [&](std::size_t place) {
    const std::size_t a = static_cast<std::size_t>(alive[place]);
    gain[a] = infinity;
    for (std::size_t q = place + 1; q < alive.size(); ++q) {
      const double here = change(alive[place], alive[q]);
      if (here < gain[a]) {
        gain[a] = here;
        partner[a] = alive[q];
      }
    }
  };
  for (std::size_t q = 0; q < alive.size(); ++q) {
    monitor.check();
    look(q);
  }
  while (alive.size() > std::max<std::size_t>(end, 1)) {
    monitor.check();
    std::size_t place = 0;
    for (std::size_t q = 1; q + 1 < alive.size(); ++q)
      if (gain[static_cast<std::size_t>(alive[q])] < gain[static_cast<std::size_t>(alive[place])]) place = q;
    const Index a = alive[place], b = partner[static_cast<std::size_t>(a)];
    if (method == GroupMethod::chaid && options.groups == 0 && gain[static_cast<std::size_t>(a)] >= -std::log(options.alpha))
      break;
    counts.col(a) += counts.col(b);
    for (Index i = 0; i < m; ++i)
      if (root[i] == b) root[i] = static_cast<int>(a);
    alive.erase(std::find(alive.begin(), alive.end(), b));
    for (std::size_t q = 0; q < alive.size(); ++q) {
      const std::size_t g = static_cast<std::size_t>(alive[q]);
      if (alive[q] == a || partner[g] == a || partner[g] == b) {
        look(q);
      } else if (q < place && change(alive[q], a) < gain[g]) {
        gain[g] = change(alive[q], a);
        partner[g] = a;
      }
    }
    const double here = value();
    if (method == GroupMethod::chaid || options.groups > 0 || here <= criterion) {
      best = root;
      criterion = here;
    }
  }
  if (!std::isfinite(criterion)) criterion = std::numeric_limits<double>::quiet_NaN();
  if (method == GroupMethod::tschuprow || method == GroupMethod::gain_ratio) criterion = -criterion;
  return make_partition(items, best, loss);
}

}  // namespace granary::ensemble
