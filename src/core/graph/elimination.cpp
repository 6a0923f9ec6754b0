#include "core/graph/elimination.h"

#include <algorithm>
#include <iterator>

#include "core/base/errors.h"
#include "core/graph/union_find.h"

namespace granary {

namespace {

std::vector<int> ranks(const MixedGraph& graph, const std::vector<int>& order) {
  const int n = graph.nodes();
  std::vector<int> rank(n, -1);
  for (std::size_t r = 0; r < order.size(); ++r) {
    if (order[r] < 0 || order[r] >= n || rank[order[r]] >= 0) {
      throw InputError(
          message("an elimination order names each of the nodes 1 .. ", n, " once; entry ", r + 1, " is ", order[r] + 1, "."));
    }
    rank[order[r]] = static_cast<int>(r);
  }
  if (static_cast<int>(order.size()) != n) {
    throw InputError(message("an elimination order of ", n, " nodes has ", n, " entries, not ", order.size(), "."));
  }
  return rank;
}

// What is left of the graph while nodes are eliminated.
class Remainder {
 public:
  explicit Remainder(const MixedGraph& graph) {
    rows_.reserve(graph.nodes());
    for (int i = 0; i < graph.nodes(); ++i) rows_.push_back(graph.neighbours(i));
  }

  const Bitset& neighbours(int v) const { return rows_[v]; }
  int degree(int v) const { return rows_[v].count(); }

  int fill_in(int v) const {  // pairs of neighbours that are not adjacent
    const int degree = rows_[v].count();
    int missing = 0;
    for (int u : rows_[v]) missing += degree - 1 - rows_[u].count_common(rows_[v]);
    return missing / 2;
  }

  // Calls adding(u, w) just before each new edge is put in; v itself is gone by then.
  template <class Adding>
  void eliminate(int v, Adding&& adding) {
    const Bitset around = rows_[v];
    for (int u : around) rows_[u].reset(v);
    rows_[v].clear();
    for (int u : around) {
      const Bitset missing = around - rows_[u];
      for (int w = missing.next(u); w >= 0; w = missing.next(w)) {
        adding(u, w);
        rows_[u].set(w);
        rows_[w].set(u);
      }
    }
  }

