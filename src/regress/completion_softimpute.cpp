// Soft-impute as accelerated proximal gradient, and hard-impute.
//
//   Y = W~ + (w / w_max) (X - W~) on S,   W~ elsewhere;   W+ = SVD of Y, singular values shrunk by lambda / (2 w_max)
//
// With unit weights Y is P_S(X) + P_Sc(W~). Mazumder, Hastie and Tibshirani (JMLR 11, 2010) for the map; Beck and Teboulle (2009)
// for the momentum; O'Donoghue and Candes (2015) for restarts, here whenever the objective rises. Y is sparse plus low rank, so
// its SVD costs O(N + (rows + cols) r) per product. The rank asked for grows until a singular value falls below the threshold:
// none above is lost.
#include <algorithm>
#include <cmath>

#include "core/linalg/spectral.h"
#include "regress/completion.h"

namespace granary::regress {

namespace {

// All singular triplets of S + U V' above `threshold`, at most `limit`; `guess` is where to start.
TruncatedSvd svd_above(const SparseMatrix& s, const MatrixXd& u, const MatrixXd& v, double threshold, Index guess, Index limit,
                       Monitor& monitor) {
  EigenOptions lanczos;
  lanczos.tol = 1e-9;
  const Index most = std::min(s.rows(), s.cols());
  for (Index k = std::min(most, guess + 1);; k = std::min(most, 2 * k)) {
    TruncatedSvd svd = truncated_svd(sparse_plus_low_rank(s, u, v), k, lanczos, monitor);
    if (k == most || k > limit || svd.values[k - 1] <= threshold) return svd;
  }
}

struct LowRank {  // U V' with the singular values in U
  MatrixXd u, v;
};

SparseMatrix sparse_step(const ObservedCells& cells, const MatrixXd& u, const MatrixXd& v, int threads, Monitor& monitor) {
  std::vector<double> change = fitted_cells(cells, {u.transpose(), v.transpose()}, threads, monitor);
  for (std::size_t a = 0; a < change.size(); ++a) {
    change[a] = cells.by_col.weight[a] / cells.largest_weight * (cells.by_col.value[a] - change[a]);
  }
  return on_cells(cells, change);
}

double objective_of(const ObservedCells& cells, const LowRank& w, double penalty, int threads, Monitor& monitor) {
  return squared_loss(cells, fitted_cells(cells, {w.u.transpose(), w.v.transpose()}, threads, monitor)) + penalty;
}

}  // namespace

CompletionResult complete_softimpute(const ObservedCells& cells, double lambda, const Factors& start,
                                     const CompletionOptions& options, Monitor& monitor) {
  if (!(lambda > 0)) throw InputError("lambda must be positive: without a penalty the completion is not unique.");
  const Stopwatch clock;
  const Index most = std::min(cells.rows, cells.cols), limit = options.rank > 0 ? std::min(options.rank, most) : most;
  const double threshold = 0.5 * lambda / cells.largest_weight;
  CompletionResult result;
  Convergence& end = result.convergence;
  ThinSvd w = thin_svd(start);
  LowRank now{w.p * w.d.asDiagonal(), w.q}, before = now;
  double objective = objective_of(cells, now, lambda * w.d.sum(), options.threads, monitor), momentum = 1;
  Certificate seen;
  CertificateOptions ask;
  ask.threads = options.threads;
  while (true) {
    if (end.iterations % 5 == 0 || end.iterations >= options.max_iter) {
      seen = certify(cells, w, lambda, ask, monitor);
      if (seen.gap <= options.tol * gap_scale(cells, seen.objective) || end.iterations >= options.max_iter) break;
    }
    ++end.iterations;
    monitor.progress(static_cast<double>(end.iterations) / options.max_iter);
    const double larger = 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum)), beta = (momentum - 1) / larger;
    const auto step = [&](double extrapolation) {
      MatrixXd u(cells.rows, now.u.cols() + (extrapolation > 0 ? before.u.cols() : 0)), v(cells.cols, u.cols());
      u.leftCols(now.u.cols()) = (1 + extrapolation) * now.u;
      v.leftCols(now.u.cols()) = now.v;
      if (extrapolation > 0) {
        u.rightCols(before.u.cols()) = -extrapolation * before.u;
        v.rightCols(before.u.cols()) = before.v;
      }
      const SparseMatrix change = sparse_step(cells, u, v, options.threads, monitor);
      const TruncatedSvd svd = svd_above(change, u, v, threshold, w.d.size() + 2, limit, monitor);
      Index keep = 0;
      while (keep < std::min(limit, svd.values.size()) && svd.values[keep] > threshold) ++keep;
      return ThinSvd{svd.u.leftCols(keep), svd.values.head(keep).array() - threshold, svd.v.leftCols(keep)};
    };
    ThinSvd moved = step(beta);
    LowRank next{moved.p * moved.d.asDiagonal(), moved.q};
    double value = objective_of(cells, next, lambda * moved.d.sum(), options.threads, monitor);
    momentum = larger;
    if (value > objective && beta > 0) {  // restart: the plain step from here cannot rise
      momentum = 1;
      moved = step(0);
      next = {moved.p * moved.d.asDiagonal(), moved.q};
      value = objective_of(cells, next, lambda * moved.d.sum(), options.threads, monitor);
    }
    before = std::move(now);
    now = std::move(next);
    w = std::move(moved);
    objective = value;
    result.trace.push_back(value);
  }
  result.w = std::move(w);
  take_certificate(seen, cells, options.tol, result);
  end.converged = result.certified;
  if (!end.converged) end.message = "the iteration limit was reached";
  end.seconds = clock.seconds();
  return result;
}

CompletionResult hard_impute(const ObservedCells& cells, Index rank, const CompletionOptions& options, Monitor& monitor) {
  const Stopwatch clock;
  CompletionResult result;
  Convergence& end = result.convergence;
  const Index k = std::min(rank, std::min(cells.rows, cells.cols));
  EigenOptions lanczos;
  lanczos.tol = 1e-8;
  LowRank now{MatrixXd::Zero(cells.rows, 0), MatrixXd::Zero(cells.cols, 0)};
  double loss = cells.total;
  while (end.iterations < options.max_iter && !end.converged) {
    ++end.iterations;
    monitor.progress(static_cast<double>(end.iterations) / options.max_iter);
    const SparseMatrix change = sparse_step(cells, now.u, now.v, options.threads, monitor);
    TruncatedSvd svd = truncated_svd(sparse_plus_low_rank(change, now.u, now.v), k, lanczos, monitor);
    now = {svd.u * svd.values.asDiagonal(), svd.v};
    const double value = objective_of(cells, now, 0, options.threads, monitor);
    end.residual = (loss - value) / std::max(cells.total, 1e-300);
    end.converged = end.residual <= options.tol;
    loss = value;
    result.trace.push_back(value);
    result.w = {std::move(svd.u), std::move(svd.values), std::move(svd.v)};
  }
  result.objective = result.loss = loss;
  if (!end.converged) end.message = "the iteration limit was reached";
  end.seconds = clock.seconds();
  return result;
}

}  // namespace granary::regress
