// Exports of Gaussian hidden Markov models and of classifiers of sequences by one for each class.
#include "core/infer/gaussian_hmm.h"
#include "ensemble/hmm_classifier.h"
#include "ensemble/skeleton.h"
#include "r_door.h"

using namespace granary;
using namespace granary::ensemble;

GRANARY_DEFAULTS(hmm_fit, GaussianHmmOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_hmm_fit(SEXP x, SEXP begin, SEXP weights, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(gaussian_hmm_fit(matrix(x), read<std::vector<Index>>(begin, "begin"), vector(weights, "weights"),
                                  read<GaussianHmmOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_hmm_loglik(SEXP model, SEXP x, SEXP begin, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(gaussian_hmm_loglik(read_state<GaussianHmm>(model), matrix(x), read<std::vector<Index>>(begin, "begin"),
                                     count(threads, "threads"), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_hmm_states(SEXP model, SEXP x, SEXP begin, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(gaussian_hmm_states(read_state<GaussianHmm>(model), matrix(x), read<std::vector<Index>>(begin, "begin"),
                                     count(threads, "threads"), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_hmm_draws(SEXP model, SEXP lengths, SEXP seed) {
  return crossing([&] {
    Rng draws = rng(seed);
    Monitor silent;
    return write(gaussian_hmm_draws(read_state<GaussianHmm>(model), read<std::vector<Index>>(lengths, "lengths"), draws, silent));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_hmm_classifier(SEXP view, SEXP y, SEXP weights, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(hmm_classifier(read<CaseView>(view, "x"), labels(y, "y"), vector(weights, "weights"),
                                read<HmmClassifierOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_hmm_class_scores(SEXP member, SEXP view, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(hmm_class_scores(read_state<ViewMember>(member), read<CaseView>(view, "newdata"), count(threads, "threads"),
                                  monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_skeleton_features(SEXP frames, SEXP options) {
  return crossing([&] { return write(skeleton_features(matrix(frames), read<SkeletonOptions>(options))); });
}
