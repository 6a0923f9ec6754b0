#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "core/graph/elimination.h"
#include "core/base/errors.h"
#include "harness.h"

using namespace granary;

namespace {

constexpr EliminationRule rules[] = {EliminationRule::min_fill, EliminationRule::min_degree};

MixedGraph cycle_graph(int n) {
  MixedGraph graph(n);
  for (int i = 0; i < n; ++i) graph.add_undirected(i, (i + 1) % n);
  return graph;
}

MixedGraph grid_graph(int rows, int columns) {
  MixedGraph graph(rows * columns);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      if (c + 1 < columns) graph.add_undirected(r * columns + c, r * columns + c + 1);
      if (r + 1 < rows) graph.add_undirected(r * columns + c, (r + 1) * columns + c);
    }
  }
  return graph;
}

void eliminate_by_hand(MixedGraph& graph, int v) {
  const std::vector<int> around = graph.neighbours(v).members();
  for (int a : around) {
    for (int b : around) {
      if (a < b) graph.add_undirected(a, b);
    }
  }
  graph.remove_edges_of(v);
}

// A graph is chordal exactly when taking out nodes whose neighbours are all adjacent empties it.
bool chordal_by_hand(MixedGraph graph) {
  Bitset left(graph.nodes());
  left.fill();
  for (bool progress = true; progress;) {
    progress = false;
    for (int v : left) {
      bool simplicial = true;
      for (int a : graph.neighbours(v)) {
        for (int b : graph.neighbours(v)) simplicial = simplicial && (a == b || graph.adjacent(a, b));
      }
      if (!simplicial) continue;
      graph.remove_edges_of(v);
      left.reset(v);
      progress = true;
    }
  }
  return left.none();
}

std::set<std::vector<int>> maximal_cliques_by_hand(const MixedGraph& graph) {
  const int n = graph.nodes();
  std::vector<unsigned> cliques;
  for (unsigned code = 1; code < 1u << n; ++code) {
    bool clique = true;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) clique = clique && (!(code >> i & 1) || !(code >> j & 1) || graph.adjacent(i, j));
    }
    if (clique) cliques.push_back(code);
  }
  std::set<std::vector<int>> maximal;
  for (unsigned a : cliques) {
    bool inside = false;
    for (unsigned b : cliques) inside = inside || (a != b && (a & b) == a);
    if (inside) continue;
    std::vector<int> members;
    for (int i = 0; i < n; ++i) {
      if (a >> i & 1) members.push_back(i);
    }
    maximal.insert(members);
  }
  return maximal;
}

MixedGraph filled(const MixedGraph& graph, const Triangulation& t) {
  MixedGraph result = skeleton(graph);
  for (const auto& edge : t.fill) result.add_undirected(edge.first, edge.second);
  return result;
}

Triangulation triangulated(const MixedGraph& graph, EliminationRule rule = EliminationRule::min_fill) {
  Monitor monitor;
  return triangulate(graph, elimination_order(graph, rule, monitor));
}

// Number of independent sets, by dynamic programming over the nice tree: value[S] for the part of the bag that is in the set.
double independent_sets(const MixedGraph& graph, const std::vector<NiceNode>& nodes) {
  std::vector<std::map<std::vector<int>, double>> value(nodes.size());
  for (std::size_t t = 0; t < nodes.size(); ++t) {
    const NiceNode& node = nodes[t];
    if (node.kind == NiceNode::Kind::leaf) {
      value[t][{}] = 1;
    } else if (node.kind == NiceNode::Kind::introduce) {
      for (const auto& entry : value[node.left]) {
        value[t][entry.first] += entry.second;
        bool free = true;
        for (int u : entry.first) free = free && !graph.adjacent(u, node.vertex);
        std::vector<int> with = entry.first;
        with.insert(std::lower_bound(with.begin(), with.end(), node.vertex), node.vertex);
        if (free) value[t][with] += entry.second;
      }
    } else if (node.kind == NiceNode::Kind::forget) {
      for (const auto& entry : value[node.left]) {
        std::vector<int> without = entry.first;
        without.erase(std::remove(without.begin(), without.end(), node.vertex), without.end());
        value[t][without] += entry.second;
      }
    } else {
      for (const auto& entry : value[node.left]) value[t][entry.first] = entry.second * value[node.right][entry.first];
    }
  }
  return value.back()[{}];
}

}  // namespace

