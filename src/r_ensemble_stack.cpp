// Exports of LogitBoost and of learners that combine.
#include "ensemble/meta_learner.h"
#include "r_door.h"

using namespace granary;
using namespace granary::ensemble;

GRANARY_DEFAULTS(logitboost, LogitBoostOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_logitboost(SEXP x, SEXP y, SEXP weights, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(
        logitboost(design(x), labels(y, "y"), vector(weights, "weights"), read<LogitBoostOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_logitboost_predict(SEXP x, SEXP fit, SEXP rounds, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(logitboost_predict(design(x), read_state<LogitBoostFit>(fit, "object"), count(rounds, "rounds"),
                                    count(threads, "threads"), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_meta_fit(SEXP x, SEXP y, SEXP weights, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(meta_fit(matrix(x), labels(y, "y"), vector(weights, "weights"), read<MetaOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_meta_predict(SEXP x, SEXP fit, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(meta_predict(matrix(x), read_state<MetaFit>(fit, "object"), count(threads, "threads"), monitor));
  });
}
