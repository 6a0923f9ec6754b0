// Exports of k-means of streams, of seeds and of baselines.
#include "cluster/stream_kmeans.h"
#include "core/cluster/seeding.h"
#include "r_door.h"

using namespace granary;
using namespace granary::cluster;

GRANARY_DEFAULTS(stream_kmeans, StreamOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_stream_start(SEXP options, SEXP columns, SEXP seed) {
  return crossing([&] { return write(stream_start(read<StreamOptions>(options), count(columns, "columns"), vector(seed, "seed"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_stream_update(SEXP state, SEXP x, SEXP weights, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    StreamState s = read_state<StreamState>(state, "object");
    s.options.threads = count(threads, "threads");
    stream_update(s, matrix(x), vector(weights, "weights"), monitor);
    return write(s);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_stream_combine(SEXP state, SEXP other, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    StreamState s = read_state<StreamState>(state, "object");
    stream_combine(s, read_state<StreamState>(other, "object"), monitor);
    return write(s);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_stream_centers(SEXP state, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(stream_centres(read_state<StreamState>(state, "object"), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kmeans_pass(SEXP pass, SEXP x, SEXP weights, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    KMeansPass p = read_state<KMeansPass>(pass, "pass");
    kmeans_pass(p, matrix(x), vector(weights, "weights"), count(threads, "threads"), monitor);
    return write(p);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kmeans_pass_centers(SEXP pass) {
  return crossing([&] { return write(pass_centres(read_state<KMeansPass>(pass, "pass"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kmeans_seeds(SEXP x, SEXP weights, SEXP options, SEXP threads, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(kmeans_seeds(matrix(x), vector(weights, "weights"), read<KMeansSeedOptions>(options), count(threads, "threads"), rng(seed), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_stream_baseline(SEXP x, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(stream_baseline(matrix(x), read<BaselineOptions>(options), draws, monitor));
  });
}
