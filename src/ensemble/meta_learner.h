// Learners that combine the answers of others: few columns, any number of classes, probabilities out.
//
//   logitboost   stumps (logitboost.h), the paper's best;   logistic   ridge logistic regression (core/optim/ridge_softmax.h)
//   mlr          multi-response linear regression: least squares of each class's 0/1 on the columns, the largest answer wins
//   (Ting and Witten 1999);
//                nonnegative: weights >= 0
//   bayes        naive Bayes: normal densities of the columns given the class;   nearest   the nearest row;   tree   one small
//   tree by Gini's index
//
// With columns per class (StackingC; Seewald 2003) there is a problem of two classes for each, on its columns alone, and the
// largest answer wins.
#pragma once

#include <vector>

#include "core/optim/ridge_softmax.h"
#include "ensemble/logitboost.h"

namespace granary::ensemble {

enum class MetaKind { logitboost, mlr, logistic, bayes, nearest, tree };
inline Names<MetaKind> names(MetaKind) {
  return {{MetaKind::logitboost, "logitboost"}, {MetaKind::mlr, "mlr"},         {MetaKind::logistic, "logistic"},
          {MetaKind::bayes, "bayes"},           {MetaKind::nearest, "nearest"}, {MetaKind::tree, "tree"}};
}

struct MetaOptions {
  MetaKind kind = MetaKind::logitboost;
  int classes = 2;
  int n_rounds = 50;
  VectorXi fold;  // for choices inside: rounds, lambda
  int folds = 0;
  bool nonnegative = false;                       // mlr
  double ridge = 1e-8;                            // mlr, times the mean square of the columns
  std::vector<double> lambda{1e-2, 1e-1, 1, 10};  // logistic
  int max_leaves = 8;                             // tree
  std::vector<std::vector<int>> columns;          // per class; empty: all columns for all
  int threads = 1;
};
template <class V>
void fields(V& v, MetaOptions& t) {
  v("kind", t.kind);
  v("classes", t.classes);
  v("n_rounds", t.n_rounds);
  v("fold", positions(t.fold));
  v("folds", t.folds);
  v("nonnegative", t.nonnegative);
  v("ridge", t.ridge);
  v("lambda", t.lambda);
  v("max_leaves", t.max_leaves);
  v("columns", positions(t.columns));
  v("threads", t.threads);
}

struct MetaFit {
  MetaKind kind = MetaKind::logitboost;
  int classes = 2, inputs = 0;
  std::vector<std::vector<int>> columns;
  LogitBoostFit boost;
  RidgeSoftmax logistic;
  MatrixXd weights;  // mlr: (1 + columns) x classes; bayes: means
  MatrixXd spread;   // bayes: variances (columns x classes)
  VectorXd prior;    // bayes
  MatrixXd rows;     // nearest
  VectorXi label;    // nearest
  Trees tree;
  std::vector<double> constant;  // of each part: its class where it saw no other, else -1
  std::vector<MetaFit> parts;    // one per class, with columns per class
};
template <class V>
void fields(V& v, MetaFit& t) {
  v("kind", t.kind);
  v("classes", t.classes);
  v("inputs", t.inputs);
  v("columns", positions(t.columns));
  v("boost", t.boost);
  v("logistic", t.logistic);
  v("weights", t.weights);
  v("spread", t.spread);
  v("prior", t.prior);
  v("rows", t.rows);
  v("label", positions(t.label));
  v("tree", t.tree);
  v("constant", t.constant);
  v("parts", t.parts);
}
void check(const MetaFit& t);

// y: classes from 0; some may have no case.
MetaFit meta_fit(ConstMatrixRef x, const VectorXi& y, ConstVectorRef weights, const MetaOptions& options, Rng& rng,
                 Monitor& monitor);
MatrixXd meta_predict(ConstMatrixRef x, const MetaFit& fit, int threads, Monitor& monitor);

}  // namespace granary::ensemble
