// The posterior of a partition without sampling:  p(A | x) = p(A) prod_i m(x_{A_i}) / p(x).
//
//   enumerate_partitions   every set partition, as restricted growth strings, for n <= 12 (Bell(12) = 4 213 597)
//   two_valued             rows with only two different values, a of one and b of the other, for n to about 150: with w(i, j) = W(i + j) m(i ones of the first, j of
//                          the second),  f_t(a, b) = sum_ij C(a-1, i-1) C(b, j) w(i, j) f_{t-1}(a - i, b - j)  over the block that holds the first row
#pragma once

#include "core/base/monitor.h"
#include "latent/conjugate_family.h"
#include "latent/partition_prior.h"

namespace granary::latent {

struct ExactPosterior {
  VectorXd count;          // p(T = t | x), t = 1, 2, ...
  VectorXd components;     // p(k | x) of an mfm
  MatrixXd similarity;     // p(i and j in one block | x)
  VectorXi best;           // of largest posterior probability
  double best_probability = 0;
  double log_evidence = 0;
  double partitions = 0;   // how many there are
};
template <class V>
void fields(V& v, ExactPosterior& t) {
  v("count", t.count);
  v("components", t.components);
  v("similarity", t.similarity);
  v("best", positions(t.best));
  v("best_probability", any_number(t.best_probability));
  v("log_evidence", t.log_evidence);
  v("partitions", any_number(t.partitions));
}

constexpr Index most_enumerated = 12;

ExactPosterior enumerate_partitions(const BlockFamily& family, const PartitionPrior& prior, Monitor& monitor);
// `value`: 0 or 1 for each row. Neither similarities nor the best partition are found.
ExactPosterior two_valued(const BlockFamily& family, const VectorXi& value, const PartitionPrior& prior, Monitor& monitor);
// Whichever applies: the enumeration up to 12 rows, else the recursion where the rows have only two values.
ExactPosterior exact_posterior(ConstMatrixRef x, const FamilySpec& spec, const PartitionPrior& prior, Monitor& monitor);
// Two different rows only: 0 and 1 for each; empty where there are more.
VectorXi two_values(ConstMatrixRef x);

// log m of every subset of the rows, by its bits.
std::vector<double> subset_marginals(const BlockFamily& family, Monitor& monitor);

// Calls visit(blocks, t) with the bits of the blocks of every partition into at most `most` blocks.
template <class Visit>
void for_each_partition(Index n, Index most, Visit&& visit) {
  std::vector<unsigned> block(static_cast<std::size_t>(n) + 1, 0);
  std::vector<int> at(static_cast<std::size_t>(n), -1);
  int t = 0;
  Index i = 0;
  // Depth first: row i goes to block 0, 1, ..., t (a new one) in turn.
  while (i >= 0) {
    const auto row = static_cast<std::size_t>(i);
    if (at[row] >= 0) {
      unsigned& old = block[static_cast<std::size_t>(at[row])];
      old &= ~(1u << i);
      if (old == 0) --t;
    }
    const int next = ++at[row];
    if (next > t || (next == t && t >= most)) {
      at[row] = -1;
      --i;
      continue;
    }
    if (next == t) ++t;
    block[static_cast<std::size_t>(next)] |= 1u << i;
    if (i + 1 == n) {
      visit(block, t);
    } else {
      ++i;
    }
  }
}

}  // namespace granary::latent
