// The node-selecting Gaussian graph through the door: graph/nodes.h.
#include "graph/nodes.h"
#include "r_door.h"

using namespace granary;
using namespace granary::graph;

GRANARY_DEFAULTS(ggm_nodes, NodesOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_nodes_path(SEXP s, SEXP penalties, SEXP options, SEXP start, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto from = read<std::optional<MatrixXd>>(start, "start");
    return write(nodes_path(matrix(s, "S"), read<NodesPath>(penalties), read<NodesOptions>(options), monitor, from));
  });
}

// Penalties from the largest that is worth trying; `tau` is an R function of rho.
// [[Rcpp::export(rng = false)]]
SEXP core_nodes_grid(SEXP s, SEXP grid, SEXP tau) {
  return crossing([&] { return write(default_path(matrix(s, "S"), read<NodesGrid>(grid), Callback<double, double>(tau))); });
}
