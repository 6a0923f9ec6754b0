// How well a clustering that is known keeps neighbours together: the properties under which robust linkage recovers it (Balcan,
// Liang and Gupta, JMLR 2014, sections 2.1 and 4).
//
//   alpha-good neighbourhood       of the n_C nearest points of x, itself included, at most alpha n lie outside its cluster C, of n_C points
//   (alpha, nu)-good               the same after nu n bad points are removed
//   strict separation              alpha = 0
//   weak (alpha, beta, nu)-good    for given sets A within the clusters: the |A| nearest of each point of A lie in A but for alpha n, and a share beta of each A is alpha-good
//
// Which points are bad is searched greedily: the point with most neighbours outside goes first, and all are counted again. So nu
// is an upper bound of the least one.
#pragma once

#include "cluster/robust_linkage.h"

namespace granary::cluster {

struct NeighbourhoodCheck {
  VectorXi outside;           // of the n_C nearest, per point
  std::vector<int> removed;   // points, from 0, in the order in which they go
  std::vector<double> alpha;  // after none, one, two, ... are gone
  VectorXi outside_set;       // weak property: of the |A| nearest, outside A
};
template <class V>
void fields(V& v, NeighbourhoodCheck& t) {
  v("outside", t.outside);
  v("removed", positions(t.removed));
  v("alpha", t.alpha);
  v("outside_set", t.outside_set);
}

// labels and sets from 0; sets may be empty, and -1 is a point in none. At most `most` points are removed, fewer once alpha is 0.
NeighbourhoodCheck neighbourhood_check(const NeighbourOrder& order, const VectorXi& labels, const VectorXi& sets, int most,
                                       int threads, Monitor& monitor);

}  // namespace granary::cluster
