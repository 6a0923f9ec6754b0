// Exports of mixtures and hidden Markov models by alternating minimisation, and of Boltzmann machines.
#include "latent/boltzmann.h"
#include "latent/em_fit.h"
#include "r_door.h"

using namespace granary;
using namespace granary::latent;

GRANARY_DEFAULTS(em_fit, EmOptions);
GRANARY_DEFAULTS(boltzmann_fit, BoltzmannOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_em_fit(SEXP data, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(em_fit(read<EmData>(data, "data"), read<EmFitOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_em_rows(SEXP data, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(em_rows(read<EmData>(data, "data"), read<EmFitOptions>(options), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_em_draws(SEXP plan, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(em_draws(read<EmDrawPlan>(plan), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_boltzmann_fit(SEXP rows, SEXP weights, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(boltzmann_fit(matrix(rows, "x"), vector(weights, "weights"), read<BoltzmannOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_boltzmann_rows(SEXP rows, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(boltzmann_rows(matrix(rows, "newdata"), read<BoltzmannOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_boltzmann_draws(SEXP n, SEXP couplings, SEXP fields, SEXP seed) {
  return crossing([&] {
    Rng draws = rng(seed);
    return write(boltzmann_draws(count(n, "n"), matrix(couplings, "J"), vector(fields, "b"), draws));
  });
}
