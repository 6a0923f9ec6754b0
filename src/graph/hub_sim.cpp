#include "graph/hub_sim.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"

namespace granary::graph {

namespace {

double edge_value(Rng& rng) {
  const double size = rng.uniform(0.25, 0.75);
  return rng.bernoulli(0.5) ? size : -size;
}

void join(MatrixXd& weights, int i, int j, Rng& rng) {
  weights(i, j) = weights(j, i) = 0.5 * (edge_value(rng) + edge_value(rng));
}

// Set-up I on the nodes from `first` to `first + p - 1`.
void add_hub_graph(HubGraph& graph, int first, int p, int hubs, double sparsity, double hub_density, Rng& rng) {
  std::vector<char> is_hub(p, 0);
  for (const int h : rng.sample_without_replacement(p, hubs)) is_hub[h] = 1;
  for (int j = 0; j < p; ++j) {
    for (int i = 0; i < j; ++i) {
      if (rng.bernoulli(is_hub[i] || is_hub[j] ? hub_density : sparsity)) join(graph.weights, first + i, first + j, rng);
    }
    if (is_hub[j]) graph.hubs.push_back(first + j);
  }
}

}  // namespace

HubGraph sim_hub_weights(const SimHubOptions& options, Rng& rng) {
  const auto [setup, p, hubs, sparsity, hub_density, definite] = options;
  if (hubs > p) throw InputError(message("there cannot be ", hubs, " hubs among ", p, " nodes."));
  HubGraph graph;
  graph.weights = MatrixXd::Zero(p, p);
  if (setup == HubSetup::hub) {
    add_hub_graph(graph, 0, p, hubs, sparsity, hub_density, rng);
  } else if (setup == HubSetup::two_blocks) {
    const int half = p / 2, first_hubs = std::min(hubs / 2, half);
    add_hub_graph(graph, 0, half, first_hubs, sparsity, hub_density, rng);
    add_hub_graph(graph, half, p - half, hubs - first_hubs, sparsity, hub_density, rng);
  } else {
    VectorXd chance(std::max(p - 1, 1));
    for (Index k = 0; k < chance.size(); ++k) chance[k] = std::pow(static_cast<double>(k + 1), -2.5);
    const AliasTable degrees(chance);
    std::vector<int> ends;
    for (int i = 0; i < p; ++i) ends.insert(ends.end(), degrees.draw(rng) + 1, i);
    rng.shuffle(ends);
    for (std::size_t e = 0; e + 1 < ends.size(); e += 2) {
      if (ends[e] != ends[e + 1] && graph.weights(ends[e], ends[e + 1]) == 0) join(graph.weights, ends[e], ends[e + 1], rng);
    }
    for (int j = 0; j < p; ++j) {
      if (static_cast<double>((graph.weights.col(j).array() != 0).count()) > 0.05 * (p - 1)) graph.hubs.push_back(j);
    }
  }
  if (definite && p > 0) graph.weights.diagonal().setConstant(0.1 - SymmetricEigen(graph.weights, EigenParts::values).eigenvalues()[0]);
  return graph;
}

}  // namespace granary::graph
