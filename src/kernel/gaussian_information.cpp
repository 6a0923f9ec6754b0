#include "kernel/gaussian_information.h"

#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/linalg/dense.h"

namespace granary::kernel {

namespace {

double from_correlations(const MatrixXd& r) {
  const VectorXd rho = Svd(r).singularValues();
  double out = 0;
  for (Index k = 0; k < rho.size(); ++k) {
    if (rho[k] >= 1 - 1e-12) return std::numeric_limits<double>::infinity();
    out -= 0.5 * std::log1p(-rho[k] * rho[k]);
  }
  return out;
}

// D^-1/2 K H times the root of the step, a row for each point of the grid.
MatrixXd grid_side(const GridVariable& v, Index grid) {
  const double low = v.x.minCoeff() - v.margin, high = v.x.maxCoeff() + v.margin;
  const VectorXd at = VectorXd::LinSpaced(grid, low, high);
  MatrixXd k = v.window.cross(at, v.x);
  const VectorXd total = k.rowwise().sum(), mean = k.rowwise().mean();
  k.colwise() -= mean;
  const double step = std::sqrt((high - low) / static_cast<double>(grid - 1));
  for (Index i = 0; i < grid; ++i) k.row(i) *= total[i] > 0 ? step / std::sqrt(total[i]) : 0;  // windows that underflow have no part
  return k;
}

}  // namespace

double table_information(ConstMatrixRef counts) {
  if (!(counts.size() > 0) || !(counts.minCoeff() >= 0) || !(counts.sum() > 0) || !std::isfinite(counts.sum()))
    throw InputError("a table must hold counts: finite, not negative, and not all zero.");
  const MatrixXd p = counts / counts.sum();
  const VectorXd row = p.rowwise().sum(), column = p.colwise().sum().transpose();
  MatrixXd r = MatrixXd::Zero(p.rows(), p.cols());
  for (Index j = 0; j < p.cols(); ++j)
    for (Index i = 0; i < p.rows(); ++i)
      if (row[i] > 0 && column[j] > 0) r(i, j) = (p(i, j) - row[i] * column[j]) / (std::sqrt(row[i]) * std::sqrt(column[j]));
  return from_correlations(r);
}

double grid_information(const GridVariable& x, const GridVariable& y, Index grid) {
  if (x.x.size() != y.x.size() || x.x.size() < 1 || grid < 2)
    throw InputError("the two variables need the same number of observations, and the grid two points.");
  return from_correlations(grid_side(x, grid) * grid_side(y, grid).transpose());
}

}  // namespace granary::kernel
