// Exports of forests.
#include "ensemble/forest.h"
#include "r_door.h"

using namespace granary;
using namespace granary::ensemble;

GRANARY_DEFAULTS(forest, ForestOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_forest(SEXP x, SEXP y, SEXP weights, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(forest(design(x), vector(y, "y"), vector(weights, "weights"), read<ForestOptions>(options), draws, monitor));
  });
}

// Trees that came from R stay in C++ as long as the fit lives.
// [[Rcpp::export(rng = false)]]
SEXP core_hold_trees(SEXP trees) {
  return crossing([&] { return hold(std::make_unique<Trees>(read_state<Trees>(trees, "trees"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_trees_alive(SEXP trees) {
  return crossing([&] { return write(is_alive(trees)); });
}

// Means over the trees from + 1, ..., to; rows x outputs.
// [[Rcpp::export(rng = false)]]
SEXP core_forest_predict(SEXP x, SEXP trees, SEXP to, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(forest_predict(design(x), held<Trees>(trees), 0, count(to, "to"), count(threads, "threads"), monitor)); });
}

// Leaf of every row (rows) in every tree (columns), from 1.
// [[Rcpp::export(rng = false)]]
SEXP core_forest_leaves(SEXP x, SEXP trees, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Eigen::MatrixXi leaves = forest_leaves(design(x), held<Trees>(trees), count(threads, "threads"), monitor);
    return write(positions(leaves));
  });
}
