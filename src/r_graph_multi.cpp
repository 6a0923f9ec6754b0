// Gaussian graphs of several tasks through the door: graph/multi.h, graph/multi_baseline.h.
#include "graph/multi.h"
#include "graph/multi_baseline.h"
#include "r_door.h"

using namespace granary;
using namespace granary::graph;

GRANARY_DEFAULTS(ggm_multi, MultiOptions);
GRANARY_DEFAULTS(ggm_multi_baseline, MultiBaselineOptions);

// `data`: S, a list of matrices, and their weights.
// [[Rcpp::export(rng = false)]]
SEXP core_multi_path(SEXP data, SEXP penalties, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(multi_path(read<MultiProblem>(data, "data"), read<MultiPath>(penalties), read<MultiOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_multi_grid(SEXP data, SEXP grid) {
  return crossing([&] { return write(default_path(read<MultiProblem>(data, "data"), read<MultiGrid>(grid))); });
}

// The K-vector problem of one pair, and of one diagonal entry: for tests and for readers of the paper.
// [[Rcpp::export(rng = false)]]
SEXP core_multi_block(SEXP block) {
  return crossing([&] { return write(solve_block(read<MultiBlock>(block))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_multi_diagonal(SEXP block) {
  return crossing([&] { return write(solve_diagonal(read<DiagonalBlock>(block))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_multi_baseline(SEXP data, SEXP lambda, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto problem = read<MultiProblem>(data, "data");
    return write(multi_baseline(problem, numbers(lambda, "lambda"), read<MultiBaselineOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_multi_baseline_grid(SEXP data, SEXP grid) {
  return crossing([&] { return write(multi_baseline_path(read<MultiProblem>(data, "data"), read<MultiBaselineGrid>(grid))); });
}
