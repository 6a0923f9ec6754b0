// What a grouping of levels costs. A table has one row of class counts n_i per level; a grouping adds rows up.
//
//   modl        log I + log B(I, K) + sum_k [ log choose(n_k + J - 1, J - 1) + log( n_k! / prod_j n_kj! ) ]      (Boulle, JMLR
//   2005, Theorem 1)
//               B(I, K) = sum_{k <= K} S(I, k), Stirling numbers of the second kind: partitions of I levels into at most K groups
//   bic         2 sum_k n_k H_k + log(n) (K - 1)(J - 1), H_k the entropy of the classes in group k
//   chi2        - sum_k sum_j n_kj^2 / (n_k q_j), q_j the share of class j: n + chi-square with a minus
//   entropy     sum_k n_k H_k
//
// The bracket of modl is minus the log of the integral of prod_j theta_j^n_kj over uniform theta, so all four are sums over
// groups of a function of the counts that is minus a convex one, and some best partition into at most K groups is a vertex of the
// partition polytope: its groups are cones. Levels with proportional counts stay together, and for two classes groups are
// intervals in the order of n_i1 / n_i: the paper's Conjecture 1.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary::ensemble {

enum class GroupCostKind { modl, bic, chi2, entropy };

class GroupCost {
 public:
  // classes: totals of the classes; levels: I.
  GroupCost(GroupCostKind kind, const VectorXd& classes, double levels);

  double operator()(const double* counts) const;       // of a group
  double sum(const double* a, const double* b) const;  // of two groups as one
  double choice() const { return kind_ == GroupCostKind::modl ? std::log(levels_) : 0; }
  // log B(I, K), or the penalty of the criterion; kept for the K asked for so far.
  double groups(Index k) const;
  double groups_at_least(Index k) const;  // a bound that costs nothing
  Index classes() const { return j_; }
  // Parts of the bracket of modl: log choose(n_k + J - 1, J - 1), and the rest.
  double class_part(double n) const;

 private:
  double log_fact(double n) const;
  GroupCostKind kind_;
  Index j_;
  VectorXd share_;
  double total_, levels_;
  std::vector<double> table_;
  mutable std::vector<double> bell_;
};

// log B(I, K) for K = 1 .. k, and log S(I, K).
struct PartitionCounts {
  std::vector<double> log_bell, log_stirling;
};
template <class V>
void fields(V& v, PartitionCounts& t) {
  v("log_bell", t.log_bell);
  v("log_stirling", t.log_stirling);
}
PartitionCounts partition_counts(double levels, Index k);

double entropy_cost(const double* counts, Index j);  // n H

}  // namespace granary::ensemble
