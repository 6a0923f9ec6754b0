// Classifiers with thresholds on a line that minimise the empirical risk: Mohammadi and van de Geer (JMLR 6, 2005), Section 2.1.
//
//   labels b, -b, b, ... between cuts a_1 < ... < a_K, b = -1 or 1;   L_n(a) = sum_i w_i cost(y_i) 1{predicted != y_i} / sum_i
//   w_i
//
// Rows with equal x are one block. All K at once in O(n log n): blocks that lean the same way form runs; between two runs of
// infinite weight at
// the ends, of label b and of label L, the lightest run is removed again and again, which adds its weight to the error and
// takes away two cuts.
// For each K the better of L = -1 and L = 1 counts. For the chosen K a dynamic programme over blocks gives every place that a
// cut may have in
// an optimum (forward and backward costs), and a solution from the middle of them.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/random/rng.h"

namespace granary::ensemble {

enum class FirstLabel { negative, positive, free };
inline Names<FirstLabel> names(FirstLabel) {
  return {{FirstLabel::negative, "negative"}, {FirstLabel::positive, "positive"}, {FirstLabel::free, "free"}};
}

struct ThresholdOptions {
  int k = 1;  // most cuts
  FirstLabel first = FirstLabel::negative;
  double false_positive = 1, false_negative = 1;  // costs
};
template <class V>
void fields(V& v, ThresholdOptions& t) {
  v("k", t.k);
  v("first", t.first);
  v("false_positive", t.false_positive);
  v("false_negative", t.false_negative);
}

struct ThresholdFit {
  VectorXd thresholds;          // rising; infinite where a region at an end is empty
  int first = -1;               // label left of the first
  double risk = 0;
  VectorXd low, high;           // smallest and largest place of each cut in any optimum
  std::vector<int> cut;         // intervals of optima: cut, from, to
  VectorXd from, to;
  VectorXd path;                // least risk with at most 0, 1, ... cuts, until it falls no more
  Index distinct = 0;           // different x
};
template <class V>
void fields(V& v, ThresholdFit& t) {
  v("thresholds", any_number(t.thresholds));
  v("first", t.first);
  v("risk", t.risk);
  v("low", any_number(t.low));
  v("high", any_number(t.high));
  v("cut", positions(t.cut));
  v("from", any_number(t.from));
  v("to", any_number(t.to));
  v("path", t.path);
  v("distinct", t.distinct);
}

// y: above 0 for the positive label. Rows without weight are left out.
ThresholdFit thresholds(ConstVectorRef x, ConstVectorRef y, ConstVectorRef weight, const ThresholdOptions& options);

// Labels -1 and 1 right of as many cuts as lie at or below x.
VectorXd threshold_labels(ConstVectorRef x, ConstVectorRef thresholds, int first);
double threshold_risk(ConstVectorRef x, ConstVectorRef y, ConstVectorRef weight, ConstVectorRef thresholds,
    const ThresholdOptions& options,
                      int first);

struct ResampleOptions {
  Index size = 0;      // rows of a resample
  bool replace = false;
  int n_draws = 500;
  int threads = 1;
};
template <class V>
void fields(V& v, ResampleOptions& t) {
  v("size", t.size);
  v("replace", t.replace);
  v("n_draws", t.n_draws);
  v("threads", t.threads);
}
// Thresholds of resamples, draws x cuts, with exactly as many cuts as `options.k` and NaN where a resample has fewer.
MatrixXd resampled_thresholds(ConstVectorRef x, ConstVectorRef y, ConstVectorRef weight, const ThresholdOptions& options,
                              const ResampleOptions& resample, Rng& rng, Monitor& monitor);

// Share of positive labels and slope of it at the points, by local quadratic regression with Epanechnikov's kernel; and the
// density of x.
struct LocalFit {
  VectorXd prob, slope, density, left, right;  // left, right: shares among the nearest rows on each side
};
template <class V>
void fields(V& v, LocalFit& t) {
  v("prob", any_number(t.prob));
  v("slope", any_number(t.slope));
  v("density", t.density);
  v("left", any_number(t.left));
  v("right", any_number(t.right));
}
LocalFit local_fit(ConstVectorRef x, ConstVectorRef y, ConstVectorRef weight, ConstVectorRef at, double slope_width,
    double density_width,
                   Index nearest);

// Risk times the sum of weights, less its minimum, of moving cut k alone to each place between blocks: for sets by likelihood
// ratio.
struct CutProfile {
  VectorXd place, excess;  // places left of each block and right of the last
};
template <class V>
void fields(V& v, CutProfile& t) {
  v("place", any_number(t.place));
  v("excess", t.excess);
}
CutProfile cut_profile(ConstVectorRef x, ConstVectorRef y, ConstVectorRef weight, ConstVectorRef thresholds, Index cut,
                       const ThresholdOptions& options, int first);

}  // namespace granary::ensemble