 private:
  std::vector<Bitset> rows_;
};

}  // namespace

std::vector<int> maximum_cardinality_search(const MixedGraph& graph) {
  const int n = graph.nodes();
  std::vector<int> order, visited_neighbours(n, 0);
  Bitset left(n);
  left.fill();
  for (int step = 0; step < n; ++step) {
    int best = left.first();
    for (int i : left) {
      if (visited_neighbours[i] > visited_neighbours[best]) best = i;
    }
    left.reset(best);
    order.push_back(best);
    for (int j : graph.neighbours(best)) ++visited_neighbours[j];
  }
  return order;
}

bool is_perfect_elimination_order(const MixedGraph& graph, const std::vector<int>& order) {
  const std::vector<int> rank = ranks(graph, order);
  Bitset left(graph.nodes());
  left.fill();
  for (int v : order) {
    left.reset(v);
    Bitset later = graph.neighbours(v) & left;
    int next = later.first();
    for (int u : later) {
      if (rank[u] < rank[next]) next = u;
    }
    if (next < 0) continue;
    later.reset(next);
    if (!later.is_subset_of(graph.neighbours(next))) return false;  // the other pairs are checked when `next` has its turn
  }
  return true;
}

bool is_chordal(const MixedGraph& graph) {
  std::vector<int> order = maximum_cardinality_search(graph);
  std::reverse(order.begin(), order.end());
  return is_perfect_elimination_order(graph, order);
}

std::vector<int> elimination_order(const MixedGraph& graph, EliminationRule rule, Monitor& monitor) {
  const int n = graph.nodes();
  const bool by_fill = rule == EliminationRule::min_fill;
  Remainder rest(graph);
  std::vector<int> cost(n), order;
  for (int v = 0; v < n; ++v) cost[v] = by_fill ? rest.fill_in(v) : rest.degree(v);
  Bitset left(n);
  left.fill();
  for (int step = 0; step < n; ++step) {
    monitor.progress(static_cast<double>(step) / n);
    int best = left.first();
    for (int v : left) {
      if (cost[v] < cost[best]) best = v;
    }
    left.reset(best);
    order.push_back(best);
    // Costs follow the changes: a node losing a neighbour loses its missing pairs with it; a new edge closes one pair of each
    // common neighbour of its ends, and opens to each end the other's pairs with the neighbours not shared.
    const Bitset around = rest.neighbours(best);
    for (int u : around) cost[u] -= by_fill ? rest.degree(u) - 1 - rest.neighbours(u).count_common(around) : 1;
    rest.eliminate(best, [&](int u, int w) {
      if (!by_fill) {
        ++cost[u];
        ++cost[w];
        return;
      }
      const Bitset common = rest.neighbours(u) & rest.neighbours(w);
      const int shared = common.count();
      for (int x : common) --cost[x];
      cost[u] += rest.degree(u) - shared;
      cost[w] += rest.degree(w) - shared;
    });
  }
  return order;
}

std::vector<int> staged_elimination_order(const MixedGraph& graph, const std::vector<int>& stage,
                                          const std::vector<double>& weight, WeightedRule rule, Monitor& monitor) {
  const int n = graph.nodes();
  if (static_cast<int>(stage.size()) != n || static_cast<int>(weight.size()) != n) {
    throw InputError(message("an elimination in stages needs a stage and a weight for each of the ", n, " nodes."));
  }
  Remainder rest(graph);
  using Cost = std::pair<double, double>;
  const auto price = [&](int v) {
    double total = weight[v] + 1e-3 * rest.degree(v);
    for (int u : rest.neighbours(v)) total += weight[u];
    const double fill = rest.fill_in(v);
    return rule == WeightedRule::min_fill ? Cost(fill, total) : Cost(total, fill);
  };
  std::vector<int> order, stages = stage;
  std::sort(stages.begin(), stages.end());
  stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
  std::vector<Cost> cost(n);
  for (int now : stages) {
    Bitset left(n);
    for (int v = 0; v < n; ++v) left.set(v, stage[v] == now);
    for (int v : left) cost[v] = price(v);
    while (left.any()) {
      monitor.progress(static_cast<double>(order.size()) / n);
      int best = left.first();
      for (int v : left) {
        if (cost[v] < cost[best]) best = v;
      }
      left.reset(best);
      order.push_back(best);
      Bitset changed = rest.neighbours(best);  // and the neighbours of these: a new edge closes their triangles
      for (int u : rest.neighbours(best)) changed |= rest.neighbours(u);
      rest.eliminate(best, [](int, int) {});
      for (int u : changed& left) cost[u] = price(u);
    }
  }
  return order;
}

EliminationTree elimination_tree(const MixedGraph& graph, const std::vector<int>& order) {
  const std::vector<int> rank = ranks(graph, order);
  Remainder rest(graph);
  EliminationTree tree;
  for (int v : order) {
    Bitset members = rest.neighbours(v);
    int parent = -1;
    for (int u : members) {
      if (parent < 0 || rank[u] < parent) parent = rank[u];
    }
    members.set(v);
    tree.clusters.push_back(members.members());
    tree.parent.push_back(parent);
    rest.eliminate(v, [](int, int) {});
  }
  return tree;
}

Triangulation triangulate(const MixedGraph& graph, const std::vector<int>& order) {
  const int n = graph.nodes();
  const std::vector<int> rank = ranks(graph, order);
  Triangulation result;
  result.order = order;
  Remainder rest(graph);
  std::vector<Bitset> later(n);  // neighbours of a node when it is eliminated
  std::vector<int> size(n);
  Bitset maximal(n);
  maximal.fill();
  for (int v : order) {
    later[v] = rest.neighbours(v);
    size[v] = later[v].count();
    result.width = std::max(result.width, size[v]);
    rest.eliminate(v, [&](int u, int w) { result.fill.emplace_back(std::min(u, w), std::max(u, w)); });
  }
  // The clique of v lies inside an earlier one exactly when some u has v as its first later neighbour and one more of them than
  // v.
  for (int u : order) {
    int v = later[u].first();
    for (int w : later[u]) {
      if (rank[w] < rank[v]) v = w;
    }
    if (v >= 0 && size[u] == size[v] + 1) maximal.reset(v);
  }
  for (int v : order) {
    if (!maximal.test(v)) continue;
    Bitset clique = later[v];
    clique.set(v);
    result.cliques.push_back(clique.members());
  }
  return result;
}

int elimination_width(const MixedGraph& graph, const std::vector<int>& order) {
  ranks(graph, order);
  Remainder rest(graph);
  int width = -1;
  for (int v : order) {
    width = std::max(width, rest.degree(v));
    rest.eliminate(v, [](int, int) {});
  }
  return width;
}

JunctionTree junction_tree(const Triangulation& triangulation) {
  JunctionTree tree;
  tree.cliques = triangulation.cliques;
  const int m = static_cast<int>(tree.cliques.size());
  std::vector<std::vector<int>> holders(triangulation.order.size());
  struct Candidate {
    int a, b, weight;
  };
  std::vector<Candidate> candidates;
  std::vector<int> shared(m, 0), touched;
  for (int b = 0; b < m; ++b) {
    for (int v : tree.cliques[b]) {
      for (int a : holders[v]) {
        if (shared[a]++ == 0) touched.push_back(a);
      }
      holders[v].push_back(b);
    }
    for (int a : touched) {
      candidates.push_back({a, b, shared[a]});
      shared[a] = 0;
    }
    touched.clear();
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& x, const Candidate& y) {
    return x.weight != y.weight ? x.weight > y.weight : x.a != y.a ? x.a < y.a : x.b < y.b;
  });
  UnionFind sets(m);
  for (const Candidate& c : candidates) {
    if (!sets.unite(c.a, c.b)) continue;
    JunctionTree::Link link{c.a, c.b, {}};
    const std::vector<int>&x = tree.cliques[c.a], &y = tree.cliques[c.b];
    std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(link.separator));
    tree.links.push_back(std::move(link));
  }
  return tree;
}

