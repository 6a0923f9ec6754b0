#include "core/graph/separation.h"

#include "core/base/errors.h"

namespace granary {

namespace {
void require_node_set(const MixedGraph& graph, const Bitset& set) {
  if (set.size() != graph.nodes()) {
    throw InputError(message("a node set over ", set.size(), " nodes does not fit a graph with ", graph.nodes(), "."));
  }
}
}  // namespace

Bitset m_connected(const MixedGraph& graph, const Bitset& from, const Bitset& given) {
  const int n = graph.nodes();
  require_node_set(graph, from);
  require_node_set(graph, given);
  if (from.intersects(given)) throw InputError("the nodes asked about must not be among those conditioned on.");
  if (graph.has_circles()) throw InputError("m-separation needs a graph without circle marks; orient them first.");

  Bitset by_arrow(n), by_tail(n);  // nodes entered at an arrow, at a tail
  struct Visit {
    int node;
    bool arrow;
  };
  std::vector<Visit> open;
  // Leaves v along the edges to `targets`.
  const auto leave = [&](int v, const Bitset& targets) {
    for (int w : (targets & graph.arrows_from(v)) - by_arrow) {
      by_arrow.set(w);
      open.push_back({w, true});
    }
    for (int w : (targets & graph.tails_from(v)) - by_tail) {
      by_tail.set(w);
      open.push_back({w, false});
    }
  };

  for (int v : from) leave(v, graph.neighbours(v));
  while (!open.empty()) {
    const Visit at = open.back();
    open.pop_back();
    if (!given.test(at.node)) {
      leave(at.node, at.arrow ? graph.tails_at(at.node) : graph.neighbours(at.node));
    } else if (at.arrow) {
      leave(at.node, graph.arrows_at(at.node));
    }
  }
  return (by_arrow | by_tail | from) - given;
}

bool m_separated(const MixedGraph& graph, const Bitset& x, const Bitset& y, const Bitset& given) {
  require_node_set(graph, y);
  require_node_set(graph, given);
  if (y.intersects(given)) throw InputError("the nodes asked about must not be among those conditioned on.");
  return !m_connected(graph, x, given).intersects(y);
}

bool m_separated(const MixedGraph& graph, int x, int y, const Bitset& given) {
  return m_separated(graph, Bitset(graph.nodes(), {x}), Bitset(graph.nodes(), {y}), given);
}

bool d_separated(const MixedGraph& dag, const Bitset& x, const Bitset& y, const Bitset& given) {
  if (!dag.all_directed()) throw InputError("d-separation needs a graph whose edges are all directed.");
  return m_separated(dag, x, y, given);
}

bool d_separated(const MixedGraph& dag, int x, int y, const Bitset& given) {
  return d_separated(dag, Bitset(dag.nodes(), {x}), Bitset(dag.nodes(), {y}), given);
}

}  // namespace granary
