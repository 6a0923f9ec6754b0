#include "regress/completion_bounded.h"

#include <algorithm>
#include <cmath>

#include "core/optim/lbfgs.h"
#include "core/linalg/spectral.h"
#include "regress/completion_sweep.h"

namespace granary::regress {

namespace {

constexpr double saturation = 30;  // beyond, phi is flat in double precision and its gradient useless

double share(double z) { return 1 / (1 + std::exp(-std::min(saturation, std::max(-saturation, z)))); }

// d loss / d z of every cell, negated, in the order of by_col; returns the loss.
double link_gradient(const ObservedCells& cells, double lo, double hi, const std::vector<double>& z, std::vector<double>& g) {
  double loss = 0;
  const double range = hi - lo;
  g.resize(z.size());
  for (std::size_t a = 0; a < z.size(); ++a) {
    const double s = share(z[a]), error = cells.by_col.value[a] - (lo + range * s);
    loss += cells.by_col.weight[a] * error * error;
    g[a] = 2 * cells.by_col.weight[a] * error * range * s * (1 - s);
  }
  return loss;
}

// From C2: complete X - middle, read the fit through the inverse link on S, and take one sweep towards it.
Factors first_guess(const ObservedCells& cells, double lo, double hi, double lambda, const CompletionOptions& options,
                    Monitor& monitor) {
  const double range = hi - lo, middle = 0.5 * (lo + hi);
  std::vector<double> shifted = cells.by_col.value;
  for (double& x : shifted) x -= middle;
  CompletionOptions loose = options;
  loose.tol = 1e-2;
  const CompletionResult plain =
      complete_als(with_values(cells, shifted), 4 * lambda / range, Factors::zero(cells), loose, monitor);
  Factors w = balanced(plain.w);
  std::vector<double> logit = fitted_cells(cells, w, options.threads, monitor);
  for (double& x : logit) {
    const double s = std::min(0.98, std::max(0.02, 0.5 + x / range));
    x = std::log(s / (1 - s));
  }
  if (w.rank() == 0) return w;
  const double scale = std::sqrt(4 / range);
  w.u *= scale;
  w.v *= scale;
  const ObservedCells working = with_values(cells, logit);
  const double ridge = 16 * lambda / (range * range);
  half_sweep(working.by_row, w.v, ridge, w.u, options.threads, monitor);
  half_sweep(working.by_col, w.u, ridge, w.v, options.threads, monitor);
  return w;
}

}  // namespace

double sigmoid_link(double z, double lo, double hi) { return lo + (hi - lo) * share(z); }

double bounded_objective(const ObservedCells& cells, double lo, double hi, double lambda, Index rank, const VectorXd& factors,
                         VectorXd& gradient, int threads, Monitor& monitor) {
  const Factors w{Eigen::Map<const MatrixXd>(factors.data(), rank, cells.rows),
                  Eigen::Map<const MatrixXd>(factors.data() + rank * cells.rows, rank, cells.cols)};
  std::vector<double> g;
  const double loss = link_gradient(cells, lo, hi, fitted_cells(cells, w, threads, monitor), g);
  for (double& value : g) value = -value;
  gradient = lambda * factors;
  Eigen::Map<MatrixXd> gu(gradient.data(), rank, cells.rows), gv(gradient.data() + rank * cells.rows, rank, cells.cols);
  add_products(cells, g, w, gu, gv, threads, monitor);
  return loss + 0.5 * lambda * factors.squaredNorm();
}

double bounded_lambda_max(const ObservedCells& cells, double lo, double hi, Monitor& monitor) {
  std::vector<double> g;
  link_gradient(cells, lo, hi, std::vector<double>(cells.by_col.index.size(), 0), g);
  return spectral_norm(on_cells(cells, g), monitor);
}

CompletionResult complete_bounded(const ObservedCells& cells, double lo, double hi, double lambda, const Factors& start,
                                  const CompletionOptions& options, Monitor& monitor) {
  if (!(lambda > 0)) throw InputError("lambda must be positive: without a penalty the logits run away.");
  const Stopwatch clock;
  const Index most = std::min(cells.rows, cells.cols), limit = options.rank > 0 ? std::min(options.rank, most) : most;
  CompletionResult result;
  Convergence& end = result.convergence;
  ThinSvd w = thin_svd(start.rank() > 0 ? start : first_guess(cells, lo, hi, lambda, options, monitor), 1e-6);
  if (w.d.size() > limit) {
    w = {w.p.leftCols(limit).eval(), w.d.head(limit).eval(), w.q.leftCols(limit).eval()};
  }
  // The error of the objective goes with the square of the residual.
  const double wanted = std::sqrt(options.tol);
  for (int round = 0;; ++round) {
    const Index r = w.d.size();
    if (r > 0) {
      const Factors from = balanced(w);
      VectorXd x((cells.rows + cells.cols) * r);
      x << Eigen::Map<const VectorXd>(from.u.data(), from.u.size()), Eigen::Map<const VectorXd>(from.v.data(), from.v.size());
      LbfgsOptions solver;
      solver.max_iter = std::max(1, options.max_iter - end.iterations);
      solver.value_tol = 0.1 * options.tol;
      solver.tol = 1e-9;
      const LbfgsResult found = lbfgs(
          [&](const VectorXd& at, VectorXd& gradient) {
            monitor.check();
            const double value = bounded_objective(cells, lo, hi, lambda, r, at, gradient, options.threads, monitor);
            return value;
          },
          x, solver, monitor);
      end.iterations += found.convergence.iterations;
      result.trace.push_back(found.value);
      w = thin_svd({Eigen::Map<const MatrixXd>(found.x.data(), r, cells.rows),
                    Eigen::Map<const MatrixXd>(found.x.data() + r * cells.rows, r, cells.cols)},
                   1e-5);
    }
    std::vector<double> g;
    result.loss = link_gradient(cells, lo, hi, fitted_cells(cells, balanced(w), options.threads, monitor), g);
    result.objective = result.loss + lambda * w.d.sum();
    const SparseMatrix gradient = on_cells(cells, g);
    const Index rank = w.d.size(), want = std::min(most, rank + std::max<Index>(4, rank / 2));
    EigenOptions lanczos;
    lanczos.tol = 1e-6;
    const TruncatedSvd top = truncated_svd(gradient, want, lanczos, monitor);
    result.gradient_norm = top.values[0];
    end.residual = std::max(0.0, top.values[0] / lambda - 1);
    if (rank > 0) {
      const double inside = std::max((gradient * w.q - lambda * w.p).norm(), (gradient.transpose() * w.p - lambda * w.q).norm());
      end.residual = std::max(end.residual, inside / (lambda * std::sqrt(static_cast<double>(rank))));
    }
    end.converged = end.residual <= wanted;
    if (end.converged || end.iterations >= options.max_iter || round >= 50) break;
    // Missing directions: what the leading singular vectors have outside W.
    const MatrixXd outside_p = top.u - w.p * (w.p.transpose() * top.u), outside_q = top.v - w.q * (w.q.transpose() * top.v);
    Index added = 0;
    for (Index k = 0; k < top.values.size() && rank + added < limit; ++k) {
      const double np = outside_p.col(k).norm(), nq = outside_q.col(k).norm();
      if (top.values[k] <= lambda * (1 + 0.5 * wanted) || top.values[k] < lambda + 0.3 * (top.values[0] - lambda) ||
          std::min(np, nq) < 0.5)
        continue;
      const Index last = rank + added++;
      w.p.conservativeResize(Eigen::NoChange, last + 1);
      w.q.conservativeResize(Eigen::NoChange, last + 1);
      w.d.conservativeResize(last + 1);
      w.p.col(last) = outside_p.col(k) / np;
      w.q.col(last) = outside_q.col(k) / nq;
      // A Gauss-Newton step along the pair, started small: the curvature is at most 2 w_max (range / 4)^2.
      w.d[last] = (top.values[k] - lambda) / (2 * cells.largest_weight * std::pow(0.25 * (hi - lo), 2));
    }
    if (added == 0 && rank >= limit && limit < most && round > 3) break;
  }
  result.w = std::move(w);
  if (!end.converged) end.message = "the gradient is not yet that of a stationary point";
  end.seconds = clock.seconds();
  return result;
}

}  // namespace granary::regress
