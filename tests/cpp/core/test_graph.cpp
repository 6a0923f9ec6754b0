#include <algorithm>
#include <cstring>

#include "core/base/errors.h"
#include "core/graph/graph.h"
#include "harness.h"

using namespace granary;

namespace {
// All marks by hand, to hold the bit rows to account.
struct Table {
  explicit Table(int size) : n(size), marks(size * size, Mark::none) {}
  Mark& at(int i, int j) { return marks[i * n + j]; }  // at j
  int n;
  std::vector<Mark> marks;
};
}  // namespace

TEST("marks, neighbour sets and edge list stay consistent through random edits") {
  Rng rng(1);
  const int n = 70;
  const Mark marks[] = {Mark::tail, Mark::arrow, Mark::circle};
  MixedGraph graph(n);
  Table table(n);
  for (int step = 0; step < 6000; ++step) {
    const int i = static_cast<int>(rng.below(n)), j = static_cast<int>(rng.below(n));
    if (i == j) continue;
    switch (rng.below(4)) {
      case 0:
      case 1: {
        const Mark a = marks[rng.below(3)], b = marks[rng.below(3)];
        graph.set_edge(i, j, a, b);
        table.at(j, i) = a;
        table.at(i, j) = b;
        break;
      }
      case 2:
        graph.remove_edge(i, j);
        table.at(i, j) = table.at(j, i) = Mark::none;
        break;
      default:
        if (!graph.adjacent(i, j)) break;
        graph.set_mark(i, j, Mark::arrow);
        table.at(i, j) = Mark::arrow;
    }
  }
  int edges = 0;
  bool same = true;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const Mark here = table.at(j, i), there = table.at(i, j);
      const bool edge = there != Mark::none;
      edges += edge && i < j;
      same = same && graph.mark(i, j) == there && graph.adjacent(i, j) == edge && graph.neighbours(i).test(j) == edge;
      same = same && graph.parents(i).test(j) == (here == Mark::arrow && there == Mark::tail);
      same = same && graph.children(i).test(j) == (here == Mark::tail && there == Mark::arrow);
      same = same && graph.spouses(i).test(j) == (here == Mark::arrow && there == Mark::arrow);
      same = same && graph.undirected_neighbours(i).test(j) == (here == Mark::tail && there == Mark::tail);
      same = same && graph.directed(i, j) == graph.children(i).test(j) && graph.bidirected(i, j) == graph.spouses(i).test(j);
      same = same && graph.undirected(i, j) == graph.undirected_neighbours(i).test(j);
      same = same && graph.arrows_at(i).test(j) == (here == Mark::arrow) && graph.tails_at(i).test(j) == (here == Mark::tail);
      same =
          same && graph.arrows_from(i).test(j) == (there == Mark::arrow) && graph.tails_from(i).test(j) == (there == Mark::tail);
    }
  }
  CHECK(same);
  CHECK(graph.edges() == edges && static_cast<int>(graph.edge_list().size()) == edges);
  CHECK(graph.has_circles() && !graph.all_directed() && !graph.all_undirected());
  MixedGraph turned = graph;  // the tallies behind these follow every edit
  for (const MarkedEdge& e : graph.edge_list()) turned.add_directed(e.from, e.to);
  CHECK(turned.all_directed() && !turned.has_circles() && !turned.all_undirected());
  for (const MarkedEdge& e : graph.edge_list()) {
    turned.set_mark(e.from, e.to, Mark::tail);
    CHECK(!turned.all_directed());
  }
  CHECK(turned.all_undirected() && turned == skeleton(graph));
  turned.add_bidirected(0, 1);
  CHECK(!turned.all_undirected() && !turned.all_directed() && !turned.has_circles());
  for (const MarkedEdge& e : turned.edge_list()) turned.remove_edge(e.to, e.from);
  turned.remove_edge(0, 1);
  CHECK(turned.edges() == 0 && turned.all_undirected() && turned.all_directed() && turned == MixedGraph(n));
  MixedGraph rebuilt(n);
  for (const MarkedEdge& e : graph.edge_list()) {
    CHECK(e.from < e.to);
    rebuilt.set_edge(e.to, e.from, e.at_to, e.at_from);
  }
  CHECK(rebuilt == graph && structural_hamming_distance(rebuilt, graph) == 0);
  rebuilt.remove_edges_of(3);
  CHECK(rebuilt.degree(3) == 0 && rebuilt.edges() == graph.edges() - graph.degree(3));
}

