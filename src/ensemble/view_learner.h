// A classifier of one view of the cases: weak learners of co-boosting, and what late fusion joins.
//
//   hmm          a Gaussian hidden Markov model per class, fitted to its sequences with their weights (core/infer/gaussian_hmm.h)
//   naive_bayes  Gaussians with diagonal covariances, one per class        lda   Gaussians with one covariance for all classes
//   tree         a tree of at most `max_leaves` leaves by Gini impurity
//
// All give log p(x | class), with the log of the weighted shares of the classes where `class_prior`; the answer is the class with
// the largest. A view has one sequence of rows per case, for all learners but the first one of length one. Variances are at least
// `floor` of those of all rows of the view, whatever the weights.
#pragma once

#include <vector>

#include "core/infer/gaussian_hmm.h"
#include "core/linalg/design.h"
#include "core/tree/trees.h"

namespace granary::ensemble {

enum class ViewLearner { hmm, lda, naive_bayes, tree };
inline Names<ViewLearner> names(ViewLearner) {
  return {{ViewLearner::hmm, "hmm"}, {ViewLearner::lda, "lda"}, {ViewLearner::naive_bayes, "naive_bayes"},
    {ViewLearner::tree, "tree"}};
}

struct CaseView {
  Design x;                  // the rows of all cases, one case after the other
  std::vector<Index> begin;  // the first row of each, and the number of rows

  Index cases() const { return static_cast<Index>(begin.size()) - 1; }
};
template <class V>
void fields(V& v, CaseView& t) {
  v("x", t.x);
  v("begin", t.begin);
}

struct LabelledViews {
  std::vector<CaseView> views;
  VectorXi y;  // classes from 0
};
template <class V>
void fields(V& v, LabelledViews& t) {
  v("views", t.views);
  v("y", positions(t.y));
}

struct ViewLearnerOptions {
  ViewLearner learner = ViewLearner::hmm;
  int k = 5;
  CovarianceKind covariance = CovarianceKind::diagonal;
  HmmTopology topology = HmmTopology::ergodic;
  HmmStart start = HmmStart::segments;
  EmForward forward = EmForward::exact;
  int max_iter = 20;
  double tol = 1e-6;
  double floor = 1e-3;
  int max_leaves = 2;
  int min_leaf = 1;
  bool class_prior = false;
};
template <class V>
void fields(V& v, ViewLearnerOptions& t) {
  v("learner", t.learner);
  v("k", t.k);
  v("covariance", t.covariance);
  v("topology", t.topology);
  v("start", t.start);
  v("forward", t.forward);
  v("max_iter", t.max_iter);
  v("tol", t.tol);
  v("floor", t.floor);
  v("max_leaves", t.max_leaves);
  v("min_leaf", t.min_leaf);
  v("class_prior", t.class_prior);
}

struct ClassGaussians {
  CovarianceKind kind = CovarianceKind::diagonal;
  MatrixXd means;       // columns x classes
  VectorXd covariance;  // as in core/infer/gaussian_density.h
};
template <class V>
void fields(V& v, ClassGaussians& t) {
  v("kind", t.kind);
  v("means", t.means);
  v("covariance", t.covariance);
}

struct ViewMember {
  std::vector<int> features;              // columns of the view it looks at
  VectorXd log_prior;                     // of the classes
  std::vector<GaussianHmm> chains;        // hmm: one per class
  std::vector<ClassGaussians> gaussians;  // lda, naive_bayes: one
  std::vector<Trees> trees;               // tree: one
};
template <class V>
void fields(V& v, ViewMember& t) {
  v("features", positions(t.features));
  v("log_prior", t.log_prior);
  v("chains", t.chains);
  v("gaussians", t.gaussians);
  v("trees", t.trees);
}
void check(const ViewMember& member);

// Variances of the columns over all rows that have values; what a column without any has is not used.
VectorXd view_spread(const CaseView& view);

// Cases of weight zero are not looked at, nor columns other than `features`.
ViewMember fit_view(const CaseView& view, const VectorXi& y, const VectorXd& weights, const std::vector<int>& features,
                    int classes, const VectorXd& spread,
                    const ViewLearnerOptions& options, Rng& rng, Monitor& monitor);
// The hidden Markov model of one class.
GaussianHmmFit fit_class_chain(const CaseView& view, const VectorXi& y, const VectorXd& weights,
                               const std::vector<int>& features, int label, const VectorXd& spread,
                               const ViewLearnerOptions& options, Rng& rng, Monitor& monitor);
// log p(x_i | class) + log prior, cases x classes. Where no class can give rise to a case, all have the prior alone.
MatrixXd view_scores(const ViewMember& member, const CaseView& view, int threads, Monitor& monitor);

// The class of the largest score, of equal ones the first.
VectorXi best_class(ConstMatrixRef scores);
// Shares of exp(scores) in each row.
MatrixXd class_posterior(ConstMatrixRef scores);

}  // namespace granary::ensemble
