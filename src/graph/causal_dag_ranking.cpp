#include "graph/causal_dag_ranking.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "core/base/errors.h"

namespace granary::graph {

namespace {

using Sets = std::vector<std::uint64_t>;

bool before(const RankedDag& a, const RankedDag& b) { return a.score != b.score ? a.score < b.score : a.parents < b.parents; }

// Part of the DAGs of a component: the first `fixed.size()` nodes have these parents, the next one none of `excluded`.
struct Part {
  Sets fixed, excluded;
  RankedDag best;

  bool operator<(const Part& other) const { return before(other.best, best); }  // the top of the queue is the smallest
};

// A component with its nodes numbered 0, 1, ... as they come; the bits of the sets stay what they were.
ScoreTable component_table(const ScoreTable& table, const std::vector<int>& nodes) {
  ScoreTable out;
  for (int v : nodes) {
    out.push_back(table[v]);
    for (int& u : out.back().candidates) {
      u = static_cast<int>(std::lower_bound(nodes.begin(), nodes.end(), u) - nodes.begin());
    }
  }
  return out;
}

Sets bits_of(const ScoreTable& table, const std::vector<std::vector<int>>& parents) {
  Sets out(table.size(), 0);
  for (std::size_t v = 0; v < table.size(); ++v) {
    for (int u : parents[v]) out[v] |= std::uint64_t{1} << table[v].position(u);
  }
  return out;
}

ScoreTable part_table(const ScoreTable& table, const Part& part) {
  ScoreTable out = table;
  const std::size_t next = part.fixed.size();
  for (std::size_t v = 0; v < next; ++v) out[v] = keep_sets(table[v], [&](std::uint64_t set) { return set == part.fixed[v]; });
  out[next] = keep_sets(table[next], [&](std::uint64_t set) {
    return std::find(part.excluded.begin(), part.excluded.end(), set) == part.excluded.end();
  });
  return out;
}

std::vector<RankedDag> rank_component(const ScoreTable& table, int k, const DagSearchOptions& options, bool& exact,
                                      Monitor& monitor, Rng& rng) {
  std::priority_queue<Part> open;
  const auto solve = [&](Part part, const ScoreTable& restricted) {
    const DagSearchResult found = search_dag(restricted, options, monitor, rng);
    exact = exact && found.exact;
    part.best = {found.score, found.parents};
    open.push(std::move(part));
  };
  solve({}, table);  // what makes this one fail is the user's to hear
  std::vector<RankedDag> out;
  while (!open.empty() && static_cast<int>(out.size()) < k) {
    const Part part = open.top();
    open.pop();
    out.push_back(part.best);
    if (static_cast<int>(out.size()) == k) break;
    const Sets chosen = bits_of(table, part.best.parents);
    Part child;
    child.fixed = part.fixed;
    child.excluded = part.excluded;
    for (std::size_t v = part.fixed.size(); v < table.size(); ++v) {
      monitor.check();
      child.excluded.push_back(chosen[v]);
      const ScoreTable restricted = part_table(table, child);
      if (!restricted[v].sets.empty()) {
        try {
          solve(child, restricted);
        } catch (const InputError&) {  // no DAG in this part: what is left of the table closes a cycle
        }
      }
      child.excluded.clear();
      child.fixed.push_back(chosen[v]);
    }
  }
  return out;
}

}  // namespace

DagRanking rank_dags(const ScoreTable& table, int k, const DagSearchOptions& options, Monitor& monitor, Rng& rng) {
  if (k < 1) throw InputError("at least one DAG has to be asked for.");
  DagRanking result;
  result.dags.push_back({0, std::vector<std::vector<int>>(table.size())});
  const std::vector<std::vector<int>> parts = component_members(possible_arcs(table));
  for (std::size_t c = 0; c < parts.size(); ++c) {
    monitor.progress(static_cast<double>(c) / parts.size());
    const std::vector<int>& nodes = parts[c];
    std::vector<RankedDag> merged;
    for (const RankedDag& own : rank_component(component_table(table, nodes), k, options, result.exact, monitor, rng)) {
      for (const RankedDag& rest : result.dags) {
        RankedDag both = rest;
        both.score += own.score;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
          for (int u : own.parents[i]) both.parents[nodes[i]].push_back(nodes[u]);
        }
        merged.push_back(std::move(both));
      }
    }
    std::sort(merged.begin(), merged.end(), before);
    if (static_cast<int>(merged.size()) > k) merged.resize(k);
    result.dags = std::move(merged);
  }
  return result;
}

}  // namespace granary::graph
