// Scores of decisions about labels, and what plug-in decisions lose.
//
//   instance   mean over rows of F(y_r, h_r)        macro   mean over labels of F of a column        micro   F of all entries at
//   once
//
// with 0/0 = 1 for F and `empty` for the Jaccard index. The regret of a decision is how much less than the best of all it expects
// under a law of label vectors.
#pragma once

#include <string>
#include <vector>

#include "ensemble/f_measure.h"

namespace granary::ensemble {

struct LabelScores {
  double f_instance = 0, f_micro = 0, f_macro = 0, jaccard = 0, hamming = 0, subset = 0, precision = 0, recall = 0;
  VectorXd f_label;  // F of each column
  VectorXd f_row;    // F of each row
};
template <class V>
void fields(V& v, LabelScores& t) {
  v("f_instance", t.f_instance);
  v("f_micro", t.f_micro);
  v("f_macro", t.f_macro);
  v("jaccard", t.jaccard);
  v("hamming", t.hamming);
  v("subset", t.subset);
  v("precision", t.precision);
  v("recall", t.recall);
  v("f_label", t.f_label);
  v("f_row", t.f_row);
}
// hamming: the share of entries that are wrong; subset: the share of rows that are not right in full; precision and recall: of
// all entries.
LabelScores label_scores(ConstMatrixRef truth, ConstMatrixRef chosen, ConstVectorRef weights, double beta, double empty);

struct ExpectedScores {
  double f = 0, jaccard = 0, hamming = 0, subset = 0;  // hamming, subset: the share that is right
};
ExpectedScores expected_scores(const LabelSample& sample, const VectorXi& h, double beta, double empty);

struct DecisionRow {
  std::string decision;
  int size = 0;
  double f = 0, jaccard = 0, hamming = 0, subset = 0, regret = 0;
};
template <class V>
void fields(V& v, DecisionRow& t) {
  v("decision", t.decision);
  v("size", t.size);
  v("f", t.f);
  v("jaccard", t.jaccard);
  v("hamming", t.hamming);
  v("subset", t.subset);
  v("regret", t.regret);
}
struct DecisionTable {
  std::vector<DecisionRow> rows;  // f, independent, threshold, lewis, hamming, subset, jaccard, then those given
  Eigen::MatrixXi labels;         // one row per decision
};
template <class V>
void fields(V& v, DecisionTable& t) {
  v("rows", columns(t.rows));
  v("labels", t.labels);
}
DecisionTable decision_table(const LabelSample& sample, ConstMatrixRef given, double beta, double empty, Monitor& monitor);

// Worst-case regrets in F (Theorems 1, 2, 3, 5 and 7) for m > 2 labels.
enum class FBound { hamming, subset, independence, threshold, jaccard };
inline Names<FBound> names(FBound) {
  return {{FBound::hamming, "hamming"},
          {FBound::subset, "subset"},
          {FBound::independence, "independence"},
          {FBound::threshold, "threshold"},
          {FBound::jaccard, "jaccard"}};
}
// expected: E F of the F-maximizer, for `jaccard`.
VectorXd f_bounds(FBound what, ConstVectorRef m, double expected);

}  // namespace granary::ensemble
