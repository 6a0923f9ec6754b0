// What the graph class asks through the door: core/graph/, graph/sim_dag.h, graph/ida.h.
#include "core/graph/markov_equivalence.h"
#include "core/graph/separation.h"
#include "graph/ida.h"
#include "graph/sim_dag.h"
#include "r_graph_door.h"

using namespace granary;
using namespace granary::graph;

// [[Rcpp::export(rng = false)]]
SEXP core_graph_cpdag(SEXP graph) {
  return crossing([&] { return write(dag_to_cpdag(read<MixedGraph>(graph, "graph"))); });
}

// NULL where there is none.
// [[Rcpp::export(rng = false)]]
SEXP core_graph_extension(SEXP graph) {
  return crossing([&] { return write(consistent_extension(read<MixedGraph>(graph, "graph"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_graph_moral(SEXP graph) {
  return crossing([&] { return write(moral_graph(read<MixedGraph>(graph, "graph"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_graph_cycle(SEXP graph) {
  return crossing([&] {
    std::vector<int> nodes = directed_cycle(read<MixedGraph>(graph, "graph"));
    return write(positions(nodes));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_graph_order(SEXP graph) {
  return crossing([&] {
    std::vector<int> nodes = topological_order(read<MixedGraph>(graph, "graph"));
    return write(positions(nodes));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_graph_components(SEXP graph) {
  return crossing([&] {
    std::vector<int> labels = connected_components(read<MixedGraph>(graph, "graph"));
    return write(positions(labels));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_graph_ancestors(SEXP graph, SEXP of) {
  return crossing([&] {
    const MixedGraph whole = read<MixedGraph>(graph, "graph");
    std::vector<int> nodes = ancestors(whole, node_set(whole.nodes(), of, "of")).members();
    return write(positions(nodes));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_graph_descendants(SEXP graph, SEXP of) {
  return crossing([&] {
    const MixedGraph whole = read<MixedGraph>(graph, "graph");
    std::vector<int> nodes = descendants(whole, node_set(whole.nodes(), of, "of")).members();
    return write(positions(nodes));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_graph_separated(SEXP graph, SEXP x, SEXP y, SEXP given) {
  return crossing([&] {
    const MixedGraph whole = read<MixedGraph>(graph, "graph");
    const int p = whole.nodes();
    return write(m_separated(whole, node_set(p, x, "x"), node_set(p, y, "y"), node_set(p, given, "given")));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_graph_shd(SEXP a, SEXP b) {
  return crossing([&] { return write(structural_hamming_distance(read<MixedGraph>(a, "a"), read<MixedGraph>(b, "b"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_sim_dag(SEXP options, SEXP seed) {
  return crossing([&] {
    Rng stream = rng(seed);
    return write(simulate_dag(read<SimDagOptions>(options), stream));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_sim_dag_rows(SEXP arrows, SEXP n, SEXP sd, SEXP seed) {
  return crossing([&] {
    Rng stream = rng(seed);
    return write(simulate_rows(weighted_dag(read<ArrowTable>(arrows, "arrows")), count(n, "n"), vector(sd, "sd"), stream));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_ida(SEXP graph, SEXP covariance, SEXP question, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto pdag = read<MixedGraph>(graph, "graph");
    return write(possible_effects(pdag, matrix(covariance, "S"), read<EffectQuestion>(question), monitor));
  });
}
