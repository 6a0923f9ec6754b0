#include "core/graph/graph.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <utility>

#include "core/base/errors.h"
#include "core/graph/union_find.h"

namespace granary {

MixedGraph::MixedGraph(int nodes) {
  if (nodes < 0) throw InputError(message("a graph needs a number of nodes >= 0, not ", nodes, "."));
  for (auto* rows : {&adjacent_, &near_arrow_, &near_tail_, &far_arrow_, &far_tail_}) rows->assign(nodes, Bitset(nodes));
}

MixedGraph MixedGraph::complete(int nodes, Mark mark) {
  if (mark == Mark::none) throw InputError("the edges of a complete graph need a mark: tail, arrow or circle.");
  MixedGraph graph(nodes);
  for (int i = 0; i < nodes; ++i) {
    Bitset row(nodes);
    row.fill();
    row.reset(i);
    graph.adjacent_[i] = row;
    if (mark == Mark::arrow) graph.near_arrow_[i] = graph.far_arrow_[i] = row;
    if (mark == Mark::tail) graph.near_tail_[i] = graph.far_tail_[i] = row;
  }
  graph.edges_ = nodes * (nodes - 1) / 2;
  if (mark == Mark::tail) graph.undirected_ = graph.edges_;
  if (mark == Mark::circle) graph.with_circle_ = graph.edges_;
  return graph;
}

std::vector<MarkedEdge> MixedGraph::edge_list() const {
  std::vector<MarkedEdge> list;
  for (int i = 0; i < nodes(); ++i) {
    for (int j = adjacent_[i].next(i); j >= 0; j = adjacent_[i].next(j)) list.push_back({i, j, mark(j, i), mark(i, j)});
  }
  return list;
}

Mark MixedGraph::mark(int i, int j) const {
  if (!adjacent_[i].test(j)) return Mark::none;
  if (far_arrow_[i].test(j)) return Mark::arrow;
  return far_tail_[i].test(j) ? Mark::tail : Mark::circle;
}

void MixedGraph::put(int i, int j, Mark at_i, Mark at_j) {
  adjacent_[i].set(j, at_i != Mark::none);
  near_arrow_[i].set(j, at_i == Mark::arrow);
  near_tail_[i].set(j, at_i == Mark::tail);
  far_arrow_[i].set(j, at_j == Mark::arrow);
  far_tail_[i].set(j, at_j == Mark::tail);
}

void MixedGraph::count(int i, int j, int change) {
  const Mark at_i = mark(j, i), at_j = mark(i, j);
  if (at_i == Mark::none) return;
  edges_ += change;
  if (at_i == Mark::circle || at_j == Mark::circle) {
    with_circle_ += change;
  } else if (at_i != at_j) {
    directed_ += change;
  } else if (at_i == Mark::tail) {
    undirected_ += change;
  }
}

void MixedGraph::set_edge(int i, int j, Mark at_i, Mark at_j) {
  if (std::min(i, j) < 0 || std::max(i, j) >= nodes() || i == j) {
    throw InputError(message("an edge joins two different nodes of 1 .. ", nodes(), ", not ", i + 1, " and ", j + 1, "."));
  }
  if (at_i == Mark::none || at_j == Mark::none)
    throw InputError("an edge needs a mark at both ends; use remove_edge to delete one.");
  count(i, j, -1);
  put(i, j, at_i, at_j);
  put(j, i, at_j, at_i);
  count(i, j, +1);
}

void MixedGraph::require_edge(int i, int j) const {
  if (std::min(i, j) < 0 || std::max(i, j) >= nodes() || !adjacent(i, j)) {
    throw InputError(message("there is no edge between nodes ", i + 1, " and ", j + 1, " to orient."));
  }
}

void MixedGraph::orient(int i, int j) {
  require_edge(i, j);
  set_edge(i, j, Mark::tail, Mark::arrow);
}

void MixedGraph::set_mark(int i, int j, Mark at_j) {
  require_edge(i, j);
  set_edge(i, j, mark(j, i), at_j);
}

void MixedGraph::remove_edge(int i, int j) {
  count(i, j, -1);
  put(i, j, Mark::none, Mark::none);
  put(j, i, Mark::none, Mark::none);
}

void MixedGraph::remove_edges_of(int i) {
  for (int j : adjacent_[i]) remove_edge(i, j);
}

MixedGraph skeleton(const MixedGraph& graph) {
  MixedGraph result(graph.nodes());
  for (int i = 0; i < graph.nodes(); ++i) {
    for (int j = graph.neighbours(i).next(i); j >= 0; j = graph.neighbours(i).next(j)) result.add_undirected(i, j);
  }
  return result;
}

MixedGraph induced_subgraph(const MixedGraph& graph, const std::vector<int>& nodes) {
  const int k = static_cast<int>(nodes.size());
  MixedGraph result(k);
  for (int a = 0; a < k; ++a) {
    for (int b = a + 1; b < k; ++b) {
      const int i = nodes[a], j = nodes[b];
      if (graph.adjacent(i, j)) result.set_edge(a, b, graph.mark(j, i), graph.mark(i, j));
    }
  }
  return result;
}

namespace {

UnionFind joined_nodes(const MixedGraph& graph) {
  UnionFind sets(graph.nodes());
  for (int i = 0; i < graph.nodes(); ++i) {
    for (int j : graph.neighbours(i)) {
      if (j > i) break;
      sets.unite(i, j);
    }
  }
  return sets;
}

}  // namespace

std::vector<int> connected_components(const MixedGraph& graph) { return joined_nodes(graph).labels(); }

std::vector<std::vector<int>> component_members(const MixedGraph& graph) { return joined_nodes(graph).members(); }

int structural_hamming_distance(const MixedGraph& a, const MixedGraph& b) {
  if (a.nodes() != b.nodes()) {
    throw InputError(
        message("structural_hamming_distance compares graphs on the same nodes, not on ", a.nodes(), " and ", b.nodes(), "."));
  }
  int twice = 0;
  for (int i = 0; i < a.nodes(); ++i) {
    Bitset differ = a.neighbours(i) ^ b.neighbours(i);
    differ |= a.arrows_at(i) ^ b.arrows_at(i);
    differ |= a.arrows_from(i) ^ b.arrows_from(i);
    differ |= a.tails_at(i) ^ b.tails_at(i);
    differ |= a.tails_from(i) ^ b.tails_from(i);
    twice += differ.count();
  }
  return twice / 2;
}

namespace {

template <class Step>
Bitset closure(const Bitset& start, Step&& step) {
  Bitset reached = start;
  std::vector<int> open = start.members();
  while (!open.empty()) {
    const int i = open.back();
    open.pop_back();
    for (int j : step(i) - reached) {
      reached.set(j);
      open.push_back(j);
    }
  }
  return reached;
}

struct Sorted {
  std::vector<int> order;
  Bitset left;  // nodes on or below a cycle
};

Sorted sort_nodes(const MixedGraph& graph) {
  const int n = graph.nodes();
  Sorted result{{}, Bitset(n)};
  result.left.fill();
  std::vector<int> waiting(n);
  std::priority_queue<int, std::vector<int>, std::greater<int>> free;
  for (int i = 0; i < n; ++i) {
    waiting[i] = graph.parents(i).count();
    if (waiting[i] == 0) free.push(i);
  }
  while (!free.empty()) {
    const int i = free.top();
    free.pop();
    result.order.push_back(i);
    result.left.reset(i);
    for (int j : graph.children(i)) {
      if (--waiting[j] == 0) free.push(j);
    }
  }
  return result;
}

// Every node left by the sort has a parent that is left too, so walking up must come round.
std::vector<int> cycle_among(const MixedGraph& graph, const Bitset& left) {
  std::vector<int> path, position(graph.nodes(), -1);
  int i = left.first();
  while (i >= 0 && position[i] < 0) {
    position[i] = static_cast<int>(path.size());
    path.push_back(i);
    i = (graph.parents(i) & left).first();
  }
  if (i < 0) return {};
  path.erase(path.begin(), path.begin() + position[i]);
  std::reverse(path.begin(), path.end());
  std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
  return path;
}

}  // namespace

Bitset ancestors(const MixedGraph& graph, const Bitset& of) {
  return closure(of, [&](int i) { return graph.parents(i); });
}

Bitset descendants(const MixedGraph& graph, const Bitset& of) {
  return closure(of, [&](int i) { return graph.children(i); });
}

std::vector<int> topological_order(const MixedGraph& graph) {
  Sorted sorted = sort_nodes(graph);
  if (sorted.left.any()) {
    const std::vector<int> cycle = cycle_among(graph, sorted.left);
    std::string walk;
    for (int i : cycle) walk += message(i + 1, " -> ");
    throw InputError(message("the graph has a directed cycle, so its nodes cannot be ordered: ", walk, cycle.front() + 1, "."));
  }
  return std::move(sorted.order);
}

std::vector<int> directed_cycle(const MixedGraph& graph) { return cycle_among(graph, sort_nodes(graph).left); }

bool is_dag(const MixedGraph& graph) { return graph.all_directed() && sort_nodes(graph).left.none(); }

MixedGraph moral_graph(const MixedGraph& dag) {
  if (!dag.all_directed()) throw InputError("moral_graph needs a graph whose edges are all directed.");
  MixedGraph moral = skeleton(dag);
  for (int i = 0; i < dag.nodes(); ++i) {
    const Bitset parents = dag.parents(i);
    for (int a : parents) {
      for (int b : parents - moral.neighbours(a)) {
        if (b != a) moral.add_undirected(a, b);
      }
    }
  }
  return moral;
}

namespace {
void require_probability(double p) {
  if (!(p >= 0 && p <= 1)) throw InputError(message("a random graph needs an edge probability in [0, 1], not ", p, "."));
}
}  // namespace

MixedGraph random_undirected_graph(int nodes, double edge_probability, Rng& rng) {
  require_probability(edge_probability);
  MixedGraph graph(nodes);
  for (int i = 0; i < nodes; ++i) {
    for (int j = i + 1; j < nodes; ++j) {
      if (rng.bernoulli(edge_probability)) graph.add_undirected(i, j);
    }
  }
  return graph;
}

MixedGraph random_dag(int nodes, double edge_probability, Rng& rng) {
  require_probability(edge_probability);
  MixedGraph graph(nodes);
  const std::vector<int> order = rng.permutation(nodes);
  for (int a = 0; a < nodes; ++a) {
    for (int b = a + 1; b < nodes; ++b) {
      if (rng.bernoulli(edge_probability)) graph.add_directed(order[a], order[b]);
    }
  }
  return graph;
}

}  // namespace granary
