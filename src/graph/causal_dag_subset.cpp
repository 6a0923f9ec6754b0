#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "graph/causal_dag_search.h"

namespace granary::graph {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int half = 13;  // a set of up to 26 nodes is looked up as two numbers of 13 bits

// g_v(A) = min over S within A, S from the table, for every set A of candidates of v.
class BestWithin {
 public:
  BestWithin(const ParentSets& sets, const std::vector<int>& nodes) : low_(1 << half, 0), high_(1 << half, 0) {
    const int d = static_cast<int>(sets.candidates.size());
    best_.assign(std::size_t{1} << d, infinity);
    for (std::size_t k = 0; k < sets.sets.size(); ++k) best_[sets.sets[k]] = sets.scores[k];
    for (int bit = 0; bit < d; ++bit) {
      const std::size_t step = std::size_t{1} << bit;
      for (std::size_t set = 0; set < best_.size(); ++set) {
        if (set & step) best_[set] = std::min(best_[set], best_[set ^ step]);
      }
    }
    std::vector<std::uint32_t> bit_of(2 * half, 0);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const int at = sets.position(nodes[i]);
      if (at >= 0) bit_of[i] = std::uint32_t{1} << at;
    }
    for (std::uint32_t set = 1; set < (1u << half); ++set) {
      const int lowest = __builtin_ctz(set);
      low_[set] = low_[set & (set - 1)] | bit_of[lowest];
      high_[set] = high_[set & (set - 1)] | bit_of[lowest + half];
    }
  }

  std::uint32_t local(std::uint32_t set) const { return low_[set & ((1u << half) - 1)] | high_[set >> half]; }
  double operator()(std::uint32_t set) const { return best_[local(set)]; }

 private:
  std::vector<double> best_;
  std::vector<std::uint32_t> low_, high_;
};

}  // namespace

double subset_bytes(const ScoreTable& table, const std::vector<int>& nodes) {
  double bytes = 8 * std::pow(2.0, static_cast<double>(nodes.size()));
  for (int v : nodes) bytes += 8 * std::pow(2.0, static_cast<double>(table[v].candidates.size()));
  return bytes;
}

namespace {

constexpr int count_limit = 20;

// An order reaches the optimum exactly when each of its beginnings does for the nodes it has.
double count_orders(const std::vector<double>& best, const std::vector<BestWithin>& within) {
  const int k = static_cast<int>(within.size());
  if (k > count_limit) return std::numeric_limits<double>::quiet_NaN();
  double scale = 0;
  for (int v = 0; v < k; ++v) scale += std::abs(best[std::size_t{1} << v]);
  const double tol = 1e-11 * scale;
  std::vector<double> count(best.size(), 0);
  count[0] = 1;
  for (std::uint32_t set = 1; set < best.size(); ++set) {
    if (!(best[set] < infinity)) continue;
    for (std::uint32_t rest = set; rest; rest &= rest - 1) {
      const int v = __builtin_ctz(rest);
      const std::uint32_t without = set ^ (1u << v);
      if (best[without] + within[v](set) <= best[set] + tol) count[set] += count[without];
    }
  }
  return count.back();
}

}  // namespace

double subset_search(const ScoreTable& table, const std::vector<int>& nodes, Choice& chosen, Monitor& monitor) {
  const int k = static_cast<int>(nodes.size());
  if (k > 25) throw InputError(message("the search over subsets handles components of at most 25 nodes, not ", k, "."));
  std::vector<BestWithin> within;
  within.reserve(k);
  for (int v : nodes) {
    within.emplace_back(table[v], nodes);
    monitor.check();
  }
  std::vector<double> best(std::size_t{1} << k, infinity);
  best[0] = 0;
  for (std::uint32_t set = 1; set < best.size(); ++set) {
    if ((set & 0xffff) == 0) monitor.progress(static_cast<double>(set) / best.size());
    double value = infinity;
    for (std::uint32_t rest = set; rest; rest &= rest - 1) {
      const int v = __builtin_ctz(rest);
      value = std::min(value, best[set ^ (1u << v)] + within[v](set));
    }
    best[set] = value;
  }
  std::uint32_t set = static_cast<std::uint32_t>(best.size() - 1);
  if (!(best[set] < infinity))
    throw InputError("no DAG satisfies the required and forbidden arcs: the required ones form a cycle.");
  while (set) {  // the same sums once more: the last node is the smallest one that reaches the minimum
    for (std::uint32_t rest = set; rest; rest &= rest - 1) {
      const int v = __builtin_ctz(rest);
      if (best[set ^ (1u << v)] + within[v](set) != best[set]) continue;
      const ParentSets& sets = table[nodes[v]];
      chosen[nodes[v]] = sets.sets[sets.best_within(within[v].local(set))];
      set ^= 1u << v;
      break;
    }
  }
  return count_orders(best, within);
}

}  // namespace granary::graph
