#include "graph/cg_tree.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/graph/elimination.h"
#include "core/base/errors.h"
#include "core/base/monitor.h"

namespace granary::graph {

namespace {

std::vector<int> staged_order(const CgNetwork& network, WeightedRule rule) {
  const int n = network.nodes();
  std::vector<int> stage(n);
  std::vector<double> log_levels(n, 0);
  for (int v = 0; v < n; ++v) {
    stage[v] = network.discrete(v);
    if (network.discrete(v)) log_levels[v] = std::log(network.levels(v));
  }
  Monitor monitor;
  return staged_elimination_order(moral_graph(network.graph()), stage, log_levels, rule, monitor);
}

void measure(CgTree& tree, const std::vector<int>& levels) {
  tree.largest = 1;
  tree.cost = 0;
  for (const CgCluster& cluster : tree.clusters) {
    double states = 1;
    for (int v : cluster.discrete) states *= levels[v];
    tree.largest = std::max(tree.largest, states);
    tree.cost += states * (static_cast<double>(cluster.continuous.size()) + 1);
  }
}

void check_order(const CgNetwork& network, const std::vector<int>& order) {
  const int n = network.nodes();
  std::vector<bool> seen(n, false);
  bool met_discrete = false;
  if (static_cast<int>(order.size()) != n) {
    throw InputError(
        message("an elimination order must name each of the ", n, " nodes once, but it has ", order.size(), " entries."));
  }
  for (int v : order) {
    if (v < 0 || v >= n || seen[v]) throw InputError("an elimination order must name each node once.");
    seen[v] = true;
    if (network.discrete(v))
      met_discrete = true;
    else if (met_discrete) {
      throw InputError(message("an elimination order must name the continuous nodes before the discrete ones, but \"",
                               network.names[v], "\" comes after a discrete one."));
    }
  }
}

bool contains(const CgCluster& outer, const CgCluster& inner) {
  return std::includes(outer.discrete.begin(), outer.discrete.end(), inner.discrete.begin(), inner.discrete.end()) &&
         std::includes(outer.continuous.begin(), outer.continuous.end(), inner.continuous.begin(), inner.continuous.end());
}

// The absorbing child takes the place of its parent, which keeps parents behind their children.
void absorb(CgTree& tree, bool discrete_only) {
  std::vector<CgCluster>& c = tree.clusters;
  const int n = static_cast<int>(c.size());
  std::vector<bool> gone(n, false);
  for (int t = n - 1; t >= 0; --t) {
    if (gone[t] || (discrete_only && !c[t].continuous.empty())) continue;
    for (int p = t - 1; p >= 0; --p) {
      if (gone[p] || c[p].parent != t || (discrete_only && !c[p].continuous.empty()) || !contains(c[p], c[t])) continue;
      const int parent = c[t].parent;
      c[t] = c[p];
      c[t].parent = parent;
      gone[p] = true;
      for (int k = 0; k < p; ++k) {
        if (!gone[k] && c[k].parent == p) c[k].parent = t;
      }
    }
  }
  std::vector<int> place(n, -1);
  std::vector<CgCluster> kept;
  for (int k = 0; k < n; ++k) {
    if (gone[k]) continue;
    place[k] = static_cast<int>(kept.size());
    kept.push_back(c[k]);
  }
  for (CgCluster& cluster : kept) {
    if (cluster.parent >= 0) cluster.parent = place[cluster.parent];
  }
  tree.clusters = std::move(kept);
}

}  // namespace

std::vector<int> strong_elimination_order(const CgNetwork& network, StrongRule rule) {
  if (rule != StrongRule::best) {
    return staged_order(network, rule == StrongRule::min_fill ? WeightedRule::min_fill : WeightedRule::min_weight);
  }
  const std::vector<int> fill = staged_order(network, WeightedRule::min_fill);
  const std::vector<int> states = staged_order(network, WeightedRule::min_weight);
  return build_tree(network, TreeKind::semi_elimination, fill).cost <=
                 build_tree(network, TreeKind::semi_elimination, states).cost
             ? fill
             : states;
}

CgTree build_tree(const CgNetwork& network, TreeKind kind, std::vector<int> order, StrongRule rule) {
  if (order.empty()) order = strong_elimination_order(network, rule);
  check_order(network, order);
  const EliminationTree eliminated = elimination_tree(moral_graph(network.graph()), order);
  CgTree tree;
  tree.order = order;
  for (std::size_t k = 0; k < order.size(); ++k) {
    CgCluster cluster{order[k], {}, {}, eliminated.parent[k]};
    for (int u : eliminated.clusters[k]) (network.discrete(u) ? cluster.discrete : cluster.continuous).push_back(u);
    tree.clusters.push_back(std::move(cluster));
  }
  if (kind != TreeKind::elimination) absorb(tree, kind == TreeKind::semi_elimination);
  for (const CgCluster& cluster : tree.clusters) tree.continuous += !cluster.continuous.empty();
  measure(tree, network.all_levels());
  return tree;
}

}  // namespace granary::graph
