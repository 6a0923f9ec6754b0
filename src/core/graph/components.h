// A problem that falls into independent components: who is where, in which order they are worked on, and what becomes of their
// convergence.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/convergence.h"
#include "core/base/types.h"

namespace granary {

using Components = std::vector<std::vector<int>>;  // the members of each, ascending

inline Components one_component(Index p) {
  Components all(1, std::vector<int>(p));
  std::iota(all[0].begin(), all[0].end(), 0);
  return all;
}

struct ComponentIndex {
  std::vector<int> label, position;  // of every variable: its component, and its place among the members

  ComponentIndex(const Components& components, Index p) : label(p), position(p) {
    for (std::size_t c = 0; c < components.size(); ++c) {
      for (std::size_t k = 0; k < components[c].size(); ++k) {
        label[components[c][k]] = static_cast<int>(c);
        position[components[c][k]] = static_cast<int>(k);
      }
    }
  }
};

// The component of every variable, from 0.
inline std::vector<int> component_labels(const Components& components, Index p) { return ComponentIndex(components, p).label; }

// Largest first, so that threads end together; the first one is the largest also for reports that follow one component.
inline std::vector<Index> largest_first(const Components& components) {
  std::vector<Index> order(components.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return components[a].size() > components[b].size(); });
  return order;
}

// Gaps add up, residuals and iterations are those of the worst, and all have converged when each has. The first message stays.
class WholeConvergence {
 public:
  explicit WholeConvergence(Convergence& whole) : whole_(whole) {
    whole.converged = true;
    whole.gap = whole.residual = 0;
  }

  void add(bool converged, int iterations, double gap, double residual, const std::string& message) {
    whole_.converged = whole_.converged && converged;
    whole_.iterations = std::max(whole_.iterations, iterations);
    whole_.gap += gap;
    whole_.residual = std::max(whole_.residual, residual);
    if (whole_.message.empty()) whole_.message = message;
  }
  void add(const Convergence& part, double weight = 1) {
    add(part.converged, part.iterations, weight * part.gap, part.residual, part.message);
  }

 private:
  Convergence& whole_;
};

}  // namespace granary
