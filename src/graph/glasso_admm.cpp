#include "glasso_admm.h"

#include <cmath>

#include "../core/proximal.h"
#include "../core/spd_inverse.h"

namespace granary::graph {

SolverReport glasso_admm(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor,
                         GlassoState& state) {
  const Index p = s.rows();
  SolverReport report;
  const double variance = s.diagonal().mean();
  const double rho = options.admm_penalty * (variance > 0 ? variance * variance : 1);
  const double a = options.over_relaxation;
  SpdInverse factor;

  MatrixXd z = MatrixXd(symmetric_from_upper(state.upper));
  MatrixXd u = MatrixXd::Zero(p, p);
  for (int t = 1; t <= options.max_iter; ++t) {
    monitor.check();
    const MatrixXd relaxed = a * prox_log_det(s, z - u, rho).x + (1 - a) * z;
    double moved = 0, size = 0;
    for (Index j = 0; j < p; ++j) {
      for (Index i = 0; i < p; ++i) {
        const double next = soft_threshold(relaxed(i, j) + u(i, j), lambda(i, j) / rho);
        u(i, j) += relaxed(i, j) - next;
        moved += std::abs(next - z(i, j)) + std::abs(relaxed(i, j) - next);
        size += std::abs(next);
        z(i, j) = next;
      }
    }
    report.iterations = t;
    // The inverse of Z costs as much as an iteration: look at the optimality conditions only when the iterates have settled.
    if (moved > options.tol * size && t % 50 != 0 && t != options.max_iter) continue;
    MatrixXd upper_part = z.triangularView<Eigen::Upper>();
    SparseMatrix upper = upper_part.sparseView();
    if (!factor.factorise(upper)) continue;
    state.upper = std::move(upper);
    state.log_det = factor.log_det();
    factor.inverse(state.w);
    const double residual = optimality(s, lambda, state.upper, state.w).relative();
    const double f = -state.log_det + linear_and_penalty(s, lambda, state.upper);
    report.trace.push_back({f, residual, static_cast<double>(state.upper.nonZeros()), 1, t});
    if (residual <= options.tol) {
      report.converged = true;
      return report;
    }
  }
  report.message = message("stopped after ", report.iterations, " iterations");
  return report;
}

}  // namespace granary::graph
