// The pairwise baseline of Daume and Marcu (JMLR 2005), BINARY: a logistic regression says from |r_i - r_j| whether two rows belong together; rows to be clustered
// are joined by average link while the mean log-odds of a merger exceed a threshold, the one that gave the best pair F on training clusters kept back.
#pragma once

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"

namespace granary::latent {

struct PairwiseResult {
  VectorXi cluster;         // of the rows to be clustered
  VectorXd coefficients;    // intercept, then one per column of |r_i - r_j|
  double threshold = 0;     // of the mean log-odds
  double training_f = 0;    // pair F of the rows kept back, at that threshold
};
template <class V>
void fields(V& v, PairwiseResult& t) {
  v("cluster", positions(t.cluster));
  v("coefficients", t.coefficients);
  v("threshold", t.threshold);
  v("training_f", t.training_f);
}

// x: training rows with clusters 0, 1, ...; newx: rows to be clustered. At most `most_pairs` pairs are used, drawn at random.
PairwiseResult pairwise_cluster(ConstMatrixRef x, const VectorXi& cluster, ConstMatrixRef newx, int folds, Index most_pairs, Rng& rng, Monitor& monitor);

}  // namespace granary::latent
