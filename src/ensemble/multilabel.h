// Learners of the law of m labels given x, made for decisions by expected F (f_measure.h).
//
//   pcc    classifier chains: P(y_i | x, y_1, ..., y_{i-1}) by ridge logistic regressions, sampled from the first label to the
//   last
//          (Dembczynski et al. 2012); several random orders make an ensemble whose draws are pooled
//   efp    P(y_i = 1, s_y = s | x) by one multinomial regression per label for y_i s_y in {0, 1, ..., m}, P(y = 0) by a logistic
//   one
//   lfp    a logistic regression per label, labels as if independent;   br   the same, decided by p > 1/2
//   knn    the label vectors of the nearest rows
//   ftree  a tree whose splits raise (n_L F(L) + n_R F(R)) / n, F(N) the largest mean F of a single decision in a node; bagged
//   where n_trees > 1, with the label
//          vectors of the leaves pooled
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/optim/ridge_softmax.h"
#include "core/random/rng.h"
#include "ensemble/f_measure.h"

namespace granary::ensemble {

enum class MultilabelModel { pcc, efp, lfp, br, knn, ftree };
inline Names<MultilabelModel> names(MultilabelModel) {
  return {{MultilabelModel::pcc, "pcc"}, {MultilabelModel::efp, "efp"}, {MultilabelModel::lfp, "lfp"},
          {MultilabelModel::br, "br"},   {MultilabelModel::knn, "knn"}, {MultilabelModel::ftree, "ftree"}};
}

struct MultilabelOptions {
  MultilabelModel model = MultilabelModel::pcc;
  std::vector<double> lambda{1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000};
  VectorXi fold;  // of every row, from 0
  int folds = 10;
  int n_chains = 1;       // pcc: the first in the order given, the others in random orders
  Eigen::MatrixXi order;  // pcc: orders given, one per row
  int max_sizes = 30;     // efp: distinct numbers of labels that are told apart
  int neighbors = 20;
  int n_trees = 1;
  int min_node = 10;
  int mtry = 0;   // ftree: columns tried per node, 0 for all
  int cuts = 32;  // ftree: thresholds tried per column, 0 for all
  double beta = 1;
  double tol = 1e-5;
  int max_iter = 500;
  int threads = 1;
};
template <class V>
void fields(V& v, MultilabelOptions& t) {
  v("model", t.model);
  v("lambda", t.lambda);
  v("fold", positions(t.fold));
  v("folds", t.folds);
  v("n_chains", t.n_chains);
  v("order", positions(t.order));
  v("max_sizes", t.max_sizes);
  v("neighbors", t.neighbors);
  v("n_trees", t.n_trees);
  v("min_node", t.min_node);
  v("mtry", t.mtry);
  v("cuts", t.cuts);
  v("beta", t.beta);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("threads", t.threads);
}

// A logistic regression, or the share of a label that never changes.
struct LabelModel {
  RidgeSoftmax fit;
  double constant = -1;   // >= 0: the probability of every row
  std::vector<int> size;  // efp: the numbers of labels that the classes 1, 2, ... stand for (class 0: the label is off)
};
template <class V>
void fields(V& v, LabelModel& t) {
  v("fit", t.fit);
  v("constant", t.constant);
  v("size", t.size);
}

struct LabelChain {
  VectorXi order;
  std::vector<LabelModel> step;  // step[i] has the columns of x, then the i labels before it
};
template <class V>
void fields(V& v, LabelChain& t) {
  v("order", positions(t.order));
  v("step", t.step);
}

// column < 0: a leaf whose training rows are rows[left .. right - 1].
struct LabelTree {
  std::vector<int> column, left, right, rows;
  std::vector<double> threshold;
};
template <class V>
void fields(V& v, LabelTree& t) {
  v("column", positions(t.column));
  v("left", t.left);
  v("right", t.right);
  v("rows", t.rows);
  v("threshold", t.threshold);
}

struct MultilabelFit {
  MultilabelModel model = MultilabelModel::pcc;
  int columns = 0, labels = 0;
  std::vector<LabelChain> chains;
  std::vector<LabelModel> marginal;  // br, lfp, efp
  LabelModel none;                   // efp: P(y = 0)
  std::vector<LabelTree> trees;
  MatrixXd x, y;         // knn: rows (standardised) and labels; ftree: labels
  int neighbors = 0;     // knn
  VectorXd mean, scale;  // knn
  VectorXd importance;   // ftree
  int pooled = 0;        // efp: distinct sizes that were pooled with a neighbour
  Convergence convergence;
};
template <class V>
void fields(V& v, MultilabelFit& t) {
  v("model", t.model);
  v("columns", t.columns);
  v("labels", t.labels);
  v("chains", t.chains);
  v("marginal", t.marginal);
  v("none", t.none);
  v("trees", t.trees);
  v("x", t.x);
  v("y", t.y);
  v("neighbors", t.neighbors);
  v("mean", t.mean);
  v("scale", t.scale);
  v("importance", t.importance);
  v("pooled", t.pooled);
  v("convergence", t.convergence);
}
void check(const MultilabelFit& fit);

MultilabelFit multilabel_fit(ConstMatrixRef x, ConstMatrixRef y, const MultilabelOptions& options, Rng& rng, Monitor& monitor);

// search: how pcc finds the most probable vector: among its draws, exactly (uniform cost), greedily, or along a beam.
enum class ModeSearch { sample, exact, greedy, beam };
inline Names<ModeSearch> names(ModeSearch) {
  return {
      {ModeSearch::sample, "sample"}, {ModeSearch::exact, "exact"}, {ModeSearch::greedy, "greedy"}, {ModeSearch::beam, "beam"}};
}

struct MultilabelAsk {
  FOptions decision;  // target, beta, method
  int n_draws = 1000;
  ModeSearch search = ModeSearch::exact;
  int max_nodes = 100000;  // of the exact search; then the best so far
  int beam = 10;
  bool draws = false;      // hand back the label vectors drawn
  bool calibrate = false;  // efp: scale P_is so that P(y = 0) + sum_s P(s) = 1, where P(s) = sum_i P_is / s
  int threads = 1;
};
template <class V>
void fields(V& v, MultilabelAsk& t) {
  v("decision", t.decision);
  v("n_draws", t.n_draws);
  v("search", t.search);
  v("max_nodes", t.max_nodes);
  v("beam", t.beam);
  v("draws", t.draws);
  v("calibrate", t.calibrate);
  v("threads", t.threads);
}

struct MultilabelAnswer {
  Eigen::MatrixXi labels;
  MatrixXd marginal;  // P(y_i = 1 | x)
  VectorXd expected, error;
  Eigen::MatrixXi draws;  // rows * n_draws, the draws of a row together
  int inconsistent = 0;   // rows whose probabilities are no law
  int unfinished = 0;     // rows whose exact search ended early
};
template <class V>
void fields(V& v, MultilabelAnswer& t) {
  v("labels", t.labels);
  v("marginal", t.marginal);
  v("expected", any_number(t.expected));
  v("error", any_number(t.error));
  v("draws", t.draws);
  v("inconsistent", t.inconsistent);
  v("unfinished", t.unfinished);
}
MultilabelAnswer multilabel_predict(ConstMatrixRef x, const MultilabelFit& fit, const MultilabelAsk& ask, Rng& rng,
                                    Monitor& monitor);

// multilabel_chain.cpp
std::vector<LabelChain> chain_fit(ConstMatrixRef x, ConstMatrixRef y, const MultilabelOptions& options, Rng& rng,
                                  Monitor& monitor);
// x's part of each step's score, for one row.
VectorXd chain_scores(const LabelChain& chain, ConstVectorRef x);
void chain_draw(const LabelChain& chain, const VectorXd& scores, Rng& rng, double* y, Index stride);
struct ChainMode {
  VectorXi labels;
  double probability = 0;
  bool finished = true;
};
ChainMode chain_mode(const LabelChain& chain, const VectorXd& scores, ModeSearch search, int beam, int max_nodes);

// multilabel_tree.cpp
LabelTree grow_label_tree(ConstMatrixRef x, const std::vector<std::vector<int>>& ones, int labels, std::vector<int> rows,
                          const MultilabelOptions& options, Rng& rng, VectorXd& importance, Monitor& monitor);
// Training rows of the leaf that a row falls into: from .. to - 1 of tree.rows.
std::pair<int, int> label_leaf(const LabelTree& tree, ConstVectorRef x);

LabelModel fit_label(ConstMatrixRef x, const VectorXi& y, int classes, const MultilabelOptions& options, Monitor& monitor);

}  // namespace granary::ensemble
