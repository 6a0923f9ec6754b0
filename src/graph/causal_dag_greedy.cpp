#include "graph/causal_dag_greedy.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>

#include "core/base/errors.h"
#include "core/linalg/spd.h"

namespace granary::graph {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// One component with its nodes numbered from 0, arcs as bits of the candidates.
struct Local {
  Local(const ScoreTable& table, const std::vector<int>& nodes)
      : k(static_cast<int>(nodes.size())), sets(k), bit(k, std::vector<int>(k, -1)) {
    std::vector<int> inside(table.size(), -1);
    for (int i = 0; i < k; ++i) inside[nodes[i]] = i;
    for (int i = 0; i < k; ++i) {
      sets[i] = &table[nodes[i]];
      for (std::size_t c = 0; c < sets[i]->candidates.size(); ++c) bit[i][inside[sets[i]->candidates[c]]] = static_cast<int>(c);
    }
  }

  // Index of the best set of v among the nodes before it; -1 if a required parent comes later.
  int best(int v, const std::vector<int>& position) const {
    std::uint64_t allowed = 0;
    for (int u = 0; u < k; ++u) {
      if (bit[v][u] >= 0 && position[u] < position[v]) allowed |= std::uint64_t{1} << bit[v][u];
    }
    return sets[v]->best_within(allowed);
  }

  int k;
  std::vector<const ParentSets*> sets;
  std::vector<std::vector<int>> bit;  // bit[v][u] of u among the candidates of v, -1 for none
};

std::vector<int> order_of(const Local& local, const std::vector<std::uint64_t>& choice) {
  std::vector<int> order;
  std::vector<char> placed(local.k, 0);
  while (static_cast<int>(order.size()) < local.k) {
    for (int v = 0; v < local.k; ++v) {
      if (placed[v]) continue;
      bool ready = true;
      for (int u = 0; u < local.k && ready; ++u) ready = local.bit[v][u] < 0 || !(choice[v] >> local.bit[v][u] & 1) || placed[u];
      if (!ready) continue;
      placed[v] = 1;
      order.push_back(v);
      break;
    }
  }
  return order;
}

class OrderClimb {
 public:
  explicit OrderClimb(const Local& local) : local_(local), position_(local.k), value_(local.k), choice_(local.k) {}

  double set(const std::vector<int>& order) {
    order_ = order;
    total_ = 0;
    for (int i = 0; i < local_.k; ++i) position_[order_[i]] = i;
    for (int v = 0; v < local_.k; ++v) {
      value_[v] = score(v, &choice_[v]);
      total_ += value_[v];
    }
    return total_;
  }

  double total() const { return total_; }
  const std::vector<int>& order() const { return order_; }
  std::uint64_t choice(int v) const { return local_.sets[v]->sets[choice_[v]]; }

  // The best place for node v, with all others in their order; infinity where no other place is possible.
  double best_place(int v, int& place) {
    const std::vector<int> position = position_;
    const int from = position_[v];
    double best = infinity;
    for (int direction : {-1, 1}) {
      double change = 0;
      position_ = position;
      for (int at = from + direction; at >= 0 && at < local_.k; at += direction) {
        const int u = order_[at];
        std::swap(position_[u], position_[v]);
        const double mine = score(v, nullptr), other = local_.bit[u][v] >= 0 ? score(u, nullptr) : value_[u];
        change += other - value_[u];
        if (!(other < infinity)) break;  // u has to come before or after v: further places are out of reach too
        if (mine - value_[v] + change < best) {
          best = mine - value_[v] + change;
          place = at;
        }
      }
    }
    position_ = position;
    return best;
  }

  void move(int v, int place) {
    std::vector<int> order = order_;
    order.erase(order.begin() + position_[v]);
    order.insert(order.begin() + place, v);
    set(order);
  }

 private:
  double score(int v, int* choice) const {
    const int at = local_.best(v, position_);
    if (choice) *choice = at;
    return at < 0 ? infinity : local_.sets[v]->scores[at];
  }

