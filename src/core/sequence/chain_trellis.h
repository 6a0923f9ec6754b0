// The states of a chain of first or second order as one trellis, so that every recursion is written once.
//
// First order: a state is a label. Second order: from the second position on a state is the pair (previous label, label),
// numbered previous * K + label; its predecessors differ in the label before the previous one.
#pragma once

#include "core/sequence/chain.h"

namespace granary {

class Trellis {
 public:
  explicit Trellis(const ChainScores& scores)
      : c_(scores), k_(static_cast<int>(scores.labels())), pairs_(scores.second_order()) {}

  int states(Index t) const { return pairs_ && t > 0 ? k_ * k_ : k_; }
  int label(Index t, int s) const { return pairs_ && t > 0 ? s % k_ : s; }
  int predecessors(Index t) const { return t == 0 ? 0 : pairs_ && t == 1 ? 1 : k_; }
  int predecessor(Index t, int s, int j) const { return !pairs_ ? j : t == 1 ? s / k_ : j * k_ + s / k_; }
  double node(Index t, int s) const {
    double value = c_.unary(label(t, s), t);
    if (pairs_ && t > 0) value += c_.pair_at(t - 1)[s / k_ + k_ * (s % k_)];
    return value;
  }
  double edge(Index t, int s, int j) const {
    if (!pairs_) return c_.pair_at(t - 1)[j + k_ * s];
    return t == 1 ? 0 : c_.triple[static_cast<std::size_t>(j + k_ * (s / k_ + k_ * (s % k_)))];
  }

 private:
  const ChainScores& c_;
  int k_;
  bool pairs_;
};

}  // namespace granary
