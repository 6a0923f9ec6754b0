#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/math/special.h"
#include "ensemble/level_groups.h"

namespace granary::ensemble {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double clock_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Groups without a member go; the rest keep their order.
void close_gaps(Partition& at) {
  VectorXi name = VectorXi::Constant(at.size(), -1);
  for (Index i = 0; i < at.group.size(); ++i) name[at.group[i]] = 0;
  int next = 0;
  for (Index k = 0; k < name.size(); ++k) {
    if (name[k] < 0) continue;
    at.counts.col(next) = at.counts.col(k).eval();
    name[k] = next++;
  }
  at.counts.conservativeResize(Eigen::NoChange, next);
  for (Index i = 0; i < at.group.size(); ++i) at.group[i] = name[at.group[i]];
}

double total_cost(const Partition& at, const GroupCost& cost) {
  double total = cost.groups(at.size());
  for (Index k = 0; k < at.size(); ++k) total += cost(at.counts.col(k).data());
  return total;
}

// All items at once to argmax_k sum_j n_ij [digamma(n_kj + 1) - digamma(n_k + J)]: the tangent of the convex function bounds it
// from below, so the modl cost never rises; for other criteria the step stands if it pays.
bool reassign(const Items& items, Partition& at, const GroupCost& cost, Monitor& monitor) {
  const Index j = items.counts.rows();
  MatrixXd slope(j, at.size());
  for (Index k = 0; k < at.size(); ++k) {
    const double whole = digamma(at.counts.col(k).sum() + static_cast<double>(j));
    for (Index c = 0; c < j; ++c) slope(c, k) = digamma(at.counts(c, k) + 1) - whole;
  }
  Partition next = at;
  bool moved = false;
  for (Index i = 0; i < items.size(); ++i) {
    if ((i & 1023) == 0) monitor.check();
    double best = slope.col(at.group[i]).dot(items.counts.col(i));
    for (Index k = 0; k < at.size(); ++k) {
      const double here = slope.col(k).dot(items.counts.col(i));
      if (here > best + 1e-9) {
        best = here;
        next.group[i] = static_cast<int>(k);
      }
    }
    if (next.group[i] != at.group[i]) {
      moved = true;
      next.counts.col(at.group[i]) -= items.counts.col(i);
      next.counts.col(next.group[i]) += items.counts.col(i);
    }
  }
  if (!moved) return false;
  close_gaps(next);
  next.cost = total_cost(next, cost);
  if (!(next.cost < at.cost - 1e-9)) return false;
  at = std::move(next);
  return true;
}

// Single items to the group, or a new one, that lowers the cost most; sweeps until none moves. False where time ran out.
bool move_items(const Items& items, Partition& at, const GroupCost& cost, int groups, double until, Monitor& monitor) {
  const Index j = items.counts.rows();
  VectorXd own(at.size()), less(j);
  for (Index k = 0; k < at.size(); ++k) own[k] = cost(at.counts.col(k).data());
  VectorXi members = VectorXi::Zero(at.size());
  for (Index i = 0; i < items.size(); ++i) ++members[at.group[i]];
  for (bool moved = true; moved;) {
    moved = false;
    for (Index i = 0; i < items.size(); ++i) {
      if ((i & 63) == 0) {
        monitor.check();
        if (clock_seconds() > until) return false;
      }
      const int from = at.group[i];
      const bool alone = members[from] == 1;
      if (alone && groups > 0) continue;
      const double* item = items.counts.col(i).data();
      less = at.counts.col(from) - items.counts.col(i);
      const double left = alone ? 0 : cost(less.data());
      const double gone = left - own[from] + (alone ? cost.groups(at.size() - 1) - cost.groups(at.size()) : 0);
      double best = -1e-9, best_own = 0;
      Index to = -1;
      for (Index k = 0; k < at.size(); ++k) {
        if (k == from) continue;
        const double with = cost.sum(at.counts.col(k).data(), item), change = gone + with - own[k];
        if (change < best) {
          best = change;
          best_own = with;
          to = k;
        }
      }
      if (!alone && groups == 0) {
        const double single = cost(item), change = gone + single + cost.groups(at.size() + 1) - cost.groups(at.size());
        if (change < best) {
          best = change;
          best_own = single;
          to = at.size();
        }
      }
      if (to < 0) continue;
      moved = true;
      if (to == at.size()) {
        at.counts.conservativeResize(Eigen::NoChange, to + 1);
        at.counts.col(to).setZero();
        own.conservativeResize(to + 1);
        members.conservativeResize(to + 1);
        members[to] = 0;
      }
      at.counts.col(from) = less;
      own[from] = left;
      --members[from];
      at.counts.col(to) += items.counts.col(i);
      own[to] = best_own;
      ++members[to];
      at.group[i] = static_cast<int>(to);
      if (alone) {
        close_gaps(at);
        own.resize(at.size());
        members.setZero(at.size());
        for (Index k = 0; k < at.size(); ++k) own[k] = cost(at.counts.col(k).data());
        for (Index q = 0; q < items.size(); ++q) ++members[at.group[q]];
      }
    }
  }
  at.cost = total_cost(at, cost);
  return true;
}

Partition merged(const Partition& at, Index a, Index b, const GroupCost& cost) {
  Partition out = at;
  for (Index i = 0; i < out.group.size(); ++i)
    if (out.group[i] == b) out.group[i] = static_cast<int>(a);
  out.counts.col(a) += out.counts.col(b);
  close_gaps(out);
  out.cost = total_cost(out, cost);
  return out;
}

}  // namespace

