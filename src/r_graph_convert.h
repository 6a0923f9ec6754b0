// Graphs between R and C++. In R a graph is its number of nodes and an integer matrix of edges with the columns from, to (from
// 1), mark at from, mark at to (1 tail, 2 arrow, 3 circle: the values of Mark).
#pragma once

#include "r_glue.h"

#include "core/graph/graph.h"

namespace granary {

inline MixedGraph as_graph(int nodes, const Rcpp::IntegerMatrix& edges) {
  MixedGraph graph(nodes);
  for (int e = 0; e < edges.nrow(); ++e) {
    graph.set_edge(edges(e, 0) - 1, edges(e, 1) - 1, static_cast<Mark>(edges(e, 2)), static_cast<Mark>(edges(e, 3)));
  }
  return graph;
}

inline Rcpp::IntegerMatrix edge_matrix(const MixedGraph& graph) {
  const std::vector<MarkedEdge> list = graph.edge_list();
  Rcpp::IntegerMatrix edges(static_cast<int>(list.size()), 4);
  for (int e = 0; e < edges.nrow(); ++e) {
    edges(e, 0) = list[e].from + 1;
    edges(e, 1) = list[e].to + 1;
    edges(e, 2) = static_cast<int>(list[e].at_from);
    edges(e, 3) = static_cast<int>(list[e].at_to);
  }
  return edges;
}

inline Bitset as_node_set(int nodes, const Rcpp::IntegerVector& members) {
  Bitset set(nodes);
  for (int member : members) set.set(member - 1);
  return set;
}

inline Rcpp::IntegerVector as_indices(const std::vector<int>& nodes) {
  Rcpp::IntegerVector out(nodes.size());
  for (std::size_t k = 0; k < nodes.size(); ++k) out[k] = nodes[k] + 1;
  return out;
}

inline std::vector<int> from_indices(const Rcpp::IntegerVector& nodes) {
  std::vector<int> out;
  for (int node : nodes) out.push_back(node - 1);
  return out;
}

}  // namespace granary
