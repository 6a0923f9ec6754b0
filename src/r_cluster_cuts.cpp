// Exports of cuts of weighted graphs.
#include "cluster/cut_stability.h"
#include "cluster/max_cut.h"
#include "cluster/multiway_cut.h"
#include "r_door.h"

using namespace granary;
using namespace granary::cluster;

GRANARY_DEFAULTS(multiway_cut, MultiwayOptions);
GRANARY_DEFAULTS(max_cut, MaxCutOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_multiway_cut(SEXP graph, SEXP terminals, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(multiway_cut(read_state<WeightedEdges>(graph, "graph"), places(terminals, "terminals"), read<MultiwayOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_max_cut(SEXP graph, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(max_cut(read_state<WeightedEdges>(graph, "graph"), read<MaxCutOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cut_stability(SEXP graph, SEXP part, SEXP terminals, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(cut_stability(read_state<WeightedEdges>(graph, "graph"), labels(part, "partition"), places(terminals, "terminals"), read<CutStabilityOptions>(options), monitor));
  });
}

// The gain of the best set of nodes that change sides, and the set.
// [[Rcpp::export(rng = false)]]
SEXP core_improve_cut(SEXP graph, SEXP part, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const CutImprovement found = improve_cut(read_state<WeightedEdges>(graph, "graph"), labels(part, "partition"), monitor);
    return write_list("gain", found.gain, "flip", std::vector<int>(found.flip.begin(), found.flip.end()));
  });
}
