#include <functional>

#include "core/base/errors.h"
#include "core/graph/separation.h"
#include "harness.h"

using namespace granary;

namespace {

// The definition: some simple path on which every collider is an ancestor of Z and no other inner node is in Z.
bool connected_by_path(const MixedGraph& graph, int x, int y, const Bitset& given) {
  const Bitset above = ancestors(graph, given);
  Bitset on_path(graph.nodes());
  std::function<bool(int, int)> extend = [&](int previous, int node) {
    if (node == y) return true;
    on_path.set(node);
    for (int next = 0; next < graph.nodes(); ++next) {
      if (!graph.adjacent(node, next) || on_path.test(next)) continue;
      if (previous >= 0) {
        const bool collider = graph.mark(previous, node) == Mark::arrow && graph.mark(next, node) == Mark::arrow;
        if (collider ? !above.test(node) : given.test(node)) continue;
      }
      if (extend(node, next)) return true;
    }
    on_path.reset(node);
    return false;
  };
  return extend(-1, x);
}

// Lauritzen's criterion: separation in the moral graph of the smallest ancestral set.
bool separated_by_moral_graph(const MixedGraph& dag, const Bitset& x, const Bitset& y, const Bitset& given) {
  const Bitset relevant = ancestors(dag, x | y | given);
  const std::vector<int> nodes = relevant.members();
  MixedGraph moral = moral_graph(induced_subgraph(dag, nodes));
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    if (given.test(nodes[a])) moral.remove_edges_of(static_cast<int>(a));
  }
  const std::vector<int> label = connected_components(moral);
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    for (std::size_t b = 0; b < nodes.size(); ++b) {
      if (x.test(nodes[a]) && y.test(nodes[b]) && label[a] == label[b]) return false;
    }
  }
  return true;
}

Bitset random_set(Rng& rng, int n, double density, const Bitset& avoid) {
  Bitset set(n);
  for (int i = 0; i < n; ++i) {
    if (!avoid.test(i) && rng.bernoulli(density)) set.set(i);
  }
  return set;
}

}  // namespace

TEST("d-separation agrees with the moralised ancestral graph") {
  Rng rng(1);
  int separated = 0, asked = 0;
  for (int round = 0; round < 600; ++round) {
    const int n = 4 + static_cast<int>(rng.below(12));
    const MixedGraph dag = random_dag(n, 2.0 / n, rng);
    const Bitset x = random_set(rng, n, 0.15, Bitset(n)), y = random_set(rng, n, 0.15, x), z = random_set(rng, n, 0.3, x | y);
    const bool answer = d_separated(dag, x, y, z);
    CHECK(answer == separated_by_moral_graph(dag, x, y, z));
    CHECK(answer == d_separated(dag, y, x, z));
    separated += answer;
    ++asked;
  }
  CHECK(separated > asked / 10 && separated < asked * 9 / 10);
}

TEST("m-separation agrees with the definition by paths, in DAGs, mixed and undirected graphs") {
  Rng rng(2);
  int separated = 0, asked = 0;
  for (int round = 0; round < 400; ++round) {
    const int n = 3 + static_cast<int>(rng.below(6));
    MixedGraph graph = round % 5 == 0 ? random_undirected_graph(n, 0.4, rng) : random_dag(n, 0.35, rng);
    if (round % 5 > 1) {  // confounded pairs: bidirected edges where there is room
      for (int i = 0; i < n; ++i) {
        for (int j = i + 1; j < n; ++j) {
          if (!graph.adjacent(i, j) && rng.bernoulli(0.25)) graph.add_bidirected(i, j);
        }
      }
    }
    for (int question = 0; question < 8; ++question) {
      const std::vector<int> pair = rng.sample_without_replacement(n, 2);
      const Bitset z = random_set(rng, n, 0.4, Bitset(n, pair));
      const bool answer = m_separated(graph, pair[0], pair[1], z);
      CHECK(answer == !connected_by_path(graph, pair[0], pair[1], z));
      separated += answer;
      ++asked;
    }
  }
  CHECK(separated > asked / 10 && separated < asked * 9 / 10);
}

TEST("the textbook cases") {
  MixedGraph g(5);  // 0 -> 1 <- 2, 1 -> 3; 4 alone
  g.add_directed(0, 1);
  g.add_directed(2, 1);
  g.add_directed(1, 3);
  CHECK(d_separated(g, 0, 2, Bitset(5)));
  CHECK(!d_separated(g, 0, 2, Bitset(5, {1})));
  CHECK(!d_separated(g, 0, 2, Bitset(5, {3})));  // a descendant of the collider opens it too
  CHECK(!d_separated(g, 0, 3, Bitset(5)));
  CHECK(d_separated(g, 0, 3, Bitset(5, {1})));
  CHECK(d_separated(g, 4, 0, Bitset(5, {1, 3})));
  CHECK(m_connected(g, Bitset(5, {0}), Bitset(5, {3})).members() == std::vector<int>({0, 1, 2}));
  CHECK(m_connected(g, Bitset(5), Bitset(5)).none());
}

TEST("separation refuses questions without a meaning") {
  MixedGraph g(3);
  g.set_edge(0, 1, Mark::circle, Mark::arrow);
  CHECK_THROWS(m_separated(g, 0, 2, Bitset(3)), InputError);
  MixedGraph u(3);
  u.add_undirected(0, 1);
  CHECK_THROWS(d_separated(u, 0, 2, Bitset(3)), InputError);
  CHECK_THROWS(m_separated(u, 0, 2, Bitset(3, {0})), InputError);
  CHECK_THROWS(m_separated(u, 0, 2, Bitset(3, {2})), InputError);
  CHECK_THROWS(m_separated(u, 0, 2, Bitset(4)), InputError);
  CHECK(!m_separated(u, Bitset(3, {0}), Bitset(3, {0}), Bitset(3)));
}
