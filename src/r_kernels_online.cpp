// Exports of the online classifiers over attributes.
#include "r_kernels_online.h"

#include "kernel/winnow.h"

using namespace granary;
using namespace granary::kernels;

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

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_winnow_learn(const Rcpp::List& state, const Rcpp::List& settings, SEXP x, const Rcpp::IntegerVector& y,
                             const Rcpp::IntegerVector& order, const Eigen::Map<Eigen::VectorXd> id, SEXP progress) {
  RMonitor monitor(progress);
  const SparseRows rows = as_rows(x);
  rows.require_binary();
  Winnow learner(rows, as_winnow_options(settings), as_winnow_state(state));
  const OnlineRun run = run_online(learner, rows.rows(), zero_based(y), zero_based(order), id, monitor);
  const WinnowState& s = learner.state();
  return as_list(run, Rcpp::List::create(Rcpp::Named("exponent") = s.exponent, Rcpp::Named("complement") = s.complement,
                                         Rcpp::Named("updates") = s.updates));
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_winnow_score(const Rcpp::List& state, const Rcpp::List& settings, SEXP x) {
  const SparseRows rows = as_rows(x);
  rows.require_binary();
  const Winnow learner(rows, as_winnow_options(settings), as_winnow_state(state));
  VectorXd score(rows.rows());
  for (Index i = 0; i < rows.rows(); ++i) score[i] = learner.score(i);
  return score;
}