TEST("chordality: the search agrees with stripping simplicial nodes") {
  Rng rng(1);
  int chordal = 0, asked = 0;
  for (int round = 0; round < 300; ++round) {
    const MixedGraph graph = random_undirected_graph(3 + static_cast<int>(rng.below(6)), rng.uniform(0.2, 0.9), rng);
    const bool answer = is_chordal(graph);
    CHECK(answer == chordal_by_hand(graph));
    const std::vector<int> order = maximum_cardinality_search(graph);
    CHECK(std::set<int>(order.begin(), order.end()).size() == order.size());
    chordal += answer;
    ++asked;
  }
  CHECK(chordal > asked / 10 && chordal < asked * 9 / 10);
  CHECK(is_chordal(MixedGraph(0)) && is_chordal(cycle_graph(3)) && !is_chordal(cycle_graph(4)) && !is_chordal(cycle_graph(70)));
  CHECK(is_perfect_elimination_order(grid_graph(1, 5), {0, 1, 2, 3, 4}));
  CHECK(!is_perfect_elimination_order(grid_graph(1, 5), {2, 0, 1, 3, 4}));
}

TEST("the greedy orders take a cheapest node at every step") {
  Rng rng(2);
  for (EliminationRule rule : rules) {
    for (int round = 0; round < 40; ++round) {
      MixedGraph graph = random_undirected_graph(14, 0.25, rng);
      Monitor monitor;
      const std::vector<int> order = elimination_order(graph, rule, monitor);
      Bitset left(14);
      left.fill();
      const auto cost = [&](int v) {
        int missing = 0;
        for (int a : graph.neighbours(v)) {
          for (int b : graph.neighbours(v)) missing += a < b && !graph.adjacent(a, b);
        }
        return rule == EliminationRule::min_fill ? missing : graph.degree(v);
      };
      bool greedy = order.size() == 14;
      for (int v : order) {  // costs from scratch, where the routine keeps them up to date
        for (int u : left) greedy = greedy && (cost(v) < cost(u) || (cost(v) == cost(u) && v <= u));
        eliminate_by_hand(graph, v);
        left.reset(v);
      }
      CHECK(greedy);
    }
  }
}

TEST("triangulations are chordal supergraphs whose maximal cliques are listed") {
  Rng rng(3);
  for (int round = 0; round < 120; ++round) {
    const MixedGraph graph = random_undirected_graph(1 + static_cast<int>(rng.below(8)), 0.45, rng);
    const std::vector<int> order = rng.permutation(graph.nodes());
    const Triangulation t = triangulate(graph, order);
    const MixedGraph full = filled(graph, t);
    CHECK(is_chordal(full) && is_perfect_elimination_order(full, order));
    CHECK(full.edges() == graph.edges() + static_cast<int>(t.fill.size()));
    CHECK(std::set<std::vector<int>>(t.cliques.begin(), t.cliques.end()) == maximal_cliques_by_hand(full));
    std::size_t largest = 0;
    for (const auto& clique : t.cliques) largest = std::max(largest, clique.size());
    CHECK(t.width + 1 == static_cast<int>(largest) && t.width == elimination_width(graph, order));
    if (is_chordal(graph)) CHECK(triangulated(graph).fill.empty());
  }
  CHECK_THROWS(triangulate(cycle_graph(4), {0, 1, 2}), InputError);
  CHECK_THROWS(triangulate(cycle_graph(4), {0, 1, 2, 2}), InputError);
  CHECK_THROWS(triangulate(cycle_graph(4), {0, 1, 2, 4}), InputError);
  CHECK(triangulate(MixedGraph(0), {}).width == -1 && triangulated(MixedGraph(3)).width == 0);
}

