// Transfer learning decision forests: Goussies, Ubalde, Mejail, Transfer Learning Decision Forests for Gesture Recognition (JMLR 2014).
//
//   split    of `candidates` random ones that with the largest mixed gain (ensemble/mixed_gain.h), if it is above 0
//   leaf     cases of the target by class; a leaf without any borrows those of another (ensemble/label_propagation.h), or has its ancestor's
//   answer   mean over trees of the shares in the leaf of a row
//
// The paper stops a node whose cases all share their labels; there no split gains anything, so the bound 0 says the same, and with gamma = 1 the labels of the
// target cannot matter. Its oblique splits x'theta < 0 have no intercept; here the threshold is drawn in the range of the node. All rows stand in every tree unless
// `replace`. Tree b draws from a stream of its own.
#pragma once

#include "core/random/rng.h"
#include "ensemble/label_propagation.h"
#include "ensemble/mixed_gain.h"
#include "ensemble/transfer_trees.h"

namespace granary::ensemble {

enum class TransferSplit { axis, oblique };
inline Names<TransferSplit> names(TransferSplit) { return {{TransferSplit::axis, "axis"}, {TransferSplit::oblique, "oblique"}}; }

struct TransferOptions {
  VectorXi labels;  // number of labels of every task, the target first
  MixedOptions gain;
  int n_trees = 50;
  int max_depth = 8;
  int min_node = 2;
  int candidates = 50;
  TransferSplit split = TransferSplit::axis;
  int cuts = 1;     // thresholds drawn per candidate; 0: the best of all
  int mtry = 2;     // columns of an oblique direction
  bool propagate = true;
  LeafMetric metric = LeafMetric::diag;
  double ridge = 1e-3;  // over the mean variance of the columns
  bool standardize = true;
  bool replace = false;
  double smooth = 0;
  int threads = 1;
};
template <class V>
void fields(V& v, TransferOptions& t) {
  v("labels", t.labels);
  v("gain", t.gain);
  v("n_trees", t.n_trees);
  v("max_depth", t.max_depth);
  v("min_node", t.min_node);
  v("candidates", t.candidates);
  v("split", t.split);
  v("cuts", t.cuts);
  v("mtry", t.mtry);
  v("propagate", t.propagate);
  v("metric", t.metric);
  v("ridge", t.ridge);
  v("standardize", t.standardize);
  v("replace", t.replace);
  v("smooth", t.smooth);
  v("threads", t.threads);
}

struct TransferResult {
  TransferTrees trees;
  double borrowed = 0;   // share of the leaves that borrow
  MatrixXd importance;   // columns x (target, sources): mean over trees of what splits gain, over the cases of all
  VectorXd task_gain;    // the same by task
  VectorXd task_whole;   // impurity of all cases of a task: what there is to gain
  MatrixXd out_of_bag;   // rows of the target x classes, with replace; NaN for rows that every tree has seen
};
template <class V>
void fields(V& v, TransferResult& t) {
  v("trees", t.trees);
  v("borrowed", t.borrowed);
  v("importance", t.importance);
  v("task_gain", t.task_gain);
  v("task_whole", t.task_whole);
  v("out_of_bag", t.out_of_bag);
}

// label: of every row, numbered one task after the other: the target's are 0, ..., labels[0] - 1.
TransferResult transfer_forest(ConstMatrixRef x, const VectorXi& label, const TransferOptions& options, Rng& rng, Monitor& monitor);

}  // namespace granary::ensemble
