#include "core/graph/flow_network.h"

#include <algorithm>

namespace granary {

void FlowNetwork::clear() {
  first.assign(1, 0);
  head.clear();
  twin.clear();
  residual.clear();
  excess.clear();
}

// Breadth first from the takers; true when a giver was met.
bool FlowNetwork::layers(double tiny) {
  const int n = nodes();
  depth.resize(n);
  arc_.resize(n);
  queue_.clear();
  for (int i = 0; i < n; ++i) {
    arc_[i] = first[i];
    depth[i] = -1;
    if (excess[i] < -tiny) {
      depth[i] = 0;
      queue_.push_back(i);
    }
  }
  bool reached = false;
  for (std::size_t k = 0; k < queue_.size(); ++k) {
    const int i = queue_[k];
    for (int a = first[i]; a < first[i + 1]; ++a) {
      const int j = head[a];
      if (depth[j] >= 0 || residual[twin[a]] <= tiny) continue;
      depth[j] = depth[i] + 1;
      queue_.push_back(j);
      reached = reached || excess[j] > tiny;
    }
  }
  return reached;
}

void FlowNetwork::solve(double tiny, Monitor& monitor) {
  const int n = nodes();
  while (layers(tiny)) {
    monitor.check();
    queue_.clear();
    for (int i = 0; i < n; ++i) {
      if (excess[i] > tiny && depth[i] > 0) queue_.push_back(i);
    }
    long long work = 0;
    for (std::size_t next = 0; next < queue_.size() && work < n; ++next) {
      if ((next & 65535u) == 65535u) monitor.check();
      const int i = queue_[next], begin = first[i], end = first[i + 1];
      double give = excess[i];
      while (give > tiny) {
        const int down = depth[i] - 1;
        int a = arc_[i];
        for (; a < end; ++a) {
          const int j = head[a];
          if (depth[j] != down || residual[a] <= tiny) continue;
          const double amount = std::min(give, residual[a]);
          residual[a] -= amount;
          residual[twin[a]] += amount;
          give -= amount;
          const bool waits = excess[j] > tiny;
          excess[j] += amount;
          if (!waits && excess[j] > tiny) queue_.push_back(j);
          if (give <= tiny) break;
        }
        arc_[i] = a;
        if (give <= tiny) break;
        int lowest = n;
        for (int b = begin; b < end; ++b) {
          if (residual[b] > tiny && depth[head[b]] >= 0 && depth[head[b]] < lowest) lowest = depth[head[b]];
        }
        work += 2 + end - begin;
        arc_[i] = begin;
        depth[i] = lowest < n ? lowest + 1 : -1;
        if (depth[i] < 0) break;
      }
      excess[i] = give;
    }
  }
}

}  // namespace granary
