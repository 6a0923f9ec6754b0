// Exports of t-SNE.
#include "cluster/tsne.h"
#include "cluster/tsne_data.h"
#include "cluster/tsne_place.h"
#include "r_door_function.h"

using namespace granary;
using namespace granary::cluster;

GRANARY_DEFAULTS(tsne, TsneOptions);

namespace {

// list(x =, metric =) or list(dist =, n =) or list(index =, distance =) or list(x =, own =).
MapSource source_of(SEXP data) {
  MapSource out;
  const auto given = [&](const char* name) {
    SEXP value = door::element(data, name);
    return value == nullptr ? R_NilValue : value;
  };
  out.n = count(given("n"), "n");
  if (!is_null(given("x"))) out.x = design(given("x"));
  if (!is_null(given("metric"))) out.metric = read<Metric>(given("metric"), "metric");
  if (!is_null(given("dist"))) out.dist = vector(given("dist"), "x");
  if (!is_null(given("index"))) out.index = matrix_of_places(given("index"), "index");
  if (!is_null(given("distance"))) out.distance = matrix(given("distance"), "distance");
  if (!is_null(given("own"))) out.own = Callback<double, Index, Index>(given("own"));
  return out;
}

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP core_tsne_rows(SEXP x, SEXP most, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(reduce_rows(design(x), count(most, "pca"), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_tsne_more_rows(SEXP x, SEXP center, SEXP rotation, SEXP unit) {
  return crossing([&] {
    return write(reduce_more(design(x), vector(center, "center"), matrix(rotation, "rotation"), number(unit, "unit")));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_tsne_start(SEXP x, SEXP k, SEXP sd, SEXP progress) {
  return crossing(progress,
                  [&](Monitor& monitor) { return write(principal_start(design(x), count(k, "k"), number(sd), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_tsne_draw(SEXP n, SEXP k, SEXP sd, SEXP seed) {
  return crossing([&] {
    Rng draws = rng(seed);
    return write(random_start(count(n, "n"), count(k, "k"), number(sd), draws));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_tsne_affinity(SEXP data, SEXP neighbors, SEXP perplexity, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const int many = count(threads, "threads");
    return write(perplexity_affinity(source_neighbours(source_of(data), count(neighbors, "neighbors"), many, monitor),
                                     number(perplexity), many, monitor));
  });
}

// `start` is a matrix of positions, or the state of a fit to go on from.
// [[Rcpp::export(rng = false)]]
SEXP core_tsne(SEXP affinity, SEXP start, SEXP options, SEXP watch, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto how = read<TsneOptions>(options);
    TsneWatch see;
    door::convert(door::Source{watch, "callback", false}, see);
    return write(tsne_run(sparse(affinity, "affinity"),
                          Rf_isMatrix(start) ? tsne_start(matrix(start, "init"), how) : read_state<TsneState>(start), how, see,
                          monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_tsne_gradient(SEXP affinity, SEXP y, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(tsne_gradient(sparse(affinity, "affinity"), matrix(y, "y"), read<ForceOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_tsne_place(SEXP map, SEXP near, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const Neighbours found{matrix_of_places(door::element(near, "index"), "index"),
                           matrix(door::element(near, "distance"), "distance")};
    return write(place_points(matrix(map, "map"), found, read<PlaceOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_tsne_quality(SEXP data, SEXP map, SEXP k, SEXP which, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    auto rows = read<std::vector<int>>(which, "which");
    door::shift(rows);
    return write(map_quality(source_of(data), matrix(map, "map"), count(k, "k"), rows, count(threads, "threads"), monitor));
  });
}
