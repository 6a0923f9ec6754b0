// Gap-weighted kernels of two sequences: all lengths up to p in one pass.
//
//   K_q(s, t) = sum_{|u| = q} phi_u(s) phi_u(t) = sum of kappa_q(i, j) over all i, j
//
// kappa_q(i, j) sums over the pairs of matching subsequences of length q that end at s_i and t_j, with weight
//   gaps by length   prod over skipped tokens a of lambda_a (lambda^(span - q) where they are all equal)
//   gaps by number   lambda^(number of gaps, of whatever length)
// times the match weights g of both. With S_0 = 1 and [s_i = t_j] standing for equality,
//   kappa_q(i, j) = [s_i = t_j] g^2 V_{q-1}(i - 1, j - 1)
//   V = S:  S_q(i, j) = kappa_q(i, j) + lambda S_q(i - 1, j) + lambda S_q(i, j - 1) - lambda^2 S_q(i - 1, j - 1)       by length
//   V(i, j) = kappa(i, j) + lambda sum_{i' < i} kappa(i', j) + lambda sum_{j' < j} kappa(i, j') + lambda^2 sum_{both} kappa
// by number
//
// Rousu and Shawe-Taylor (JMLR 2005), sections 3 to 5: "dense" is their DYNPROG, "sparse" their SPARSE. What differs: all levels
// go through one sweep side by side; S is summed with inclusive ends (as printed, with strict ones and more powers of lambda,
// the recurrence does not give the kernel); the nodes of the Fenwick tree are scaled to their own end and stamped with the row
// of their last change, so all powers of lambda have exponents of one sign and the index plane needs no rectangles; level p is
// summed (their figure 6 stops at p - 1).
#pragma once

#include <vector>

#include "core/base/monitor.h"
#include "core/base/types.h"
#include "kernel/string_tokens.h"

namespace granary::kernel {

struct GapModel {
  bool by_number = false;  // gaps are counted, not measured
  double lambda = 0.5;
  std::vector<double> skip;   // lambda_a per token of the alphabet; empty: lambda. By length only
  std::vector<double> match;  // g_a per token; empty: 1
  double scale = 1;           // of every match: K_q is multiplied by scale^q
  Index levels = 1;           // p
};

// The places of every token in a sequence.
class TokenPlaces {
 public:
  explicit TokenPlaces(const Tokens& t);
  struct Range {
    const int *begin, *end;
  };
  Range of(int token) const;                      // ascending
  double common(const TokenPlaces& other) const;  // |M|, the number of matching pairs of places
  Index tokens() const { return static_cast<Index>(token_.size()); }

 private:
  std::vector<int> token_, start_, place_;  // tokens that occur, ascending
};

// K_1 .. K_p, each times scale^q.
VectorXd gap_levels_dense(const Tokens& s, const Tokens& t, const GapModel& model, Monitor& monitor);
VectorXd gap_levels_sparse(const Tokens& s, const Tokens& t, const TokenPlaces& places_of_t, const GapModel& model,
                           Monitor& monitor);

// The sum over all lengths without end, by the same sweep with kappa = [s_i = t_j] g^2 (1 + V).
double gap_all_lengths(const Tokens& s, const Tokens& t, const GapModel& model, Monitor& monitor);

// Nanoseconds each way costs, about.
double dense_cost(double m, double n, Index levels);
double sparse_cost(double matches, double n, Index levels);

}  // namespace granary::kernel
