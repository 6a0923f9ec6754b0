// Exports of transfer forests.
#include "ensemble/transfer_forest.h"
#include "ensemble/transfer_tools.h"
#include "r_door.h"

using namespace granary;
using namespace granary::ensemble;

GRANARY_DEFAULTS(transfer_forest, TransferOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_transfer_forest(SEXP x, SEXP label, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(transfer_forest(matrix(x), labels(label, "y"), read<TransferOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_hold_transfer(SEXP trees) {
  return crossing([&] { return hold(std::make_unique<TransferTrees>(read_state<TransferTrees>(trees, "trees"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_transfer_alive(SEXP trees) {
  return crossing([&] { return write(is_alive(trees)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_transfer_predict(SEXP x, SEXP trees, SEXP smooth, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(transfer_predict(matrix(x), held<TransferTrees>(trees), number(smooth, "smooth"), count(threads, "threads"), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_transfer_leaves(SEXP x, SEXP trees, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Eigen::MatrixXi leaves = transfer_leaves(matrix(x), held<TransferTrees>(trees), count(threads, "threads"), monitor);
    return write(positions(leaves));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_group_posterior(SEXP prob, SEXP group, SEXP options) {
  return crossing([&] { return write(group_posterior(matrix(prob), labels(group, "group"), read<GroupOptions>(options))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_gain_parts(SEXP label, SEXP side, SEXP counts, SEXP options) {
  return crossing([&] { return write(gain_parts(labels(label, "y"), labels(side, "side"), read<VectorXi>(counts, "labels"), read<MixedOptions>(options))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_entropy_bounds(SEXP p, SEXP draws) {
  return crossing([&] { return write(entropy_bounds(vector(p, "prob"), count(draws, "n"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_motion_history(SEXP video, SEXP options) {
  return crossing([&] { return write(motion_history(matrix(video, "x"), read<MotionOptions>(options))); });
}
