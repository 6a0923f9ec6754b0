#include "kernel/sampled_svd.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"
#include "core/linalg/spectral.h"
#include "core/lowrank/selection.h"
#include "core/lowrank/sketch.h"

namespace granary::kernel {

namespace {

// The columns of x at these places, scaled by 1 / sqrt(count p).
void rescale(MatrixXd& x, const std::vector<Index>& which, const VectorXd& squares) {
  const double total = squares.sum(), count = static_cast<double>(which.size());
  for (Index j = 0; j < x.cols(); ++j) x.col(j) *= std::sqrt(total / (count * squares[which[static_cast<std::size_t>(j)]]));
}

}  // namespace

SampledSvdResult sampled_svd(const MatrixSource& a, const SampledSvdOptions& options, Rng& rng, Monitor& monitor) {
  const Work work{options.threads, monitor};
  const VectorXd squares = a.column_squares(work);
  if (!(squares.sum() > 0)) throw InputError("the matrix is zero everywhere: there is nothing to draw.");
  SampledSvdResult out;
  out.norm = std::sqrt(squares.sum());
  out.index = draw_repeated(squares, options.c, rng);
  out.columns = a.some_columns(out.index, work);
  rescale(out.columns, out.index, squares);
  MatrixXd small = out.columns;
  if (options.method == SampledSvd::constant) {
    const VectorXd row_squares = out.columns.rowwise().squaredNorm();
    const std::vector<Index> rows = draw_repeated(row_squares, options.w, rng);
    MatrixXd chosen(out.columns.cols(), static_cast<Index>(rows.size()));
    for (Index i = 0; i < chosen.cols(); ++i) chosen.col(i) = out.columns.row(rows[static_cast<std::size_t>(i)]).transpose();
    rescale(chosen, rows, row_squares);
    small = chosen.transpose();
  }
  // By the eigenvectors of C'C, as the paper does: what is lost below the root of the rounding is not wanted.
  const SymmetricEigen eigen(small.transpose() * small);
  const VectorXd d = eigen.eigenvalues().reverse().cwiseMax(0.0).cwiseSqrt();
  const MatrixXd v = eigen.eigenvectors().rowwise().reverse();
  Index k = 0;
  while (k < std::min({options.k, d.size(), a.rows()}) && d[k] > 1e-7 * d[0]) ++k;
  out.values = d.head(k);
  const MatrixXd h = out.columns * v.leftCols(k) * out.values.cwiseInverse().asDiagonal();
  out.u = Qr(h).thin_q(k);
  fix_signs(out.u);
  const VectorXd left = a.residual_column_squares(out.u, a.transposed_times(out.u, work), work);
  out.error = std::sqrt(left.sum());
  return out;
}

}  // namespace granary::kernel
