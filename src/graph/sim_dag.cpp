#include "graph/sim_dag.h"

#include <algorithm>
#include <numeric>

#include "core/base/errors.h"

namespace granary::graph {

WeightedDag simulate_dag(const SimDagOptions& options, Rng& rng) {
  const int p = options.nodes;
  if (p < 1) throw InputError(message("a random DAG needs at least one node, not ", p, "."));
  if (!(options.neighbours >= 0 && options.neighbours <= std::max(0, p - 1))) {
    throw InputError(message("the expected number of neighbours must be in [0, ", p - 1, "], not ", options.neighbours, "."));
  }
  if (!(options.low <= options.high)) throw InputError("the smallest weight must not exceed the largest.");
  const double probability = p > 1 ? options.neighbours / (p - 1) : 0;
  std::vector<int> label(p);
  std::iota(label.begin(), label.end(), 0);
  if (options.shuffle) label = rng.permutation(p);
  WeightedDag dag{MixedGraph(p), {}};
  for (int j = 1; j < p; ++j) {
    for (int k = 0; k < j; ++k) {
      if (!rng.bernoulli(probability)) continue;
      double weight = rng.uniform(options.low, options.high);
      if (options.signs && rng.bernoulli(0.5)) weight = -weight;
      dag.graph.add_directed(label[k], label[j]);
      dag.arrows.push_back({label[k], label[j], weight});
    }
  }
  std::sort(dag.arrows.begin(), dag.arrows.end(), [](const WeightedArrow& a, const WeightedArrow& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  });
  if (options.latent) dag.latent = choose_latents(dag.graph, rng);
  return dag;
}

WeightedDag weighted_dag(const ArrowTable& arrows) {
  const std::size_t count = arrows.from.size();
  if (arrows.to.size() != count || arrows.weight.size() != count) throw InputError("every arrow needs two ends and a weight.");
  WeightedDag dag;
  dag.graph = MixedGraph(arrows.nodes);
  for (std::size_t a = 0; a < count; ++a) {
    dag.graph.add_directed(arrows.from[a], arrows.to[a]);
    dag.arrows.push_back({arrows.from[a], arrows.to[a], arrows.weight[a]});
  }
  return dag;
}

MatrixXd simulate_rows(const WeightedDag& dag, int n, const VectorXd& sd, Rng& rng) {
  const int p = dag.graph.nodes();
  if (sd.size() != p)
    throw InputError(message("there must be one error standard deviation per node (", p, "), not ", sd.size(), "."));
  std::vector<std::vector<WeightedArrow>> into(p);
  for (const auto& arrow : dag.arrows) into[arrow.to].push_back(arrow);
  MatrixXd x(n, p);
  for (int j : topological_order(dag.graph)) {
    for (int r = 0; r < n; ++r) x(r, j) = sd[j] * rng.normal();
    for (const auto& arrow : into[j]) x.col(j) += arrow.weight * x.col(arrow.from);
  }
  return x;
}

std::vector<int> choose_latents(const MixedGraph& dag, Rng& rng) {
  std::vector<int> eligible;
  for (int i = 0; i < dag.nodes(); ++i) {
    if (dag.parents(i).none() && dag.children(i).count() >= 2) eligible.push_back(i);
  }
  rng.shuffle(eligible);
  eligible.resize((eligible.size() + 1) / 2);
  std::sort(eligible.begin(), eligible.end());
  return eligible;
}

}  // namespace granary::graph
