#include "graph/glasso_admm.h"

#include "core/optim/admm.h"
#include "core/prox/proximal.h"
#include "core/linalg/spd_inverse.h"

namespace granary::graph {

SolverReport glasso_admm(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor,
                         GlassoState& state) {
  SolverReport report;
  const double variance = s.diagonal().mean();
  AdmmOptions driver;
  driver.rho = options.admm_penalty * (variance > 0 ? variance * variance : 1);
  driver.relaxation = options.over_relaxation;
  driver.max_iter = options.max_iter;
  driver.balance = false;  // the paper's penalty is fixed
  driver.tol = 0;          // the optimality of Z decides, not the residuals
  driver.gap_tol = options.tol;
  driver.gap_every = 20;  // it costs a factorisation and an inverse

  AdmmProblem problem;
  problem.f = [&](const MatrixXd& v, double rho) { return prox_log_det(s, v, rho).x; };
  problem.g.push_back([&](const MatrixXd& v, double rho) -> MatrixXd {
    return MatrixXd::NullaryExpr(v.rows(), v.cols(),
                                 [&](Index i, Index j) { return soft_threshold(v(i, j), lambda(i, j) / rho); });
  });
  SpdInverse factor;
  problem.gap = [&](const AdmmState& now) {  // the relative subgradient at Z, once Z is positive definite
    const MatrixXd triangle = now.z[0].triangularView<Eigen::Upper>();
    SparseMatrix upper = triangle.sparseView();
    if (!factor.factorise(upper)) return Convergence::unknown;
    state.upper = std::move(upper);
    state.log_det = factor.log_det();
    factor.inverse(state.w);
    const double residual = optimality(s, lambda, state.upper, state.w).relative();
    const double f = -state.log_det + linear_and_penalty(s, lambda, state.upper);
    report.trace.push_back({f, residual, static_cast<double>(state.upper.nonZeros()), 1, 0});
    report.residual = residual;
    return residual;
  };
  const AdmmResult end = admm(problem, MatrixXd(symmetric_from_upper(state.upper)), driver, monitor);
  report.converged = end.convergence.converged && end.convergence.gap <= options.tol;
  report.iterations = end.convergence.iterations;
  if (!report.converged) report.message = message("stopped after ", report.iterations, " iterations");
  return report;
}

}  // namespace granary::graph
