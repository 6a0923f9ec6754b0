#include "process/gplvm_sparse_likelihood.h"

#include <cmath>
#include <limits>

#include "core/linalg/spd_inverse.h"
#include "core/linalg/dense.h"

namespace granary::process {

namespace {

constexpr double log_two_pi = 1.8378770664093454836;
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

GplvmSparseLikelihood::GplvmSparseLikelihood(const NoisyTargets& targets, const std::vector<Index>& active, double nugget)
    : active_(active), nugget_(nugget) {
  std::vector<bool> inside(static_cast<std::size_t>(targets.y.rows()), false);
  for (Index k : active) inside[static_cast<std::size_t>(k)] = true;
  for (Index j = 0; j < targets.y.rows(); ++j)
    if (!inside[static_cast<std::size_t>(j)]) rest_.push_back(j);
  const NoisyTargets others = targets.rows(rest_);
  for (ColumnGroup& columns : group_columns(targets.rows(active_))) {
    const Index count = static_cast<Index>(columns.columns.size());
    Group group{std::move(columns), MatrixXd(others.y.rows(), count), MatrixXd()};
    if (!others.plain()) group.noise.resize(others.y.rows(), count);
    for (Index c = 0; c < count; ++c) {
      const Index i = group.active.columns[static_cast<std::size_t>(c)];
      group.y.col(c) = others.y.col(i);
      for (Index j = 0; j < group.noise.rows(); ++j) group.noise(j, c) = others.observed(j, i) ? others.noise(j, i) : infinity;
    }
    groups_.push_back(std::move(group));
  }
}

// The group's share of F; that of its slopes is added where there is room for it.
double GplvmSparseLikelihood::add_group(const Group& group, const MatrixXd& k, const MatrixXd& cross, const VectorXd& own,
                                        Slopes* slopes) const {
  const std::vector<Index>& rows = group.active.rows;
  const Index size = static_cast<Index>(rows.size()), rest = group.y.rows();
  const double columns = static_cast<double>(group.active.columns.size());
  MatrixXd a(size, size);
  for (Index j = 0; j < size; ++j)
    for (Index i = 0; i < size; ++i) a(i, j) = k(rows[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(j)]);
  a.diagonal() += group.active.noise;
  a.diagonal().array() += nugget_;
  const LltInPlace factor(a);  // in place
  if (factor.info() != Eigen::Success) return -infinity;
  const MatrixXd alpha = factor.solve(group.active.y);
  const double log_det = 2 * a.diagonal().array().log().sum();
  double value = -0.5 * (columns * (static_cast<double>(size) * log_two_pi + log_det) + alpha.cwiseProduct(group.active.y).sum());

  const MatrixXd kg = take_rows(cross, rows), w = factor.solve(kg);
  const VectorXd s = (own - kg.cwiseProduct(w).colwise().sum().transpose()).cwiseMax(1e-14 * own);
  MatrixXd g = group.y - kg.transpose() * alpha;
  VectorXd h = VectorXd::Zero(rest);
  if (group.noise.size() == 0) {
    const VectorXd square = g.rowwise().squaredNorm();
    value -= 0.5 * (columns * (static_cast<double>(rest) * log_two_pi + s.array().log().sum()) + square.cwiseQuotient(s).sum());
    h = 0.5 * (square.cwiseQuotient(s).array() - columns).matrix().cwiseQuotient(s);
    g.array().colwise() /= s.array();
  } else {
    for (Index c = 0; c < g.cols(); ++c) {
      for (Index j = 0; j < rest; ++j) {
        const double total = s[j] + group.noise(j, c), gap = g(j, c);
        g(j, c) = 0;
        if (!(total < infinity)) continue;  // missing
        value -= 0.5 * (log_two_pi + std::log(total) + gap * gap / total);
        h[j] += 0.5 * (gap * gap / total - 1) / total;
        g(j, c) = gap / total;
      }
    }
  }
  if (!slopes || !std::isfinite(value)) return value;

  inverse_from_cholesky(a);
  MatrixXd da = a.selfadjointView<Eigen::Lower>();
  da *= -0.5 * columns;
  da.noalias() += 0.5 * alpha * alpha.transpose();
  const MatrixXd weighted = w * h.asDiagonal(), outer = (w * g) * alpha.transpose();
  da.noalias() += weighted * w.transpose();
  da -= 0.5 * (outer + outer.transpose());
  MatrixXd dk = alpha * g.transpose();
  dk -= 2 * weighted;
  for (Index j = 0; j < size; ++j)
    for (Index i = 0; i < size; ++i) slopes->a(rows[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(j)]) += da(i, j);
  for (Index i = 0; i < size; ++i) slopes->cross.row(rows[static_cast<std::size_t>(i)]) += dk.row(i);
  slopes->own += h;
  return value;
}

double GplvmSparseLikelihood::operator()(const Kernel& kernel, ConstMatrixRef x, VectorXd* d_parameters, MatrixXd* d_x,
                                         Monitor& monitor) const {
  const Index d = static_cast<Index>(active_.size()), rest = static_cast<Index>(rest_.size());
  const MatrixXd x_active = take_rows(x, active_), x_rest = take_rows(x, rest_);
  const MatrixXd k = kernel.matrix(x_active), cross = rest > 0 ? kernel.cross(x_active, x_rest) : MatrixXd(d, 0);
  VectorXd own(rest);
  if (rest > 0) own = (kernel.diagonal(x_rest).array() + nugget_).matrix();
  if (!k.allFinite() || !cross.allFinite() || !own.allFinite()) return -infinity;
  const bool gradient = d_parameters || d_x;
  Slopes slopes;
  if (gradient) slopes = {MatrixXd::Zero(d, d), MatrixXd::Zero(d, rest), VectorXd::Zero(rest)};
  double value = 0;
  for (const Group& group : groups_) {
    monitor.check();
    value += add_group(group, k, cross, own, gradient ? &slopes : nullptr);
    if (!std::isfinite(value)) return -infinity;
  }
  if (!gradient) return value;

  VectorXd dp = VectorXd::Zero(kernel.n_parameters());
  MatrixXd dx_active = MatrixXd::Zero(d, x.cols()), dx_rest = MatrixXd::Zero(rest, x.cols());
  if (rest > 0) {
    kernel.add_cross_gradient(x_active, x_rest, slopes.cross, dp, d_x ? &dx_active : nullptr, d_x ? &dx_rest : nullptr);
    kernel.add_diagonal_gradient(x_rest, slopes.own, dp, d_x ? &dx_rest : nullptr);
  }
  kernel.add_gradient(x_active, slopes.a, dp, d_x ? &dx_active : nullptr);
  if (d_parameters) *d_parameters = dp;
  if (d_x) {
    d_x->resize(x.rows(), x.cols());
    for (Index j = 0; j < d; ++j) d_x->row(active_[static_cast<std::size_t>(j)]) = dx_active.row(j);
    for (Index j = 0; j < rest; ++j) d_x->row(rest_[static_cast<std::size_t>(j)]) = dx_rest.row(j);
  }
  return value;
}

}  // namespace granary::process
