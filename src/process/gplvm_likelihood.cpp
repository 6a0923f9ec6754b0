#include "process/gplvm_likelihood.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/parallel.h"
#include "core/linalg/spd_inverse.h"
#include "core/linalg/dense.h"

namespace granary::process {

namespace {

constexpr double log_two_pi = 1.8378770664093454836;
constexpr std::size_t batch = 8;  // groups whose gradients are held at a time

// A square factor R' with R'R = Y Y' when Y has more columns than rows.
MatrixXd compressed(const MatrixXd& y) {
  if (y.cols() <= y.rows()) return y;
  const MatrixXd transposed = y.transpose();
  const Qr qr(transposed);
  const MatrixXd r = qr.matrixQR().topRows(y.rows()).triangularView<Eigen::Upper>();
  return r.transpose();
}

}  // namespace

GplvmLikelihood::GplvmLikelihood(const NoisyTargets& targets, double nugget, int threads)
    : n_(targets.y.rows()), nugget_(nugget), threads_(threads) {
  for (ColumnGroup& group : group_columns(targets)) {
    Group kept;
    kept.rows = std::move(group.rows);
    kept.noise = std::move(group.noise);
    kept.count = static_cast<double>(group.columns.size());
    kept.y = compressed(group.y);
    groups_.push_back(std::move(kept));
  }
}

// The group's share of L; the lower triangle of its dL/dK, as large as the group, into `gradient`.
double GplvmLikelihood::add_group(const Group& group, const MatrixXd& k, MatrixXd* gradient) const {
  const Index size = static_cast<Index>(group.rows.size());
  MatrixXd a(size, size);
  if (size == n_) {
    a.triangularView<Eigen::Lower>() = k;
  } else {
    for (Index j = 0; j < size; ++j) {
      const double* column = k.data() + group.rows[static_cast<std::size_t>(j)] * n_;
      for (Index i = j; i < size; ++i) a(i, j) = column[group.rows[static_cast<std::size_t>(i)]];
    }
  }
  a.diagonal() += group.noise;
  a.diagonal().array() += nugget_;
  if (!a.diagonal().allFinite()) return -std::numeric_limits<double>::infinity();
  const LltInPlace factor(a);  // in place
  if (factor.info() != Eigen::Success) return -std::numeric_limits<double>::infinity();
  MatrixXd alpha = group.y;
  a.triangularView<Eigen::Lower>().solveInPlace(alpha);
  const double log_det = 2 * a.diagonal().array().log().sum();
  const double value = -0.5 * (group.count * (static_cast<double>(size) * log_two_pi + log_det) + alpha.squaredNorm());
  if (!gradient) return value;
  a.transpose().triangularView<Eigen::Upper>().solveInPlace(alpha);
  inverse_from_cholesky(a);
  a.triangularView<Eigen::Lower>() *= -0.5 * group.count;
  a.selfadjointView<Eigen::Lower>().rankUpdate(alpha, 0.5);
  gradient->swap(a);
  return value;
}

double GplvmLikelihood::operator()(const Kernel& kernel, ConstMatrixRef x, VectorXd* d_parameters, MatrixXd* d_x,
                                   Monitor& monitor) const {
  const bool gradient = d_parameters || d_x;
  const MatrixXd k = kernel.matrix(x);
  if (!k.allFinite()) return -std::numeric_limits<double>::infinity();
  double value = 0;
  MatrixXd g;
  if (gradient && groups_.size() != 1) g = MatrixXd::Zero(n_, n_);
  for (std::size_t first = 0; first < groups_.size(); first += batch) {
    const std::size_t count = std::min(batch, groups_.size() - first);
    std::vector<double> values(count);
    std::vector<MatrixXd> parts(count);
    parallel_for(static_cast<Index>(count), threads_, monitor, [&](Index b) {
      const std::size_t at = static_cast<std::size_t>(b);
      values[at] = add_group(groups_[first + at], k, gradient ? &parts[at] : nullptr);
    });
    for (std::size_t b = 0; b < count; ++b) {
      value += values[b];
      if (!std::isfinite(value)) return -std::numeric_limits<double>::infinity();
      if (!gradient) continue;
      const std::vector<Index>& rows = groups_[first + b].rows;
      const Index size = static_cast<Index>(rows.size());
      if (groups_.size() == 1 && size == n_) {
        g.swap(parts[b]);
        continue;
      }
      if (g.size() == 0) g = MatrixXd::Zero(n_, n_);
      for (Index j = 0; j < size; ++j) {  // rows ascend, so the lower triangle stays one
        double* column = g.data() + rows[static_cast<std::size_t>(j)] * n_;
        for (Index i = j; i < size; ++i) column[rows[static_cast<std::size_t>(i)]] += parts[b](i, j);
      }
    }
  }
  if (!gradient) return value;
  VectorXd dp = VectorXd::Zero(kernel.n_parameters());
  if (d_x) d_x->setZero(x.rows(), x.cols());
  kernel.add_gradient(x, g, dp, d_x);
  if (d_parameters) *d_parameters = dp;
  return value;
}

}  // namespace granary::process
