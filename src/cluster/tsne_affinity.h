// Similarities of the points of a map (van der Maaten, JMLR 2014, equations 1 and 2):
//
//   p_j|i = exp(-d_ij^2 / (2 sigma_i^2)) / sum over the neighbours of i,     -sum_j p_j|i log p_j|i = log u     p_ij = (p_j|i + p_i|j) / (2 n)
//
// with u the perplexity: how many neighbours a point has, in effect. The width sigma_i is the root of a falling function of log(1
// / (2 sigma_i^2)), found by Newton's method inside a bracket. Where more than u neighbours are nearest alike (duplicates), or
// all are alike, no width reaches u: those share the probability evenly.
#pragma once

#include "core/base/monitor.h"
#include "core/neighbours/neighbours.h"

namespace granary::cluster {

struct Calibration {
  double precision = 0;   // 1 / (2 sigma^2); infinite where only the nearest, alike, share
  double perplexity = 0;  // reached
};
// distance: k of them, ascending; p: k probabilities.
Calibration calibrate(const double* distance, Index k, double perplexity, double* p);

struct Affinity {
  SparseMatrix p;       // symmetric, of sum 1
  VectorXd sigma;       // 0 where only duplicates share, infinite where all neighbours are alike
  Index unreached = 0;  // points whose perplexity is not u
};
template <class V>
void fields(V& v, Affinity& t) {
  v("p", t.p);
  v("sigma", t.sigma);
  v("unreached", t.unreached);
}

Affinity perplexity_affinity(const Neighbours& neighbours, double perplexity, int threads, Monitor& monitor);

}  // namespace granary::cluster
