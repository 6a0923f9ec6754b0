#include "graph/causal_dag_gap.h"

#include <algorithm>
#include <limits>

#include "core/base/errors.h"

namespace granary::graph {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double best_score(const ScoreTable& table, const DagSearchOptions& options, Monitor& monitor, Rng& rng) {
  for (const ParentSets& sets : table) {
    if (sets.sets.empty()) return infinity;
  }
  return search_dag(table, options, monitor, rng).score;
}

}  // namespace

double best_without(const ScoreTable& table, int from, int to, const DagSearchOptions& options, Monitor& monitor, Rng& rng) {
  ScoreTable changed = table;
  changed[to] = filter_sets(table[to], from, false);
  return best_score(changed, options, monitor, rng);
}

std::vector<ArcAlternative> arc_alternatives(ConstMatrixRef g, const SearchSpace& space, const ScoreTable& table,
                                             const std::vector<std::vector<int>>& parents, const ScoreOptions& scores,
                                             const DagSearchOptions& options, Monitor& monitor, Rng& rng) {
  std::vector<ArcAlternative> out;
  for (int to = 0; to < space.nodes(); ++to) {
    for (int from : parents[to]) {
      ArcAlternative arc{from, to, infinity, infinity, infinity};
      ScoreTable changed = table;
      changed[to] = filter_sets(table[to], from, false);
      if (!changed[to].sets.empty()) {
        arc.without = best_score(changed, options, monitor, rng);
        if (space.may[from].test(to)) {
          // Sets of `from` that hold `to` may have been dropped as dominated: they are scored afresh.
          SearchSpace forced = space;
          if (forced.must.empty()) forced.must.assign(space.nodes(), Bitset(space.nodes()));
          forced.must[from].set(to);
          int limit = 0;
          bool singular = false;
          ScoreTable turned = changed;
          try {
            turned[from] = score_node(g, forced, from, scores, &limit, &singular);
            arc.reversed = best_score(turned, options, monitor, rng);
          } catch (const InputError&) {  // more required parents than allowed, or a cycle of required arcs: not possible
          }
        }
        changed[from] = filter_sets(table[from], to, false);
        arc.absent = best_score(changed, options, monitor, rng);
      }
      out.push_back(arc);
    }
  }
  return out;
}

std::vector<std::vector<unsigned>> all_dags(int p) {
  if (p < 0 || p > 5) throw InputError(message("all DAGs are listed for at most 5 nodes, not ", p, "."));
  std::vector<std::vector<unsigned>> out;
  std::vector<unsigned> parents(p, 0);
  const auto acyclic = [&] {
    unsigned placed = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (int v = 0; v < p; ++v) {
        if (!(placed >> v & 1) && !(parents[v] & ~placed)) {
          placed |= 1u << v;
          moved = true;
        }
      }
    }
    return placed == (1u << p) - 1;
  };
  const auto extend = [&](const auto& self, int v) -> void {
    if (v == p) {
      if (acyclic()) out.push_back(parents);
      return;
    }
    for (unsigned set = 0; set < (1u << p); ++set) {
      if (set >> v & 1) continue;
      bool two_cycle = false;
      for (int u = 0; u < v && !two_cycle; ++u) two_cycle = (set >> u & 1) && (parents[u] >> v & 1);
      if (two_cycle) continue;
      parents[v] = set;
      self(self, v + 1);
    }
    parents[v] = 0;
  };
  extend(extend, 0);
  return out;
}

double rescaled_gap(int p, const std::vector<unsigned>& truth, const std::function<double(int, unsigned)>& local,
                    const std::vector<Bitset>& allowed, Monitor& monitor) {
  std::vector<std::vector<double>> table(p, std::vector<double>(1u << p, infinity));
  for (int v = 0; v < p; ++v) {
    for (unsigned set = 0; set < (1u << p); ++set) {
      bool fits = !(set >> v & 1);
      for (int u = 0; u < p && fits; ++u) fits = !(set >> u & 1) || allowed[v].test(u);
      if (fits) table[v][set] = local(v, set);
    }
  }
  std::vector<const std::vector<unsigned>*> containing, others;
  const std::vector<std::vector<unsigned>> dags = all_dags(p);
  for (const auto& dag : dags) {
    bool contains = true, fits = true;
    for (int v = 0; v < p; ++v) {
      contains = contains && !(truth[v] & ~dag[v]);
      fits = fits && table[v][dag[v]] < infinity;
    }
    if (fits) (contains ? containing : others).push_back(&dag);
  }
  const auto total = [&](const std::vector<unsigned>& dag) {
    double sum = 0;
    for (int v = 0; v < p; ++v) sum += table[v][dag[v]];
    return sum;
  };
  double gamma = infinity;
  for (const auto* g : others) {
    monitor.check();
    const double own = total(*g);
    double closest = -infinity;
    for (const auto* g1 : containing) {
      int differ = 0;
      for (int v = 0; v < p; ++v) differ += (*g)[v] != (*g1)[v];
      closest = std::max(closest, (own - total(*g1)) / differ);
    }
    gamma = std::min(gamma, closest);
  }
  return gamma;
}

namespace {

double gamma_of(ConstMatrixRef g, const SearchSpace& space, const GapOptions& options, Monitor& monitor) {
  const int p = space.nodes();
  std::vector<unsigned> truth;
  for (const auto& set : options.parents) {
    unsigned mask = 0;
    for (const int u : set) mask |= 1u << u;
    truth.push_back(mask);
  }
  const auto local = [&](int v, unsigned set) {
    std::vector<int> members;
    for (int u = 0; u < p; ++u) {
      if (set >> u & 1) members.push_back(u);
    }
    return residual_variance(g, v, members) / options.variance[v];
  };
  return rescaled_gap(p, truth, local, space.may, monitor);
}

}  // namespace

DagGap dag_gap(ConstMatrixRef g, const SearchSpace& space, const GapOptions& options, Monitor& monitor) {
  const int p = space.nodes();
  Rng rng(1);  // exact searches draw nothing
  ScoreOptions scores;
  scores.weights = options.variance;
  scores.max_parents = p;
  const DagSearchOptions search;
  const ScoreTable table = score_parent_sets(g, space, scores, monitor).table;
  DagGap out;
  out.arcs = arc_alternatives(g, space, table, options.parents, scores, search, monitor, rng);
  out.xi = std::numeric_limits<double>::infinity();
  for (const ArcAlternative& arc : out.arcs) out.xi = std::min(out.xi, std::max(arc.without - p, 0.0));
  for (int v = 0; v < p; ++v) out.score += residual_variance(g, v, options.parents[v]) / options.variance[v];
  scores.weights = options.weights;
  const DagSearchResult best = search_dag(score_parent_sets(g, space, scores, monitor).table, search, monitor, rng);
  out.found = true;
  for (int v = 0; v < p; ++v) {
    out.found = out.found && std::includes(best.parents[v].begin(), best.parents[v].end(), options.parents[v].begin(), options.parents[v].end());
  }
  if (p <= 5 && !out.arcs.empty()) out.gamma = gamma_of(g, space, options, monitor);
  return out;
}

}  // namespace granary::graph
