#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/cluster/interval_partition.h"
#include "ensemble/level_groups.h"

namespace granary::ensemble {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Cost of the items from .. to - 1 of an order, by sums of those before.
class RunCost {
 public:
  RunCost(const MatrixXd& before, const GroupCost& cost) : before_(before), cost_(cost) {}
  double operator()(Index from, Index to) const {
    const double counts[2] = {before_(0, to) - before_(0, from), before_(1, to) - before_(1, from)};
    return cost_(counts);
  }

 private:
  const MatrixXd& before_;
  const GroupCost& cost_;
};

class RunEntropy {
 public:
  explicit RunEntropy(const MatrixXd& before) : before_(before) {}
  double operator()(Index from, Index to) const {
    const double counts[2] = {before_(0, to) - before_(0, from), before_(1, to) - before_(1, from)};
    return entropy_cost(counts, 2);
  }

 private:
  const MatrixXd& before_;
};

// Least sum of costs in any number of intervals.
double least_of_any(Index m, const RunCost& cost, Monitor& monitor) {
  VectorXd best = VectorXd::Zero(m + 1);
  for (Index j = 1; j <= m; ++j) {
    if ((j & 63) == 0) monitor.check();
    best[j] = infinity;
    for (Index i = 0; i < j; ++i) best[j] = std::min(best[j], best[i] + cost(i, j));
  }
  return best[m];
}

VectorXi in_order(const VectorXi& run, const std::vector<Index>& order) {
  VectorXi out(run.size());
  for (Index i = 0; i < run.size(); ++i) out[order[static_cast<std::size_t>(i)]] = run[i];
  return out;
}

}  // namespace

Interval best_intervals(const Items& items, const GroupCost& cost, GroupCostKind kind, int groups, int max_exact,
                        Monitor& monitor) {
  const Index m = items.size();
  std::vector<Index> order(static_cast<std::size_t>(m));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    const double left = items.counts(0, a) * items.counts.col(b).sum(), right = items.counts(0, b) * items.counts.col(a).sum();
    return left != right ? left < right : a < b;
  });
  MatrixXd before = MatrixXd::Zero(2, m + 1);
  for (Index i = 0; i < m; ++i) before.col(i + 1) = before.col(i) + items.counts.col(order[static_cast<std::size_t>(i)]);
  const RunCost run(before, cost);
  Interval out;
  out.best.cost = infinity;
  const Index wanted = std::min<Index>(groups, m);
  const bool monge = kind != GroupCostKind::modl;
  if (monge || m <= max_exact) {
    IntervalLayers<RunCost> layers(m, run, monge, monitor);
    double floor = 0;
    if (!monge) floor = least_of_any(m, run, monitor);
    if (monge)
      for (Index i = 0; i < m; ++i) floor += run(i, i + 1);
    Index best = 1;
    double least = layers.loss(), fewer = layers.loss();
    if (wanted > 0) {
      while (layers.layers() < wanted) {
        layers.next();
        fewer = std::min(fewer, layers.loss());
      }
      best = wanted;
      least = layers.loss() + cost.groups(wanted);
    } else {
      while (layers.can_go_on() && cost.groups_at_least(layers.layers() + 1) + floor < least - 1e-9) {
        layers.next();
        const double here = layers.loss() + cost.groups(layers.layers());
        if (here < least - 1e-9) {
          least = here;
          best = layers.layers();
        }
      }
    }
    out.best = make_partition(items, in_order(layers.groups(best), order), cost);
    // Groups are cones where at most so many are asked for: with exactly so many that is certain only if fewer would not do
    // better.
    out.lower = wanted > 0 ? std::min(out.best.cost, fewer + cost.groups(wanted)) : out.best.cost;
    out.exact = out.best.cost <= out.lower + 1e-9;
    return out;
  }
  // Too many items: the best intervals by entropy, which is never above the cost, bound it from below and are good starts.
  const RunEntropy entropy(before);
  IntervalLayers<RunEntropy> layers(m, entropy, true, monitor);
  double floor = 0;
  for (Index i = 0; i < m; ++i) floor += entropy(i, i + 1);
  out.best = make_partition(items, VectorXi::Zero(m), cost);
  out.lower = wanted > 1 ? infinity : out.best.cost;
  if (wanted > 1) out.best.cost = infinity;
  while (layers.can_go_on()) {
    const Index next = layers.layers() + 1;
    if (wanted > 0 ? next > wanted : cost.groups_at_least(next) + floor >= out.best.cost) break;
    layers.next();
    if (wanted > 0 && next < wanted) continue;
    out.lower = std::min(out.lower, layers.loss() + cost.groups(next));
    const Partition here = make_partition(items, in_order(layers.groups(next), order), cost);
    if (here.cost < out.best.cost) out.best = here;
  }
  if (wanted == 0 && layers.can_go_on()) out.lower = std::min(out.lower, cost.groups_at_least(layers.layers() + 1) + floor);
  return out;
}

