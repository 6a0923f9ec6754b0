// Exports of the accuracy of estimated labels.
#include "latent/label_accuracy.h"
#include "latent/label_posterior.h"
#include "r_door.h"

using namespace granary;
using namespace granary::latent;

GRANARY_DEFAULTS(label_accuracy, LabelOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_label_fisher(SEXP model, SEXP x, SEXP weights, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(label_fisher(read<LabelModel>(model, "model"), matrix(x, "newdata"), vector(weights, "weights"), read<LabelOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_label_fisher_given(SEXP scores, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(label_fisher_given(read<GivenScores>(scores, "scores"), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_label_coefficient(SEXP lambda, SEXP bayes, SEXP alpha) {
  return crossing([&] { return write(label_coefficient(vector(lambda, "lambda"), flag(bayes, "bayes"), number(alpha, "alpha"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_binary_label_error(SEXP n, SEXP share, SEXP probs, SEXP prior) {
  return crossing([&] {
    const VectorXd p = vector(probs, "probs"), b = vector(prior, "prior");
    return write(binary_label_error(static_cast<int>(count(n, "n")), number(share, "share"), p[0], p[1], b[0], b[1]));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_label_simulate(SEXP model, SEXP n, SEXP reps, SEXP threads, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(label_simulate(read<LabelModel>(model, "model"), count(n, "n"), static_cast<int>(count(reps, "n_rep")), static_cast<int>(count(threads, "threads")),
                                draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_label_memberships(SEXP model, SEXP x) {
  return crossing([&] { return write(label_memberships(read<LabelModel>(model, "model"), matrix(x, "x"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_label_posterior(SEXP x, SEXP family, SEXP gamma, SEXP partitions, SEXP reference, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto blocks = make_family(matrix(x), read<FamilySpec>(family, "hyper"));
    return write(label_posterior(*blocks, number(gamma, "gamma"), matrix_of_places(partitions, "partitions"), matrix(reference, "reference"), monitor));
  });
}
