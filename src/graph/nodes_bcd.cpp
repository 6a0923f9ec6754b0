#include "graph/nodes_bcd.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"

namespace granary::graph {

namespace {

// The minimiser for C = |c|; its sign is that of c.
double scalar_linf(double q, double c, double a, double b, double rho, double tau) {
  const double low = std::min(a, b), high = std::max(a, b);
  const double x0 = (c - rho) / q, x1 = (c - rho - tau / 2) / q, x2 = (c - rho - tau) / q;  // below low, between, above high
  if (x0 <= 0) return 0;
  if (x0 <= low) return x0;
  if (x1 <= low) return low;
  if (x1 <= high) return x1;
  return x2 <= high ? high : x2;
}

double scalar_l2(double q, double c, double a, double b, double rho, double tau) {
  const double kinks = (a == 0) + (b == 0);
  const double room = c - rho - tau / 2 * kinks;
  if (room <= 0) return 0;
  if (kinks == 2 || tau == 0) return room / q;
  // q x - room + tau/2 sum x / sqrt(x^2 + a^2) increases and is concave, so Newton's method rises to the root from any point left
  // of it.
  double x = std::max(0.0, (c - rho - tau) / q);
  for (int k = 0; k < 200; ++k) {
    double value = q * x - room, slope = q;
    for (const double side : {a, b}) {
      if (side == 0) continue;
      const double length = std::hypot(x, side), share = side / length;
      value += tau / 2 * x / length;
      slope += tau / 2 * share * share / length;
    }
    const double step = -value / slope;
    if (!(step > 1e-15 * x)) break;
    x += step;
    if (step <= 1e-12 * x) break;
  }
  return x;
}

// Norm of y without entry k.
double norm_without(const VectorXd& y, Index k, RowNorm norm) {
  if (norm == RowNorm::l2) {
    return std::sqrt(y.head(k).squaredNorm() + y.tail(y.size() - k - 1).squaredNorm());
  }
  double largest = 0;
  for (Index i = 0; i < y.size(); ++i) {
    if (i != k) largest = std::max(largest, std::abs(y[i]));
  }
  return largest;
}

}  // namespace

double nodes_scalar(double q, double c, double a, double b, const NodesPenalty& penalty) {
  const double size = penalty.norm == RowNorm::l2 ? scalar_l2(q, std::abs(c), a, b, penalty.rho, penalty.tau)
                                                  : scalar_linf(q, std::abs(c), a, b, penalty.rho, penalty.tau);
  return c < 0 ? -size : size;
}

NodesBcdReport nodes_bcd(const ConstMatrixRef& s, const NodesPenalty& penalty, double tol, int max_sweeps, Monitor& monitor,
                         MatrixXd& x, MatrixXd& w) {
  const Index p = s.rows();
  NodesBcdReport report;
  VectorXd y(p), hy(p), t(p), old(p);
  MatrixXd h(p, p);
  while (report.sweeps < max_sweeps) {
    ++report.sweeps;
    double moved = 0;
    for (Index n = 0; n < p; ++n) {
      monitor.check();
      // Everything keeps its full length with entry n at zero, which saves the copying that dropping it would need.
      const VectorXd column = w.col(n);
      h = w;
      h.noalias() -= column * (column.transpose() / column[n]);
      h.col(n).setZero();
      h.row(n).setZero();
      y = x.col(n);
      y[n] = 0;
      for (Index k = 0; k < p; ++k) {
        old = x.col(k);
        old[k] = old[n] = 0;
        t[k] = k == n ? 0 : row_norm(old, penalty.norm);
      }
      old = y;
      hy.noalias() = h * y;
      const double vr = s(n, n) + penalty.rho;
      double norm_of_y = row_norm(y, penalty.norm);
      for (Index k = 0; k < p; ++k) {
        if (k == n) continue;
        const double q = vr * h(k, k), c = -(vr * (hy[k] - h(k, k) * y[k]) + s(k, n));
        const double a = y[k] == 0 ? norm_of_y : norm_without(y, k, penalty.norm);
        const double value = nodes_scalar(q, c, a, t[k], penalty);
        if (value == y[k]) continue;
        hy += (value - y[k]) * h.col(k);
        y[k] = value;
        norm_of_y = row_norm(y, penalty.norm);
      }
      moved = std::max(moved, (y - old).cwiseAbs().maxCoeff());
      x.col(n) = y;
      x.row(n) = y.transpose();
      x(n, n) = 1 / vr + y.dot(hy);
      // The inverse by blocks: the Schur complement of W is 1 / vr.
      w = h;
      w.noalias() += vr * hy * hy.transpose();
      w.col(n) = -vr * hy;
      w.row(n) = -vr * hy.transpose();
      w(n, n) = vr;
    }
    const Llt llt(x);
    if (llt.info() != Eigen::Success)
      throw NumericalError("the block descent left the positive definite matrices; rescale the data.");
    w = llt.solve(MatrixXd::Identity(p, p));  // anew, so that rounding does not pile up
    const double log_det = 2 * llt.matrixLLT().diagonal().array().log().sum();
    report.objective.push_back(-log_det + s.cwiseProduct(x).sum() + nodes_penalty(x, penalty));
    if (moved <= tol * x.diagonal().mean()) {
      report.settled = true;
      break;
    }
  }
  return report;
}

}  // namespace granary::graph
