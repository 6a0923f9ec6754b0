// The locally constant Gaussian graph, mixed priors, baselines and fused signals through the door: graph/local.h, graph/mix.h,
// graph/baselines.h, graph/fused_signal.h.
#include "graph/baselines.h"
#include "graph/fused_signal.h"
#include "graph/local.h"
#include "graph/mix.h"
#include "r_door_function.h"

using namespace granary;
using namespace granary::graph;

GRANARY_DEFAULTS(ggm_local, LocalOptions);
GRANARY_DEFAULTS(ggm_mix, MixOptions);
GRANARY_DEFAULTS(fused_signal, FusedSignalOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_local_path(SEXP s, SEXP op, SEXP penalties, SEXP options, SEXP start, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto from = read<std::optional<MatrixXd>>(start, "start");
    const LocalOperator d = LocalOperator::make(read<OperatorSpec>(op, "operator"));
    return write(local_path(matrix(s, "S"), d, read<LocalPenalties>(penalties), read<LocalOptions>(options), monitor, from));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_mix_fit(SEXP s, SEXP priors, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto list = read<std::vector<MixPriorSpec>>(priors, "priors");
    return write(mix_fit(matrix(s, "S"), list, read<MixOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_mix_tasks(SEXP data, SEXP priors, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto list = read<std::vector<MixPriorSpec>>(priors, "priors");
    return write(mix_fit_tasks(read<MultiProblem>(data, "data"), list, read<MixOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_baselines(SEXP s, SEXP options) {
  return crossing([&] { return write(baselines(matrix(s, "S"), read<BaselineOptions>(options))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_fused_signal(SEXP y, SEXP edges, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const EdgeList pairs = edge_list(matrix_of_places(edges, "neighbors"));
    return write(fused_signal(vector(y, "y"), pairs, read<FusedSignalOptions>(options), monitor));
  });
}

// Neighbour pairs of a grid, from 1.
// [[Rcpp::export(rng = false)]]
SEXP core_grid_edges(SEXP grid) {
  return crossing([&] {
    Eigen::MatrixXi edges = edge_matrix(masked_grid_edges(read<GridOptions>(grid)));
    return write(positions(edges));
  });
}