  const Local& local_;
  std::vector<int> order_, position_;
  std::vector<double> value_;
  std::vector<int> choice_;
  double total_ = 0;
};

// Reachability by search; components of the inexact methods have up to thousands of nodes, and moves are local.
bool reaches(const Local& local, const std::vector<std::uint64_t>& choice, int from, int to) {
  std::vector<char> seen(local.k, 0);
  std::vector<int> open = {to};  // against the arcs
  seen[to] = 1;
  while (!open.empty()) {
    const int v = open.back();
    open.pop_back();
    if (v == from) return true;
    for (int u = 0; u < local.k; ++u) {
      if (!seen[u] && local.bit[v][u] >= 0 && (choice[v] >> local.bit[v][u] & 1)) {
        seen[u] = 1;
        open.push_back(u);
      }
    }
  }
  return false;
}

}  // namespace

double order_search(const ScoreTable& table, const std::vector<int>& nodes, const DagSearchOptions& options, Choice& chosen,
                    Monitor& monitor, Rng& rng) {
  const Local local(table, nodes);
  std::vector<std::uint64_t> start(local.k);
  for (int i = 0; i < local.k; ++i) start[i] = chosen[nodes[i]];
  double best = infinity;
  std::vector<int> best_order = order_of(local, start);
  OrderClimb climb(local);
  for (int restart = 0; restart <= options.restarts; ++restart) {
    climb.set(best_order);
    for (int shake = 0; restart > 0 && shake < std::max(2, local.k / 5); ++shake) {
      const int v = static_cast<int>(rng.below(local.k)), place = static_cast<int>(rng.below(local.k));
      const std::vector<int> before = climb.order();
      climb.move(v, place);
      if (!(climb.total() < infinity)) climb.set(before);
    }
    std::deque<int> tabu;
    double here = climb.total();
    int stale = 0;
    if (here < best) {
      best = here;
      best_order = climb.order();
    }
    for (int iteration = 0; iteration < options.max_iter && stale < options.tabu; ++iteration) {
      double gain = infinity;
      int node = -1, place = -1;
      for (int v = 0; v < local.k; ++v) {
        monitor.check();
        if (std::find(tabu.begin(), tabu.end(), v) != tabu.end()) continue;
        int at = -1;
        const double change = climb.best_place(v, at);
        if (change < gain) {
          gain = change;
          node = v;
          place = at;
        }
      }
      if (node < 0) break;
      climb.move(node, place);
      tabu.push_back(node);
      if (static_cast<int>(tabu.size()) > std::min(options.tabu, local.k / 2)) tabu.pop_front();
      const double margin = 1e-12 * (1 + std::abs(best));
      stale = climb.total() < here - margin ? 0 : stale + 1;
      here = std::min(here, climb.total());
      if (climb.total() < best - margin) {
        best = climb.total();
        best_order = climb.order();
      }
    }
    monitor.progress((restart + 1.0) / (options.restarts + 1.0));
  }
  climb.set(best_order);
  for (int i = 0; i < local.k; ++i) chosen[nodes[i]] = climb.choice(i);
  return climb.total();
}

