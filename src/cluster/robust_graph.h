// The graph F_t of robust linkage (robust_linkage.h), kept up to date as t rises.
#pragma once

#include "cluster/robust_bits.h"
#include "cluster/robust_linkage.h"

namespace granary::cluster {

class CommonNeighbourGraph {
 public:
  CommonNeighbourGraph(const NeighbourOrder& order, double wrong, int threads);

  // F_t for t; t never falls.
  void advance(int t, Monitor& monitor);

  const BitRows& edges() const { return edges_; }                // with loops
  const std::vector<char>& changed() const { return changed_; }  // rows that the last advance() changed
  bool any_change() const { return any_change_; }
  double evaluations() const { return evaluations_; }

 private:
  void look(int x, int y, std::vector<std::uint32_t>& flips, std::vector<std::pair<int, std::uint32_t>>& later) const;

  const NeighbourOrder& order_;
  Index n_;
  double allowed_;  // 2 e, with room for rounding
  int threads_, t_ = 0;
  BitRows near_, edges_;
  std::vector<std::vector<std::uint32_t>> due_;  // pairs x n + y to look at, by t
  std::vector<char> changed_;
  bool any_change_ = false;
  double evaluations_ = 0;
};

}  // namespace granary::cluster
