// One fit with hubs per lambda2, each started at the one before, whatever the loss (hub.h, hub_ising.h).
#pragma once

#include <optional>
#include <vector>

#include "graph/hub.h"

namespace granary::graph {

enum class HubModelKind { precision, covariance, ising };
inline Names<HubModelKind> names(HubModelKind) {
  return {{HubModelKind::precision, "precision"}, {HubModelKind::covariance, "covariance"}, {HubModelKind::ising, "ising"}};
}

struct HubPathOptions {
  HubModelKind model = HubModelKind::precision;
  double lambda1 = 0;
  std::vector<double> lambda2;
  double lambda3 = 0;
  HubNorm q = HubNorm::l2;
  HubOptions solver;
};
template <class V>
void fields(V& v, HubPathOptions& t) {
  v("model", t.model);
  v("lambda1", t.lambda1);
  v("lambda2", t.lambda2);
  v("lambda3", t.lambda3);
  v("q", t.q);
  v("solver", t.solver);
}

// An earlier answer to start from: T = V + V' + Z.
struct HubStart {
  MatrixXd theta, v, z;
  double step = 0;
};
template <class V>
void fields(V& v, HubStart& t) {
  v("theta", t.theta);
  v("V", t.v);
  v("Z", t.z);
  v("step", t.step);
}

// `data` is S, or the 0/1 rows of an Ising model.
std::vector<HubResult> hub_path(ConstMatrixRef data, const HubPathOptions& options, Monitor& monitor, const std::optional<HubStart>& start);

}  // namespace granary::graph
