// Exports of conditional Gaussian networks: graph/cg_*.h. A compiled network is held by R between calls and remade after a session
// was saved.
#include "graph/cg_fit.h"
#include "graph/cg_mixture.h"
#include "graph/cg_query.h"
#include "graph/cg_rows.h"
#include "r_door.h"

using namespace granary;
using namespace granary::graph;

GRANARY_DEFAULTS(cg_fit, CgFitOptions);

namespace {

std::vector<int> nodes_of(SEXP x) {
  const std::vector<Index> at = places(x, "nodes");
  return std::vector<int>(at.begin(), at.end());
}

CgNetwork network_of(SEXP spec) { return read<CgNetwork>(spec, "network"); }
const CgState& state_of(SEXP pointer) { return held<CgState>(pointer); }

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP core_cg_compile(SEXP spec, SEXP order, SEXP max_states) {
  return crossing([&] { return hold(std::make_unique<CgState>(network_of(spec), nodes_of(order), number(max_states))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cg_alive(SEXP pointer) {
  return crossing([&] { return write(is_alive(pointer)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cg_observe(SEXP pointer, SEXP findings) {
  return crossing([&] {
    CgObserved seen = observe_all(state_of(pointer), read<CgFindings>(findings, "evidence"));
    return write_list("pointer", hold(std::move(seen.state)), "log_evidence", seen.log_evidence, "blocked", positions(seen.blocked), "certain",
                      positions(seen.certain));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cg_tree(SEXP spec, SEXP kind, SEXP order, SEXP rule) {
  return crossing([&] {
    return write(build_tree(network_of(spec), read<TreeKind>(kind, "type"), nodes_of(order), read<StrongRule>(rule, "rule")));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cg_regressions(SEXP pointer) {
  return crossing([&] { return write(cluster_regressions(state_of(pointer))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cg_probabilities(SEXP pointer, SEXP nodes) {
  return crossing([&] { return write(joint_probabilities(state_of(pointer), nodes_of(nodes))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cg_marginals(SEXP pointer, SEXP nodes) {
  return crossing([&] { return write(single_laws(state_of(pointer), nodes_of(nodes))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cg_joint(SEXP pointer, SEXP continuous, SEXP discrete) {
  return crossing([&] { return write(joint_law(state_of(pointer), nodes_of(continuous), nodes_of(discrete))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cg_simulate(SEXP pointer, SEXP n, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(state_of(pointer).simulate(count(n), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cg_map(SEXP pointer, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(most_probable(state_of(pointer), read<CgMapOptions>(options), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cg_predict(SEXP pointer, SEXP rows, SEXP target, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(predict_rows(state_of(pointer), matrix(rows), count(target) - 1, count(threads), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cg_row_evidence(SEXP pointer, SEXP rows, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(row_log_evidence(state_of(pointer), matrix(rows), count(threads), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cg_log_density(SEXP spec, SEXP rows) {
  return crossing([&] { return write(log_density(network_of(spec), matrix(rows))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cg_fit(SEXP spec, SEXP rows, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(fit_network(network_of(spec), matrix(rows), read<CgFitOptions>(options), monitor));
  });
}

// Tables as they are used: renormalised.
// [[Rcpp::export(rng = false)]]
SEXP core_cg_check(SEXP spec) {
  return crossing([&] {
    CgNetwork network = network_of(spec);
    check_network(network);
    return write_list("tables", network.table, "regressions", network.regression);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_mixture(SEXP what, SEXP law, SEXP at) {
  return crossing([&] { return write(mixture_values(read<NormalMixture>(law), read<MixtureQuestion>(what), vector(at))); });
}
