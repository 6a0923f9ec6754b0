// The pieces that the solver of smo.h keeps its state in.
#pragma once

#include <limits>
#include <vector>

#include "core/base/types.h"

namespace granary::smo_detail {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index panel = 256;  // places looked at together: what is read for one extremum is still there for the next

struct Pair {
  Index i = -1, j = -1;
  std::size_t sheet = 0;
  double violation = 0;  // v_i - v_j
  double score = -infinity;
};

// The variables of one sheet. can_grow_[t] is c_t - e_t sign where b_t can grow and -inf where it cannot, can_shrink_[t] the
// same with +inf: so v is can_grow_ - f, and the index sets of the paper are in the numbers themselves.
struct Sheet {
  VectorXd linear, lower, upper, beta, can_grow, can_shrink;

  void refresh(Index t, double kink) {
    can_grow[t] = beta[t] < upper[t] ? linear[t] - (beta[t] < 0 ? -kink : kink) : -infinity;
    can_shrink[t] = beta[t] > lower[t] ? linear[t] - (beta[t] > 0 ? kink : -kink) : infinity;
  }
  double room_up(Index t, double kink) const { return (kink > 0 && beta[t] < 0 ? 0 : upper[t]) - beta[t]; }
  double room_down(Index t, double kink) const { return beta[t] - (kink > 0 && beta[t] > 0 ? 0 : lower[t]); }
};

struct Extremes {
  Index i = -1, j = -1;  // of largest v that can grow, of least v that can shrink
  double largest = -infinity, least = infinity;
  double violation() const { return largest - least; }
};

// Rows left out by one shrinking, which stand from this place on, and what coefficients moved by until the next.
struct LeftOut {
  Index from;
  std::vector<Index> row;
  std::vector<double> change;
};

}  // namespace granary::smo_detail
