// Decisions of largest expected F from probabilities (Waegeman, Dembczynski, Jachnik, Cheng and Huellermeier, JMLR 2014).
//
//   F_b(y, h) = (1 + b^2) sum_i y_i h_i / (b^2 sum_i y_i + sum_i h_i),   0/0 = 1,   y, h in {0, 1}^m
//
//   f_gfm           any joint law: Delta_ik = sum_{y: y_i = 1} (1 + b^2) P(y) / (b^2 s_y + k); of column k the k largest, their
//   sum is E_k;
//                   E_0 = P(y = 0); the best k. O(m^2) (Algorithm 1, Theorem 9)
//   delta_matrix    Delta = P W from P_is = P(y_i = 1, s_y = s), W_sk = (1 + b^2) / (b^2 s + k), over the sizes s that occur
//   f_independent   independent labels: the best set are the k most probable ones (Lewis 1995), and
//                     E_k = (1 + b^2) sum_s [sum_{i <= k} P(y_i = 1, s_y = s)] / (b^2 s + k)
//   jaccard_independent   E_k = (sum_{i <= k} p_i) E 1 / (k + sum_{l > k} y_l), as the two counts are independent
//   f_categorical   exactly one label is right: top k, the first k with b^2 sum_{j <= k} p_j >= (b^2 + k) p_{k+1}  (Theorem 6; b
//   = 1)
//   f_lewis         (1 + b^2) sum_{i <= k} p_i / (b^2 sum p + k), an approximation in O(m log m)
//
// The paper's O(m^3) sums for independent labels, and the O(m^2) recursion of Ye et al. (ICML 2012), which needs a rational b^2,
// are not needed: the law of s_y without label i is that of s_y divided by (1 - p_i + p_i z), which loses no digits when begun at
// the end where p_i is the smaller root, and s_y lies within 9 sqrt(m) of its mean but for 1e-17 (Hoeffding). So all E_k cost
// O(m^1.5), for any b. Where m is large only the k that bounds cannot exclude are computed:
//   (1 + b^2) A / (b^2 (1 + mu) + k) <= E_k <= (1 + b^2) A / (b^2 mu + k) (1 + b^4 V / ((b^2 mu + k) k)),   A = sum_{i <= k}
//   p_i, mu, V mean and variance of s_y
// by Jensen's inequality and a Taylor series of the second order.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::ensemble {

enum class FMethod { automatic, independent, gfm, categorical, lewis, threshold };
inline Names<FMethod> names(FMethod) {
  return {{FMethod::automatic, "auto"}, {FMethod::independent, "independent"},
          {FMethod::gfm, "gfm"},        {FMethod::categorical, "categorical"},
          {FMethod::lewis, "lewis"},    {FMethod::threshold, "threshold"}};
}

enum class FTarget { f, jaccard, hamming, subset };
inline Names<FTarget> names(FTarget) {
  return {{FTarget::f, "f"}, {FTarget::jaccard, "jaccard"}, {FTarget::hamming, "hamming"}, {FTarget::subset, "subset"}};
}

struct FOptions {
  FMethod method = FMethod::automatic;
  FTarget target = FTarget::f;
  double beta = 1;
  double empty = 1;      // Jaccard of two empty sets
  int max_curve = 5000;  // up to so many labels E_k is computed for every k
  int threads = 1;
};
template <class V>
void fields(V& v, FOptions& t) {
  v("method", t.method);
  v("target", t.target);
  v("beta", t.beta);
  v("empty", t.empty);
  v("max_curve", t.max_curve);
  v("threads", t.threads);
}

struct FDecision {
  VectorXi labels;      // 0 or 1
  double expected = 0;  // of the target
  int k = 0;
  int ties = 1;            // sizes whose expectation is the same up to rounding
  double threshold = 0;    // smallest marginal probability that is chosen; NaN where none is known or none chosen
  double margin = 0;       // of the best size over the second
  double error = 0;        // standard error of `expected` where labels were drawn; NaN else
  bool exact = true;       // the best of all 2^m decisions under the law given
  bool consistent = true;  // no E_k above 1, no Delta below 0
  VectorXd curve;          // E_0, ..., E_m; NaN where bounds excluded a size
};
template <class V>
void fields(V& v, FDecision& t) {
  v("labels", t.labels);
  v("expected", t.expected);
  v("k", t.k);
  v("ties", t.ties);
  v("threshold", any_number(t.threshold));
  v("margin", any_number(t.margin));
  v("error", any_number(t.error));
  v("exact", t.exact);
  v("consistent", t.consistent);
  v("curve", any_number(t.curve));
}

// Many decisions, one per row of probabilities: labels rows x m.
struct FDecisions {
  Eigen::MatrixXi labels;
  VectorXd expected, threshold, margin;
  VectorXi k, ties;
};
template <class V>
void fields(V& v, FDecisions& t) {
  v("labels", t.labels);
  v("expected", t.expected);
  v("threshold", any_number(t.threshold));
  v("margin", any_number(t.margin));
  v("k", t.k);
  v("ties", t.ties);
}

// A law of label vectors as a list of them with weights that sum to 1: rows of y (0/1) by columns, each row's ones in a list.
struct LabelSample {
  explicit LabelSample(ConstMatrixRef y, ConstVectorRef weights);
  LabelSample() = default;
  Index labels = 0;
  std::vector<std::vector<int>> ones;
  std::vector<double> weight;
  bool drawn = false;  // weights are all equal: read as draws, with a Monte Carlo error
  VectorXd marginals() const;
};

// P(y_i = 1, s_y = s) for the sizes s >= 1 that occur, and P(y = 0).
struct SizeTable {
  MatrixXd p;  // m x sizes
  VectorXd size;
  double none = 0;
};
SizeTable size_table(const LabelSample& sample);
MatrixXd delta_matrix(ConstMatrixRef p, ConstVectorRef size, double beta);

FDecision f_gfm(ConstMatrixRef delta, double none);
FDecision f_independent(ConstVectorRef p, const FOptions& options, Monitor& monitor);
FDecision jaccard_independent(ConstVectorRef p, double empty, Monitor& monitor);
FDecision f_categorical(ConstVectorRef p, double beta);
FDecision f_lewis(ConstVectorRef p, double beta);

// What R asks for.
FDecision decide_marginals(ConstVectorRef p, const FOptions& options, Monitor& monitor);
FDecisions decide_rows(ConstMatrixRef p, const FOptions& options, Monitor& monitor);
FDecision decide_sample(const LabelSample& sample, const FOptions& options, Monitor& monitor);
FDecision decide_delta(ConstMatrixRef delta, double none);
FDecision decide_sizes(ConstMatrixRef p, ConstVectorRef size, double none, double beta);

// Value of one decision for one truth, both as sorted lists of ones.
double f_value(double both, double truth, double chosen, double beta);
double jaccard_value(double both, double truth, double chosen, double empty);

// Law of the number of ones among independent labels, trimmed where it is below 1e-22: value[i] = P(s = from + i).
struct CountLaw {
  Index from = 0;
  std::vector<double> value{1.0};
  void add(double p);
  double at(Index s) const {
    return s < from || s >= from + static_cast<Index>(value.size()) ? 0 : value[static_cast<std::size_t>(s - from)];
  }
};

}  // namespace granary::ensemble
