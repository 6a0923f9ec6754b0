// Neighbourhood selection and the scale-free graph through the door: graph/neighbourhood.h, graph/reweighted.h.
#include "graph/neighbourhood.h"
#include "graph/reweighted.h"
#include "r_door.h"

using namespace granary;
using namespace granary::graph;

GRANARY_DEFAULTS(ggm_neighbors, NeighbourPathOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_neighbours(SEXP s, SEXP lambda, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(neighbour_path(matrix(s, "S"), numbers(lambda, "lambda"), read<NeighbourPathOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_scale_free(SEXP s, SEXP lambda, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(scale_free_path(matrix(s, "S"), numbers(lambda, "lambda"), read<ReweightedOptions>(options), monitor));
  });
}
