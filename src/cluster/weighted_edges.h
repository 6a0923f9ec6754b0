// A weighted graph as its edges, for cuts.
#pragma once

#include <cmath>
#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary::cluster {

struct WeightedEdges {
  Index nodes = 0;
  VectorXi from, to;  // from != to, each pair once
  VectorXd weight;    // not zero

  Index size() const { return weight.size(); }
  double total() const { return weight.sum(); }
};
template <class V>
void fields(V& v, WeightedEdges& t) {
  v("nodes", t.nodes);
  v("from", positions(t.from));
  v("to", positions(t.to));
  v("weight", t.weight);
}
inline void check(const WeightedEdges& g) {
  require(g.from.size() == g.size() && g.to.size() == g.size(), "edges of different lengths");
  for (Index e = 0; e < g.size(); ++e)
    require(g.from[e] >= 0 && g.to[e] >= 0 && g.from[e] < g.nodes && g.to[e] < g.nodes && g.from[e] != g.to[e] && std::isfinite(g.weight[e]), "an edge outside the graph");
}

// The edges at each node: node v has entries first[v] .. first[v + 1] - 1.
struct Incidence {
  std::vector<int> first, other, edge;

  explicit Incidence(const WeightedEdges& g) : first(static_cast<std::size_t>(g.nodes) + 1, 0), other(static_cast<std::size_t>(2 * g.size())), edge(other.size()) {
    for (Index e = 0; e < g.size(); ++e) {
      ++first[static_cast<std::size_t>(g.from[e]) + 1];
      ++first[static_cast<std::size_t>(g.to[e]) + 1];
    }
    for (std::size_t v = 1; v < first.size(); ++v) first[v] += first[v - 1];
    std::vector<int> at(first.begin(), first.end() - 1);
    for (Index e = 0; e < g.size(); ++e) {
      const auto put = [&](int v, int w) {
        const auto place = static_cast<std::size_t>(at[static_cast<std::size_t>(v)]++);
        other[place] = w;
        edge[place] = static_cast<int>(e);
      };
      put(g.from[e], g.to[e]);
      put(g.to[e], g.from[e]);
    }
  }
  template <class Visit>
  void visit(Index v, Visit&& each) const {
    for (int i = first[static_cast<std::size_t>(v)]; i < first[static_cast<std::size_t>(v) + 1]; ++i) each(other[static_cast<std::size_t>(i)], edge[static_cast<std::size_t>(i)]);
  }
};

// The weight of the edges between parts.
inline double cut_weight(const WeightedEdges& g, const VectorXi& part) {
  double total = 0;
  for (Index e = 0; e < g.size(); ++e)
    if (part[g.from[e]] != part[g.to[e]]) total += g.weight[e];
  return total;
}

}  // namespace granary::cluster
