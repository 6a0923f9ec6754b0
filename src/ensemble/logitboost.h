// LogitBoost with regression stumps or small trees (Friedman, Hastie and Tibshirani, Annals of Statistics 2000, Algorithm 6).
//
//   F = 0, p = 1/J; each round, for every class j:  z = (y - p) / (p (1 - p)) within +-4,  w = p (1 - p) at least 1e-10,
//   f_j a tree by weighted least squares,  F_j += shrinkage (J - 1)/J (f_j - mean_k f_k),  p = softmax(F)
//
// Two classes: the trees of the two are each other's negative, so one is grown and F_1 - F_0 is the sum of its values: the
// binary algorithm. Where folds are given,
// the number of rounds is that with the least held-out log loss.
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/linalg/design.h"
#include "core/random/rng.h"
#include "core/tree/trees.h"

namespace granary::ensemble {

struct LogitBoostOptions {
  int classes = 2;
  int n_rounds = 50;
  int max_leaves = 2;
  int min_leaf = 1;
  double shrinkage = 1;
  VectorXi fold;  // of every row, from 0; empty: all rounds
  int folds = 10;
  int threads = 1;
};
template <class V>
void fields(V& v, LogitBoostOptions& t) {
  v("classes", t.classes);
  v("n_rounds", t.n_rounds);
  v("max_leaves", t.max_leaves);
  v("min_leaf", t.min_leaf);
  v("shrinkage", t.shrinkage);
  v("fold", positions(t.fold));
  v("folds", t.folds);
  v("threads", t.threads);
}

struct LogitBoostFit {
  Trees trees;  // round by round, class by class
  int classes = 2;
  int rounds = 0;  // that count
  double shrinkage = 1;
  std::vector<double> loss;      // log loss per row after 0, 1, ... rounds, on the rows of the fit
  std::vector<double> held_out;  // the same on the folds left out
  VectorXd importance;           // columns
};
template <class V>
void fields(V& v, LogitBoostFit& t) {
  v("trees", t.trees);
  v("classes", t.classes);
  v("rounds", t.rounds);
  v("shrinkage", t.shrinkage);
  v("loss", t.loss);
  v("held_out", t.held_out);
  v("importance", t.importance);
}
void check(const LogitBoostFit& t);

// y: classes from 0. weights: empty for equal.
LogitBoostFit logitboost(const Design& x, const VectorXi& y, ConstVectorRef weights, const LogitBoostOptions& options, Rng& rng,
                         Monitor& monitor);
// Probabilities, rows x classes, after `rounds` rounds.
MatrixXd logitboost_predict(const Design& x, const LogitBoostFit& fit, int rounds, int threads, Monitor& monitor);

}  // namespace granary::ensemble
