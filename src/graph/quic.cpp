#include "graph/quic.h"

#include <algorithm>
#include <cmath>

#include "core/prox/proximal.h"
#include "core/linalg/spd_inverse.h"
#include "graph/newton_direction.h"

namespace granary::graph {

namespace {

// The free set (33) as a sparsity pattern: X with explicit zeros where only the subgradient is nonzero. Diagonal entries are
// always in it, because X_ii > 0.
struct FreeSet {
  SparseMatrix x;
  Optimality optimality;
};

FreeSet free_set(const ConstMatrixRef& s, const Penalty& lambda, const GlassoState& state) {
  const Index p = s.rows();
  FreeSet free{SparseMatrix(p, p), {}};
  free.optimality.unit = variance_unit(s, lambda);
  std::vector<int> rows;
  std::vector<double> values;
  rows.reserve(2 * state.upper.nonZeros());
  values.reserve(2 * state.upper.nonZeros());
  std::vector<int> starts(p + 1, 0);
  for (Index j = 0; j < p; ++j) {
    SparseMatrix::InnerIterator it(state.upper, j);
    const double* sj = s.data() + j * s.outerStride();
    const double* wj = state.w.data() + j * p;
    for (Index i = 0; i <= j; ++i) {
      double x = 0;
      if (it && it.row() == i) {
        x = it.value();
        ++it;
      }
      const double g = sj[i] - wj[i], l = lambda(i, j);
      if (x == 0 && std::abs(g) <= l) continue;
      const double v = std::abs(x > 0 ? g + l : x < 0 ? g - l : soft_threshold(g, l));
      free.optimality.subgradient += i == j ? v : 2 * v;
      free.optimality.size += i == j ? std::abs(x) : 2 * std::abs(x);
      free.optimality.largest = std::max(free.optimality.largest, v);
      rows.push_back(static_cast<int>(i));
      values.push_back(x);
    }
    starts[j + 1] = static_cast<int>(rows.size());
  }
  free.x = Eigen::Map<const SparseMatrix>(p, p, static_cast<Index>(rows.size()), starts.data(), rows.data(), values.data());
  return free;
}

bool is_diagonal(const SparseMatrix& upper) {
  for (Index j = 0; j < upper.cols(); ++j) {
    for (SparseMatrix::InnerIterator it(upper, j); it; ++it) {
      if (it.row() != j && it.value() != 0) return false;
    }
  }
  return true;
}

// The full step, kept if the relative subgradient falls below `bound`.
bool polish(const ConstMatrixRef& s, const Penalty& lambda, const SparseMatrix& x, const VectorXd& d, double bound, SpdInverse& factor,
            GlassoState& state) {
  GlassoState next;
  next.upper = x;
  Eigen::Map<VectorXd>(next.upper.valuePtr(), x.nonZeros()) += d;
  if (!factor.factorise(next.upper)) return false;
  next.upper.prune([](Index, Index, double value) { return value != 0; });
  next.log_det = factor.log_det();
  factor.inverse(next.w);
  if (!(optimality(s, lambda, next.upper, next.w).relative() < bound)) return false;
  state = std::move(next);
  return true;
}

}  // namespace

SolverReport quic(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor, GlassoState& state) {
  const double p = static_cast<double>(s.rows());
  SolverReport report;
  SpdInverse factor;
  double f = -state.log_det + linear_and_penalty(s, lambda, state.upper);
  double first_residual = 0;

  for (int t = 1;; ++t) {
    FreeSet free = free_set(s, lambda, state);
    const double residual = free.optimality.relative();
    report.residual = residual;
    if (t == 1) first_residual = residual;
    report_progress(options, first_residual, residual, monitor);
    if (residual <= options.tol) {
      report.converged = true;
      report.trace.push_back({f, residual, static_cast<double>(free.x.nonZeros()), 0, 0});
      break;
    }
    if (t > options.max_iter) {
      report.message = message("stopped at max_iter = ", options.max_iter, " Newton steps with relative subgradient ", residual);
      break;
    }

    NewtonDirection direction(s, lambda, state.w, free.x, monitor);
    int sweeps = 1;
    if (is_diagonal(state.upper)) {
      direction.solve_diagonal();
    } else if (options.inner == InnerRule::paper) {
      sweeps = (t + 2) / 3;
      direction.solve_sweeps(sweeps);
    } else {
      // More accuracy than the step can keep, or than the stopping rule asks for, is wasted.
      sweeps = direction.solve_to(std::max(std::min(0.1, residual), 0.1 * options.tol / residual));
    }

    const double delta = direction.trace_gradient() + direction.penalty_change();
    const double scale = std::max(std::abs(f), p);
    // Below this the rounding of f hides any decrease, while the subgradient is still worth something: it judges the full step.
    const bool at_rounding = -delta <= 1e-13 * scale;
    if (at_rounding && polish(s, lambda, free.x, direction.values(), 0.9 * residual, factor, state)) {
      f = -state.log_det + linear_and_penalty(s, lambda, state.upper);
      report.trace.push_back({f, residual, static_cast<double>(free.x.nonZeros()), 1, sweeps});
      report.iterations = t;
      continue;
    }

    double alpha = 1;
    bool accepted = false;
    SparseMatrix trial = free.x;
    for (; !at_rounding && alpha > 1e-18; alpha *= options.backtrack) {
      Eigen::Map<VectorXd>(trial.valuePtr(), trial.nonZeros()) =
          Eigen::Map<const VectorXd>(free.x.valuePtr(), free.x.nonZeros()) + alpha * direction.values();
      if (!factor.factorise(trial)) continue;
      const double linear = linear_and_penalty(s, lambda, trial);
      if (linear <= 0) {  // then f(t X) = -p log t - log det X + t linear falls without end
        throw NumericalError(message("the likelihood is unbounded at this lambda: the covariance is not positive semi-definite. Use a ",
                                     "larger lambda or repair the covariance"));
      }
      const double f_trial = -factor.log_det() + linear;
      if (f_trial <= f + alpha * options.armijo * delta + 1e-14 * scale) {
        f = f_trial;
        accepted = true;
        break;
      }
    }
    report.trace.push_back({f, residual, static_cast<double>(free.x.nonZeros()), accepted ? alpha : 0, sweeps});
    report.iterations = t;
    if (!accepted) {
      report.converged = residual <= 100 * options.tol || at_rounding;
      report.message = message("the objective cannot be decreased further in double precision; relative subgradient ", residual);
      report.reason = Stop::stalled;
      break;
    }
    trial.prune([](Index, Index, double value) { return value != 0; });
    state.upper = std::move(trial);
    state.log_det = factor.log_det();
    factor.inverse(state.w);

    const double growth = (state.upper.diagonal().array() * s.diagonal().array()).maxCoeff();
    if (growth > 1e13) {
      throw NumericalError(message("the likelihood is unbounded: a conditional variance has shrunk to ", 1 / growth,
                                   " of the marginal one. Use a larger lambda, penalise every off-diagonal entry, or repair the ",
                                   "covariance if it is not positive semi-definite"));
    }
  }
  return report;
}

}  // namespace granary::graph
