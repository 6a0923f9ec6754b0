// Exports of the theory of boosting.
#include "ensemble/boost_theory.h"
#include "ensemble/potential.h"
#include "r_door.h"

using namespace granary;
using namespace granary::ensemble;

// `data`: answers (from 0), y (from 0), k, baseline.
// [[Rcpp::export(rng = false)]]
SEXP core_boost_condition(SEXP condition, SEXP data, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(check_condition(read<Condition>(condition, "condition"), matrix(door::element(data, "answers")), read<VectorXi>(door::element(data, "y")),
                                 count(door::element(data, "k")), matrix(door::element(data, "baseline")), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_margin_game(SEXP u, SEXP lp, SEXP nu, SEXP max_iter, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(margin_game(matrix(u), flag(lp), number(nu), count(max_iter), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_potential(SEXP votes, SEXP rounds, SEXP baseline, SEXP eta) {
  return crossing([&] {
    const auto state = read<std::vector<int>>(votes, "votes");
    const VectorXd b = vector(baseline, "baseline"), step = vector(eta, "eta");
    return write(step.size() > 0 ? exponential_potential(state, count(rounds), b, step) : ZeroOnePotential(b)(state, count(rounds)));
  });
}

// All ways that the votes of `rounds` can fall, and the logs of their chances.
// [[Rcpp::export(rng = false)]]
SEXP core_vote_outcomes(SEXP rounds, SEXP baseline) {
  return crossing([&] {
    const VoteOutcomes found = vote_outcomes(count(rounds), vector(baseline, "baseline"));
    return write_list("votes", found.votes, "log_prob", found.log_prob);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_random_votes(SEXP rounds, SEXP baseline, SEXP n_draws, SEXP seed) {
  return crossing([&] {
    Rng draws = rng(seed);
    return write(random_votes(count(rounds), vector(baseline, "baseline"), count(n_draws, "n_draws"), draws));
  });
}

// By `what`: of k classes (count), edges, targets or steps, and two numbers.
// [[Rcpp::export(rng = false)]]
SEXP core_boost_bound(SEXP what, SEXP k, SEXP edge, SEXP other, SEXP numbers_given) {
  return crossing([&] { return write(boost_bound(read<BoostBound>(what, "what"), count(k), vector(edge), vector(other), numbers(numbers_given))); });
}