namespace {

class NiceBuilder {
 public:
  int leaf() { return add({NiceNode::Kind::leaf, -1, -1, -1, {}}); }

  int join(int left, int right) { return add({NiceNode::Kind::join, -1, left, right, nodes[left].bag}); }

  // A chain from `top` up to a bag equal to `target`: forgets first, so that no bag is larger than needed.
  int change_bag(int top, const std::vector<int>& target) {
    std::vector<int> gone, come;
    const std::vector<int> bag = nodes[top].bag;
    std::set_difference(bag.begin(), bag.end(), target.begin(), target.end(), std::back_inserter(gone));
    std::set_difference(target.begin(), target.end(), bag.begin(), bag.end(), std::back_inserter(come));
    for (int v : gone) {
      std::vector<int> smaller = nodes[top].bag;
      smaller.erase(std::lower_bound(smaller.begin(), smaller.end(), v));
      top = add({NiceNode::Kind::forget, v, top, -1, std::move(smaller)});
    }
    for (int v : come) {
      std::vector<int> larger = nodes[top].bag;
      larger.insert(std::lower_bound(larger.begin(), larger.end(), v), v);
      top = add({NiceNode::Kind::introduce, v, top, -1, std::move(larger)});
    }
    return top;
  }

  std::vector<NiceNode> nodes;

 private:
  int add(NiceNode node) {
    nodes.push_back(std::move(node));
    return static_cast<int>(nodes.size()) - 1;
  }
};

}  // namespace

std::vector<NiceNode> nice_tree_decomposition(const JunctionTree& tree) {
  const int m = static_cast<int>(tree.cliques.size());
  std::vector<std::vector<int>> beside(m);
  for (const JunctionTree::Link& link : tree.links) {
    beside[link.a].push_back(link.b);
    beside[link.b].push_back(link.a);
  }
  NiceBuilder build;
  std::vector<int> parent(m, -1), top(m, -1);  // top[c]: the nice node that carries what is done below clique c, with bag c
  std::vector<bool> seen(m, false);
  int root = -1;
  for (int start = 0; start < m; ++start) {
    if (seen[start]) continue;
    std::vector<int> order = {start};  // parents first
    seen[start] = true;
    for (std::size_t k = 0; k < order.size(); ++k) {
      for (int next : beside[order[k]]) {
        if (seen[next]) continue;
        seen[next] = true;
        parent[next] = order[k];
        order.push_back(next);
      }
    }
    for (auto c = order.rbegin(); c != order.rend(); ++c) {
      if (top[*c] < 0) top[*c] = build.change_bag(build.leaf(), tree.cliques[*c]);
      const int up = parent[*c];
      if (up < 0) continue;
      const int arrived = build.change_bag(top[*c], tree.cliques[up]);
      top[up] = top[up] < 0 ? arrived : build.join(top[up], arrived);
    }
    const int done = build.change_bag(top[start], {});
    root = root < 0 ? done : build.join(root, done);
  }
  if (root < 0) build.leaf();
  return std::move(build.nodes);
}

}  // namespace granary
