#include "core/graph/markov_equivalence.h"

#include "core/base/errors.h"

namespace granary {

std::vector<Collider> v_structures(const MixedGraph& graph) {
  std::vector<Collider> found;
  for (int middle = 0; middle < graph.nodes(); ++middle) {
    const Bitset& into = graph.arrows_at(middle);
    for (int left : into) {
      const Bitset others = into - graph.neighbours(left);
      for (int right = others.next(left); right >= 0; right = others.next(right)) found.push_back({left, middle, right});
    }
  }
  return found;
}

MixedGraph dag_to_cpdag(const MixedGraph& dag) {
  if (!dag.all_directed()) throw InputError("dag_to_cpdag needs a graph whose edges are all directed.");
  const int n = dag.nodes();
  const std::vector<int> order = topological_order(dag);
  std::vector<int> rank(n);
  for (int r = 0; r < n; ++r) rank[order[r]] = r;

  // Chickering labels edges x -> y by y from first to last and, for one y, by x from last to first; the first x met for a y
  // decides all edges into y. compelled[y] holds the parents x of y for which x -> y is compelled.
  std::vector<Bitset> compelled(n, Bitset(n));
  for (int y : order) {
    const Bitset parents = dag.parents(y);
    int x = parents.first();
    for (int other : parents) {
      if (rank[other] > rank[x]) x = other;
    }
    if (x < 0) continue;
    Bitset others = parents - dag.parents(x);
    others.reset(x);
    // All compelled: w -> x is and w is no parent of y, or some z -> y has z no parent of x. Else w -> y inherits from w -> x.
    const bool all = others.any() || !compelled[x].is_subset_of(parents);
    compelled[y] = all ? parents : compelled[x];
  }

  MixedGraph cpdag = dag;
  for (int y = 0; y < n; ++y) {
    for (int x : dag.parents(y) - compelled[y]) cpdag.add_undirected(x, y);
  }
  return cpdag;
}

std::optional<MixedGraph> consistent_extension(const MixedGraph& pdag) {
  const int n = pdag.nodes();
  for (const MarkedEdge& edge : pdag.edge_list()) {
    const bool both_tails = edge.at_from == Mark::tail && edge.at_to == Mark::tail;
    if (!both_tails && !pdag.directed(edge.from, edge.to) && !pdag.directed(edge.to, edge.from)) {
      throw InputError("consistent_extension needs a graph with directed and undirected edges only.");
    }
  }
  MixedGraph dag = pdag, rest = pdag;
  Bitset left(n);
  left.fill();

  // x can be last: nothing leaves it, and each undirected neighbour is adjacent to all other nodes adjacent to x.
  const auto can_be_sink = [&](int x) {
    if (rest.children(x).any()) return false;
    for (int y : rest.undirected_neighbours(x)) {
      Bitset others = rest.neighbours(x) - rest.neighbours(y);
      others.reset(y);
      if (others.any()) return false;
    }
    return true;
  };
  // Removing a sink changes the test of its neighbours only.
  std::vector<int> candidates = left.members();
  while (!candidates.empty()) {
    const int x = candidates.back();
    candidates.pop_back();
    if (!left.test(x) || !can_be_sink(x)) continue;
    for (int y : rest.undirected_neighbours(x)) dag.orient(y, x);
    left.reset(x);
    for (int y : rest.neighbours(x)) candidates.push_back(y);
    rest.remove_edges_of(x);
  }
  if (left.any()) return std::nullopt;
  return dag;
}

namespace {

// Whether a -- b must become a -> b.
bool follows(const MixedGraph& g, int a, int b) {
  const Bitset into_b = g.parents(b);
  if (!g.parents(a).is_subset_of(g.neighbours(b))) {
    return true;  // rule 1: c -> a -- b, c and b not adjacent: a new v-structure otherwise (b itself is not a parent of a)
  }
  if (into_b.intersects(g.children(a))) return true;  // rule 2: a -> c -> b: a cycle otherwise
  const Bitset beside_a = g.undirected_neighbours(a);
  const Bitset middle = beside_a & into_b;  // rule 3: a -- c -> b and a -- d -> b, c and d not adjacent
  for (int c : middle) {
    Bitset apart = middle - g.neighbours(c);
    apart.reset(c);
    if (apart.any()) return true;
  }
  for (int d : into_b& g.neighbours(a)) {  // rule 4: a -- c -> d -> b, a and d adjacent, c and b not
    if (!(beside_a & g.parents(d)).is_subset_of(g.neighbours(b))) return true;
  }
  return false;
}

}  // namespace

int close_under_meek_rules(MixedGraph& pdag) {
  int oriented = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (int a = 0; a < pdag.nodes(); ++a) {
      for (int b : pdag.undirected_neighbours(a)) {
        if (!follows(pdag, a, b)) continue;
        pdag.orient(a, b);
        ++oriented;
        changed = true;
      }
    }
  }
  return oriented;
}

}  // namespace granary
