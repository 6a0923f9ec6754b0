// Graphs with hubs through the door: graph/hub_path.h, graph/hub_penalty.h, graph/hub_sim.h, graph/ising_sample.h.
#include "graph/hub_ising.h"
#include "graph/hub_path.h"
#include "graph/hub_sim.h"
#include "graph/ising_sample.h"
#include "r_door.h"

using namespace granary;
using namespace granary::graph;

GRANARY_DEFAULTS(ggm_hub, HubOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_hub_path(SEXP data, SEXP options, SEXP start, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto from = read<std::optional<HubStart>>(start, "start");
    return write(hub_path(matrix(data, "data"), read<HubPathOptions>(options), monitor, from));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_hub_regime(SEXP penalty, SEXP p) {
  return crossing([&] { return write(hub_regime(read<HubPenalty>(penalty), count(p, "p"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_hub_smallest_empty(SEXP s, SEXP penalty) {
  return crossing([&] {
    const HubPenalty at = read<HubPenalty>(penalty);
    return write(smallest_empty(matrix(s, "S"), at.l2, at.q));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_sim_hub(SEXP options, SEXP seed) {
  return crossing([&] {
    Rng stream = rng(seed);
    return write(sim_hub_weights(read<SimHubOptions>(options), stream));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_ising_sample(SEXP theta, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng stream = rng(seed);
    return write(ising_sample(matrix(theta, "theta"), read<IsingSampleOptions>(options), stream, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_ising_loss(SEXP x, SEXP theta) {
  return crossing([&] { return write(ising_loss(matrix(x), matrix(theta, "theta"))); });
}
