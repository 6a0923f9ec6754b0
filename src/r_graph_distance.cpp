// Distances between models and features of windows through the door: graph/model_distance.h, graph/model_distance_windows.h.
#include "graph/model_distance.h"
#include "graph/model_distance_windows.h"
#include "r_graph_door.h"

using namespace granary;
using namespace granary::graph;

GRANARY_DEFAULTS(model_distance, DistanceOptions);
GRANARY_DEFAULTS(ggm_windows, WindowOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_gaussian_exact(SEXP m1, SEXP m2) {
  return crossing([&] { return write(gaussian_exact(read<ModelSpec>(m1, "m1"), read<ModelSpec>(m2, "m2"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_gaussian_norms(SEXP m1, SEXP m2) {
  return crossing([&] { return write(gaussian_norms(as_gaussian(read<ModelSpec>(m1, "m1")), as_gaussian(read<ModelSpec>(m2, "m2")))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_model_distance(SEXP m1, SEXP m2, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng stream = rng(seed);
    const auto p = read<ModelSpec>(m1, "m1"), q = read<ModelSpec>(m2, "m2");
    return write(model_distance(p, q, read<DistanceOptions>(options), stream, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_discrete_log_probabilities(SEXP m) {
  return crossing(R_NilValue, [&](Monitor& monitor) { return write(log_probabilities(read<ModelSpec>(m, "model"), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_network_sample(SEXP m, SEXP n, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng stream = rng(seed);
    return write(network_sample(read<ModelSpec>(m, "model"), count(n, "n"), stream, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_window_models(SEXP series, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(window_models(read<std::vector<MatrixView>>(series, "x"), read<WindowOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cluster_windows(SEXP features, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng stream = rng(seed);
    return write(cluster_windows(matrix(features, "features"), read<WindowClusterOptions>(options), stream, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_matrix_distances(SEXP matrices, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(matrix_distances(read<std::vector<MatrixXd>>(matrices, "matrices"), read<MetricOptions>(options), monitor));
  });
}
