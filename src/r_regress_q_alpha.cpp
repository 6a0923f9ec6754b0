// Exports of Q-alpha feature weighting and of the scores it is compared with.
#include "r_door.h"
#include "regress/feature_score.h"
#include "regress/q_alpha.h"
#include "regress/q_alpha_supervised.h"
#include "regress/q_alpha_theory.h"

using namespace granary;
using namespace granary::regress;

GRANARY_DEFAULTS(q_alpha, QAlphaOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_standardise_features(SEXP x, SEXP centre) {
  return crossing([&] { return write(standardise_features(matrix(x), flag(centre))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_q_alpha(SEXP x, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(q_alpha(matrix(x), read<QAlphaOptions>(options), rng(seed), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_q_alpha_kernel(SEXP v, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(q_alpha_kernel(matrix(v), read<QAlphaOptions>(options), rng(seed), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_q_alpha_classes(SEXP x, SEXP labels, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const std::vector<Index> at = places(labels);
    return write(q_alpha_classes(matrix(x), std::vector<int>(at.begin(), at.end()), read<QAlphaClassesOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_weighted_embedding(SEXP x, SEXP alpha, SEXP k) {
  return crossing(R_NilValue, [&](Monitor& monitor) { return write(weighted_embedding(matrix(x), vector(alpha), count(k), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_positivity_share(SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const PositivityOptions o = read<PositivityOptions>(options);
    return write(positivity_share(o.n, o.mean, o.sd, o.replicates, o.threads, rng(seed), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_feature_score(SEXP x, SEXP labels, SEXP options) {
  return crossing([&] {
    const std::vector<Index> at = places(labels);
    return write(feature_score(matrix(x), std::vector<int>(at.begin(), at.end()), read<FeatureScoreOptions>(options)));
  });
}

// Clusters of the rows of an embedding, numbered in the order they appear.
// [[Rcpp::export(rng = false)]]
SEXP core_cluster_embedding(SEXP x, SEXP k, SEXP n_starts, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    VectorXi cluster = cluster_embedding(matrix(x), count(k), count(n_starts), rng(seed), monitor);
    return write(positions(cluster));
  });
}
