// Sequences of C classes by one Gaussian hidden Markov model per class: h(x) = argmax_c log p(x; theta_c) + log prior_c.
#pragma once

#include "ensemble/view_learner.h"

namespace granary::ensemble {

struct HmmClassifierOptions {
  int classes = 2;
  ViewLearnerOptions learner;
  VectorXd prior;  // of the classes; empty: equal
  int threads = 1;
};
template <class V>
void fields(V& v, HmmClassifierOptions& t) {
  v("classes", t.classes);
  v("learner", t.learner);
  v("prior", t.prior);
  v("threads", t.threads);
}

struct HmmClassifierResult {
  ViewMember member;
  std::vector<double> loglik, df, score, states;  // of the models: weights of the cases of a class have mean one
  std::vector<Convergence> convergence;
};
template <class V>
void fields(V& v, HmmClassifierResult& t) {
  v("member", t.member);
  v("loglik", t.loglik);
  v("df", t.df);
  v("score", t.score);
  v("states", t.states);
  v("convergence", t.convergence);
}

HmmClassifierResult hmm_classifier(const CaseView& view, const VectorXi& y, ConstVectorRef weights,
                                   const HmmClassifierOptions& options, Rng& rng, Monitor& monitor);

struct HmmClassScores {
  MatrixXd scores;     // log p(x | class) + log prior
  MatrixXd posterior;
  VectorXi best;
};
template <class V>
void fields(V& v, HmmClassScores& t) {
  v("scores", t.scores);
  v("posterior", t.posterior);
  v("best", positions(t.best));
}
HmmClassScores hmm_class_scores(const ViewMember& member, const CaseView& view, int threads, Monitor& monitor);

}  // namespace granary::ensemble
