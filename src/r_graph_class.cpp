// Exports behind the graph class. Conversion only: the algorithms are in core/, the checks in R/graph.R.
#include "core/graph/markov_equivalence.h"
#include "core/graph/separation.h"
#include "graph/ida.h"
#include "graph/sim_dag.h"
#include "r_glue.h"
#include "r_graph_convert.h"

using namespace granary;
using namespace granary::graph;

// [[Rcpp::export(rng = false)]]
Rcpp::IntegerMatrix core_graph_cpdag(int nodes, Rcpp::IntegerMatrix edges) {
  return edge_matrix(dag_to_cpdag(as_graph(nodes, edges)));
}

// [[Rcpp::export(rng = false)]]
SEXP core_graph_extension(int nodes, Rcpp::IntegerMatrix edges) {
  const auto dag = consistent_extension(as_graph(nodes, edges));
  if (!dag) return R_NilValue;
  return edge_matrix(*dag);
}

// [[Rcpp::export(rng = false)]]
Rcpp::IntegerMatrix core_graph_meek(int nodes, Rcpp::IntegerMatrix edges) {
  MixedGraph graph = as_graph(nodes, edges);
  close_under_meek_rules(graph);
  return edge_matrix(graph);
}

// [[Rcpp::export(rng = false)]]
Rcpp::IntegerMatrix core_graph_moral(int nodes, Rcpp::IntegerMatrix edges) {
  return edge_matrix(moral_graph(as_graph(nodes, edges)));
}

// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector core_graph_cycle(int nodes, Rcpp::IntegerMatrix edges) {
  return as_indices(directed_cycle(as_graph(nodes, edges)));
}

// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector core_graph_order(int nodes, Rcpp::IntegerMatrix edges) {
  return as_indices(topological_order(as_graph(nodes, edges)));
}

// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector core_graph_components(int nodes, Rcpp::IntegerMatrix edges) {
  return as_indices(connected_components(as_graph(nodes, edges)));
}

// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector core_graph_ancestors(int nodes, Rcpp::IntegerMatrix edges, Rcpp::IntegerVector of, bool up) {
  const MixedGraph graph = as_graph(nodes, edges);
  const Bitset set = as_node_set(nodes, of);
  return as_indices((up ? ancestors(graph, set) : descendants(graph, set)).members());
}

// [[Rcpp::export(rng = false)]]
bool core_graph_separated(int nodes, Rcpp::IntegerMatrix edges, Rcpp::IntegerVector x, Rcpp::IntegerVector y,
                          Rcpp::IntegerVector given) {
  return m_separated(as_graph(nodes, edges), as_node_set(nodes, x), as_node_set(nodes, y), as_node_set(nodes, given));
}

// [[Rcpp::export(rng = false)]]
int core_graph_shd(int nodes, Rcpp::IntegerMatrix a, Rcpp::IntegerMatrix b) {
  return structural_hamming_distance(as_graph(nodes, a), as_graph(nodes, b));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_sim_dag(int nodes, double neighbours, double low, double high, bool signs, bool shuffle, bool latent,
                        Rcpp::NumericVector seed) {
  Rng rng = make_rng(seed);
  SimDagOptions options;
  options.nodes = nodes;
  options.neighbours = neighbours;
  options.low = low;
  options.high = high;
  options.signs = signs;
  options.shuffle = shuffle;
  const WeightedDag dag = simulate_dag(options, rng);
  Rcpp::NumericMatrix arrows(static_cast<int>(dag.arrows.size()), 3);
  for (int a = 0; a < arrows.nrow(); ++a) {
    arrows(a, 0) = dag.arrows[a].from + 1;
    arrows(a, 1) = dag.arrows[a].to + 1;
    arrows(a, 2) = dag.arrows[a].weight;
  }
  std::vector<int> hidden;
  if (latent) hidden = choose_latents(dag.graph, rng);
  return Rcpp::List::create(Rcpp::Named("edges") = edge_matrix(dag.graph), Rcpp::Named("arrows") = arrows,
                            Rcpp::Named("latent") = as_indices(hidden));
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_sim_dag_rows(int nodes, Rcpp::NumericMatrix arrows, int n, Eigen::VectorXd sd, Rcpp::NumericVector seed) {
  Rng rng = make_rng(seed);
  WeightedDag dag{MixedGraph(nodes), {}};
  for (int a = 0; a < arrows.nrow(); ++a) {
    const int from = static_cast<int>(arrows(a, 0)) - 1, to = static_cast<int>(arrows(a, 1)) - 1;
    dag.graph.add_directed(from, to);
    dag.arrows.push_back({from, to, arrows(a, 2)});
  }
  return simulate_rows(dag, n, sd, rng);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_ida(int nodes, Rcpp::IntegerMatrix edges, const Eigen::Map<Eigen::MatrixXd> covariance, int cause,
                    Rcpp::IntegerVector targets, SEXP progress) {
  RMonitor monitor(progress);
  const PossibleEffects result = possible_effects(as_graph(nodes, edges), covariance, cause - 1, from_indices(targets), monitor);
  Rcpp::List parents(result.parents.size());
  for (std::size_t k = 0; k < result.parents.size(); ++k) parents[k] = as_indices(result.parents[k]);
  return Rcpp::List::create(Rcpp::Named("parents") = parents, Rcpp::Named("effects") = result.effects);
}
