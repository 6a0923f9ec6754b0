// How large p(T_n = t | x) can be at most, for the data at hand: Lemma 13 of Miller and Harrison (JMLR 2014).
//
//   p(T_n = t | x) <= C / (1 + C),   C = t c c_n(t) / (phi - t / n)   whenever phi > t / n,
//   c_n(t) = (t+1)/n max p(A) / p(B), B made from A by cutting off one row: (t + 1) V_n(t) W(n - t + 1) / (V_n(t + 1) W(n - t) W(1) n)
//   phi = least share, over the partitions into t blocks, of the rows j with m(x_block) <= c m(x_block without j) m(x_j)
//
// Theorem 7 bounds phi from below: with r_i = sup p_theta(x_i) / m(x_i), the share of the rows with r_i <= c. The best c is searched over the r_i. Up to 12 rows phi
// is found itself: the k-th smallest ratio is at most c in every partition exactly when c >= c_k, its largest value over the partitions.
#pragma once

#include "core/base/monitor.h"
#include "latent/conjugate_family.h"
#include "latent/partition_prior.h"

namespace granary::latent {

struct CountBound {
  double bound = 1, c = 0, phi = 0, growth = 0;  // growth: c_n(t)
  double limit = 0;                              // lim c_n(t) of a Pitman-Yor law, (t+1)/(theta + t sigma); infinite where there is none
};
template <class V>
void fields(V& v, CountBound& t) {
  v("bound", any_number(t.bound));
  v("c", any_number(t.c));
  v("phi", any_number(t.phi));
  v("growth", any_number(t.growth));
  v("limit", any_number(t.limit));
}

// The bound is NaN where the lemma says nothing: t at the largest number of blocks, t >= n, or densities without a bound.
CountBound count_bound(const BlockFamily& family, const PartitionPrior& prior, Index t, bool exact_phi, Monitor& monitor);

double growth_constant(const PartitionPrior& prior, Index n, Index t);  // c_n(t)

}  // namespace granary::latent
