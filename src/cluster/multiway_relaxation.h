// The linear relaxation of the multiway cut (cluster/multiway_cut.h).
#pragma once

#include "cluster/weighted_edges.h"
#include "core/base/convergence.h"
#include "core/base/monitor.h"

namespace granary::cluster {

struct MultiwayRelaxation {
  MatrixXd position;  // nodes x k, rows in the simplex
  double value = 0;   // at the position
  double bound = 0;   // value of the dual point: no cut is lighter
  bool vertex = false;  // by the simplex method
  Convergence convergence;
};
MultiwayRelaxation relax_multiway(const WeightedEdges& g, const std::vector<Index>& terminals, double tol, int max_iter, Monitor& monitor);

}  // namespace granary::cluster
