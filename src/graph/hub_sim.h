// Graphs with hubs to test estimators on: Tan et al. (JMLR 2014), Section 3.5.2.
//
//   hub         an edge between any two nodes with chance `sparsity`; of `hubs` random nodes every pair with any other is drawn
//   anew with
//               chance `hub_density` (Set-up I)
//   two_blocks  two such graphs side by side with half the hubs each (Set-up II)
//   scale_free  degrees with P(k) proportional to k^-2.5, joined at random; loops and double edges are dropped (Set-up III)
//
// Values: E_ij uniform on +-[0.25, 0.75] for both orders of an edge, then (E + E') / 2.
#pragma once

#include <vector>

#include "core/random/rng.h"
#include "core/base/types.h"

namespace granary::graph {

enum class HubSetup { hub, two_blocks, scale_free };

struct HubGraph {
  MatrixXd weights;       // (E + E') / 2, zero diagonal
  std::vector<int> hubs;  // ascending; for scale_free the nodes joined to more than 5 percent of the others
};

HubGraph sim_hub_weights(HubSetup setup, int p, int hubs, double sparsity, double hub_density, Rng& rng);

}  // namespace granary::graph
