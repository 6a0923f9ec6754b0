// Exports of the online classifiers over attributes.
#include "r_kernel_online.h"

#include "kernel/naive_bayes.h"
#include "kernel/perceptron.h"
#include "kernel/sasb.h"
#include "kernel/sasb_bound.h"
#include "kernel/winnow.h"

using namespace granary;
using namespace granary::kernel;

namespace {

WinnowOptions as_winnow_options(const Rcpp::List& settings) {
  WinnowOptions options;
  options.promotion = settings["promotion"];
  options.threshold = settings["threshold"];
  options.balanced = settings["balanced"];
  return options;
}

WinnowState as_winnow_state(const Rcpp::List& state) {
  return {element_or(state, "exponent", VectorXd()), element_or(state, "complement", VectorXd()),
          element_or(state, "updates", 0.0)};
}

CountOptions as_count_options(const Rcpp::List& settings) {
  CountOptions options;
  options.rule = Rcpp::as<std::string>(settings["rule"]) == "majority" ? CountRule::majority : CountRule::sasb;
  options.mistake_driven = settings["mistake_driven"];
  options.beta = settings["beta"];
  options.voters = Rcpp::as<int>(settings["voters"]);
  return options;
}

CountState as_count_state(const Rcpp::List& state) {
  CountState s;
  if (!state.containsElementNamed("excess")) return s;
  s.excess = Rcpp::as<VectorXd>(state["excess"]);
  s.unseen = Rcpp::as<VectorXd>(state["unseen"]);
  s.t = state["t"];
  s.ones = state["ones"];
  s.grouped = state["grouped"];
  s.past = Rcpp::as<MatrixXd>(state["past"]);
  s.past_votes = Rcpp::as<VectorXd>(state["past_votes"]);
  s.votes = state["votes"];
  return s;
}

NaiveBayesState as_bayes_state(const Rcpp::List& state) {
  return {element_or(state, "ones", MatrixXd()), element_or(state, "unseen", MatrixXd()),
          element_or(state, "counted", VectorXd())};
}

PerceptronState as_perceptron_state(const Rcpp::List& state) {
  return {element_or(state, "weight", VectorXd()), element_or(state, "timed", VectorXd()), element_or(state, "trials", 0.0),
          element_or(state, "updates", 0.0)};
}

SparseRows binary_rows(SEXP x) {
  SparseRows rows = as_rows(x);
  rows.require_binary();
  return rows;
}

template <class Learner>
OnlineRun run_rows(Learner& learner, const SparseRows& rows, const Rcpp::IntegerVector& y, const Rcpp::IntegerVector& order,
                   ConstVectorRef id, SEXP progress) {
  RMonitor monitor(progress);
  return run_online(learner, rows.rows(), zero_based(y), zero_based(order), id, monitor);
}

template <class Score>
VectorXd score_rows(Index rows, Score&& score) {
  VectorXd out(rows);
  for (Index i = 0; i < rows; ++i) out[i] = score(i);
  return out;
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_winnow_learn(const Rcpp::List& state, const Rcpp::List& settings, SEXP x, const Rcpp::IntegerVector& y,
                             const Rcpp::IntegerVector& order, const Eigen::Map<Eigen::VectorXd> id, SEXP progress) {
  const SparseRows rows = binary_rows(x);
  Winnow learner(rows, as_winnow_options(settings), as_winnow_state(state));
  const OnlineRun run = run_rows(learner, rows, y, order, id, progress);
  const WinnowState& s = learner.state();
  return as_list(run, Rcpp::List::create(Rcpp::Named("exponent") = s.exponent, Rcpp::Named("complement") = s.complement,
                                         Rcpp::Named("updates") = s.updates));
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_winnow_score(const Rcpp::List& state, const Rcpp::List& settings, SEXP x) {
  const SparseRows rows = binary_rows(x);
  const Winnow learner(rows, as_winnow_options(settings), as_winnow_state(state));
  return score_rows(rows.rows(), [&](Index i) { return learner.score(i); });
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_count_learn(const Rcpp::List& state, const Rcpp::List& settings, SEXP x, const Rcpp::IntegerVector& y,
                            const Rcpp::IntegerVector& order, const Eigen::Map<Eigen::VectorXd> id, SEXP progress) {
  const SparseRows rows = binary_rows(x);
  CountLearner learner(rows, as_count_options(settings), as_count_state(state));
  const OnlineRun run = run_rows(learner, rows, y, order, id, progress);
  const CountState s = learner.state();
  return as_list(
      run, Rcpp::List::create(Rcpp::Named("excess") = s.excess, Rcpp::Named("unseen") = s.unseen, Rcpp::Named("t") = s.t,
                              Rcpp::Named("ones") = s.ones, Rcpp::Named("grouped") = s.grouped, Rcpp::Named("past") = s.past,
                              Rcpp::Named("past_votes") = s.past_votes, Rcpp::Named("votes") = s.votes));
}

// `type`: score, vote or probability.
// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_count_score(const Rcpp::List& state, const Rcpp::List& settings, SEXP x, const std::string& type) {
  const SparseRows rows = binary_rows(x);
  CountLearner learner(rows, as_count_options(settings), as_count_state(state));
  return score_rows(rows.rows(), [&](Index i) {
    return type == "probability" ? learner.probability(i) : type == "vote" ? learner.vote(i) : learner.score(i);
  });
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_count_describe(const Rcpp::List& state, const Rcpp::List& settings, int attributes) {
  const SparseRows rows(MatrixXd(0, attributes));
  CountLearner learner(rows, as_count_options(settings), as_count_state(state));
  return Rcpp::List::create(Rcpp::Named("matches") = learner.matches(), Rcpp::Named("seen") = learner.seen(),
                            Rcpp::Named("weights") = learner.posterior(), Rcpp::Named("coefficients") = learner.coefficients());
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_naive_bayes_learn(const Rcpp::List& state, int classes, bool mistake_driven, SEXP x, const Rcpp::IntegerVector& y,
                                  const Rcpp::IntegerVector& order, const Eigen::Map<Eigen::VectorXd> id, SEXP progress) {
  const SparseRows rows = binary_rows(x);
  NaiveBayes learner(rows, classes, mistake_driven, as_bayes_state(state));
  const OnlineRun run = run_rows(learner, rows, y, order, id, progress);
  const NaiveBayesState& s = learner.state();
  return as_list(run, Rcpp::List::create(Rcpp::Named("ones") = s.ones, Rcpp::Named("unseen") = s.unseen,
                                         Rcpp::Named("counted") = s.counted));
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_naive_bayes_score(const Rcpp::List& state, int classes, SEXP x) {
  const SparseRows rows = binary_rows(x);
  const NaiveBayes learner(rows, classes, false, as_bayes_state(state));
  MatrixXd out(rows.rows(), classes);
  for (Index i = 0; i < rows.rows(); ++i) out.row(i) = learner.score(i).transpose();
  return out;
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_perceptron_learn(const Rcpp::List& state, bool bias, SEXP x, const Rcpp::IntegerVector& y,
                                 const Rcpp::IntegerVector& order, const Eigen::Map<Eigen::VectorXd> id, SEXP progress) {
  const SparseRows rows = as_rows(x);
  Perceptron learner(rows, bias, as_perceptron_state(state));
  const OnlineRun run = run_rows(learner, rows, y, order, id, progress);
  const PerceptronState& s = learner.state();
  return as_list(run, Rcpp::List::create(Rcpp::Named("weight") = s.weight, Rcpp::Named("timed") = s.timed,
                                         Rcpp::Named("trials") = s.trials, Rcpp::Named("updates") = s.updates));
}

// b first.
// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_perceptron_score(const Eigen::Map<Eigen::VectorXd> weight, SEXP x) {
  const SparseRows rows = as_rows(x);
  const Perceptron learner(rows, true, {weight, weight, 0, 0});
  return score_rows(rows.rows(), [&](Index i) { return learner.score(i, learner.state().weight); });
}

// [[Rcpp::export(rng = false)]]
double core_sasb_bound(double n, double b0, double b1, SEXP progress) {
  RMonitor monitor(progress);
  return sasb_mistake_bound(n, b0, b1, monitor);
}

// `x` is 0/1 without gaps.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_separation_gap(const Eigen::Map<Eigen::MatrixXd> x, const Rcpp::IntegerVector& y, SEXP progress) {
  RMonitor monitor(progress);
  const SeparationGap g = separation_gap(x, zero_based(y), monitor);
  return Rcpp::List::create(Rcpp::Named("delta") = g.delta, Rcpp::Named("b0") = g.b0, Rcpp::Named("b1") = g.b1,
                            Rcpp::Named("gamma") = g.gamma, Rcpp::Named("gamma_complement") = g.gamma_complement,
                            Rcpp::Named("convergence") = as_list(g.convergence));
}
