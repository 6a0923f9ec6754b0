// causal_dag(), best_dag() and their relatives through the door: graph/causal_dag.h, graph/causal_dag_gap.h, graph/causal_dag_ranking.h.
#include "core/linalg/spd.h"
#include "graph/causal_dag.h"
#include "graph/causal_dag_gap.h"
#include "graph/causal_dag_ranking.h"
#include "graph/tree_report.h"
#include "r_graph_door.h"

using namespace granary;
using namespace granary::graph;

GRANARY_DEFAULTS(causal_dag, CausalDagOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_causal_dag(SEXP g, SEXP space, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng stream = rng(seed);
    const SearchSpace where = make_space(read<SpaceSpec>(space, "space"));
    return write(causal_dag(matrix(g, "S"), where, read<CausalDagOptions>(options), stream, monitor));
  });
}

// The price of doing without each arc, of turning it, of leaving the pair apart.
// [[Rcpp::export(rng = false)]]
SEXP core_arc_alternatives(SEXP g, SEXP space, SEXP options, SEXP parents, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng stream = rng(seed);
    const SearchSpace where = make_space(read<SpaceSpec>(space, "space"));
    auto arcs = arc_alternatives(matrix(g, "S"), where, sets_of_places(parents), read<CausalDagOptions>(options), monitor, stream);
    return write(columns(arcs));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_best_dag(SEXP table, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng stream = rng(seed);
    const ScoreTable scores = make_table(read<ScoreSpec>(table, "score"), false);
    return write(search_dag(scores, search_options(read<CausalDagOptions>(options)), monitor, stream));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_rank_dags(SEXP g, SEXP space, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng stream = rng(seed);
    const SearchSpace where = make_space(read<SpaceSpec>(space, "space"));
    return write(rank_dags(matrix(g, "S"), where, read<CausalDagOptions>(options), monitor, stream));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_rank_scores(SEXP table, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng stream = rng(seed);
    const auto how = read<CausalDagOptions>(options);
    return write(rank_dags(make_table(read<ScoreSpec>(table, "score"), true), how.k, search_options(how), monitor, stream));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_dag_gap(SEXP g, SEXP space, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const SearchSpace where = make_space(read<SpaceSpec>(space, "space"));
    return write(dag_gap(matrix(g, "S"), where, read<GapOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_incomplete_moments(SEXP x, SEXP missing) {
  return crossing([&] { return write(incomplete_moments(matrix(x), read<MissingMoments>(missing, "missing") == MissingMoments::pairwise)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_nearest_psd(SEXP a, SEXP floor) {
  return crossing([&] { return write(nearest_psd(matrix(a), number(floor, "floor"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_sim_sem(SEXP b, SEXP options, SEXP seed) {
  return crossing([&] {
    Rng stream = rng(seed);
    return write(simulate_sem(matrix(b, "B"), read<SimSemOptions>(options), stream));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_total_effects(SEXP b) {
  return crossing([&] { return write(total_effects(matrix(b, "B"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_tree_decomposition(SEXP graph, SEXP rule) {
  return crossing(R_NilValue, [&](Monitor& monitor) {
    return write(tree_report(read<MixedGraph>(graph, "graph"), read<EliminationRule>(rule, "rule"), monitor));
  });
}