TEST("graph edits refuse what is not an edge") {
  MixedGraph graph(3);
  CHECK_THROWS(graph.add_directed(0, 0), InputError);
  CHECK_THROWS(graph.add_directed(0, 3), InputError);
  CHECK_THROWS(graph.add_undirected(-1, 0), InputError);
  CHECK_THROWS(graph.set_edge(0, 1, Mark::none, Mark::tail), InputError);
  CHECK_THROWS(graph.orient(0, 1), InputError);
  CHECK_THROWS(graph.set_mark(0, 1, Mark::arrow), InputError);
  CHECK_THROWS(MixedGraph(-1), InputError);
  CHECK_THROWS(structural_hamming_distance(graph, MixedGraph(2)), InputError);
}

TEST("complete graphs carry the mark asked for") {
  const MixedGraph tails = MixedGraph::complete(5), circles = MixedGraph::complete(5, Mark::circle);
  CHECK(tails.edges() == 10 && tails.all_undirected() && !tails.has_circles());
  CHECK(circles.edges() == 10 && circles.mark(1, 4) == Mark::circle && circles.has_circles());
  CHECK(MixedGraph::complete(5, Mark::arrow).bidirected(0, 3));
  CHECK(skeleton(circles) == tails);
  CHECK(MixedGraph::complete(0).edges() == 0 && MixedGraph::complete(1).edges() == 0);
}

TEST("structural Hamming distance counts missing, extra and turned edges once each") {
  MixedGraph a(4), b(4);
  a.add_directed(0, 1);
  b.add_directed(1, 0);  // turned
  a.add_directed(1, 2);
  b.add_undirected(1, 2);  // direction lost
  a.add_undirected(2, 3);  // missing
  b.add_directed(0, 3);    // extra
  a.add_bidirected(0, 2);
  b.add_bidirected(0, 2);  // same
  CHECK(structural_hamming_distance(a, b) == 4 && structural_hamming_distance(b, a) == 4);
  CHECK(structural_hamming_distance(a, a) == 0);
  MixedGraph c(2), d(2);
  c.set_edge(0, 1, Mark::circle, Mark::circle);
  d.set_edge(0, 1, Mark::circle, Mark::tail);
  CHECK(structural_hamming_distance(c, d) == 1);
}

TEST("components, ancestors and descendants agree with transitive closure") {
  Rng rng(2);
  for (int round = 0; round < 20; ++round) {
    const int n = 3 + round * 4;
    const MixedGraph dag = random_dag(n, 1.5 / n, rng);
    std::vector<Bitset> down(n), linked(n);
    for (int i = 0; i < n; ++i) {
      down[i] = dag.children(i);
      linked[i] = dag.neighbours(i);
      down[i].set(i);
      linked[i].set(i);
    }
    for (int k = 0; k < n; ++k) {
      for (int i = 0; i < n; ++i) {
        if (down[i].test(k)) down[i] |= down[k];
        if (linked[i].test(k)) linked[i] |= linked[k];
      }
    }
    const std::vector<int> label = connected_components(dag);
    bool same = true;
    for (int i = 0; i < n; ++i) {
      const Bitset below = descendants(dag, Bitset(n, {i})), above = ancestors(dag, Bitset(n, {i}));
      for (int j = 0; j < n; ++j) {
        same = same && below.test(j) == down[i].test(j) && above.test(j) == down[j].test(i);
        same = same && (label[i] == label[j]) == linked[i].test(j);
      }
    }
    CHECK(same);
    CHECK(ancestors(dag, Bitset(n)).none());
  }
}

