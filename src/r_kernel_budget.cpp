// Exports of the kernel perceptrons.
#include "core/base/parallel.h"
#include "kernel/budget.h"
#include "kernel/hard_margin.h"
#include "r_core_kernel_rows.h"
#include "r_kernel_online.h"

using namespace granary;
using namespace granary::kernel;

namespace {

template <class Enum>
Enum choice(const Rcpp::List& settings, const char* name, std::initializer_list<const char*> names) {
  const std::string value = Rcpp::as<std::string>(settings[name]);
  int at = 0;
  for (const char* candidate : names) {
    if (value == candidate) return static_cast<Enum>(at);
    ++at;
  }
  throw InputError(message("`", name, "` cannot be \"", value, "\"."));
}

// `seed` is drawn once, when the fit is made, and kept with its state.
BudgetOptions as_budget_options(const Rcpp::List& settings, const Rcpp::List& state) {
  BudgetOptions options;
  options.classes = Rcpp::as<int>(settings["classes"]);
  const double budget = settings["budget"];
  if (std::isfinite(budget)) options.budget = static_cast<Index>(budget);
  options.beta = settings["beta"];
  options.removal = choice<Removal>(settings, "removal",
                                    {"none", "distill", "max_margin", "oldest", "random", "smallest", "tightest", "projection"});
  options.order = choice<DistillOrder>(settings, "order", {"largest", "oldest", "random"});
  options.step = choice<Step>(settings, "update", {"perceptron", "mira"});
  options.normalise = settings["normalize"];
  options.average = settings["average"];
  options.seed = make_rng(state["seed"])();
  return options;
}

Examples as_examples(const Rcpp::List& list) {
  return {Rcpp::as<MatrixXd>(list["coefficients"]), Rcpp::as<VectorXd>(list["label"]), Rcpp::as<VectorXd>(list["id"]),
          Rcpp::as<VectorXd>(list["born"]), Rcpp::as<VectorXd>(list["died"])};
}

Rcpp::List as_list(const Examples& e) {
  return Rcpp::List::create(Rcpp::Named("coefficients") = e.coefficients, Rcpp::Named("label") = e.label,
                            Rcpp::Named("id") = e.id, Rcpp::Named("born") = e.born, Rcpp::Named("died") = e.died);
}

Rcpp::List budget_state(const BudgetPerceptron& learner, bool sparse, SEXP seed) {
  const BudgetState s = learner.state();
  const auto points = [&](const PointCache& cache) {
    return sparse ? Rcpp::wrap(cache.sparse_points()) : Rcpp::wrap(cache.points());
  };
  return Rcpp::List::create(
      Rcpp::Named("seed") = seed, Rcpp::Named("sparse") = sparse, Rcpp::Named("points") = points(learner.cache()),
      Rcpp::Named("retired_points") = points(learner.retired_cache()), Rcpp::Named("centre") = learner.cache().centre(),
      Rcpp::Named("current") = as_list(s.current), Rcpp::Named("retired") = as_list(s.retired), Rcpp::Named("scores") = s.scores,
      Rcpp::Named("gram") = s.gram, Rcpp::Named("inverse") = s.inverse, Rcpp::Named("changes") = s.changes,
      Rcpp::Named("counts") = Rcpp::NumericVector::create(
          Rcpp::Named("trials") = s.trials, Rcpp::Named("margin_errors") = s.margin_errors, Rcpp::Named("removed") = s.removed,
          Rcpp::Named("largest") = s.largest, Rcpp::Named("max_self") = s.max_self));
}

// The learner that `state` describes; a state before the first example has a seed only.
BudgetPerceptron as_learner(const Rcpp::List& state, const Rcpp::List& settings, const Rcpp::List& kernel, Index dimension,
                            bool sparse) {
  BudgetPerceptron learner(as_kernel_spec(kernel), dimension, sparse, as_budget_options(settings, state));
  if (!state.containsElementNamed("current")) return learner;
  BudgetState s;
  s.current = as_examples(state["current"]);
  s.retired = as_examples(state["retired"]);
  s.scores = Rcpp::as<MatrixXd>(state["scores"]);
  s.gram = Rcpp::as<MatrixXd>(state["gram"]);
  s.inverse = Rcpp::as<MatrixXd>(state["inverse"]);
  s.changes = Rcpp::as<VectorXd>(state["changes"]);
  const Rcpp::NumericVector counts = state["counts"];
  s.trials = counts["trials"];
  s.margin_errors = counts["margin_errors"];
  s.removed = counts["removed"];
  s.largest = counts["largest"];
  s.max_self = counts["max_self"];
  const VectorXd centre = Rcpp::as<VectorXd>(state["centre"]);
  const SEXP points = state["points"], retired = state["retired_points"];
  if (sparse) {
    learner.restore(s, as_rows(points), as_rows(retired), centre);
  } else {
    const ConstMatrixRef current(Rcpp::as<Eigen::Map<MatrixXd>>(points)), old(Rcpp::as<Eigen::Map<MatrixXd>>(retired));
    learner.restore(s, current, old, centre);
  }
  return learner;
}

// A learner and the rows it looks at, as run_online() wants them.
template <class Rows>
struct OnRows {
  BudgetPerceptron& learner;
  const Rows& rows;
  Trial learn(Index row, int label, double id) { return learner.learn(rows, row, label, id); }
  Index support() const { return learner.support(); }
};

template <class Rows>
OnlineRun run_budget(BudgetPerceptron& learner, const Rows& rows, const Rcpp::IntegerVector& y, const Rcpp::IntegerVector& order,
                     ConstVectorRef id, Monitor& monitor) {
  OnRows<Rows> on_rows{learner, rows};
  return run_online(on_rows, rows.rows(), zero_based(y), zero_based(order), id, monitor);
}

template <class Rows>
MatrixXd budget_scores(BudgetPerceptron& learner, const Rows& rows, Index outputs, const std::string& mode, Monitor& monitor) {
  const bool average = mode == "averaged";
  const MatrixXd weights = learner.weights(average);
  const MatrixXd retired = average ? learner.retired_weights() : MatrixXd(outputs, 0);
  MatrixXd out(rows.rows(), outputs);
  for (Index i = 0; i < rows.rows(); ++i) {
    out.row(i) = (mode == "voted" ? learner.vote(rows, i) : learner.score(rows, i, weights, retired)).transpose();
    if (i % 64 == 0) monitor.check();
  }
  return out;
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_budget_learn(const Rcpp::List& state, const Rcpp::List& settings, const Rcpp::List& kernel, SEXP x,
                             const Rcpp::IntegerVector& y, const Rcpp::IntegerVector& order, const Eigen::Map<Eigen::VectorXd> id,
                             SEXP progress) {
  RMonitor monitor(progress);
  OnlineRun run;
  if (is_sparse(x)) {
    const SparseRows rows = as_rows(x);
    BudgetPerceptron learner = as_learner(state, settings, kernel, rows.cols(), true);
    run = run_budget(learner, rows, y, order, id, monitor);
    return as_list(run, budget_state(learner, true, state["seed"]));
  }
  const ConstMatrixRef rows(Rcpp::as<Eigen::Map<MatrixXd>>(x));
  BudgetPerceptron learner = as_learner(state, settings, kernel, rows.cols(), false);
  run = run_budget(learner, rows, y, order, id, monitor);
  return as_list(run, budget_state(learner, false, state["seed"]));
}

// `mode`: last, averaged or voted. One column for two classes.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_budget_score(const Rcpp::List& state, const Rcpp::List& settings, const Rcpp::List& kernel, SEXP x,
                                  const std::string& mode, SEXP progress) {
  RMonitor monitor(progress);
  const int classes = settings["classes"];
  const Index outputs = classes == 2 ? 1 : classes;
  if (is_sparse(x)) {
    const SparseRows rows = as_rows(x);
    BudgetPerceptron learner = as_learner(state, settings, kernel, rows.cols(), true);
    return budget_scores(learner, rows, outputs, mode, monitor);
  }
  const ConstMatrixRef rows(Rcpp::as<Eigen::Map<MatrixXd>>(x));
  BudgetPerceptron learner = as_learner(state, settings, kernel, rows.cols(), false);
  return budget_scores(learner, rows, outputs, mode, monitor);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_hard_margin(SEXP x, const Rcpp::List& kernel, const Eigen::Map<Eigen::VectorXd> y, double tol, double max_iter,
                            SEXP progress) {
  RMonitor monitor(progress);
  KernelRows rows = make_kernel_rows(x, kernel);
  HardMarginOptions options;
  options.tol = tol;
  options.max_iter = max_iter;
  const HardMarginResult r = hard_margin(rows, y, options, monitor);
  return Rcpp::List::create(Rcpp::Named("radius") = r.radius, Rcpp::Named("lower") = r.lower, Rcpp::Named("upper") = r.upper,
                            Rcpp::Named("weights") = r.weights, Rcpp::Named("convergence") = as_list(r.convergence));
}
