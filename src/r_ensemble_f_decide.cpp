// Exports of decisions by expected F.
#include "ensemble/f_measure.h"
#include "ensemble/f_scores.h"
#include "r_door.h"

using namespace granary;
using namespace granary::ensemble;

GRANARY_DEFAULTS(f_decide, FOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_f_marginals(SEXP p, SEXP options, SEXP progress) {
  return crossing(progress,
                  [&](Monitor& monitor) { return write(decide_marginals(vector(p, "p"), read<FOptions>(options), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_f_rows(SEXP p, SEXP options, SEXP progress) {
  return crossing(progress,
                  [&](Monitor& monitor) { return write(decide_rows(matrix(p, "p"), read<FOptions>(options), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_f_sample(SEXP y, SEXP weights, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(decide_sample(LabelSample(matrix(y, "sample"), vector(weights, "weights")), read<FOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_f_delta(SEXP delta, SEXP none) {
  return crossing([&] { return write(decide_delta(matrix(delta, "delta"), number(none, "p0"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_f_joint(SEXP joint, SEXP size, SEXP none, SEXP beta) {
  return crossing([&] {
    return write(decide_sizes(matrix(joint, "joint"), vector(size, "size"), number(none, "p0"), number(beta, "beta")));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_f_table(SEXP y, SEXP weights, SEXP given, SEXP beta, SEXP empty, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const LabelSample sample(matrix(y, "sample"), vector(weights, "weights"));
    return write(decision_table(sample, matrix(given, "decisions"), number(beta, "beta"), number(empty, "empty"), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_f_scores(SEXP truth, SEXP chosen, SEXP weights, SEXP beta, SEXP empty) {
  return crossing([&] {
    return write(label_scores(matrix(truth, "truth"), matrix(chosen, "prediction"), vector(weights, "weights"),
                              number(beta, "beta"), number(empty, "empty")));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_f_bounds(SEXP what, SEXP m, SEXP expected) {
  return crossing([&] {
    return write(f_bounds(value_of<FBound>(text(what, "what"), "what"), vector(m, "m"), number(expected, "expected")));
  });
}
