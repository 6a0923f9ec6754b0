// Late fusion: one classifier per view, joined by the weighted mean of their posteriors,
//
//   argmax_c sum_v a_v P(c | view v),   a >= 0, sum a = 1
//
// a is that point of a lattice with `steps` steps along each edge which errs least over folds; of equal ones the nearest to equal
// shares. The baseline M1 + M2 of Wu and Cheng (JMLR 2014), for any number of views.
#pragma once

#include "core/base/convergence.h"
#include "ensemble/view_learner.h"

namespace granary::ensemble {

struct LateFusionOptions {
  int classes = 2;
  int steps = 10;
  std::vector<ViewLearnerOptions> learners;  // of every view
  std::vector<double> share;                 // of the views, where they are given
  int threads = 1;
};
template <class V>
void fields(V& v, LateFusionOptions& t) {
  v("classes", t.classes);
  v("steps", t.steps);
  v("learners", t.learners);
  v("share", t.share);
  v("threads", t.threads);
}

struct LateFusionModel {
  std::vector<ViewMember> members;  // one per view, of all its columns
  VectorXd share;
};
template <class V>
void fields(V& v, LateFusionModel& t) {
  v("members", t.members);
  v("share", t.share);
}

struct LateFusionResult {
  LateFusionModel model;
  MatrixXd lattice;     // points x views
  VectorXd error;       // of every point, over the folds
  VectorXd view_error;  // of every view by itself, over the folds
};
template <class V>
void fields(V& v, LateFusionResult& t) {
  v("model", t.model);
  v("lattice", t.lattice);
  v("error", t.error);
  v("view_error", t.view_error);
}

// folds: of every case, from 0.
LateFusionResult late_fusion(const std::vector<CaseView>& views, const VectorXi& y, ConstVectorRef weights,
                             const VectorXi& folds, const LateFusionOptions& options,
                             Rng& rng, Monitor& monitor);
MatrixXd late_fusion_posterior(const LateFusionModel& model, const std::vector<CaseView>& views, int threads, Monitor& monitor);

}  // namespace granary::ensemble
