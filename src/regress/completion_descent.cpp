#include "regress/completion_descent.h"

#include "core/optim/lbfgs.h"

namespace granary::regress {

DescentResult descend(const ObservedCells& cells, double lambda, const ThinSvd& start, const DescentOptions& options, Monitor& monitor) {
  const Index r = start.d.size(), m = cells.rows, n = cells.cols;
  const double mean_weight = cells.observations / (static_cast<double>(m) * static_cast<double>(n));
  const VectorXd scale = (2 * mean_weight * start.d.array() + lambda).sqrt(), inverse = scale.cwiseInverse();
  const auto factors = [&](const VectorXd& at) {
    return Factors{inverse.asDiagonal() * Eigen::Map<const MatrixXd>(at.data(), r, m),
                   inverse.asDiagonal() * Eigen::Map<const MatrixXd>(at.data() + r * m, r, n)};
  };
  VectorXd x(r * (m + n));
  const Factors from = balanced(start);
  Eigen::Map<MatrixXd>(x.data(), r, m) = scale.asDiagonal() * from.u;
  Eigen::Map<MatrixXd>(x.data() + r * m, r, n) = scale.asDiagonal() * from.v;

  // Dense products run ten times faster per entry than gathered ones: they pay where a tenth of the cells is seen.
  const bool dense = 10.0 * static_cast<double>(cells.count()) > static_cast<double>(m) * static_cast<double>(n) && m * n <= 20000000;
  MatrixXd error(dense ? m : 0, dense ? n : 0);  // the gradient in W: zero outside S
  error.setZero();
  MatrixXd fitted;
  const auto loss_and_products = [&](const Factors& w, MatrixRef gu, MatrixRef gv) {
    double loss = 0;
    if (dense) {
      fitted.noalias() = w.u.transpose() * w.v;
      for (Index j = 0; j < n; ++j) {
        for (int a = cells.by_col.start[j]; a < cells.by_col.start[j + 1]; ++a) {
          const double e = fitted(cells.by_col.index[a], j) - cells.by_col.value[a], weight = cells.by_col.weight[a];
          loss += weight * e * e;
          error(cells.by_col.index[a], j) = 2 * weight * e;
        }
      }
      gu.noalias() += w.v * error.transpose();
      gv.noalias() += w.u * error;
      return loss;
    }
    std::vector<double> g = negative_gradient(cells, fitted_cells(cells, w, options.threads, monitor));
    for (std::size_t a = 0; a < g.size(); ++a) {
      loss += 0.25 * g[a] * g[a] / cells.by_col.weight[a];
      g[a] = -g[a];
    }
    add_products(cells, g, w, gu, gv, options.threads, monitor);
    return loss;
  };

  LbfgsOptions solver;
  solver.tol = options.tol;
  solver.value_tol = options.value_tol;
  solver.max_iter = options.max_iter;
  const LbfgsResult found = lbfgs(
      [&](const VectorXd& at, VectorXd& gradient) {
        const Factors w = factors(at);
        gradient.resize(at.size());
        Eigen::Map<MatrixXd> gu(gradient.data(), r, m), gv(gradient.data() + r * m, r, n);
        gu = lambda * w.u;
        gv = lambda * w.v;
        const double loss = loss_and_products(w, gu, gv);
        gu = inverse.asDiagonal() * gu;
        gv = inverse.asDiagonal() * gv;
        return loss + 0.5 * lambda * (w.u.squaredNorm() + w.v.squaredNorm());
      },
      x, solver, monitor);
  return {factors(found.x), found.convergence.iterations, found.value};
}

}  // namespace granary::regress
