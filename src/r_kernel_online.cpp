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

template <class Learner>
SEXP learn(Learner& learner, const SparseRows& rows, SEXP piece, Monitor& monitor) {
  const OnlineRun run = run_online(learner, rows.rows(), read<OnlinePiece>(piece, "piece"), monitor);
  return write(OnlineResult<std::decay_t<decltype(learner.state())>>{learner.state(), run});
}

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP core_winnow_learn(SEXP x, SEXP piece, SEXP state, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const SparseRows rows = binary_rows(x);
    Winnow learner(rows, read<WinnowOptions>(options), state_or_empty<WinnowState>(state));
    return learn(learner, rows, piece, monitor);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_winnow_score(SEXP x, SEXP state, SEXP options) {
  return crossing([&] {
    const SparseRows rows = binary_rows(x);
    const Winnow learner(rows, read<WinnowOptions>(options), state_or_empty<WinnowState>(state));
    return write(score_rows(rows.rows(), [&](Index i) { return learner.score(i); }));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_count_learn(SEXP x, SEXP piece, SEXP state, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const SparseRows rows = binary_rows(x);
    CountLearner learner(rows, read<CountOptions>(options), state_or_empty<CountState>(state));
    return learn(learner, rows, piece, monitor);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_count_score(SEXP x, SEXP state, SEXP options, SEXP type) {
  return crossing([&] {
    const SparseRows rows = binary_rows(x);
    CountLearner learner(rows, read<CountOptions>(options), state_or_empty<CountState>(state));
    return write(learner.scores(value_of<CountScore>(text(type), "type")));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_count_describe(SEXP attributes, SEXP state, SEXP options) {
  return crossing([&] {
    const SparseRows rows(ConstMatrixRef(MatrixXd(0, count(attributes))));
    CountLearner learner(rows, read<CountOptions>(options), state_or_empty<CountState>(state));
    return write(learner.describe());
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_naive_bayes_learn(SEXP x, SEXP piece, SEXP state, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const SparseRows rows = binary_rows(x);
    const auto wanted = read<NaiveBayesOptions>(options);
    NaiveBayes learner(rows, wanted.classes, wanted.mistake_driven, state_or_empty<NaiveBayesState>(state));
    return learn(learner, rows, piece, monitor);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_naive_bayes_score(SEXP x, SEXP state, SEXP options) {
  return crossing([&] {
    const SparseRows rows = binary_rows(x);
    return write(NaiveBayes(rows, read<NaiveBayesOptions>(options).classes, false, state_or_empty<NaiveBayesState>(state)).scores());
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_perceptron_learn(SEXP x, SEXP piece, SEXP state, SEXP bias, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const SparseRows rows = rows_of(x);
    Perceptron learner(rows, flag(bias), state_or_empty<PerceptronState>(state));
    return learn(learner, rows, piece, monitor);
  });
}

// b first.
// [[Rcpp::export(rng = false)]]
SEXP core_perceptron_score(SEXP x, SEXP weight) {
  return crossing([&] {
    const SparseRows rows = rows_of(x);
    const Perceptron learner(rows, true, {vector(weight), vector(weight), 0, 0});
    return write(score_rows(rows.rows(), [&](Index i) { return learner.score(i, learner.state().weight); }));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_sasb_bound(SEXP n, SEXP b0, SEXP b1, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(sasb_mistake_bound(number(n), number(b0), number(b1), monitor)); });
}

// `x` is 0/1 without gaps, `y` 1 or 2.
// [[Rcpp::export(rng = false)]]
SEXP core_separation_gap(SEXP x, SEXP y, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    std::vector<int> label = read<std::vector<int>>(y, "y");
    door::shift(label);
    return write(separation_gap(matrix(x), label, monitor));
  });
}
