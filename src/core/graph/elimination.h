// Variable elimination on undirected graphs: orders, triangulations, junction trees and nice tree decompositions.
//
// Eliminating a node joins its remaining neighbours and takes it out; the node with those neighbours is a clique of the
// triangulated graph. The width of an order is the largest such clique less one; exact inference costs (states)^(width + 1). All
// functions look at adjacency only, whatever the marks. Ties go to the smallest node, so that results are reproducible.
#pragma once

#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/base/monitor.h"

namespace granary {

// Visits next a node with the most visited neighbours (Tarjan, Yannakakis 1984). Read backwards it is a perfect elimination order
// (one without fill-in) exactly when the graph is chordal.
std::vector<int> maximum_cardinality_search(const MixedGraph& graph);
bool is_perfect_elimination_order(const MixedGraph& graph, const std::vector<int>& order);
bool is_chordal(const MixedGraph& graph);

enum class EliminationRule { min_fill, min_degree };
std::vector<int> elimination_order(const MixedGraph& graph, EliminationRule rule, Monitor& monitor);

// Elimination in stages: every node of an earlier stage goes before any of a later one. With the continuous nodes of a mixed
// network in stage 0 and the discrete ones in stage 1 the cliques have a strong root (Leimer 1989; Lauritzen 1992). A clique
// weighs the sum of the weights of its members, the logarithms of their numbers of states.
enum class WeightedRule { min_fill, min_weight };  // the other of the two decides ties, then the number of neighbours
std::vector<int> staged_elimination_order(const MixedGraph& graph, const std::vector<int>& stage,
                                          const std::vector<double>& weight, WeightedRule rule, Monitor& monitor);

// Eliminating v leaves the cluster of v and its neighbours not yet eliminated, which hangs on the cluster of the first of these
// to go. Not reduced to the maximal ones; one tree per connected component.
struct EliminationTree {
  std::vector<std::vector<int>> clusters;  // in the order of elimination, members increasing
  std::vector<int> parent;                 // always a later cluster; -1 for a root
};
EliminationTree elimination_tree(const MixedGraph& graph, const std::vector<int>& order);

struct Triangulation {
  std::vector<int> order;
  std::vector<std::pair<int, int>> fill;  // edges added, each (smaller, larger), in the order they arose
  std::vector<std::vector<int>> cliques;  // the maximal ones, members increasing, by the elimination of their first member
  int width = -1;                         // -1 for the graph without nodes
};
Triangulation triangulate(const MixedGraph& graph, const std::vector<int>& order);
int elimination_width(const MixedGraph& graph, const std::vector<int>& order);

// Maximum-weight spanning forest of the cliques, weighted by shared nodes: the cliques holding any one node form a subtree
// (running intersection). One tree per connected component.
struct JunctionTree {
  struct Link {
    int a, b;  // cliques, a < b
    std::vector<int> separator;
  };
  std::vector<std::vector<int>> cliques;
  std::vector<Link> links;
};
JunctionTree junction_tree(const Triangulation& triangulation);

// A rooted binary tree of bags in which neighbouring bags differ by one node, for dynamic programming. Nodes come children first;
// the last one is the root. Leaves and the root have empty bags.
struct NiceNode {
  enum class Kind { leaf, introduce, forget, join };
  Kind kind;
  int vertex;            // the one introduced or forgotten, else -1
  int left, right;       // children, -1 where there is none; a join has two with the same bag as its own
  std::vector<int> bag;  // increasing
};
std::vector<NiceNode> nice_tree_decomposition(const JunctionTree& tree);

}  // namespace granary