TEST("known treewidths are reached, and never beaten") {
  for (EliminationRule rule : rules) {
    CHECK(triangulated(cycle_graph(30), rule).width == 2);
    CHECK(triangulated(grid_graph(1, 40), rule).width == 1);
    CHECK(triangulated(MixedGraph::complete(9), rule).width == 8);
    const int grid = triangulated(grid_graph(4, 12), rule).width;
    CHECK(grid >= 4 && grid <= 5);
  }
  Rng rng(4);
  for (int round = 0; round < 10; ++round) {  // the best of all orders on six nodes
    const MixedGraph graph = random_undirected_graph(6, 0.5, rng);
    std::vector<int> order(6);
    std::iota(order.begin(), order.end(), 0);
    int best = 6;
    do best = std::min(best, elimination_width(graph, order));
    while (std::next_permutation(order.begin(), order.end()));
    for (EliminationRule rule : rules) {
      const int width = triangulated(graph, rule).width;
      CHECK(width >= best && width <= best + 1);
    }
  }
}

TEST("junction trees have the running intersection property, one tree per component") {
  Rng rng(5);
  for (int round = 0; round < 100; ++round) {
    const int n = 2 + static_cast<int>(rng.below(25));
    const MixedGraph graph = random_undirected_graph(n, 2.0 / n, rng);
    const JunctionTree tree = junction_tree(triangulated(graph));
    const int m = static_cast<int>(tree.cliques.size());
    const std::vector<int> label = connected_components(graph);
    const int components = *std::max_element(label.begin(), label.end()) + 1;
    CHECK(static_cast<int>(tree.links.size()) == m - components);
    bool good = true;
    for (const auto& link : tree.links) {
      std::vector<int> both;
      std::set_intersection(tree.cliques[link.a].begin(), tree.cliques[link.a].end(), tree.cliques[link.b].begin(),
                            tree.cliques[link.b].end(), std::back_inserter(both));
      good = good && !both.empty() && both == link.separator;
    }
    for (int v = 0; v < n; ++v) {  // the cliques with v form a tree: as many links between them as cliques, less one
      int cliques = 0, links = 0;
      for (const auto& c : tree.cliques) cliques += std::binary_search(c.begin(), c.end(), v);
      for (const auto& link : tree.links) links += std::binary_search(link.separator.begin(), link.separator.end(), v);
      good = good && cliques >= 1 && links == cliques - 1;
    }
    for (const MarkedEdge& e : graph.edge_list()) {
      bool covered = false;
      for (const auto& c : tree.cliques) {
        covered = covered || (std::binary_search(c.begin(), c.end(), e.from) && std::binary_search(c.begin(), c.end(), e.to));
      }
      good = good && covered;
    }
    CHECK(good);
  }
}

TEST("nice tree decompositions are well formed and count independent sets") {
  Rng rng(6);
  for (int round = 0; round < 60; ++round) {
    const int n = static_cast<int>(rng.below(13));
    const MixedGraph graph = random_undirected_graph(n, rng.uniform(0.1, 0.4), rng);
    const Triangulation t = triangulated(graph);
    const std::vector<NiceNode> nodes = nice_tree_decomposition(junction_tree(t));
    std::vector<int> uses(nodes.size(), 0), forgotten(n, 0);
    bool good = nodes.back().bag.empty();
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      const NiceNode& node = nodes[k];
      good = good && std::is_sorted(node.bag.begin(), node.bag.end()) && static_cast<int>(node.bag.size()) <= t.width + 1;
      for (int child : {node.left, node.right}) {
        if (child < 0) continue;
        good = good && child < static_cast<int>(k);
        ++uses[child];
      }
      const std::set<int> bag(node.bag.begin(), node.bag.end());
      std::set<int> below;
      if (node.left >= 0) below.insert(nodes[node.left].bag.begin(), nodes[node.left].bag.end());
      switch (node.kind) {
        case NiceNode::Kind::leaf:
          good = good && bag.empty() && node.left < 0 && node.right < 0;
          break;
        case NiceNode::Kind::introduce:
          good = good && below.insert(node.vertex).second && below == bag && node.right < 0;
          break;
        case NiceNode::Kind::forget:
          good = good && below.erase(node.vertex) == 1 && below == bag && node.right < 0;
          ++forgotten[node.vertex];
          break;
        case NiceNode::Kind::join:
          good = good && below == bag && nodes[node.right].bag == node.bag;
      }
    }
    for (std::size_t k = 0; k + 1 < nodes.size(); ++k) good = good && uses[k] == 1;
    // Forgotten once each: the bags holding a node are connected.
    good = good && uses.back() == 0 && std::all_of(forgotten.begin(), forgotten.end(), [](int f) { return f == 1; });
    CHECK(good);

    double expected = 0;
    for (unsigned code = 0; code < 1u << n; ++code) {
      bool independent = true;
      for (const MarkedEdge& e : graph.edge_list()) independent = independent && !(code >> e.from & code >> e.to & 1);
      expected += independent;
    }
    CHECK(independent_sets(graph, nodes) == expected);
  }
  // Paths: Fibonacci numbers.
  CHECK(independent_sets(grid_graph(1, 40), nice_tree_decomposition(junction_tree(triangulated(grid_graph(1, 40))))) ==
        267914296);
}

