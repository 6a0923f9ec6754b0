#include "graph/multi_newton.h"

#include <algorithm>
#include <cmath>

#include "graph/multi_direction.h"

namespace granary::graph {

namespace {

bool is_diagonal(const MultiState& state) {
  bool diagonal = true;
  for_each_entry(state.pattern, [&](Index i, Index j, Index e) {
    if (i != j && (state.values.col(e).array() != 0).any()) diagonal = false;
  });
  return diagonal;
}

void check_growth(const MultiProblem& problem, const MultiState& state) {
  for_each_entry(state.pattern, [&](Index i, Index j, Index e) {
    if (i != j) return;
    for (int k = 0; k < problem.tasks(); ++k) {
      if (state.values(k, e) * problem.s[k](i, i) > 1e13) {
        throw NumericalError(message("the likelihood is unbounded: variable ", i + 1, " of task ", k + 1,
                                     " is a linear combination of others. Use a larger lambda, or a lambda1 above 0"));
      }
    }
  });
}

}  // namespace

MultiReport multi_newton(const MultiProblem& problem, const MultiOptions& options, Monitor& monitor, MultiState& state) {
  const double size = static_cast<double>(problem.variables()) * problem.weight.sum();
  MultiReport report;
  std::vector<SpdInverse> factors(problem.tasks());
  double f = objective(problem, state);
  double best = Convergence::unknown;  // residual when the rounding of f was met

  for (int step = 1;; ++step) {
    monitor.check();
    const MultiFreeSet free = free_set(problem, state);
    if (free.residual <= options.tol) {
      report.converged = true;
      break;
    }
    if (step > options.max_iter) {
      report.message = message("stopped at max_iter = ", options.max_iter, " Newton steps with residual ", free.residual);
      break;
    }
    MultiDirection direction(problem, state.w, free, monitor);
    if (is_diagonal(state)) {
      direction.solve_diagonal();
    } else {
      // More accuracy than the step can keep, or than the stopping rule asks for, is wasted.
      direction.solve_to(std::max(std::min(0.1, free.residual), 0.1 * options.tol / free.residual));
    }
    const double delta = direction.slope(), scale = std::max(std::abs(f), size);
    // Below this the rounding of f hides any decrease; the residual then judges full steps, as long as they help.
    const bool at_rounding = -delta <= 1e-13 * scale;
    if (at_rounding && !(std::isnan(best) || free.residual < 0.9 * best)) {
      report.converged = true;
      report.message = message("the objective cannot be decreased further in double precision; residual ", free.residual);
      break;
    }
    if (at_rounding) best = free.residual;

    MultiState trial;
    trial.pattern = free.pattern;
    bool accepted = false;
    for (double alpha = 1; alpha > 1e-18; alpha *= options.backtrack) {
      trial.values = free.values + alpha * direction.values();
      if (!factorise(trial, factors, options.threads, monitor)) continue;
      const double linear = linear_and_penalty(problem, trial.pattern, trial.values);
      if (linear <= 0) {  // then f(t X) falls without end as t grows
        throw NumericalError(
            "the likelihood is unbounded at this penalty: a covariance is not positive semi-definite. Use a larger lambda, or "
            "repair it");
      }
      const double f_trial = linear - problem.weight.dot(trial.log_det);
      if (at_rounding || f_trial <= f + alpha * options.armijo * delta + 1e-14 * scale) {
        f = f_trial;
        accepted = true;
        break;
      }
    }
    report.iterations = step;
    if (!accepted) {
      report.converged = free.residual <= 100 * options.tol;
      report.message = message("the objective cannot be decreased further in double precision; residual ", free.residual);
      break;
    }
    trial.w = std::move(state.w);  // reuse the memory
    invert(trial, factors, options.threads, monitor);
    state = std::move(trial);
    drop_zero_blocks(state);
    check_growth(problem, state);
  }
  return report;
}

}  // namespace granary::graph