Partition make_partition(const Items& items, const VectorXi& group, const GroupCost& cost) {
  Partition out;
  out.group = group;
  out.counts = MatrixXd::Zero(items.counts.rows(), group.maxCoeff() + 1);
  for (Index i = 0; i < items.size(); ++i) out.counts.col(group[i]) += items.counts.col(i);
  close_gaps(out);
  out.cost = total_cost(out, cost);
  return out;
}

Partition merge_down(const Items& items, const VectorXi& unit, const GroupCost& cost, int groups, Monitor& monitor) {
  Partition at = make_partition(items, unit, cost);
  const Index u = at.size();
  std::vector<Index> alive(static_cast<std::size_t>(u)), partner(static_cast<std::size_t>(u), -1);
  std::iota(alive.begin(), alive.end(), Index{0});
  std::vector<double> own(static_cast<std::size_t>(u)), gain(static_cast<std::size_t>(u), infinity);
  for (Index k = 0; k < u; ++k) own[static_cast<std::size_t>(k)] = cost(at.counts.col(k).data());
  const auto change = [&](Index a, Index b) {
    return cost.sum(at.counts.col(a).data(), at.counts.col(b).data()) - own[static_cast<std::size_t>(a)] -
           own[static_cast<std::size_t>(b)];
  };
  // The best partner among the groups after it.
  const auto look = [&](std::size_t place) {
    const std::size_t a = static_cast<std::size_t>(alive[place]);
    gain[a] = infinity;
    partner[a] = -1;
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
  double sum = std::accumulate(own.begin(), own.end(), 0.0);
  double least = groups > 0 && u != groups ? infinity : sum + cost.groups(u);
  std::vector<std::pair<Index, Index>> merges;
  std::size_t best_after = 0;
  while (alive.size() > 1 && (groups == 0 || static_cast<int>(alive.size()) > groups)) {
    monitor.check();
    std::size_t at_place = 0;
    for (std::size_t q = 1; q + 1 < alive.size(); ++q)
      if (gain[static_cast<std::size_t>(alive[q])] < gain[static_cast<std::size_t>(alive[at_place])]) at_place = q;
    const Index a = alive[at_place], b = partner[static_cast<std::size_t>(a)];
    sum += gain[static_cast<std::size_t>(a)];
    merges.emplace_back(a, b);
    at.counts.col(a) += at.counts.col(b);
    own[static_cast<std::size_t>(a)] = cost(at.counts.col(a).data());
    alive.erase(std::find(alive.begin(), alive.end(), b));
    for (std::size_t q = 0; q < alive.size(); ++q) {
      const std::size_t g = static_cast<std::size_t>(alive[q]);
      if (alive[q] == a || partner[g] == a || partner[g] == b) {
        look(q);
      } else if (q < at_place) {
        const double here = change(alive[q], a);
        if (here < gain[g]) {
          gain[g] = here;
          partner[g] = a;
        }
      }
    }
    const Index k = static_cast<Index>(alive.size());
    const double here = sum + cost.groups(k);
    if ((groups == 0 && here < least) || k == groups) {
      least = here;
      best_after = merges.size();
    }
  }
  std::vector<int> root(static_cast<std::size_t>(u));
  std::iota(root.begin(), root.end(), 0);
  for (std::size_t s = 0; s < best_after; ++s)
    for (int& r : root)
      if (r == merges[s].second) r = static_cast<int>(merges[s].first);
  VectorXi group(items.size());
  for (Index i = 0; i < items.size(); ++i) group[i] = root[static_cast<std::size_t>(at.group[i])];
  return make_partition(items, group, cost);
}

bool improve(const Items& items, Partition& at, const GroupCost& cost, int groups, double until, int& rounds, Monitor& monitor) {
  const auto settle = [&](Partition& p) {
    if (groups == 0)
      while (reassign(items, p, cost, monitor)) ++rounds;
    ++rounds;
    return move_items(items, p, cost, groups, until, monitor);
  };
  if (!settle(at)) return false;
  if (groups > 0) return true;
  // The best merge that moves make pay.
  while (at.size() > 1) {
    double least = infinity;
    Index a = 0, b = 1;
    for (Index i = 0; i < at.size(); ++i)
      for (Index k = i + 1; k < at.size(); ++k) {
        const double here = cost.sum(at.counts.col(i).data(), at.counts.col(k).data()) - cost(at.counts.col(i).data()) -
                            cost(at.counts.col(k).data());
        if (here < least) {
          least = here;
          a = i;
          b = k;
        }
      }
    Partition next = merged(at, a, b, cost);
    const bool done = settle(next);
    if (next.cost < at.cost - 1e-9) {
      at = std::move(next);
    } else {
      return done;
    }
    if (!done) return false;
  }
  return true;
}

}  // namespace granary::ensemble
