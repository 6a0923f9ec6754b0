// Alternating least squares on factors whose rank follows the certificate.
//
// The rows' factors are eliminated: F(V) = min_U f(U, V) is a function of V alone, and one sweep maps V to V+ (U from V, V+ from
// U). Anderson acceleration (Walker and Ni, SIAM J. Numer. Anal. 2011) extrapolates the map from its last few steps; a step that
// does not lower F is undone. When sweeps gain little, the certificate says whether directions are missing: singular vectors of
// the gradient, orthogonal to W, with values above lambda. They are appended with an exact line search; columns that an exact
// line search sends to zero are dropped. Every move lowers the objective, and a stationary point without missing directions is
// the global minimum of the convex problem.
#include <algorithm>
#include <cmath>

#include "core/optim/anderson.h"
#include "regress/completion.h"
#include "regress/completion_descent.h"
#include "regress/completion_sweep.h"

namespace granary::regress {

namespace {

constexpr Index sweep_rank = 12;  // above it, descent beats sweeps

// V -> V+ on the smaller side of the matrix, the other eliminated.
class SweepMap {
 public:
  SweepMap(const ObservedCells& cells, double lambda, int threads, Monitor& monitor)
      : cells_(cells), lambda_(lambda), threads_(threads), monitor_(monitor), tall_(cells.rows >= cells.cols) {}

  MatrixXd& kept(Factors& w) const { return tall_ ? w.v : w.u; }
  // Solves for the eliminated factor given the kept one; returns the objective of both.
  double eliminate(Factors& w) const {
    MatrixXd& other = tall_ ? w.u : w.v;
    return cells_.total + half_sweep(tall_ ? cells_.by_row : cells_.by_col, kept(w), lambda_, other, threads_, monitor_) +
           0.5 * lambda_ * kept(w).squaredNorm();
  }
  MatrixXd next(const Factors& w) const {
    MatrixXd image;
    half_sweep(tall_ ? cells_.by_col : cells_.by_row, tall_ ? w.u : w.v, lambda_, image, threads_, monitor_);
    return image;
  }

