// The constrained form  minimise sum_S w (X - W)^2  subject to  ||W||_tr <= t.
//
// Frank-Wolfe (Jaggi and Sulovsky, ICML 2010): the linear minimiser over the ball is t p q' with the top singular pair of G, the
// step is an exact line search, and t ||G||_sp - <G, W> bounds the distance to the minimum. The fully corrective variant keeps
// the span of what W is made of and of the new pairs, W = P M Q' with M of size k x k, and minimises over ||M||_tr <= t, a small
// problem of the same kind; what M sends to zero is dropped, so k stays near the rank of the solution.
#include <algorithm>
#include <cmath>

#include "core/optim/fista.h"
#include "core/prox/proximal.h"
#include "core/linalg/spectral.h"
#include "regress/completion.h"
#include "core/linalg/dense.h"

namespace granary::regress {

namespace {

MatrixXd orthonormal(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd both(a.rows(), a.cols() + b.cols());
  both << a, b;
  const Index k = std::min(both.rows(), both.cols());
  return Qr(both).thin_q(k);
}

ThinSvd restricted(const MatrixXd& p, const MatrixXd& m, const MatrixXd& q) {
  const Svd svd(m, SvdParts::thin);
  const VectorXd& d = svd.singularValues();
  Index keep = 0;
  while (keep < d.size() && d[keep] > 1e-10 * d[0] && d[keep] > 0) ++keep;
  return {p * svd.matrixU().leftCols(keep), d.head(keep), q * svd.matrixV().leftCols(keep)};
}

// argmin over ||M||_tr <= t of the loss of P M Q', by FISTA from M's present value.
MatrixXd correct(const ObservedCells& cells, const MatrixXd& p, const MatrixXd& q, const MatrixXd& start, double t,
                 double gap_tol, const CompletionOptions& options, Monitor& monitor) {
  CompositeProblem<MatrixXd> problem;
  const MatrixXd pt = p.transpose(), qt = q.transpose();
  problem.smooth = [&](const MatrixXd& m, MatrixXd& gradient) {
    const std::vector<double> fitted = fitted_cells(cells, {pt, m * qt}, options.threads, monitor);
    const SparseMatrix g = on_cells(cells, negative_gradient(cells, fitted));
    const MatrixXd half = g * q;
    gradient = -(pt * half);
    return squared_loss(cells, fitted);
  };
  problem.prox = [t](const MatrixXd& v, double) -> MatrixXd { return project_nuclear_ball(v, t); };
  problem.penalty = [](const MatrixXd&) { return 0.0; };
  problem.gap = [&](const MatrixXd& m) {
    MatrixXd gradient(m.rows(), m.cols());
    problem.smooth(m, gradient);
    return t * Svd(gradient).singularValues()[0] + gradient.cwiseProduct(m).sum();
  };
  FistaOptions fista_options;
  fista_options.tol = 1e-12;
  fista_options.gap_tol = gap_tol;
  fista_options.max_iter = 300;
  return fista(problem, start, fista_options, monitor).x;
}

}  // namespace

CompletionResult complete_frank_wolfe(const ObservedCells& cells, double t, const Factors& start,
                                      const CompletionOptions& options, Monitor& monitor) {
  if (!(t > 0)) throw InputError("the trace norm allowed must be positive.");
  const Stopwatch clock;
  CompletionResult result;
  Convergence& end = result.convergence;
  const Index most = std::min(cells.rows, cells.cols);
  ThinSvd w = thin_svd(start);
  if (w.d.sum() > t) w.d *= t / w.d.sum();
  while (true) {
    monitor.progress(static_cast<double>(end.iterations) / options.max_iter);
    const std::vector<double> fitted = fitted_cells(cells, balanced(w), options.threads, monitor);
    const std::vector<double> g = negative_gradient(cells, fitted);
    EigenOptions lanczos;
    lanczos.tol = 1e-8;
    const Index pairs = options.corrective ? std::min<Index>(most, 5) : 1;
    const TruncatedSvd top = truncated_svd(on_cells(cells, g), pairs, lanczos, monitor);
    double with_w = 0;
    for (std::size_t a = 0; a < g.size(); ++a) with_w += g[a] * fitted[a];
    result.objective = result.loss = squared_loss(cells, fitted);
    result.gradient_norm = top.values[0];
    end.gap = std::max(0.0, t * top.values[0] - with_w);
    end.residual = end.gap / gap_scale(cells, result.loss);
    if (end.iterations > 0) result.trace.push_back(result.loss);
    end.converged = end.residual <= options.tol;
    if (end.converged || end.iterations >= options.max_iter) break;
    ++end.iterations;
    if (options.corrective) {
      const MatrixXd p = orthonormal(w.p, top.u), q = orthonormal(w.q, top.v);
      const MatrixXd m = (p.transpose() * w.p) * w.d.asDiagonal() * (w.q.transpose() * q);
      w = restricted(p, correct(cells, p, q, m, t, 0.05 * end.gap, options, monitor), q);
    } else {
      const Factors atom{std::sqrt(t) * top.u.col(0).transpose(), std::sqrt(t) * top.v.col(0).transpose()};
      const std::vector<double> there = fitted_cells(cells, atom, options.threads, monitor);
      double slope = 0, curvature = 0;
      for (std::size_t a = 0; a < g.size(); ++a) {
        const double change = there[a] - fitted[a];
        slope += g[a] * change;
        curvature += 2 * cells.by_col.weight[a] * change * change;
      }
      const double gamma = curvature > 0 ? std::min(1.0, slope / curvature) : 1.0;
      // W <- (1 - gamma) W + gamma t p q', compressed to its singular vectors
      const MatrixXd p = orthonormal(w.p, top.u), q = orthonormal(w.q, top.v);
      MatrixXd m = (1 - gamma) * (p.transpose() * w.p) * w.d.asDiagonal() * (w.q.transpose() * q);
      m += gamma * t * (p.transpose() * top.u) * (top.v.transpose() * q);
      w = restricted(p, m, q);
    }
  }
  result.w = std::move(w);
  result.certified = end.converged;
  if (!end.converged) end.message = "the iteration limit was reached";
  end.seconds = clock.seconds();
  return result;
}

CompletionResult complete_constrained(const ObservedCells& cells, double t, const Factors& start,
                                      const CompletionOptions& options, Monitor& monitor) {
  if (!(t > 0)) throw InputError("the trace norm allowed must be positive.");
  const Stopwatch clock;
  // ||W(lambda)||_tr falls as lambda grows: bracket, then regula falsi on log lambda, with a bisection whenever one end stays
  // put.
  const double top = lambda_max(cells, monitor);
  double high = top, low = 0, norm_high = 0, norm_low = 0, lambda = 0.5 * top;
  CompletionOptions inner = options;
  inner.tol = 0.1 * options.tol;
  CompletionResult fit;
  Factors from = start;
  int iterations = 0, same_side = 0;
  for (int round = 0; round < 30; ++round) {
    fit = complete_als(cells, lambda, from, inner, monitor);
    from = balanced(fit.w);
    iterations += fit.convergence.iterations;
    const double norm = fit.w.d.sum();
    // The gap of the constrained problem at W scaled to the sphere: t ||G|| - <G, W>.
    if (norm > 0) fit.w.d *= t / norm;
    CertificateOptions ask;
    ask.threads = options.threads;
    const Certificate seen = certify(cells, fit.w, lambda, ask, monitor);
    const std::vector<double> fitted = fitted_cells(cells, balanced(fit.w), options.threads, monitor);
    const std::vector<double> g = negative_gradient(cells, fitted);
    double with_w = 0;
    for (std::size_t a = 0; a < g.size(); ++a) with_w += g[a] * fitted[a];
    fit.objective = fit.loss = seen.loss;
    fit.gradient_norm = seen.norm;
    fit.convergence.gap = std::max(0.0, t * seen.norm - with_w);
    if (fit.convergence.gap <= options.tol * gap_scale(cells, seen.loss) || lambda < 1e-10 * top || high - low < 1e-14 * high)
      break;
    const bool above = norm > t;
    same_side = above == (same_side > 0) ? same_side + (above ? 1 : -1) : (above ? 1 : -1);
    (above ? low : high) = lambda;
    (above ? norm_low : norm_high) = norm;
    if (low == 0) {
      lambda *= 0.5;
    } else {
      const double share = std::abs(same_side) > 2 ? 0.5 : (norm_low - t) / (norm_low - norm_high);
      lambda = low * std::pow(high / low, share);
    }
  }
  Convergence& end = fit.convergence;
  end.iterations = iterations;
  end.residual = end.gap / gap_scale(cells, fit.loss);
  end.converged = fit.certified = end.residual <= options.tol;
  // The last digits of lambda are hard to get from inexact fits; a few corrective steps from here are not.
  if (!end.converged) {
    fit = complete_frank_wolfe(cells, t, balanced(fit.w), options, monitor);
    end.iterations += iterations;
  }
  end.seconds = clock.seconds();
  return fit;
}

}  // namespace granary::regress
