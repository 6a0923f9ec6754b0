// Strong elimination trees of a mixed network.
//
// All continuous nodes are eliminated from the moral graph before the discrete ones. Eliminating v leaves the cluster C_v = {v}
// and its neighbours not yet eliminated, which is joined to the cluster of the first of these to be eliminated. Hence every
// discrete member of a continuous cluster is also in the next cluster towards the root. One tree per connected component.
//
//   elimination        all clusters
//   semi_elimination   purely discrete clusters inside another are absorbed (Algorithm 3.3): what propagation uses
//   junction           clusters inside another are absorbed whatever they hold (Algorithm 3.2): a strong junction tree
//
// Both algorithms print that a cluster is absorbed by its child of smallest index; the child has to contain the cluster as well,
// or the running intersection is lost (see inst/errata.dcf). Cowell (JMLR 6, 2005), section 3.
#pragma once

#include <vector>

#include "graph/cg_network.h"

namespace granary::graph {

enum class TreeKind { elimination, semi_elimination, junction };
inline Names<TreeKind> names(TreeKind) {
  return {{TreeKind::elimination, "elimination"}, {TreeKind::semi_elimination, "semi"}, {TreeKind::junction, "junction"}};
}
enum class StrongRule { min_fill, min_states, best };  // best: the cheaper of the other two
inline Names<StrongRule> names(StrongRule) {
  return {{StrongRule::min_fill, "min_fill"}, {StrongRule::min_states, "min_states"}, {StrongRule::best, "best"}};
}

struct CgCluster {
  int variable;                           // the one eliminated here
  std::vector<int> discrete, continuous;  // members, increasing
  int parent = -1;                        // towards the root; always a later cluster
};

struct CgTree {
  std::vector<int> order;           // the elimination sequence
  std::vector<CgCluster> clusters;  // children before parents, continuous before discrete
  int continuous = 0;               // so many of them have a continuous member
  double largest = 1;               // most discrete configurations in a cluster
  double cost = 0;                  // numbers held: configurations x (continuous members + 1), summed
};
template <class V>
void fields(V& v, CgTree& t) {
  std::vector<std::vector<int>> discrete, continuous;
  std::vector<int> variable, parent;
  for (const CgCluster& cluster : t.clusters) {
    discrete.push_back(cluster.discrete);
    continuous.push_back(cluster.continuous);
    variable.push_back(cluster.variable);
    parent.push_back(cluster.parent);
  }
  v("order", positions(t.order));
  v("variable", positions(variable));
  v("discrete", positions(discrete));
  v("continuous", positions(continuous));
  v("parent", positions(parent));
  v("largest", t.largest);
  v("cost", t.cost);
}

std::vector<int> strong_elimination_order(const CgNetwork& network, StrongRule rule);

// `order` empty: found by `rule`; otherwise every node once, the continuous ones first.
CgTree build_tree(const CgNetwork& network, TreeKind kind, std::vector<int> order = {}, StrongRule rule = StrongRule::best);

}  // namespace granary::graph
