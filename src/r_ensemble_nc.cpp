// Exports of regression ensembles that are trained together, of what they are compared with, and of the parts of an ensemble's
// error.
#include "ensemble/diversity.h"
#include "ensemble/nc_baseline.h"
#include "ensemble/nc_ensemble.h"
#include "r_door.h"

using namespace granary;
using namespace granary::ensemble;

GRANARY_DEFAULTS(nc_ensemble, NcOptions);

// `data`: y, weights.
// [[Rcpp::export(rng = false)]]
SEXP core_nc_ensemble(SEXP x, SEXP data, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(nc_ensemble(matrix(x), vector(door::element(data, "y"), "y"), vector(door::element(data, "weights"), "weights"),
                             read<NcOptions>(options), draws, monitor));
  });
}

// `data`: y, weights, lambda (several).
// [[Rcpp::export(rng = false)]]
SEXP core_nc_left_out(SEXP x, SEXP data, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(nc_left_out(matrix(x), vector(door::element(data, "y"), "y"), vector(door::element(data, "weights"), "weights"),
                             read<NcOptions>(options), vector(door::element(data, "lambda"), "lambda"), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_nc_baseline(SEXP x, SEXP data, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(nc_baseline(matrix(x), vector(door::element(data, "y"), "y"), vector(door::element(data, "weights"), "weights"),
                             read<BaselineOptions>(options), draws, monitor));
  });
}

// Predictions of all members.
// [[Rcpp::export(rng = false)]]
SEXP core_nc_members(SEXP x, SEXP model, SEXP progress) {
  return crossing(progress,
                  [&](Monitor& monitor) { return write(nc_members(matrix(x), read_state<NcModel>(model, "object"), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_tree_members(SEXP x, SEXP trees, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(tree_members(matrix(x), read_state<Trees>(trees, "object"), count(threads, "threads"), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_weighted_medians(SEXP members, SEXP vote) {
  return crossing([&] { return write(weighted_medians(matrix(members), vector(vote, "vote"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_ambiguity(SEXP members, SEXP y, SEXP weights, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(ambiguity(matrix(members), vector(y, "y"), vector(weights, "weights"), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_variances(SEXP members, SEXP repetitions, SEXP truth, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(variances(matrix(members), count(repetitions, "repetitions"), vector(truth, "y"), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_gradient_parts(SEXP members, SEXP y, SEXP lambda) {
  return crossing([&] { return write(gradient_parts(matrix(members), vector(y, "y"), number(lambda, "lambda"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_nc_objective(SEXP members, SEXP y, SEXP kappa) {
  return crossing([&] { return write(nc_objective(matrix(members), vector(y, "y"), number(kappa, "lambda"))); });
}