TEST("topological order puts parents first and names a cycle when there is one") {
  Rng rng(3);
  for (int n : {0, 1, 5, 60, 200}) {
    const MixedGraph dag = random_dag(n, 0.1, rng);
    const std::vector<int> order = topological_order(dag);
    std::vector<int> rank(n);
    for (int r = 0; r < n; ++r) rank[order[r]] = r;
    CHECK(static_cast<int>(order.size()) == n && is_dag(dag) && directed_cycle(dag).empty());
    bool sorted = true;
    for (int i = 0; i < n; ++i) {
      for (int j : dag.children(i)) sorted = sorted && rank[i] < rank[j];
    }
    CHECK(sorted);
  }
  MixedGraph loop(7);
  loop.add_directed(0, 4);
  loop.add_directed(4, 2);
  loop.add_directed(2, 5);
  loop.add_directed(5, 4);
  loop.add_directed(5, 6);  // below the cycle, but not on it
  CHECK(!is_dag(loop) && directed_cycle(loop) == std::vector<int>({2, 5, 4}));
  std::string what;
  try {
    topological_order(loop);
  } catch (const InputError& error) {
    what = error.what();
  }
  CHECK(what.find("3 -> 6 -> 5 -> 3") != std::string::npos);
  MixedGraph mixed(2);
  mixed.add_undirected(0, 1);
  CHECK(!is_dag(mixed) && topological_order(mixed).size() == 2);
}

TEST("moral graph joins exactly the co-parents") {
  Rng rng(4);
  for (int round = 0; round < 20; ++round) {
    const int n = 12;
    const MixedGraph dag = random_dag(n, 0.25, rng), moral = moral_graph(dag);
    bool same = moral.all_undirected();
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        bool expected = dag.adjacent(i, j);
        for (int k = 0; k < n; ++k) expected = expected || (i != j && dag.directed(i, k) && dag.directed(j, k));
        same = same && moral.adjacent(i, j) == expected;
      }
    }
    CHECK(same);
  }
  CHECK_THROWS(moral_graph(MixedGraph::complete(3)), InputError);
}

TEST("induced subgraphs keep marks under renumbering") {
  MixedGraph graph(5);
  graph.add_directed(4, 1);
  graph.set_edge(1, 2, Mark::circle, Mark::arrow);
  graph.add_undirected(0, 3);
  const MixedGraph part = induced_subgraph(graph, {2, 4, 1});
  CHECK(part.nodes() == 3 && part.edges() == 2 && part.directed(1, 2));
  CHECK(part.mark(0, 2) == Mark::circle && part.mark(2, 0) == Mark::arrow);
}

TEST("random graphs have the right number of edges") {
  Rng rng(5);
  const int n = 100, pairs = n * (n - 1) / 2;
  const double sd = std::sqrt(pairs * 0.2 * 0.8);
  const MixedGraph undirected = random_undirected_graph(n, 0.2, rng), dag = random_dag(n, 0.2, rng);
  CHECK(undirected.all_undirected() && is_dag(dag));
  CHECK_NEAR(undirected.edges(), 0.2 * pairs, 4 * sd);
  CHECK_NEAR(dag.edges(), 0.2 * pairs, 4 * sd);
  int forward = 0;  // the order is random, so directions are balanced
  for (const MarkedEdge& e : dag.edge_list()) forward += e.at_to == Mark::arrow;
  CHECK(forward > dag.edges() / 4 && forward < dag.edges() * 3 / 4);
  CHECK(random_dag(10, 0, rng).edges() == 0 && random_dag(10, 1, rng).edges() == 45);
  CHECK_THROWS(random_dag(5, 1.1, rng), InputError);
}

TEST("five thousand nodes are no burden") {
  Rng rng(6);
  const int n = 5000;
  MixedGraph graph(n);
  for (int k = 0; k < 15000; ++k) {
    const int i = static_cast<int>(rng.below(n)), j = static_cast<int>(rng.below(n));
    if (i != j) graph.add_directed(std::min(i, j), std::max(i, j));
  }
  CHECK(static_cast<int>(topological_order(graph).size()) == n);
  const std::vector<int> label = connected_components(graph);
  CHECK(*std::max_element(label.begin(), label.end()) < n / 10);
  CHECK(ancestors(graph, Bitset(n, {n - 1})).count() >= 1);
}
