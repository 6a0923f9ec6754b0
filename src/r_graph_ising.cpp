// Exports of the Ising models. A model is list(W, b); see graph/spin_states.h.
#include "graph/hub_screen.h"
#include "graph/ising_fit.h"
#include "r_door.h"

using namespace granary;
using namespace granary::graph;

GRANARY_DEFAULTS(ising_fit, IsingFitOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_ising_fit(SEXP x, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(ising_fit(matrix(x), read<IsingFitOptions>(options), rng(seed), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_ising_grid(SEXP x, SEXP method, SEXP n_lambda, SEXP ratio) {
  return crossing([&] { return write(ising_grid(matrix(x), read<IsingMethod>(method, "method"), count(n_lambda), number(ratio))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_ising_score(SEXP x, SEXP model) {
  return crossing(R_NilValue, [&](Monitor& monitor) { return write(ising_score(matrix(x), read_state<SpinModel>(model), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_ising_moments(SEXP model, SEXP method, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const SpinModel of = read_state<SpinModel>(model, "model");
    MatrixXd chains;
    Rng draws = rng(seed);
    return write(spin_moments(of.w, of.b, read<MomentMethod>(method, "method"), read<MomentOptions>(options), chains, draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_spins_sample(SEXP model, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(spin_sample(read_state<SpinModel>(model, "model"), read<SpinSampleOptions>(options), rng(seed), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_ising_component(SEXP w) {
  return crossing([&] { return write(largest_component(matrix(w))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_ising_logz(SEXP model, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const SpinModel of = read_state<SpinModel>(model, "model");
    return write(exact_log_partition(of.w, of.b, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_ising_kl(SEXP first, SEXP second, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(spin_divergence(read_state<SpinModel>(first), read_state<SpinModel>(second), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_ising_bounds(SEXP x, SEXP lambda, SEXP field_penalty) {
  return crossing([&] { return write(ising_bounds(ising_data(matrix(x)), number(lambda), flag(field_penalty))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_ising_conditional(SEXP x, SEXP model) {
  return crossing([&] { return write(conditional_probabilities(matrix(x), read_state<SpinModel>(model, "model"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_partial_correlations(SEXP s) {
  return crossing([&] { return write(partial_correlations(matrix(s))); });
}