// The entropy of classes is that of one class against the others, plus that among the others: of K groups the first is never
// below its best intervals, the
// second never below that of the items. The best class for each K.
double entropy_bound(const Items& items, const GroupCost& cost, GroupCostKind kind, double single, int groups, Monitor& monitor) {
  const Index m = items.size(), j = items.counts.rows();
  const double scale = kind == GroupCostKind::bic ? 2 : 1;
  if (m < 2 || groups == 1) return single;
  double floor = 0;
  for (Index i = 0; i < m; ++i) floor += scale * entropy_cost(items.counts.col(i).data(), j);
  struct Split {
    MatrixXd before;
    double others = 0;
  };
  std::vector<Split> splits(static_cast<std::size_t>(std::min<Index>(j, 20)));
  for (std::size_t c = 0; c < splits.size(); ++c) {
    MatrixXd two(2, m);
    two.row(0) = items.counts.row(static_cast<Index>(c));
    two.row(1) = items.counts.colwise().sum() - two.row(0);
    for (Index i = 0; i < m; ++i)
      splits[c].others += entropy_cost(items.counts.col(i).data(), j) - entropy_cost(two.col(i).data(), 2);
    std::vector<Index> order(static_cast<std::size_t>(m));
    std::iota(order.begin(), order.end(), Index{0});
    std::sort(order.begin(), order.end(), [&](Index a, Index b) {
      const double left = two(0, a) * two.col(b).sum(), right = two(0, b) * two.col(a).sum();
      return left != right ? left < right : a < b;
    });
    splits[c].before = MatrixXd::Zero(2, m + 1);
    for (Index i = 0; i < m; ++i)
      splits[c].before.col(i + 1) = splits[c].before.col(i) + two.col(order[static_cast<std::size_t>(i)]);
  }
  std::vector<RunEntropy> runs;
  std::vector<IntervalLayers<RunEntropy>> layers;
  runs.reserve(splits.size());
  for (const Split& split : splits) runs.emplace_back(split.before);
  for (const RunEntropy& run : runs) layers.emplace_back(m, run, true, monitor);
  double lower = groups == 0 ? single : infinity;
  constexpr Index most = 64;  // beyond, the bound of the items will do
  for (Index k = 2; k <= m; ++k) {
    if (groups > 0 ? k > groups : cost.groups_at_least(k) + floor >= lower) return lower;
    if (k > most) return groups > 0 ? cost.groups(groups) + floor : std::min(lower, cost.groups_at_least(k) + floor);
    double best = floor;
    for (std::size_t c = 0; c < layers.size(); ++c) {
      layers[c].next();
      best = std::max(best, scale * (layers[c].loss() + splits[c].others));
    }
    if (groups == 0 || k == groups) lower = std::min(lower, cost.groups(k) + best);
  }
  return lower;
}

Partition best_of_all(const Items& items, const GroupCost& cost, int groups, Monitor& monitor) {
  const Index m = items.size(), j = items.counts.rows();
  const Index wanted = groups > 0 ? std::min<Index>(groups, m) : 0;
  const Index most = wanted > 0 ? wanted : m;
  MatrixXd counts = MatrixXd::Zero(j, m);
  VectorXi group = VectorXi::Zero(m), best;
  double least = infinity;
  Index leaves = 0;
  // Item by item to one of the groups that are open, or to the next.
  const auto place = [&](const auto& self, Index i, Index open) -> void {
    if (i == m) {
      if ((++leaves & 4095) == 0) monitor.check();
      if (wanted > 0 && open != wanted) return;
      double total = cost.groups(open);
      for (Index k = 0; k < open && total < least; ++k) total += cost(counts.col(k).data());
      if (total < least - 1e-12) {
        least = total;
        best = group;
      }
      return;
    }
    if (wanted > 0 && open + (m - i) < wanted) return;
    for (Index k = 0; k <= std::min(open, most - 1); ++k) {
      group[i] = static_cast<int>(k);
      counts.col(k) += items.counts.col(i);
      self(self, i + 1, std::max(open, k + 1));
      counts.col(k) -= items.counts.col(i);
    }
  };
  place(place, 0, 0);
  return make_partition(items, best, cost);
}

}  // namespace granary::ensemble