double greedy_search(const ScoreTable& table, const std::vector<int>& nodes, const DagSearchOptions& options, Choice& chosen,
                     Monitor& monitor, Rng& rng) {
  const Local local(table, nodes);
  const int k = local.k;
  // Any subset of the candidates counts, with the score of the best set of the table within it; scores are cached per node and
  // move.
  const auto value = [&](int v, std::uint64_t set) {
    const int at = local.sets[v]->best_within(set);
    return at < 0 ? infinity : local.sets[v]->scores[at];
  };
  std::vector<std::uint64_t> best(k);
  for (int i = 0; i < k; ++i) best[i] = chosen[nodes[i]];
  const auto total_of = [&](const std::vector<std::uint64_t>& choice) {
    double total = 0;
    for (int v = 0; v < k; ++v) total += value(v, choice[v]);
    return total;
  };
  double best_total = total_of(best);
  struct Move {
    int u, v, kind;  // 0 add u -> v, 1 delete it, 2 reverse it
    bool operator==(const Move& o) const { return u == o.u && v == o.v && kind == o.kind; }
  };
  for (int restart = 0; restart <= options.restarts; ++restart) {
    std::vector<std::uint64_t> here = best;
    for (int shake = 0; restart > 0 && shake < std::max(2, k / 4); ++shake) {  // delete arcs at random
      const int v = static_cast<int>(rng.below(k));
      if (!here[v]) continue;
      std::uint64_t set = here[v];
      for (std::uint64_t skip = rng.below(__builtin_popcountll(set)); skip > 0; --skip) set &= set - 1;
      const std::uint64_t less = here[v] & ~(set & (~set + 1));
      if (value(v, less) < infinity) here[v] = less;
    }
    double total = total_of(here), reached = total;
    std::deque<Move> tabu;
    int stale = 0;
    for (int iteration = 0; iteration < options.max_iter && stale < options.tabu; ++iteration) {
      Move move{-1, -1, 0};
      double gain = infinity;
      for (int v = 0; v < k; ++v) {
        monitor.check();
        const double now = value(v, here[v]);
        for (int u = 0; u < k; ++u) {
          if (local.bit[v][u] < 0) continue;
          const std::uint64_t bit = std::uint64_t{1} << local.bit[v][u];
          const auto consider = [&](int kind, double change) {
            if (!(change < gain) || std::find(tabu.begin(), tabu.end(), Move{u, v, kind}) != tabu.end()) return;
            if (kind == 0 && reaches(local, here, v, u)) return;
            if (kind == 2) {
              here[v] ^= bit;
              const bool cycle = reaches(local, here, u, v);
              here[v] ^= bit;
              if (cycle) return;
            }
            gain = change;
            move = {u, v, kind};
          };
          if (!(here[v] & bit)) {
            consider(0, value(v, here[v] | bit) - now);
          } else {
            const double without = value(v, here[v] ^ bit) - now;
            consider(1, without);
            if (local.bit[u][v] >= 0) {
              consider(2, without + value(u, here[u] | std::uint64_t{1} << local.bit[u][v]) - value(u, here[u]));
            }
          }
        }
      }
      if (move.u < 0 || !(gain < infinity)) break;
      here[move.v] ^= std::uint64_t{1} << local.bit[move.v][move.u];
      if (move.kind == 2) here[move.u] ^= std::uint64_t{1} << local.bit[move.u][move.v];
      // What would undo the move is not to be done for a while.
      tabu.push_back(move.kind == 0   ? Move{move.u, move.v, 1}
                     : move.kind == 1 ? Move{move.u, move.v, 0}
                                      : Move{move.v, move.u, 2});
      if (static_cast<int>(tabu.size()) > options.tabu) tabu.pop_front();
      total = total_of(here);
      const double margin = 1e-12 * (1 + std::abs(best_total));
      stale = total < reached - margin ? 0 : stale + 1;
      reached = std::min(reached, total);
      if (total < best_total - margin) {
        best_total = total;
        best = here;
      }
    }
    monitor.progress((restart + 1.0) / (options.restarts + 1.0));
  }
  for (int v = 0; v < k; ++v) chosen[nodes[v]] = local.sets[v]->sets[local.sets[v]->best_within(best[v])];
  return best_total;
}

namespace {

// Nodes that have to come before each: required parents and, through them, theirs.
std::vector<Bitset> required_before(const SearchSpace& space) {
  std::vector<Bitset> before = space.must;
  const int p = space.nodes();
  if (before.empty()) before.assign(p, Bitset(p));
  for (int k = 0; k < p; ++k) {
    for (int v = 0; v < p; ++v) {
      if (before[v].test(k)) before[v] |= before[k];
    }
  }
  return before;
}

}  // namespace

VariableOrder top_down(ConstMatrixRef g, ConstVectorRef weights, const SearchSpace& space, Monitor& monitor) {
  const int p = static_cast<int>(g.rows());
  const std::vector<Bitset> before = required_before(space);
  MatrixXd rest = g;  // Schur complement of the nodes chosen
  Bitset placed(p);
  VariableOrder out;
  out.residual.resize(p);
  for (int step = 0; step < p; ++step) {
    monitor.check();
    int best = -1;
    for (int v = 0; v < p; ++v) {
      if (placed.test(v) || !before[v].is_subset_of(placed)) continue;
      if (best < 0 || rest(v, v) / weights[v] < rest(best, best) / weights[best]) best = v;
    }
    if (best < 0) throw InputError("no DAG satisfies the required arcs: they form a cycle.");
    placed.set(best);
    out.order.push_back(best);
    out.residual[step] = rest(best, best) / weights[best];
    if (rest(best, best) <= 1e-10 * g(best, best)) continue;  // determined by the others: it explains nothing more
    const VectorXd column = rest.col(best);
    rest.noalias() -= column * (column / column[best]).transpose();
  }
  return out;
}

