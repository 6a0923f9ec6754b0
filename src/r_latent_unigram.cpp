// Exports of Good-Turing masses, smoothed laws of words, and their bounds.
#include "latent/good_turing.h"
#include "latent/good_turing_bounds.h"
#include "latent/unigram.h"
#include "r_door.h"

using namespace granary;
using namespace granary::latent;

GRANARY_DEFAULTS(good_turing, HittingOptions);
GRANARY_DEFAULTS(unigram_model, UnigramOptions);
GRANARY_DEFAULTS(good_turing_bounds, GtBoundOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_good_turing(SEXP counts, SEXP options) {
  return crossing([&] { return write(good_turing(vector(counts, "counts"), read<HittingOptions>(options))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_unigram_model(SEXP counts, SEXP options) {
  return crossing([&] { return write(unigram_model(vector(counts, "counts"), read<UnigramOptions>(options))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_unigram_path(SEXP counts, SEXP options, SEXP tau) {
  return crossing([&] { return write(unigram_path(vector(counts, "counts"), read<UnigramOptions>(options), vector(tau, "tau"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_good_turing_bounds(SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(good_turing_bounds(read<GtBoundOptions>(options), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_word_law(SEXP law, SEXP size, SEXP shape, SEXP seed) {
  return crossing([&] {
    Rng draws = rng(seed);
    return write(word_law(read<WordLaw>(law, "law"), count(size, "size"), number(shape, "shape"), draws));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_draw_counts(SEXP prob, SEXP n, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(draw_counts(vector(prob, "prob"), number(n, "n"), draws, monitor));
  });
}

// size = (draws of each replicate, replicates, threads)
// [[Rcpp::export(rng = false)]]
SEXP core_unigram_trials(SEXP prob, SEXP size, SEXP k, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    const VectorView s = vector(size, "size");
    return write(unigram_trials(vector(prob, "prob"), s[0], static_cast<Index>(s[1]), vector(k, "k"), read<UnigramOptions>(options),
                                static_cast<int>(s[2]), draws, monitor));
  });
}
