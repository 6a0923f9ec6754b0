// Exports of the kernel perceptrons.
#include "kernel/budget.h"
#include "kernel/hard_margin.h"
#include "r_core_kernel_rows.h"
#include "r_kernel_online.h"

using namespace granary;
using namespace granary::kernel;

GRANARY_DEFAULTS(budget_perceptron, BudgetOptions);

namespace {

// The points of a state as its learner wants them.
ConstMatrixRef as_points(SEXP x, const ConstMatrixRef&) { return matrix(x, "points"); }
SparseRows as_points(SEXP x, const SparseRows&) { return SparseRows(sparse(x, "points")); }

SEXP part(SEXP state, const char* name) {
  SEXP found = door::element(state, name);
  if (found == nullptr) throw InputError(message("`object` is damaged: its state has no `", name, "`. Fit the model again."));
  return found;
}

// The learner that `state` describes; before the first example a state has a seed only, drawn when the fit was made.
template <class Rows>
BudgetPerceptron started(const Rows& rows, SEXP kernel, SEXP state, SEXP options) {
  BudgetOptions wanted = read<BudgetOptions>(options);
  wanted.seed = rng(part(state, "seed"))();
  BudgetPerceptron learner(read<KernelSpec>(kernel, "kernel"), rows.cols(), std::is_same_v<Rows, SparseRows>, wanted);
  if (door::element(state, "current") == nullptr) return learner;
  const Rows points = as_points(part(state, "points"), rows), retired = as_points(part(state, "retired_points"), rows);
  learner.restore(read_state<BudgetState>(state), points, retired, vector(part(state, "centre"), "centre"));
  return learner;
}

SEXP write_points(const PointCache& cache, bool is_sparse) { return is_sparse ? write(cache.sparse_points()) : write(cache.points()); }

SEXP write_state(const BudgetPerceptron& learner, bool is_sparse, SEXP seed) {
  ListWriter out;
  out.add("seed", seed).add("sparse", is_sparse).add("points", write_points(learner.cache(), is_sparse));
  out.add("retired_points", write_points(learner.retired_cache(), is_sparse)).add("centre", learner.cache().centre());
  BudgetState state = learner.state();
  fields(out, state);
  return out.list();
}

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP core_budget_learn(SEXP x, SEXP piece, SEXP kernel, SEXP state, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return with_rows(x, [&](const auto& rows) {
      BudgetPerceptron learner = started(rows, kernel, state, options);
      const OnlineRun run = run_budget(learner, rows, read<OnlinePiece>(piece, "piece"), monitor);
      const Rcpp::Shield<SEXP> now(write_state(learner, is_sparse(x), part(state, "seed")));
      return write(OnlineResult<SEXP>{now, run});
    });
  });
}

// One column for two classes.
// [[Rcpp::export(rng = false)]]
SEXP core_budget_score(SEXP x, SEXP kernel, SEXP state, SEXP options, SEXP hypothesis, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return with_rows(x, [&](const auto& rows) {
      return write(started(rows, kernel, state, options).scores(rows, value_of<Hypothesis>(text(hypothesis), "prediction"), monitor));
    });
  });
}

// `points` is list(x =, kernel =), `y` -1 or 1.
// [[Rcpp::export(rng = false)]]
SEXP core_hard_margin(SEXP points, SEXP y, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    KernelRows rows = kernel_rows(points);
    return write(hard_margin(rows, vector(y), read<HardMarginOptions>(options), monitor));
  });
}