TEST("elimination in stages: stages in turn, a cheapest node at every step, and a strong root") {
  Rng rng(11);
  for (int round = 0; round < 60; ++round) {
    const int n = 4 + static_cast<int>(rng.below(8));
    const MixedGraph start = random_undirected_graph(n, 0.35, rng);
    std::vector<int> stage(n);
    std::vector<double> weight(n, 0);
    for (int v = 0; v < n; ++v) {
      stage[v] = static_cast<int>(rng.below(2)) * 5;  // any numbers will do
      if (stage[v]) weight[v] = std::log(2.0 + static_cast<double>(rng.below(3)));
    }
    Monitor monitor;
    for (WeightedRule rule : {WeightedRule::min_fill, WeightedRule::min_weight}) {
      const std::vector<int> order = staged_elimination_order(start, stage, weight, rule, monitor);
      bool staged = static_cast<int>(order.size()) == n, greedy = true;
      MixedGraph graph = start;
      Bitset left(n);
      left.fill();
      const auto cost = [&](int v) {
        double missing = 0, total = weight[v] + 1e-3 * graph.degree(v);
        for (int a : graph.neighbours(v)) {
          total += weight[a];
          for (int b : graph.neighbours(v)) missing += a < b && !graph.adjacent(a, b);
        }
        return rule == WeightedRule::min_fill ? std::make_pair(missing, total) : std::make_pair(total, missing);
      };
      for (int v : order) {
        for (int u : left) {
          staged = staged && stage[v] <= stage[u];
          if (stage[u] != stage[v]) continue;
          const auto a = cost(v), b = cost(u);
          greedy = greedy && (a.first < b.first - 1e-12 || (a.first <= b.first + 1e-12 && a.second <= b.second + 1e-12));
        }
        eliminate_by_hand(graph, v);
        left.reset(v);
      }
      CHECK(staged && greedy);

      // Every cluster is its node with the later ones it meets, and hangs on one that holds all of them. Strong: the part of a
      // cluster of the first stage that lies in the last goes on towards the root.
      const EliminationTree tree = elimination_tree(start, order);
      const MixedGraph full = filled(start, triangulate(start, order));
      bool right = static_cast<int>(tree.clusters.size()) == n;
      for (int k = 0; k < n && right; ++k) {
        std::vector<int> members = {order[k]};
        for (int later = k + 1; later < n; ++later) {
          if (full.adjacent(order[k], order[later])) members.push_back(order[later]);
        }
        std::sort(members.begin(), members.end());
        right = tree.clusters[k] == members && (tree.parent[k] < 0) == (members.size() == 1) && tree.parent[k] < n;
        if (tree.parent[k] < 0) continue;
        right = right && tree.parent[k] > k;
        const std::vector<int>& above = tree.clusters[tree.parent[k]];
        for (int u : members) right = right && (u == order[k] || std::binary_search(above.begin(), above.end(), u));
      }
      CHECK(right);
    }
  }
  Monitor monitor;
  CHECK(staged_elimination_order(MixedGraph(0), {}, {}, WeightedRule::min_fill, monitor).empty());
  CHECK_THROWS(staged_elimination_order(cycle_graph(4), {0, 1}, {0, 0, 0, 0}, WeightedRule::min_fill, monitor), InputError);
  CHECK_THROWS(elimination_tree(cycle_graph(4), {0, 1, 2, 2}), InputError);
}
