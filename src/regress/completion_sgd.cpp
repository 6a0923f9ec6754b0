// Stochastic gradient on the factors, the paper's choice of algorithm for (5) and (6).
//
//   draw (i, j) in S;  e = X_ij - U_i'V_j;  U_i += eta (2 e V_j - lambda/n_i U_i),  V_j += eta (2 e U_i - lambda/n_j V_j)
//
// with n_i and n_j the counts of the row and the column, so that an epoch applies the whole penalty; eta = eta_0 / (1 + epoch).
// An epoch visits every cell once in random order. Where the objective is not finite or above that of the start, the run starts
// again with half the step.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "regress/completion.h"

namespace granary::regress {

CompletionResult complete_sgd(const ObservedCells& cells, double lambda, const Factors& start, const CompletionOptions& options,
                              Rng& rng, Monitor& monitor) {
  if (!(lambda > 0)) throw InputError("lambda must be positive: without a penalty the completion is not unique.");
  const Stopwatch clock;
  CompletionResult result;
  Convergence& end = result.convergence;
  const Index most = std::min(cells.rows, cells.cols), r = options.rank > 0 ? std::min(options.rank, most) : most;
  const double size = std::sqrt(cells.total / cells.observations);
  double eta0 = options.step > 0 ? options.step : 0.1 / std::max(size, 1e-300);

  std::vector<int> row(cells.by_col.index), col(row.size()), order(row.size());
  for (Index j = 0; j < cells.cols; ++j) {
    for (int a = cells.by_col.start[j]; a < cells.by_col.start[j + 1]; ++a) col[a] = static_cast<int>(j);
  }
  const auto value_of = [&](const Factors& w) {
    return squared_loss(cells, fitted_cells(cells, w, options.threads, monitor)) +
           0.5 * lambda * (w.u.squaredNorm() + w.v.squaredNorm());
  };
  Factors first;
  if (start.rank() > 0) {
    first = start;
  } else {
    const double spread = 0.5 * std::sqrt(size / static_cast<double>(r));
    first = {MatrixXd(r, cells.rows), MatrixXd(r, cells.cols)};
    for (MatrixXd* part : {&first.u, &first.v}) {
      for (Index a = 0; a < part->size(); ++a) part->data()[a] = spread * rng.normal();
    }
  }
  const double bar = std::max(value_of(first), cells.total);
  Factors w = first;
  double objective = bar;
  VectorXd old(first.rank());
  for (int halvings = 0; halvings < 40; ++halvings) {
    bool fine = true;
    end.iterations = 0;
    end.converged = false;
    result.trace.clear();
    std::iota(order.begin(), order.end(), 0);
    while (fine && end.iterations < options.epochs && !end.converged) {
      const double eta = eta0 / (1.0 + end.iterations);
      rng.shuffle(order);
      for (std::size_t k = 0; k < order.size(); ++k) {
        if (k % 4096 == 0) monitor.check();
        const int a = order[k], i = row[a], j = col[a];
        const double ni = cells.by_row.start[i + 1] - cells.by_row.start[i],
                     nj = cells.by_col.start[j + 1] - cells.by_col.start[j];
        const double e = 2 * cells.by_col.weight[a] * (cells.by_col.value[a] - w.u.col(i).dot(w.v.col(j)));
        old = w.u.col(i);
        w.u.col(i) += eta * (e * w.v.col(j) - lambda / ni * w.u.col(i));
        w.v.col(j) += eta * (e * old - lambda / nj * w.v.col(j));
      }
      ++end.iterations;
      const double value = value_of(w);
      fine = std::isfinite(value) && value <= bar;
      if (fine) {
        end.converged = std::abs(objective - value) <= options.tol * value;
        objective = value;
        result.trace.push_back(value);
        monitor.progress(static_cast<double>(end.iterations) / options.epochs);
      }
    }
    if (fine) break;
    eta0 *= 0.5;
    w = first;
    objective = bar;
  }
  // Rows and columns that were never drawn keep their random start; the penalty alone would send them to zero.
  for (Index i = 0; i < cells.rows; ++i) {
    if (cells.by_row.start[i] == cells.by_row.start[i + 1]) w.u.col(i).setZero();
  }
  for (Index j = 0; j < cells.cols; ++j) {
    if (cells.by_col.start[j] == cells.by_col.start[j + 1]) w.v.col(j).setZero();
  }
  result.w = thin_svd(w);
  CertificateOptions ask;
  ask.threads = options.threads;
  const Certificate seen = certify(cells, result.w, lambda, ask, monitor);
  take_certificate(seen, cells, options.tol, result);
  end.converged = end.converged || result.certified;
  if (!end.converged) end.message = "the epochs were used up while the objective still moved";
  end.seconds = clock.seconds();
  return result;
}

}  // namespace granary::regress
