#include "cluster/robust_check.h"

#include <algorithm>

#include "core/base/parallel.h"

namespace granary::cluster {

namespace {

// Among the points that are left, how many of the nearest of each, as many as its group has, lie outside its group.
VectorXi count_outside(const NeighbourOrder& order, const VectorXi& group, const std::vector<char>& gone, int threads,
                       Monitor& monitor) {
  const Index n = order.cols();
  std::vector<int> size(static_cast<std::size_t>(group.maxCoeff()) + 2, 0);
  for (Index x = 0; x < n; ++x)
    if (!gone[static_cast<std::size_t>(x)] && group[x] >= 0) ++size[static_cast<std::size_t>(group[x])];
  VectorXi out = VectorXi::Zero(n);
  parallel_for((n + 63) / 64, threads, monitor, [&](Index task) {
    for (Index x = task * 64; x < std::min(n, (task + 1) * 64); ++x) {
      if (gone[static_cast<std::size_t>(x)] || group[x] < 0) continue;
      int left = size[static_cast<std::size_t>(group[x])];
      for (Index r = 0; r < n && left > 0; ++r) {
        const auto y = order(r, x);
        if (gone[y]) continue;
        --left;
        out[x] += group[y] != group[x];
      }
    }
  });
  return out;
}

}  // namespace

NeighbourhoodCheck neighbourhood_check(const NeighbourOrder& order, const VectorXi& labels, const VectorXi& sets, int most,
                                       int threads, Monitor& monitor) {
  const Index n = order.cols();
  const auto size = static_cast<double>(n);
  std::vector<char> gone(static_cast<std::size_t>(n), 0);
  NeighbourhoodCheck out;
  out.outside = count_outside(order, labels, gone, threads, monitor);
  if (sets.size() == n) out.outside_set = count_outside(order, sets, gone, threads, monitor);
  VectorXi now = out.outside;
  out.alpha.push_back(now.maxCoeff() / size);
  for (int step = 0; step < most && now.maxCoeff() > 0; ++step) {
    monitor.progress(static_cast<double>(step) / most);
    Index worst = 0;
    now.maxCoeff(&worst);
    gone[static_cast<std::size_t>(worst)] = 1;
    out.removed.push_back(static_cast<int>(worst));
    now = count_outside(order, labels, gone, threads, monitor);
    out.alpha.push_back(now.maxCoeff() / size);
  }
  return out;
}

}  // namespace granary::cluster
