// Exports of the influence games. A game is list(W, b); see graph/game_equilibria.h.
#include "graph/game_exhaustive.h"
#include "r_door.h"

using namespace granary;
using namespace granary::graph;

GRANARY_DEFAULTS(influence_game, GameFitOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_game_fit(SEXP x, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(fit_game(matrix(x), read<GameFitOptions>(options), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_game_sigmoid(SEXP x, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(fit_sigmoid(matrix(x), read<SigmoidOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_game_exhaustive(SEXP x, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(fit_exhaustive(matrix(x), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_game_linear_sets(SEXP n) {
  return crossing(R_NilValue, [&](Monitor& monitor) { return write(linear_games(count(n), monitor).sets.size()); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_game_equilibria(SEXP game, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const Game of = read_state<Game>(game, "game");
    const Equilibria found = find_equilibria(of, read<EquilibriumOptions>(options), monitor);
    return write_list("count", found.count, "log_count", found.log_count, "states", state_rows(found, of.b.size()), "listed", found.listed,
                      "ties", found.ties, "width", found.width, "method", found.method, "seconds", found.seconds);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_game_stable(SEXP game, SEXP x, SEXP tie_tol, SEXP epsilon) {
  return crossing([&] { return write(equilibrium_rows(read_state<Game>(game, "game"), matrix(x), number(tie_tol), number(epsilon))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_game_payoffs(SEXP game, SEXP x) {
  return crossing([&] { return write(game_payoffs(read_state<Game>(game, "game"), matrix(x))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_game_loglik(SEXP n, SEXP log_count, SEXP share, SEXP q) {
  return crossing([&] { return write(game_log_likelihood(count(n), number(log_count), number(share), number(q))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_game_pick(SEXP x) {
  return crossing([&] { return write(sample_picking(matrix(x))); });
}
