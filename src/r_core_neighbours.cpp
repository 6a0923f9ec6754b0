// Exports of nearest neighbours: positions and distances with the neighbours of a row in a column.
#include "core/neighbours/neighbours.h"
#include "r_door.h"

using namespace granary;

GRANARY_DEFAULTS(nearest_neighbors, NeighbourOptions);

// newdata: rows, or NULL for x itself.
// [[Rcpp::export(rng = false)]]
SEXP core_nearest(SEXP x, SEXP newdata, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto how = read<NeighbourOptions>(options);
    return write(is_null(newdata) ? nearest_neighbours(design(x), how, monitor)
                                  : nearest_neighbours(design(x), design(newdata, "newdata"), how, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_nearest_dist(SEXP x, SEXP n, SEXP k, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(nearest_neighbours(count(n, "n"), vector(x), count(k, "k"), count(threads, "threads"), monitor));
  });
}

// distance: a function of two row numbers.
// [[Rcpp::export(rng = false)]]
SEXP core_nearest_own(SEXP n, SEXP distance, SEXP k, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(nearest_neighbours(count(n, "n"), Callback<double, Index, Index>(distance), count(k, "k"), monitor));
  });
}
