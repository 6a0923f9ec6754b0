// k centres among n points so that the farthest point is as near as possible:  minimise  r = max_p min_i d(p, c_i).
//
//   farthest    Gonzalez (1985): the next centre is the point farthest from those chosen. r <= 2 OPT; O(nk)
//   threshold   Hochbaum and Shmoys (1985): the least distance r at which greedy centres, no two within 2 r, are at most k. r <= 2 OPT
//   exact       the least distance at which k balls cover all points: binary search, each cover by branch and bound
//
// The first k + 1 points of the farthest-first order are pairwise at least r_{k+1} apart and two of them share a centre: OPT >= r_{k+1} / 2.
#pragma once

#include <functional>
#include <vector>

#include "core/base/convergence.h"
#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::cluster {

enum class KCenterMethod { farthest, threshold, exact };
inline Names<KCenterMethod> names(KCenterMethod) {
  return {{KCenterMethod::farthest, "farthest"}, {KCenterMethod::threshold, "threshold"}, {KCenterMethod::exact, "exact"}};
}

struct KCenterOptions {
  int k = 1;
  KCenterMethod method = KCenterMethod::farthest;
  double max_nodes = 1e7;  // of the search for covers
};
template <class V>
void fields(V& v, KCenterOptions& t) {
  v("k", t.k);
  v("method", t.method);
  v("max_nodes", t.max_nodes);
}

struct KCenterResult {
  VectorXi cluster, medoids;
  double objective = 0;    // the radius
  double lower_bound = 0;  // of the best radius; equal to the objective where it is exact
  bool exact = false;
  Convergence convergence;  // gap: objective - lower_bound
};
template <class V>
void fields(V& v, KCenterResult& t) {
  v("cluster", positions(t.cluster));
  v("medoids", positions(t.medoids));
  v("objective", t.objective);
  v("lower_bound", t.lower_bound);
  v("exact", t.exact);
  v("convergence", t.convergence);
}

// n points; column(x) gives the distances of all points from x.
using DistanceColumn = std::function<VectorXd(Index x)>;
KCenterResult k_center(Index n, const DistanceColumn& column, const KCenterOptions& options, Monitor& monitor);

}  // namespace granary::cluster