 private:
  const ObservedCells& cells_;
  double lambda_;
  int threads_;
  Monitor& monitor_;
  bool tall_;
};

// W + c sum_k (sigma_k - lambda) p_k q_k' with the best c; the new directions are orthogonal to W, so trace norms add up.
void append(const ObservedCells& cells, double lambda, const Certificate& seen, Index count, ThinSvd& w, int threads,
            Monitor& monitor) {
  const VectorXd excess = seen.values.head(count).array() - lambda;
  const VectorXd root = excess.cwiseSqrt();
  const Factors direction{root.asDiagonal() * seen.p.leftCols(count).transpose(),
                          root.asDiagonal() * seen.q.leftCols(count).transpose()};
  const std::vector<double> change = fitted_cells(cells, direction, threads, monitor);
  double curvature = 0;
  for (std::size_t a = 0; a < change.size(); ++a) curvature += cells.by_col.weight[a] * change[a] * change[a];
  const double c = excess.squaredNorm() / (2 * curvature);
  const Index r = w.d.size();
  w.p.conservativeResize(Eigen::NoChange, r + count);
  w.q.conservativeResize(Eigen::NoChange, r + count);
  w.d.conservativeResize(r + count);
  w.p.rightCols(count) = seen.p.leftCols(count);
  w.q.rightCols(count) = seen.q.leftCols(count);
  w.d.tail(count) = c * excess;
}

// Drops small singular values that an exact line search along their own scale sends to zero.
void prune(const ObservedCells& cells, double lambda, ThinSvd& w, int threads, Monitor& monitor) {
  Index keep = w.d.size();
  while (keep > 0 && w.d[keep - 1] < 1e-3 * w.d[0]) {
    const std::vector<double> fitted = fitted_cells(cells, balanced(w), threads, monitor);
    const Factors one{w.p.col(keep - 1).transpose(), w.q.col(keep - 1).transpose()};
    const std::vector<double> along = fitted_cells(cells, one, threads, monitor);
    double slope = -lambda, curvature = 0;  // of the objective along d, at the present d, the slope negated
    for (std::size_t a = 0; a < along.size(); ++a) {
      slope += 2 * cells.by_col.weight[a] * (cells.by_col.value[a] - fitted[a]) * along[a];
      curvature += 2 * cells.by_col.weight[a] * along[a] * along[a];
    }
    if (w.d[keep - 1] * curvature + slope > 0) break;
    --keep;
    w.d.conservativeResize(keep);
    w.p.conservativeResize(Eigen::NoChange, keep);
    w.q.conservativeResize(Eigen::NoChange, keep);
  }
}

}  // namespace

CompletionResult complete_als(const ObservedCells& cells, double lambda, const Factors& start, const CompletionOptions& options,
                              Monitor& monitor) {
  if (!(lambda > 0)) throw InputError("lambda must be positive: without a penalty the completion is not unique.");
  const Stopwatch clock;
  const Index most = std::min(cells.rows, cells.cols), limit = options.rank > 0 ? std::min(options.rank, most) : most;
  const SweepMap map(cells, lambda, options.threads, monitor);
  CompletionResult result;
  Convergence& end = result.convergence;

  ThinSvd w = thin_svd(start);
  if (w.d.size() > limit) {
    w.p = w.p.leftCols(limit).eval();
    w.q = w.q.leftCols(limit).eval();
    w.d = w.d.head(limit).eval();
  }
  Certificate seen;
  // Early on only missing directions matter, so sweeps stop at a gain of a thousandth; then the gap sets the target.
  double target = 1e-3;
  bool growing = true;
  while (true) {
    CertificateOptions ask;
    ask.threads = options.threads;
    ask.candidates = std::min(limit - w.d.size(), std::max<Index>(8, std::min<Index>(40, w.d.size() / 2)));
    ask.tol = growing ? 1e-3 : 1e-6;
    seen = certify(cells, w, lambda, ask, monitor);
    const double scale = gap_scale(cells, seen.objective);
    if (seen.gap <= options.tol * scale) {
      if (!growing) break;
      growing = false;  // look again, with the accuracy a certificate deserves
      continue;
    }
    Index missing = 0;  // a half of the largest: the rest may well vanish once these are in
    const double least = std::max(lambda * (1 + 1e-7), 0.5 * seen.outside);
    while (missing < seen.values.size() && missing < limit - w.d.size() && seen.values[missing] > least) ++missing;
    if (missing > 0) {
      append(cells, lambda, seen, missing, w, options.threads, monitor);
    } else {
      const bool settled = seen.inner_gap <= options.tol * scale;
      if (settled && w.d.size() >= limit && !growing) break;  // nothing left to do at this rank
      if (growing) {
        growing = false;
        target = 1e-2 * std::max(options.tol, 1e-12);
      } else {
        target = std::max(1e-16, 0.03 * target);
      }
    }
    if (end.iterations >= options.max_iter) break;

    prune(cells, lambda, w, options.threads, monitor);
    if (w.d.size() == 0) continue;
    if (w.d.size() > sweep_rank) {
      DescentOptions inner;
      inner.threads = options.threads;
      inner.max_iter = std::min(growing ? 10 : 100, options.max_iter - end.iterations);
      inner.tol = growing ? 1e-2 : 1e-3;
      inner.value_tol = 0.1 * target;
      const DescentResult found = descend(cells, lambda, w, inner, monitor);
      end.iterations += std::max(1, found.iterations);
      result.trace.push_back(found.objective);
      w = thin_svd(found.w);
      continue;
    }
    Factors now = balanced(w);
    Anderson anderson(options.anderson);
    double objective = map.eliminate(now);
    const int sweeps = growing ? 10 : 200;
    for (int sweep = 0; sweep < sweeps && end.iterations < options.max_iter; ++sweep) {
      ++end.iterations;
      monitor.progress(std::min(0.99, static_cast<double>(end.iterations) / options.max_iter));
      const MatrixXd image = map.next(now);
      Factors trial = now;
      map.kept(trial) = options.anderson > 0 ? anderson.next(map.kept(now), image) : image;
      double value = map.eliminate(trial);
      if (!(value <= objective)) {
        anderson.clear();
        map.kept(trial) = image;
        value = map.eliminate(trial);
      }
      result.trace.push_back(value);
      const double gain = (objective - value) / gap_scale(cells, value);
      now = std::move(trial);
      objective = std::min(objective, value);
      if (gain <= target) break;
    }
    w = thin_svd(now);
  }
  result.w = std::move(w);
  take_certificate(seen, cells, options.tol, result);
  const bool full = result.w.d.size() >= limit && limit < most;
  end.converged = result.certified || (full && seen.inner_gap <= options.tol * gap_scale(cells, seen.objective));
  if (!end.converged) end.message = "the iteration limit was reached";
  if (end.converged && !result.certified)
    end.message = "the rank limit binds: a stationary point, not certified to be the global minimum";
  end.seconds = clock.seconds();
  return result;
}

}  // namespace granary::regress
