// Bayesian co-boosting: Wu and Cheng, Bayesian Co-Boosting for Multi-modal Gesture Recognition (JMLR 2014), Algorithms 1 to 3.
//
// Every case is seen in V views. In each round every view draws `candidates` random sets of `sizes` columns, fits a weak learner
// to each with the weights of the cases, and keeps that with the smallest weighted error e. It has the vote
//
//   alpha = log((1 - e) / e)    or, for `samme`, log((1 - e) / e) + log(C - 1)
//
// Then all views together move the log odds R(i, c) of every class (ensemble/co_bound.h), and w_i is proportional to
// exp(-R(i, y_i)). The answer is the class with the most votes, or that with the largest R.
//
// What differs from the print: weights are brought to sum one before errors are taken, equation 7 is read as Pbar / P, and R is
// kept for all cases and classes although Algorithm 3 passes over the cases of class c alone. R is held within +-`cap`. A learner
// with e >= 1 - 1/C is not used; one with e >= 1/2 (C > 2, log odds) has the vote 0, not a negative one, but its answers still
// move R. Error rates are held within [e0, 1 - e0], e0 = 1/(2N).
#pragma once

#include <limits>

#include "core/base/convergence.h"
#include "ensemble/co_bound.h"
#include "ensemble/view_learner.h"

namespace granary::ensemble {

enum class CoVote { log_odds, samme };
inline Names<CoVote> names(CoVote) { return {{CoVote::log_odds, "log_odds"}, {CoVote::samme, "samme"}}; }
enum class CoRule { vote, posterior };
inline Names<CoRule> names(CoRule) { return {{CoRule::vote, "vote"}, {CoRule::posterior, "posterior"}}; }
enum class CoEnd { rounds, no_edge };
inline Names<CoEnd> names(CoEnd) { return {{CoEnd::rounds, "rounds"}, {CoEnd::no_edge, "no_edge"}}; }

struct CoBoostOptions {
  int classes = 2;
  int n_rounds = 20;
  std::vector<int> candidates;                // of every view
  std::vector<int> sizes;                     // columns of a candidate, of every view
  std::vector<ViewLearnerOptions> learners;   // of every view
  CoVote vote = CoVote::log_odds;
  double smooth = -1;       // share of the bound added to every cell; below 0: 1/(2N)
  double cap = 50;
  bool class_odds = false;  // R begins at the log odds of the class shares instead of 0
  int threads = 1;
};
template <class V>
void fields(V& v, CoBoostOptions& t) {
  v("classes", t.classes);
  v("n_rounds", t.n_rounds);
  v("candidates", t.candidates);
  v("sizes", t.sizes);
  v("learners", t.learners);
  v("vote", t.vote);
  v("smooth", t.smooth);
  v("cap", t.cap);
  v("class_odds", t.class_odds);
  v("threads", t.threads);
}

// The members one after the other, by round, within a round by view.
struct CoBoostModel {
  int classes = 2, views = 1;
  VectorXd offset;  // R before the first round
  double cap = 50;
  std::vector<ViewMember> members;
  std::vector<int> round, view;
  std::vector<double> alpha;
  MatrixXd hit, miss;  // members x classes
};
template <class V>
void fields(V& v, CoBoostModel& t) {
  v("classes", t.classes);
  v("views", t.views);
  v("offset", t.offset);
  v("cap", t.cap);
  v("members", t.members);
  v("round", positions(t.round));
  v("view", positions(t.view));
  v("alpha", t.alpha);
  v("hit", t.hit);
  v("miss", t.miss);
}
void check(const CoBoostModel& model);

struct CoBoostResult {
  CoBoostModel model;
  std::vector<double> error;        // of the members, weighted
  MatrixXd if_class, if_other;      // members x classes: P(h = c | z = c), P(h = c | z != c), NaN where none
  MatrixXd bound, wrong;            // rounds x classes, from before the first round: B_c and E_c
  VectorXd vote_error, odds_error;  // by round: share of cases that votes, and R, put into the wrong class
  VectorXd largest_weight;          // by round, after it
  MatrixXd votes, log_odds;         // cases x classes
  VectorXd weights;                 // of the cases, after the last round
  std::vector<VectorXd> picked;     // of every view: rounds whose member looks at a column
  Eigen::MatrixXi sweeps;           // rounds x classes: rounds of equation 14, and Newton steps after them, of each update
  int dropped = 0, silent = 0;      // learners no better than chance; members with vote 0
  CoEnd end = CoEnd::rounds;
  Convergence convergence;          // of the updates: iterations are rounds, the residual is the largest
};
template <class V>
void fields(V& v, CoBoostResult& t) {
  v("model", t.model);
  v("error", t.error);
  v("if_class", t.if_class);
  v("if_other", t.if_other);
  v("bound", t.bound);
  v("wrong", t.wrong);
  v("vote_error", t.vote_error);
  v("odds_error", t.odds_error);
  v("largest_weight", t.largest_weight);
  v("votes", t.votes);
  v("log_odds", t.log_odds);
  v("weights", t.weights);
  v("picked", t.picked);
  v("sweeps", t.sweeps);
  v("dropped", t.dropped);
  v("silent", t.silent);
  v("end", t.end);
  v("convergence", t.convergence);
}

// y: classes from 0; weights: of the cases, or none.
CoBoostResult co_boost(const std::vector<CaseView>& views, const VectorXi& y, ConstVectorRef weights,
                       const CoBoostOptions& options, Rng& rng, Monitor& monitor);

struct CoBoostScores {
  MatrixXd votes, log_odds;  // cases x classes, votes as shares
  Eigen::MatrixXi staged;    // cases x rounds: the class after each round, by `rule`
};
template <class V>
void fields(V& v, CoBoostScores& t) {
  v("votes", t.votes);
  v("log_odds", t.log_odds);
  v("staged", positions(t.staged));
}
struct CoBoostAsk {
  int last = std::numeric_limits<int>::max();  // rounds that count
  CoRule rule = CoRule::vote;
  bool staged = false;
  int threads = 1;
};
template <class V>
void fields(V& v, CoBoostAsk& t) {
  v("last", t.last);
  v("rule", t.rule);
  v("staged", t.staged);
  v("threads", t.threads);
}
CoBoostScores co_boost_scores(const CoBoostModel& model, const std::vector<CaseView>& views, const CoBoostAsk& ask,
                              Monitor& monitor);

}  // namespace granary::ensemble
