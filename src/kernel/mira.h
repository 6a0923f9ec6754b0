// The step of MIRA, the margin infused relaxed algorithm (Crammer and Singer, JMLR 3, 2003), for prototypes M_r and an example
// (x, y):
//
//   minimise 1/2 sum_r || M_r + tau_r x ||^2   subject to   tau_r <= [r = y],  sum_r tau_r = 0
//
// The solution is tau_r = min(theta - M_r'x / |x|^2, [r = y]) with theta such that the sum vanishes. To reach a margin beta
// rather than 0, beta is taken from the score of the right class first; for two classes, with beta counted twice, it is tau =
// min(max((beta - y s) / |x|^2, 0), 1) on w = (M_1 - M_2) / 2.
#pragma once

#include <algorithm>
#include <vector>

#include "core/base/types.h"

namespace granary::kernel {

// `score`: M_r'x; `norm`: |x|^2 > 0. O(k log k).
inline VectorXd mira_step(ConstVectorRef score, Index y, double beta, double norm) {
  const Index k = score.size();
  VectorXd cost = score / norm;
  cost[y] -= beta / norm;
  const auto limit = [&](Index r) { return r == y ? 1.0 : 0.0; };
  // sum_r min(theta - cost_r, limit_r) grows with theta; class r is at its limit once theta >= cost_r + limit_r.
  std::vector<Index> order(k);
  for (Index r = 0; r < k; ++r) order[r] = r;
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    const double left = cost[a] + limit(a), right = cost[b] + limit(b);
    return left < right || (left == right && a < b);
  });
  double at_limit = 0, free_cost = cost.sum(), theta = 0;
  for (Index done = 0; done < k; ++done) {
    theta = (free_cost - at_limit) / static_cast<double>(k - done);
    const Index r = order[done];
    if (theta <= cost[r] + limit(r)) break;
    at_limit += limit(r);
    free_cost -= cost[r];
  }
  VectorXd tau(k);
  for (Index r = 0; r < k; ++r) tau[r] = std::min(theta - cost[r], limit(r));
  return tau;
}

}  // namespace granary::kernel
