// Random forests: Breiman (Machine Learning 2001); with random thresholds, extremely randomised trees (Geurts, Ernst and Wehenkel, Machine Learning 2006).
//
//   tree b   grown on a bootstrap sample (or a share of the rows without replacement), `mtry` columns tried at each node
//   answer   mean over trees of the class shares, or of the means, in the leaf of a row
//
// Tree b draws from a stream of its own, so that the forest is the same at any number of threads. Out of bag: of every row the mean over the trees that have not seen it.
#pragma once

#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/tree/grow.h"

namespace granary::ensemble {

enum class ForestScore { gini, entropy };
inline Names<ForestScore> names(ForestScore) { return {{ForestScore::gini, "gini"}, {ForestScore::entropy, "entropy"}}; }

// impurity: mean gain of a column's splits over trees. permutation: mean over trees of the rise of the out-of-bag error once the column is shuffled.
enum class ForestImportance { none, impurity, permutation };
inline Names<ForestImportance> names(ForestImportance) {
  return {{ForestImportance::none, "none"}, {ForestImportance::impurity, "impurity"}, {ForestImportance::permutation, "permutation"}};
}

struct ForestOptions {
  VectorXi levels;    // of the columns (core/tree/tree_columns.h)
  int classes = 0;    // y holds classes 0, 1, ..., classes - 1; 0: numbers
  int n_trees = 500;
  int mtry = 0;       // 0: all columns
  int min_node = 2;
  int min_leaf = 1;
  int max_depth = 0;
  int max_leaves = 0;
  int cuts = 0;       // 0: the best threshold
  bool replace = true;
  double sample = 1;  // rows drawn per tree, over all rows
  ForestScore score = ForestScore::gini;
  ForestImportance importance = ForestImportance::impurity;
  int threads = 1;
};
template <class V>
void fields(V& v, ForestOptions& t) {
  v("levels", t.levels);
  v("classes", t.classes);
  v("n_trees", t.n_trees);
  v("mtry", t.mtry);
  v("min_node", t.min_node);
  v("min_leaf", t.min_leaf);
  v("max_depth", t.max_depth);
  v("max_leaves", t.max_leaves);
  v("cuts", t.cuts);
  v("replace", t.replace);
  v("sample", t.sample);
  v("score", t.score);
  v("importance", t.importance);
  v("threads", t.threads);
}

struct ForestResult {
  Trees trees;
  MatrixXd out_of_bag;      // rows x outputs; NaN for rows that every tree has seen
  double error = 0;         // out of bag: share of wrong classes, or mean square, weighted
  VectorXd importance;      // per column; empty for none
  VectorXd importance_se;   // permutation: standard error over trees
};
template <class V>
void fields(V& v, ForestResult& t) {
  v("trees", t.trees);
  v("out_of_bag", t.out_of_bag);
  v("error", t.error);
  v("importance", t.importance);
  v("importance_se", t.importance_se);
}

// weights: of the rows, empty for equal.
ForestResult forest(const Design& x, ConstVectorRef y, ConstVectorRef weights, const ForestOptions& options, Rng& rng, Monitor& monitor);

// Means over trees first .. last - 1, rows x outputs.
MatrixXd forest_predict(const Design& x, const Trees& trees, int first, int last, int threads, Monitor& monitor);

// The leaf, a column of `value`, of every row in every tree.
Eigen::MatrixXi forest_leaves(const Design& x, const Trees& trees, int threads, Monitor& monitor);

}  // namespace granary::ensemble
