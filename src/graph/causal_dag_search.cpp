#include "graph/causal_dag_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "graph/causal_dag_greedy.h"

namespace granary::graph {

MixedGraph possible_arcs(const ScoreTable& table) {
  MixedGraph graph(static_cast<int>(table.size()));
  for (int v = 0; v < graph.nodes(); ++v) {
    for (int u : table[v].candidates) graph.add_undirected(u, v);
  }
  return graph;
}

MixedGraph possible_families(const ScoreTable& table) {
  MixedGraph graph = possible_arcs(table);
  for (const ParentSets& sets : table) {
    for (std::uint64_t set : sets.sets) {
      const std::vector<int> members = sets.members(set);
      for (std::size_t i = 0; i < members.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) graph.add_undirected(members[j], members[i]);
      }
    }
  }
  return graph;
}

double score_of(const ScoreTable& table, const std::vector<int>& nodes, const Choice& chosen) {
  double total = 0;
  for (int v : nodes) {
    const auto& sets = table[v].sets;
    total += table[v].scores[std::find(sets.begin(), sets.end(), chosen[v]) - sets.begin()];
  }
  return total;
}

namespace {

const char* too_wide(DagSearch method) { return method == DagSearch::family ? "families" : "arcs"; }

[[noreturn]] void refuse_tree(const TreeStats& stats, const MixedGraph& graph, const std::vector<int>& nodes, DagSearch method) {
  int degree = 0;
  for (int v : nodes) degree = std::max(degree, graph.degree(v));
  const double exponent = (stats.width + 1.0) * (stats.width + degree);
  throw InputError(message(
      "the graph of possible ", too_wide(method), " has a component of ", nodes.size(), " nodes with treewidth up to ",
      stats.width, " and largest degree ", degree, ", too much for dynamic programming (",
      stats.largest > 0 ? message("it passed ", stats.largest, " records in one bag; ") : "", "the worst case is 2^", exponent,
      "). Make the graph sparser (smaller alpha, larger lambda or penalty), lower max_parents, raise max_records, or use "
      "search = \"order\" or \"greedy\", which are not exact."));
}

// Acyclic start for the inexact searches: nodes in a fixed order, each with its best parents among those before; required arcs
// decide the order.
void start_choice(const ScoreTable& table, const std::vector<int>& nodes, Choice& chosen) {
  // A node can be placed once some set of its table lies among the nodes placed; among those the one with the lowest score goes
  // first.
  std::vector<int> left = nodes;
  std::vector<std::uint64_t> allowed(table.size(), 0);
  while (!left.empty()) {
    int at = -1, set = -1;
    double best = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const int k = table[left[i]].best_within(allowed[left[i]]);
      if (k < 0) continue;
      if (at < 0 || table[left[i]].scores[k] < best) {
        at = static_cast<int>(i);
        set = k;
        best = table[left[i]].scores[k];
      }
    }
    if (at < 0) throw InputError("no DAG satisfies the required and forbidden arcs: the required ones form a cycle.");
    const int v = left[at];
    chosen[v] = table[v].sets[set];
    left.erase(left.begin() + at);
    for (int w : left) {
      const int bit = table[w].position(v);
      if (bit >= 0) allowed[w] |= std::uint64_t{1} << bit;
    }
  }
}

ComponentSearch search_component(const ScoreTable& table, const MixedGraph& graph, const std::vector<int>& nodes,
                                 const DagSearchOptions& options, Choice& chosen, Monitor& monitor, Rng& rng) {
  ComponentSearch out{nodes, options.method, true, -1, 0, std::numeric_limits<double>::quiet_NaN()};
  const int k = static_cast<int>(nodes.size());
  const auto by_subsets = [&] {
    out.orders = subset_search(table, nodes, chosen, monitor);
    out.method = DagSearch::subset;
    out.records = std::pow(2.0, k);
  };
  const auto by_tree = [&](DagSearch method) {
    const TreeStats stats = method == DagSearch::family ? family_search(table, nodes, options, chosen, monitor)
                                                        : tree_search(table, nodes, options, chosen, monitor);
    out.method = method;
    out.width = stats.width;
    out.records = stats.records;
    return stats;
  };
  const bool subsets_fit = k <= 25 && subset_bytes(table, nodes) <= options.max_memory;
  switch (k == 1 ? DagSearch::subset : options.method) {
    case DagSearch::automatic: {
      if (k <= options.subset_limit && subsets_fit) {
        by_subsets();
        break;
      }
      if (by_tree(DagSearch::tree).finished || by_tree(DagSearch::family).finished) break;
      if (subsets_fit) {
        by_subsets();
        break;
      }
      start_choice(table, nodes, chosen);
      order_search(table, nodes, options, chosen, monitor, rng);
      out.method = DagSearch::order;
      out.exact = false;
      break;
    }
    case DagSearch::subset:
      if (!subsets_fit) {
        throw InputError(
            message("the search over subsets needs components of at most 25 nodes and ", options.max_memory / 1e9,
                    " GB of memory, but one has ", k, " nodes",
                    k <= 25 ? message(" and would need ", subset_bytes(table, nodes) / 1e9, " GB") : "",
                    ". Use search = \"tree\" (narrow graphs), \"order\" or \"greedy\" (not exact), or a sparser graph."));
      }
      by_subsets();
      break;
    case DagSearch::tree:
    case DagSearch::family: {
      const TreeStats stats = by_tree(options.method);
      if (!stats.finished)
        refuse_tree(stats, options.method == DagSearch::tree ? graph : possible_families(table), nodes, options.method);
      break;
    }
    case DagSearch::order:
      start_choice(table, nodes, chosen);
      order_search(table, nodes, options, chosen, monitor, rng);
      out.exact = false;
      break;
    case DagSearch::greedy:
      start_choice(table, nodes, chosen);
      greedy_search(table, nodes, options, chosen, monitor, rng);
      out.exact = false;
      break;
    case DagSearch::top_down:
    case DagSearch::bottom_up:
      throw InputError("orders read off a covariance need one: causal_dag() has it.");
  }
  return out;
}

}  // namespace

DagSearchResult search_dag(const ScoreTable& table, const DagSearchOptions& options, Monitor& monitor, Rng& rng) {
  const Stopwatch watch;
  const int p = static_cast<int>(table.size());
  for (int v = 0; v < p; ++v) {
    if (table[v].sets.empty())
      throw InputError(
          message("node ", v + 1, " has no parent set with a finite score: required and forbidden arcs contradict each other."));
  }
  const MixedGraph graph = possible_arcs(table);
  const std::vector<std::vector<int>> parts = component_members(graph);
  DagSearchResult result;
  Choice chosen(p, 0);
  double exact_part = 0;
  for (std::size_t c = 0; c < parts.size(); ++c) {
    Rng own = rng.stream(c);
    result.components.push_back(search_component(table, graph, parts[c], options, chosen, monitor, own));
    const double score = score_of(table, parts[c], chosen);
    double bound = 0;
    for (int v : parts[c]) bound += table[v].scores.front();
    const bool optimal = result.components.back().exact || score <= bound;
    result.components.back().exact = optimal;
    result.exact = result.exact && optimal;
    result.score += score;
    exact_part += optimal ? score : bound;
  }
  result.lower_bound = exact_part;
  for (int v = 0; v < p; ++v) result.parents.push_back(table[v].members(chosen[v]));
  result.seconds = watch.seconds();
  return result;
}

}  // namespace granary::graph
