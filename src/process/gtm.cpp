#include "process/gtm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/errors.h"
#include "core/linalg/spectral.h"
#include "core/linalg/dense.h"

namespace granary::process {

namespace {

constexpr double log_two_pi = 1.8378770664093454836;

// All points of a regular grid in [-1, 1]^q, the first coordinate running fastest.
MatrixXd regular_grid(int side, Index q) {
  Index count = 1;
  for (Index k = 0; k < q; ++k) count *= side;
  MatrixXd grid(count, q);
  for (Index i = 0; i < count; ++i) {
    Index rest = i;
    for (Index k = 0; k < q; ++k) {
      const double step = static_cast<double>(rest % side);
      grid(i, k) = side > 1 ? 2 * step / (side - 1) - 1 : 0;
      rest /= side;
    }
  }
  return grid;
}

MatrixXd basis_at(const MatrixXd& grid, const MatrixXd& bumps, double sigma) {
  MatrixXd phi(grid.rows(), bumps.rows() + 1);
  for (Index m = 0; m < bumps.rows(); ++m)
    phi.col(m) = (-0.5 / (sigma * sigma) * (grid.rowwise() - bumps.row(m)).rowwise().squaredNorm().array()).exp().matrix();
  phi.col(bumps.rows()).setOnes();
  return phi;
}

MatrixXd squared_distances(ConstMatrixRef a, ConstMatrixRef b) {
  MatrixXd d = -2 * a * b.transpose();
  d.colwise() += a.rowwise().squaredNorm();
  d.rowwise() += b.rowwise().squaredNorm().transpose();
  return d.cwiseMax(0);
}

// Posterior probabilities of the grid points (rows) for the data (columns), in place of squared distances; log p of each row.
VectorXd responsibilities(MatrixXd& d, double noise, Index dimension) {
  const double constant =
      std::log(static_cast<double>(d.rows())) + 0.5 * static_cast<double>(dimension) * (log_two_pi + std::log(noise));
  VectorXd log_p(d.cols());
  for (Index n = 0; n < d.cols(); ++n) {
    const double least = d.col(n).minCoeff();
    d.col(n) = (-0.5 / noise * (d.col(n).array() - least)).exp().matrix();
    const double total = d.col(n).sum();
    d.col(n) /= total;
    log_p[n] = std::log(total) - 0.5 * least / noise - constant;
  }
  return log_p;
}

}  // namespace

GtmResult gtm(ConstMatrixRef y, Index q, const GtmOptions& options, Monitor& monitor) {
  const Stopwatch clock;
  const Index n = y.rows(), d = y.cols();
  if (q < 1 || q > std::min(n, d)) throw InputError(message("q must be between 1 and ", std::min(n, d), ", not ", q, "."));
  if (std::pow(options.grid, static_cast<double>(q)) > 1e6)
    throw InputError("the grid has more than a million points; use fewer or a smaller q.");
  GtmResult result;
  result.grid = regular_grid(options.grid, q);
  const double spacing = options.basis > 1 ? 2.0 / (options.basis - 1) : 2.0;
  const MatrixXd phi = basis_at(result.grid, regular_grid(options.basis, q), options.width * spacing);
  const Index m = phi.cols();

  // The plane of the leading components, its grid as wide as two standard deviations; the noise that of the next component, or of
  // the spacing.
  const Index components = std::min(q + 1, std::min(n, d));
  const TruncatedSvd svd = truncated_svd(MatrixXd(y), components, EigenOptions(), monitor);
  const VectorXd sd = svd.values / std::sqrt(static_cast<double>(n));
  const double size = y.squaredNorm() / static_cast<double>(n * d);
  if (!(size > 0)) throw InputError("the data do not vary.");
  const MatrixXd target = result.grid * sd.head(q).asDiagonal() * svd.v.leftCols(q).transpose();
  MatrixXd normal = phi.transpose() * phi;
  normal.diagonal().array() += 1e-8 * normal.diagonal().mean();
  result.weights = Llt(normal).solve(phi.transpose() * target);
  const double next = components > q ? sd[q] * sd[q] : 0;
  const double gap = sd[0] / std::max(1, options.grid - 1);
  result.noise = std::max(std::max(next, gap * gap), 1e-8 * size);

  std::vector<double> trace;
  double last = 0;
  for (int step = 0;; ++step) {
    monitor.progress(static_cast<double>(step) / options.max_iter);
    result.centres = phi * result.weights;
    MatrixXd r = squared_distances(result.centres, y);
    result.log_likelihood = responsibilities(r, result.noise, d).sum();
    const double value = result.log_likelihood - 0.5 * options.penalty * result.weights.squaredNorm();
    trace.push_back(value);
    result.x = r.transpose() * result.grid;
    result.convergence.residual = step > 0 ? std::abs(value - last) / std::max(1.0, std::abs(value)) : 1;
    last = value;
    result.convergence.iterations = step;
    if (result.convergence.residual <= options.tol) {
      result.convergence.converged = true;
      break;
    }
    if (step >= options.max_iter) {
      result.convergence.message = "the iteration limit was reached; raise max_iter or loosen tol";
      break;
    }
    const VectorXd mass = r.rowwise().sum();
    normal = phi.transpose() * mass.asDiagonal() * phi;
    normal.diagonal().array() += options.penalty * result.noise;
    const Llt factor(normal);
    MatrixXd right(m, d);
    right.noalias() = phi.transpose() * (r * y);
    if (factor.info() == Eigen::Success) result.weights = factor.solve(right);
    const MatrixXd apart = squared_distances(phi * result.weights, y);
    result.noise = std::max(r.cwiseProduct(apart).sum() / static_cast<double>(n * d), 1e-8 * size);
  }
  result.trace = Eigen::Map<const VectorXd>(trace.data(), static_cast<Index>(trace.size()));
  result.convergence.seconds = clock.seconds();
  return result;
}

void gtm_place(ConstMatrixRef y, ConstMatrixRef grid, ConstMatrixRef centres, double noise, MatrixXd& x,
               VectorXd& log_likelihood) {
  MatrixXd r = squared_distances(centres, y);
  log_likelihood = responsibilities(r, noise, y.cols());
  x = r.transpose() * grid;
}

}  // namespace granary::process
