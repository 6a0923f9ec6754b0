#include "baselines.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "../core/errors.h"
#include "../core/l1_quadratic.h"
#include "../core/parallel.h"
#include "glasso.h"

namespace granary::graph {

MatrixXd neighbourhood_regressions(const ConstMatrixRef& s, double lambda, const NeighbourhoodOptions& options,
                                   Monitor& monitor) {
  if (!(lambda >= 0) || !std::isfinite(lambda)) throw InputError(message("lambda must not be negative, got ", lambda, "."));
  const Index p = s.rows();
  MatrixXd out = MatrixXd::Zero(p, p);
  L1QuadraticOptions lasso;
  lasso.tol = options.tol;
  parallel_for(p, options.threads, monitor, [&](Index n) {
    VectorXd mu = VectorXd::Constant(p, lambda);
    for (Index k = 0; k < p; ++k) {
      if (!(s(k, k) > 0)) mu[k] = std::numeric_limits<double>::infinity();  // a constant explains nothing
    }
    mu[n] = std::numeric_limits<double>::infinity();
    VectorXd r = s.col(n);
    r[n] = 0;
    if (r.cwiseAbs().maxCoeff() <= lambda) return;
    out.col(n) = l1_quadratic(s, r, mu, lasso, monitor).v;
  });
  return out;
}

Adjacency neighbourhood_graph(const MatrixXd& coefficients, bool both) {
  const Index p = coefficients.cols();
  Adjacency out = Adjacency::Constant(p, p, false);
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < j; ++i) {
      const bool there = coefficients(i, j) != 0, back = coefficients(j, i) != 0;
      out(i, j) = out(j, i) = both ? there && back : there || back;
    }
  }
  return out;
}

BaselineFit ridge_precision(const ConstMatrixRef& s, double rho) {
  if (!(rho >= 0) || !std::isfinite(rho)) throw InputError(message("rho must not be negative, got ", rho, "."));
  BaselineFit out;
  out.w = s;
  out.w.diagonal().array() += rho;
  const Eigen::LLT<MatrixXd> llt(out.w);
  const VectorXd root = llt.matrixLLT().diagonal();
  if (llt.info() != Eigen::Success || !(root.minCoeff() > 1e-7 * std::sqrt(out.w.diagonal().maxCoeff()))) {
    throw NumericalError(
        rho > 0 ? "the covariance plus the ridge is singular; use a larger penalty."
                : "the covariance is singular, so it has no inverse: there are too few observations, or columns depend "
                  "on each other. Use a ridge, or another type.");
  }
  out.x = llt.solve(MatrixXd::Identity(s.rows(), s.cols()));
  out.x = 0.5 * (out.x + out.x.transpose()).eval();
  out.log_det = -2 * root.array().log().sum();
  out.convergence.converged = true;
  out.convergence.gap = out.convergence.residual = 0;
  return out;
}

BaselineFit constrained_precision(const ConstMatrixRef& s, const Adjacency& graph, double tol, Monitor& monitor) {
  const Index p = s.rows();
  MatrixXd lambda = MatrixXd::Constant(p, p, Penalty::forbidden);
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < p; ++i) {
      if (i == j || graph(i, j)) lambda(i, j) = 0;
    }
  }
  // In stages of growing accuracy: where there is no maximum the precisions run away, X_nn S_nn = 1 / (1 - R^2) of variable n
  // given its neighbours, and no dual point (S on the edges, completed to a positive definite matrix) is found; better to see
  // that early.
  GlassoOptions options;
  options.max_iter = 30;
  const Penalty penalty = Penalty::matrix(lambda);
  GlassoState state = diagonal_state(s, penalty);
  GlassoResult fit;
  int iterations = 0, round = 0;
  for (double stage = 1e-2; round < 10; ++round, stage *= 1e-2) {
    options.tol = std::max(stage, tol);
    fit = glasso(s, penalty, options, monitor, &state);
    state = fit.state;
    iterations += fit.convergence.iterations;
    VectorXd diagonal(p);
    for (Index n = 0; n < p; ++n) diagonal[n] = state.upper.coeff(n, n) * s(n, n);
    const bool bounded = std::isfinite(fit.convergence.gap);
    if (!diagonal.allFinite() || diagonal.maxCoeff() > 1e6 || (!bounded && round >= 1)) {
      throw NumericalError(
          "the likelihood has no maximum on the graph that was selected: it has too many edges for so few observations. Use a "
          "larger "
          "lambda.");
    }
    if (options.tol > tol) continue;
    if (fit.convergence.converged) break;
    if (bounded && fit.convergence.gap <= 1e-6 * static_cast<double>(p)) {
      fit.convergence.converged = true;  // as close as rounding allows, and certified
      fit.convergence.message.clear();
      break;
    }
  }
  fit.convergence.iterations = iterations;
  BaselineFit out;
  out.x = MatrixXd(symmetric_from_upper(fit.state.upper));
  out.w = fit.state.w;
  out.log_det = fit.state.log_det;
  out.convergence = fit.convergence;
  return out;
}

}  // namespace granary::graph
