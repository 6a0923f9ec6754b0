// Exports of tensor decompositions and of latent variable models by their moments.
#include "core/optim/assignment.h"
#include "latent/spectral_mixture.h"
#include "r_door.h"

using namespace granary;
using namespace granary::latent;

GRANARY_DEFAULTS(tensor_decompose, TensorOptions);
GRANARY_DEFAULTS(spectral_mixture, SpectralOptions);

namespace {

// An R function that returns the next piece (words x documents), NULL at the end.
struct RDocuments {
  SEXP next;
  Rcpp::RObject piece = R_NilValue;  // what is looked at is kept alive
  bool operator()(Design& out) {
    Rcpp::Shield<SEXP> call(Rf_lang1(next));
    piece = Rcpp::Rcpp_fast_eval(call, R_GlobalEnv);
    if (is_null(piece)) return false;
    out = Design(sparse(piece, "x"));
    return true;
  }
};

DocumentSource documents(SEXP x) { return Rf_isFunction(x) ? DocumentSource(RDocuments{x}) : one_piece(Design(sparse(x, "x"))); }

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP core_tensor_decompose(SEXP unfolded, SEXP components, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(tensor_decompose(Tensor3::symmetric(matrix(unfolded, "x")), count(components, "k"), read<TensorOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_spectral_topics(SEXP x, SEXP words, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(spectral_topics(documents(x), count(words, "words"), read<SpectralOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_spectral_rows(SEXP data, SEXP views, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    const VectorXi which = vector(views, "views").cast<int>();
    return write(spectral_rows(read<EmData>(data, "data"), which, read<SpectralOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_spectral_place(SEXP data, SEXP parameters, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const EmData rows = read<EmData>(data, "data");
    return write(em_rows(rows, spectral_em_options(read<SpectralOptions>(options), rows, read_state<EmParameters>(parameters)), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_topic_rows(SEXP x, SEXP lda, SEXP weight, SEXP topics, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const TopicModel model{flag(lda, "lda"), vector(weight, "weight"), matrix(topics, "topics")};
    return write(topic_rows(documents(x), model, count(threads, "threads"), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_topic_draws(SEXP lda, SEXP weight, SEXP topics, SEXP lengths, SEXP seed) {
  return crossing(R_NilValue, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    const TopicModel model{flag(lda, "lda"), vector(weight, "weight"), matrix(topics, "topics")};
    return write(topic_draws(model, vector(lengths, "lengths"), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_ica_draws(SEXP n, SEXP mixing, SEXP heavy, SEXP noise_sd, SEXP seed) {
  return crossing([&] {
    Rng draws = rng(seed);
    return write(ica_draws(count(n, "n"), matrix(mixing, "mixing"), flag(heavy, "heavy"), number(noise_sd, "noise"), draws));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_match_rows(SEXP cost) {
  return crossing(R_NilValue, [&](Monitor& monitor) { return write(assign_rows(matrix(cost, "cost"), monitor)); });
}
