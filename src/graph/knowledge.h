// What is known before any test is made.
#pragma once

#include <algorithm>
#include <vector>

#include "core/graph/bitset.h"

namespace granary::graph {

struct Knowledge {
  // Each is empty (nothing known) or has one row per variable.
  std::vector<Bitset> gaps;      // i and j are not adjacent; symmetric
  std::vector<Bitset> edges;     // i and j are adjacent, whatever the tests say; symmetric
  std::vector<Bitset> required;  // row i: i -> j
  std::vector<Bitset> excluded;  // row i: i is no cause of j, so that an edge has an arrow at i
  std::vector<int> tier;         // nothing causes anything in an earlier tier (`excluded` says the same of pairs)

  // Writes what the tiers say of pairs into `excluded`.
  void exclude_by_tier() {
    const int p = static_cast<int>(tier.size());
    if (excluded.empty()) excluded.assign(p, Bitset(p));
    for (int i = 0; i < p; ++i) {
      for (int j = 0; j < p; ++j) {
        if (tier[i] > tier[j]) excluded[i].set(j);
      }
    }
  }

  bool gap(int i, int j) const { return !gaps.empty() && gaps[i].test(j); }
  bool edge(int i, int j) const { return !edges.empty() && edges[i].test(j); }
  bool requires_arrow(int i, int j) const { return !required.empty() && required[i].test(j); }
  bool excludes_arrow(int i, int j) const { return !excluded.empty() && excluded[i].test(j); }
  bool orients() const { return !required.empty() || !excluded.empty(); }
  // A variable from a later tier than both i and j is no ancestor of either, so no separating set needs it.
  bool may_separate(int k, int i, int j) const { return tier.empty() || tier[k] <= std::max(tier[i], tier[j]); }
};

}  // namespace granary::graph