VariableOrder bottom_up(ConstMatrixRef g, ConstVectorRef weights, const SearchSpace& space, Monitor& monitor) {
  const int p = static_cast<int>(g.rows());
  const std::vector<Bitset> before = required_before(space);
  std::vector<int> left(p);
  std::iota(left.begin(), left.end(), 0);
  MatrixXd theta = cholesky_with_jitter(g).solve(MatrixXd(MatrixXd::Identity(p, p)));
  VariableOrder out;
  out.residual.resize(p);
  while (!left.empty()) {
    monitor.check();
    const int m = static_cast<int>(left.size());
    int best = -1;
    for (int i = 0; i < m; ++i) {
      bool needed = false;
      for (int j = 0; j < m && !needed; ++j) needed = before[left[j]].test(left[i]);
      if (needed) continue;
      if (best < 0 || theta(left[i], left[i]) * weights[left[i]] < theta(left[best], left[best]) * weights[left[best]]) best = i;
    }
    if (best < 0) throw InputError("no DAG satisfies the required arcs: they form a cycle.");
    const int v = left[best];
    out.order.push_back(v);
    out.residual[m - 1] = 1 / (theta(v, v) * weights[v]);
    const VectorXd column = theta.col(v);
    theta.noalias() -= column * (column / column[v]).transpose();  // marginalises: the inverse covariance of the others
    left.erase(left.begin() + best);
  }
  std::reverse(out.order.begin(), out.order.end());
  return out;
}

std::vector<std::vector<int>> parents_given_order(ConstMatrixRef g, const std::vector<int>& order, const SearchSpace& space,
                                                  const ScoreOptions& options, Monitor& monitor) {
  const int p = static_cast<int>(g.rows());
  std::vector<std::vector<int>> parents(p);
  Bitset placed(p);
  for (int v : order) {
    monitor.check();
    const auto score = [&](const std::vector<int>& set) {
      try {
        const double residual = residual_variance(g, v, set);
        if (!(residual > 1e-10 * g(v, v))) return infinity;
        return (options.likelihood ? std::log(residual) : residual / options.weights[v]) +
               options.penalty * static_cast<double>(set.size());
      } catch (const InputError&) {
        return infinity;
      }
    };
    const auto with = [](std::vector<int> set, int u) {
      set.insert(std::lower_bound(set.begin(), set.end(), u), u);
      return set;
    };
    std::vector<int> set;
    Bitset required(p);
    if (!space.must.empty()) required = space.must[v];
    set = required.members();
    double value = score(set);
    const double tol = 1e-12 * (options.likelihood ? 1 : g(v, v) / options.weights[v]);
    for (bool forward = true; forward;) {
      forward = false;
      double best = value - tol;
      int add = -1;
      if (static_cast<int>(set.size()) < options.max_parents) {
        for (int u : space.may[v] & placed) {
          if (std::binary_search(set.begin(), set.end(), u)) continue;
          const double candidate = score(with(set, u));
          if (candidate < best) {
            best = candidate;
            add = u;
          }
        }
      }
      if (add < 0) break;
      set = with(set, add);
      value = best;
      forward = true;
    }
    for (bool backward = true; backward;) {
      backward = false;
      for (std::size_t i = 0; i < set.size(); ++i) {
        if (required.test(set[i])) continue;
        std::vector<int> less = set;
        less.erase(less.begin() + i);
        const double candidate = score(less);
        if (candidate <= value + tol) {
          set = less;
          value = candidate;
          backward = true;
          break;
        }
      }
    }
    parents[v] = set;
    placed.set(v);
  }
  return parents;
}

}  // namespace granary::graph
