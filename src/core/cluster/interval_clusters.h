// The best division of numbers into k groups, each an interval of the sorted numbers: exact, by dynamic programming.
//
// For any Bregman divergence the cells of an optimal clustering in one dimension are intervals, and a group has loss
//
//   sum_i w_i f_i - W g(mean),      W = sum_i w_i, mean = sum_i w_i x_i / W,
//
// with f_i = g(x_i) >= 0 and g convex (a divergence from a fixed point: no digits are lost). The least loss of the first j numbers in h groups has a last cut
// that moves to the right with j, so each layer is filled in linear time: O(n log n + k n) (Aggarwal et al., Algorithmica 1987; Wang and Song, R Journal 2011,
// for squares).
#pragma once

#include <functional>
#include <vector>

#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

struct IntervalClusters {
  VectorXi cluster;  // of each number, groups numbered from the left
  double loss = 0;
  VectorXd losses;   // the least loss with 1 .. k groups
};

// x in any order, equal numbers stay together; weights: one per number. k is cut to the number of distinct x.
IntervalClusters interval_clusters(ConstVectorRef x, ConstVectorRef weights, Index k, const std::function<double(double)>& g, Monitor& monitor);
// The same with squared distances, without a call per cost.
IntervalClusters interval_squares(ConstVectorRef x, ConstVectorRef weights, Index k, Monitor& monitor);

}  // namespace granary
