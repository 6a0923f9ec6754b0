// Scores of single features, one at a time: what Q-alpha is compared with.
//
//   pearson    sqrt(between / (between + within)), sums of squares about the class means: |correlation| for two classes
//   fisher     (m1 - m2)^2 / (s1^2 + s2^2) for two classes, between / within for more
//   snr        |m1 - m2| / (s1 + s2), the largest over pairs of classes
//   ks         the largest distance between the distribution functions of two classes
//   variance   of the feature
//   laplacian  how much a feature varies along a graph of nearest neighbours, less is smoother: He, Cai and Niyogi (NIPS 2005); the
//              score is one minus theirs, so that more is better
//   pca        length of the feature's loadings on the k leading principal components
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/random/rng.h"

namespace granary::regress {

enum class FeatureScore { pearson, fisher, snr, ks, variance, laplacian, pca };
inline Names<FeatureScore> names(FeatureScore) {
  return {{FeatureScore::pearson, "pearson"}, {FeatureScore::fisher, "fisher"},       {FeatureScore::snr, "snr"}, {FeatureScore::ks, "ks"},
          {FeatureScore::variance, "variance"}, {FeatureScore::laplacian, "laplacian"}, {FeatureScore::pca, "pca"}};
}

struct FeatureScoreOptions {
  FeatureScore type = FeatureScore::pearson;
  Index k = 2;          // pca
  Index neighbors = 5;  // laplacian
};
template <class V>
void fields(V& v, FeatureScoreOptions& t) {
  v("type", t.type);
  v("k", t.k);
  v("neighbors", t.neighbors);
}

// One score per column of x; NaN where a feature does not vary within any class. `labels` from 0; not used by the last three.
VectorXd feature_score(ConstMatrixRef x, const std::vector<int>& labels, const FeatureScoreOptions& options);

// Clusters of rows by k-means, numbered in the order they appear; rows that are equal share a cluster where there are no more
// than k different ones.
VectorXi cluster_embedding(ConstMatrixRef x, int k, int n_starts, Rng rng, Monitor& monitor);

}  // namespace granary::regress
