// A tree decomposition as tables: bags, the tree that joins them, and the nice tree (core/graph/elimination.h).
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/graph/elimination.h"

namespace granary {

inline Names<EliminationRule> names(EliminationRule) {
  return {{EliminationRule::min_fill, "min_fill"}, {EliminationRule::min_degree, "min_degree"}};
}
inline Names<NiceNode::Kind> names(NiceNode::Kind) {
  using Kind = NiceNode::Kind;
  return {{Kind::leaf, "leaf"}, {Kind::introduce, "introduce"}, {Kind::forget, "forget"}, {Kind::join, "join"}};
}

}  // namespace granary

namespace granary::graph {

struct TreeLink {
  int a, b;
};
template <class V>
void fields(V& v, TreeLink& t) {
  v("a", positions(t.a));
  v("b", positions(t.b));
}
struct NiceLine {
  NiceNode::Kind kind;
  int vertex, left, right;  // 0 in R where there is none
};
template <class V>
void fields(V& v, NiceLine& t) {
  v("kind", t.kind);
  v("vertex", positions(t.vertex));
  v("left", positions(t.left));
  v("right", positions(t.right));
}

struct TreeReport {
  std::vector<std::vector<int>> bags;
  std::vector<TreeLink> links;
  std::vector<int> order;  // of elimination
  int width = -1;          // an upper bound of the treewidth, exact for chordal graphs
  bool chordal = false;
  std::vector<NiceLine> nice;
  std::vector<std::vector<int>> nice_bags;
};
template <class V>
void fields(V& v, TreeReport& t) {
  v("bags", positions(t.bags));
  v("links", columns(t.links));
  v("order", positions(t.order));
  v("width", t.width);
  v("chordal", t.chordal);
  v("nice", columns(t.nice));
  v("nice_bags", positions(t.nice_bags));
}

inline TreeReport tree_report(const MixedGraph& graph, EliminationRule rule, Monitor& monitor) {
  const Triangulation cover = triangulate(graph, elimination_order(graph, rule, monitor));
  const JunctionTree tree = junction_tree(cover);
  TreeReport out;
  out.bags = cover.cliques;
  for (const auto& link : tree.links) out.links.push_back({link.a, link.b});
  out.order = cover.order;
  out.width = cover.width;
  out.chordal = is_chordal(graph);
  for (const NiceNode& node : nice_tree_decomposition(tree)) {
    out.nice.push_back({node.kind, node.vertex, node.left, node.right});
    out.nice_bags.push_back(node.bag);
  }
  return out;
}

}  // namespace granary::graph
