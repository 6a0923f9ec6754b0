#include "cg_tree.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../core/errors.h"

namespace granary::graph {

namespace {

std::vector<Bitset> moral_rows(const CgNetwork& network) {
  const MixedGraph moral = moral_graph(network.graph());
  std::vector<Bitset> rows;
  for (int v = 0; v < moral.nodes(); ++v) rows.push_back(moral.neighbours(v));
  return rows;
}

void eliminate(std::vector<Bitset>& rows, int v) {
  const Bitset around = rows[v];
  for (int u : around) {
    rows[u] |= around;
    rows[u].reset(u);
    rows[u].reset(v);
  }
  rows[v].clear();
}

// Small is good. Fill first or table size first; what is left decides ties.
std::pair<double, double> price(const std::vector<Bitset>& rows, const std::vector<double>& log_levels, int v, bool by_fill) {
  const int degree = rows[v].count();
  double states = log_levels[v], missing = 0;
  for (int u : rows[v]) {
    states += log_levels[u];
    missing += degree - 1 - rows[u].count_common(rows[v]);
  }
  return by_fill ? std::make_pair(missing, states + 1e-3 * degree) : std::make_pair(states + 1e-3 * degree, missing);
}

std::vector<int> greedy_order(const CgNetwork& network, bool by_fill) {
  const int n = network.nodes();
  std::vector<Bitset> rows = moral_rows(network);
  std::vector<double> log_levels(n, 0);
  Bitset left(n);
  for (int v = 0; v < n; ++v) {
    if (network.discrete(v))
      log_levels[v] = std::log(network.levels(v));
    else
      left.set(v);
  }
  std::vector<int> order;
  std::vector<std::pair<double, double>> cost(n);
  const auto run = [&]() {
    for (int v : left) cost[v] = price(rows, log_levels, v, by_fill);
    while (left.any()) {
      int best = left.first();
      for (int v : left) {
        if (cost[v] < cost[best]) best = v;
      }
      left.reset(best);
      order.push_back(best);
      Bitset changed = rows[best];  // and the neighbours of these: new edges among them close their triangles
      for (int u : rows[best]) changed |= rows[u];
      eliminate(rows, best);
      for (int u : changed& left) cost[u] = price(rows, log_levels, u, by_fill);
    }
  };
  run();
  for (int v = 0; v < n; ++v) left.set(v, network.discrete(v));
  run();
  return order;
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
  if (rule != StrongRule::best) return greedy_order(network, rule == StrongRule::min_fill);
  const std::vector<int> fill = greedy_order(network, true), states = greedy_order(network, false);
  return build_tree(network, TreeKind::semi_elimination, fill).cost <=
                 build_tree(network, TreeKind::semi_elimination, states).cost
             ? fill
             : states;
}

CgTree build_tree(const CgNetwork& network, TreeKind kind, std::vector<int> order, StrongRule rule) {
  if (order.empty()) order = strong_elimination_order(network, rule);
  check_order(network, order);
  const int n = network.nodes();
  std::vector<Bitset> rows = moral_rows(network);
  std::vector<int> rank(n);
  for (int k = 0; k < n; ++k) rank[order[k]] = k;
  CgTree tree;
  tree.order = order;
  for (int v : order) {
    CgCluster cluster{v, {}, {}, -1};
    Bitset members = rows[v];
    for (int u : members) {
      if (cluster.parent < 0 || rank[u] < cluster.parent) cluster.parent = rank[u];
    }
    members.set(v);
    for (int u : members) (network.discrete(u) ? cluster.discrete : cluster.continuous).push_back(u);
    eliminate(rows, v);
    tree.clusters.push_back(std::move(cluster));
  }
  if (kind != TreeKind::elimination) absorb(tree, kind == TreeKind::semi_elimination);
  for (const CgCluster& cluster : tree.clusters) tree.continuous += !cluster.continuous.empty();
  measure(tree, network.all_levels());
  return tree;
}

}  // namespace granary::graph
