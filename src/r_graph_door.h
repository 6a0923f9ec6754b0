// Graphs through the door. In R a graph is its number of nodes and an integer matrix of edges with the columns from, to (from 1), mark
// at from, mark at to (1 tail, 2 arrow, 3 circle: the values of Mark): read<MixedGraph>(list(nodes, edges)); write(graph) makes the
// matrix.
#pragma once

#include "core/graph/graph.h"
#include "r_door.h"

namespace granary {

struct GraphParts {
  int nodes = 0;
  Eigen::MatrixXi edges{0, 4};
};
template <class V>
void fields(V& v, GraphParts& t) {
  v("nodes", t.nodes);
  v("edges", t.edges);
}
inline void check(const GraphParts& t) {
  require(t.nodes >= 0 && t.edges.cols() == 4, "a graph is a number of nodes and a matrix of four columns.");
  for (Index e = 0; e < t.edges.rows(); ++e) {
    const auto within = [&](int node) { return node >= 1 && node <= t.nodes; };
    const auto mark = [&](int value) { return value >= 1 && value <= 3; };
    require(within(t.edges(e, 0)) && within(t.edges(e, 1)) && mark(t.edges(e, 2)) && mark(t.edges(e, 3)),
            message("edge ", e + 1, " of the graph names a node or a mark that does not exist."));
  }
}

inline MixedGraph graph_of(const GraphParts& parts) {
  MixedGraph graph(parts.nodes);
  for (Index e = 0; e < parts.edges.rows(); ++e) {
    graph.set_edge(parts.edges(e, 0) - 1, parts.edges(e, 1) - 1, static_cast<Mark>(parts.edges(e, 2)), static_cast<Mark>(parts.edges(e, 3)));
  }
  return graph;
}

namespace door {

inline void convert(const Source& s, MixedGraph& graph) {
  GraphParts parts;
  read_into(s.value, parts, s.name, s.state);
  graph = graph_of(parts);
}

}  // namespace door

inline SEXP write(const MixedGraph& graph) {
  const std::vector<MarkedEdge> list = graph.edge_list();
  Eigen::MatrixXi edges(static_cast<Index>(list.size()), 4);
  for (Index e = 0; e < edges.rows(); ++e) {
    edges.row(e) << list[e].from + 1, list[e].to + 1, static_cast<int>(list[e].at_from), static_cast<int>(list[e].at_to);
  }
  return write(edges);
}

// Nodes of R as a set.
inline Bitset node_set(int nodes, SEXP members, const std::string& what = "nodes") {
  Bitset set(nodes);
  for (const Index member : places(members, what)) {
    require(member >= 0 && member < nodes, message("`", what, "` names a node that does not exist."));
    set.set(static_cast<int>(member));
  }
  return set;
}

}  // namespace granary
