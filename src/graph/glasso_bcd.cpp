#include "glasso_bcd.h"

#include <cmath>
#include <limits>

#include "../core/l1_quadratic.h"
#include "../core/spd_inverse.h"

namespace granary::graph {

namespace {

// X from the regressions of each column on the others. The two estimates of an entry agree at the optimum; before, their mean is
// taken, and the entry is zero when either is.
SparseMatrix precision_from_regressions(const MatrixXd& beta, const MatrixXd& w) {
  const Index p = w.rows();
  VectorXd diagonal(p);
  for (Index j = 0; j < p; ++j) diagonal[j] = 1 / (w(j, j) - w.col(j).dot(beta.col(j)));
  std::vector<Eigen::Triplet<double>> entries;
  for (int j = 0; j < p; ++j) {
    for (int i = 0; i < j; ++i) {
      if (beta(i, j) != 0 && beta(j, i) != 0) {
        entries.emplace_back(i, j, -0.5 * (beta(i, j) * diagonal[j] + beta(j, i) * diagonal[i]));
      }
    }
    entries.emplace_back(j, j, diagonal[j]);
  }
  SparseMatrix upper(p, p);
  upper.setFromTriplets(entries.begin(), entries.end());
  return upper;
}

}  // namespace

SolverReport glasso_bcd(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor,
                        GlassoState& state) {
  const Index p = s.rows();
  SolverReport report;

  // S + diag(Lambda) is dual feasible, and every update keeps W so. A warm start enters through the regressions.
  MatrixXd w = s;
  w.diagonal() += VectorXd::NullaryExpr(p, [&](Index i) { return lambda(i, i); });
  MatrixXd beta = MatrixXd::Zero(p, p);
  for (Index j = 0; j < p; ++j) {
    for (SparseMatrix::InnerIterator it(state.upper, j); it; ++it) {
      const Index i = it.row();
      if (i == j) continue;
      beta(i, j) = -it.value() / state.upper.coeff(j, j);
      beta(j, i) = -it.value() / state.upper.coeff(i, i);
    }
  }

  double off_diagonal = 0;
  for (Index j = 0; j < p; ++j) off_diagonal += s.col(j).cwiseAbs().sum() - std::abs(s(j, j));
  L1QuadraticOptions inner;
  double tol = options.tol;
  SpdInverse factor;
  VectorXd mu(p), gradient(p), column(p);
  for (int sweep = 1; sweep <= options.max_iter; ++sweep) {
    double changed = 0;
    inner.tol = 0.1 * tol;
    for (Index j = 0; j < p; ++j) {
      monitor.check();
      for (Index i = 0; i < p; ++i) mu[i] = lambda(i, j);
      mu[j] = std::numeric_limits<double>::infinity();
      const VectorXd target = s.col(j);
      column = beta.col(j);
      gradient.noalias() = w * column;
      gradient -= target;
      l1_quadratic(w, target, mu, column, gradient, inner, monitor);
      beta.col(j) = column;
      for (Index i = 0; i < p; ++i) {
        if (i == j) continue;
        const double value = gradient[i] + target[i];  // w_12 = W_11 beta
        changed += std::abs(value - w(i, j));
        w(i, j) = w(j, i) = value;
      }
    }
    report.iterations = sweep;
    if (changed > tol * off_diagonal) continue;

    SparseMatrix upper = precision_from_regressions(beta, w);
    if (factor.factorise(upper)) {
      state.upper = std::move(upper);
      state.log_det = factor.log_det();
      factor.inverse(state.w);
      const Optimality reached = optimality(s, lambda, state.upper, state.w);
      const double f = -state.log_det + linear_and_penalty(s, lambda, state.upper);
      report.trace.push_back({f, reached.relative(), static_cast<double>(state.upper.nonZeros()), 1, sweep});
      if (reached.relative() <= options.tol) {
        report.converged = true;
        return report;
      }
    }
    if (tol < 1e-13) break;
    tol *= 0.1;  // W has settled to this accuracy, but X has not
  }
  if (report.trace.empty()) {
    SparseMatrix upper = precision_from_regressions(beta, w);
    if (factor.factorise(upper)) {
      state.upper = std::move(upper);
      state.log_det = factor.log_det();
      factor.inverse(state.w);
    }
  }
  report.message = message("stopped after ", report.iterations, " sweeps over the columns");
  return report;
}

}  // namespace granary::graph
