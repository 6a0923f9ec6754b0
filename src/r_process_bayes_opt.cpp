// Exports of Bayesian optimisation. R holds the state as plain lists (see R/process-bo_state.R), so that it can be saved.
#include "process/bo_state.h"
#include "r_core_kernel.h"
#include "r_door_function.h"

using namespace granary;
using namespace granary::process;

GRANARY_DEFAULTS(bo_init, BoLearnOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_bo_design(SEXP space, SEXP options, SEXP seed) {
  return crossing(R_NilValue, [&](Monitor& monitor) {
    Rng random = rng(seed);
    const BoDesignOptions o = read<BoDesignOptions>(options);
    return write(bo_design(read<BoSpace>(space, "space"), o.init, o.n, random, monitor));
  });
}

// Points of a random embedding from what they stand for.
// [[Rcpp::export(rng = false)]]
SEXP core_bo_preimage(SEXP embedding, SEXP v) {
  return crossing([&] { return write(embedding_preimage(matrix(embedding), matrix(v, "x"))); });
}

// `state` as everywhere below: model, x, y, theta, factors.
// [[Rcpp::export(rng = false)]]
SEXP core_bo_learn(SEXP state, SEXP start, SEXP options, SEXP seed) {
  return crossing(R_NilValue, [&](Monitor& monitor) {
    Rng random = rng(seed);
    const BoState s = read_state<BoState>(state);
    return write(bo_parameters(s.model.model(s.x.cols()), s.x, s.y, vector(start, "start"), read<BoLearnOptions>(options), random,
                               monitor));
  });
}

// Factors of K~ for each row of theta, those given carried on to the rows that are new.
// [[Rcpp::export(rng = false)]]
SEXP core_bo_factors(SEXP state) {
  return crossing([&] { return write(bo_factors(read_state<BoState>(state))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bo_predict(SEXP state, SEXP at) {
  return crossing([&] { return write(bo_mixture(read_state<BoState>(state), matrix(at, "newdata"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bo_covariance(SEXP state, SEXP at) {
  return crossing([&] { return write(bo_covariance(read_state<BoState>(state), matrix(at, "newdata"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bo_value(SEXP state, SEXP options, SEXP at, SEXP seed) {
  return crossing([&] {
    Rng random = rng(seed);
    return write(bo_values(read_state<BoState>(state), read<BoValueOptions>(options), matrix(at), random));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bo_suggest(SEXP state, SEXP space, SEXP criterion, SEXP options, SEXP seed) {
  return crossing(R_NilValue, [&](Monitor& monitor) {
    Rng random = rng(seed);
    return write(bo_suggest(read<BoCriterion>(criterion, "criterion"), read_state<BoState>(state).surrogates(),
                            read<BoSpace>(space, "space"), read<BoSuggestOptions>(options), random, monitor));
  });
}
