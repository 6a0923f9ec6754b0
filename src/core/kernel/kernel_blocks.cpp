// Kernel matrices in blocks, on several threads.
#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/kernel/kernel.h"
#include "core/kernel/kernel_parts.h"

namespace granary {

using kernel_detail::Same;

namespace {

constexpr double task_operations = 2e7;  // about ten milliseconds

Index tile_side(double operations) {
  return std::max<Index>(1, std::min<Index>(256, static_cast<Index>(std::sqrt(task_operations / std::max(1.0, operations)))));
}

}  // namespace

MatrixXd Kernel::matrix(ConstMatrixRef x, int threads, Monitor& monitor) const {
  require_columns(x.cols());
  const Index n = x.rows(), side = tile_side(root_->operations() + static_cast<double>(dimension_)),
              tiles = (n + side - 1) / side;
  MatrixXd k(n, n);
  parallel_for(tiles * (tiles + 1) / 2, root_->reentrant() ? threads : 1, monitor, [&](Index task) {
    Index column = 0, row = task;  // the task-th tile on or below the diagonal
    while (row >= tiles - column) row -= tiles - column++;
    row += column;
    const Index i = row * side, j = column * side, height = std::min(side, n - i), width = std::min(side, n - j);
    MatrixXd tile(height, width);
    root_->value(x.middleRows(i, height), x.middleRows(j, width), row == column ? Same{0} : Same{}, tile);
    if (row == column) {
      tile.triangularView<Eigen::StrictlyUpper>() = tile.transpose();
    } else {
      k.block(j, i, width, height) = tile.transpose();
    }
    k.block(i, j, height, width) = tile;
  });
  return k;
}

MatrixXd Kernel::cross(ConstMatrixRef x, ConstMatrixRef z, int threads, Monitor& monitor) const {
  require_columns(x.cols());
  require_columns(z.cols());
  MatrixXd k(x.rows(), z.rows());
  const Index side = tile_side(root_->operations() + static_cast<double>(dimension_));
  const Index down = (k.rows() + side - 1) / side, across = (k.cols() + side - 1) / side;
  parallel_for(down * across, root_->reentrant() ? threads : 1, monitor, [&](Index task) {
    const Index i = task % down * side, j = task / down * side;
    const Index height = std::min(side, k.rows() - i), width = std::min(side, k.cols() - j);
    root_->value(x.middleRows(i, height), z.middleRows(j, width), Same{}, k.block(i, j, height, width));
  });
  return k;
}

}  // namespace granary
