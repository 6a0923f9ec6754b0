// Graphs with hubs to test estimators on: Tan et al. (JMLR 2014), Section 3.5.2.
//
//   hub         an edge between any two nodes with chance `sparsity`; of `hubs` random nodes every pair with any other is drawn
//   anew with
//               chance `hub_density` (Set-up I)
//   two_blocks  two such graphs side by side with half the hubs each (Set-up II)
//   scale_free  degrees with P(k) proportional to k^-2.5, joined at random; loops and double edges are dropped (Set-up III)
//
// Values: E_ij uniform on +-[0.25, 0.75] for both orders of an edge, then (E + E') / 2. With `definite` the diagonal is 0.1 minus the
// smallest eigenvalue of that, so that the matrix is a precision or a covariance.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/random/rng.h"
#include "core/base/types.h"

namespace granary::graph {

enum class HubSetup { hub, two_blocks, scale_free };

inline Names<HubSetup> names(HubSetup) {
  return {{HubSetup::hub, "hub"}, {HubSetup::two_blocks, "two_blocks"}, {HubSetup::scale_free, "scale_free"}};
}

struct SimHubOptions {
  HubSetup setup = HubSetup::hub;
  int p = 100, hubs = 5;
  double sparsity = 0.02, hub_density = 0.7;
  bool definite = true;
};
template <class V>
void fields(V& v, SimHubOptions& t) {
  v("setup", t.setup);
  v("p", t.p);
  v("hubs", t.hubs);
  v("sparsity", t.sparsity);
  v("hub_density", t.hub_density);
  v("definite", t.definite);
}

struct HubGraph {
  MatrixXd weights;       // (E + E') / 2
  std::vector<int> hubs;  // ascending; for scale_free the nodes joined to more than 5 percent of the others
};

template <class V>
void fields(V& v, HubGraph& t) {
  v("weights", SparseMatrix(t.weights.sparseView(0, 0)));
  v("hubs", positions(t.hubs));
}

HubGraph sim_hub_weights(const SimHubOptions& options, Rng& rng);

}  // namespace granary::graph
