// Exports of batch bandits: `model` and `history` are as R/process-gp_bucb.R holds them.
#include "process/bandit_state.h"
#include "r_core_kernel.h"

using namespace granary;
using namespace granary::process;

GRANARY_DEFAULTS(gp_bandit, BanditOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_bandit_suggest(SEXP model, SEXP history, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng random = rng(seed);
    return write_columns(bandit_suggest(read_state<BanditModel>(model), read_state<BanditHistory>(history, "object$history"),
                                        read<BanditOptions>(options), random, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bandit_posterior(SEXP model, SEXP history) {
  return crossing([&] {
    return write(bandit_summary(read_state<BanditModel>(model), read_state<BanditHistory>(history, "object$history")));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bandit_simulate(SEXP model, SEXP options, SEXP simulation, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(bandit_simulate(read_state<BanditModel>(model), read<BanditOptions>(options),
                                 read<BanditSimulation>(simulation, "simulation"), rng(seed), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bandit_greedy(SEXP k, SEXP noise_var, SEXP size, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(greedy_information(matrix(k, "K"), number(noise_var), count(size), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bandit_greedy_model(SEXP model, SEXP size, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(greedy_information(read_state<BanditModel>(model), count(size), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bandit_initial_set(SEXP model, SEXP batch_size, SEXP limit, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    std::vector<Index> set = bandit_initial_set(read_state<BanditModel>(model), count(batch_size), number(limit), monitor);
    return write(positions(set));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_information_gain(SEXP k, SEXP noise_var, SEXP sets) {
  return crossing([&] {
    const InformationSets of = read<InformationSets>(sets, "sets");
    return write(information_gain(matrix(k, "K"), number(noise_var), of.a, of.given));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_best_information(SEXP k, SEXP noise_var, SEXP size, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(best_information(matrix(k, "K"), number(noise_var), count(size), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bandit_refit(SEXP model, SEXP history, SEXP lower, SEXP upper, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(bandit_refit(read_state<BanditModel>(model), read_state<BanditHistory>(history, "object$history"),
                              vector(lower, "lower"), vector(upper, "upper"), monitor));
  });
}
