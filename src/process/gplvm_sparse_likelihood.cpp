#include "gplvm_sparse_likelihood.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>

#include "core/spd_inverse.h"
#include "gplvm_groups.h"

namespace granary::process {

namespace {

constexpr double log_two_pi = 1.8378770664093454836;
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

GplvmSparseLikelihood::GplvmSparseLikelihood(ConstMatrixRef y, const std::vector<Index>& active, double nugget)
    : active_(active), nugget_(nugget) {
  std::vector<bool> inside(static_cast<std::size_t>(y.rows()), false);
  for (Index k : active) inside[static_cast<std::size_t>(k)] = true;
  for (Index j = 0; j < y.rows(); ++j)
    if (!inside[static_cast<std::size_t>(j)]) rest_.push_back(j);
  y_active_ = take_rows(y, active_);
  y_rest_ = take_rows(y, rest_);
}

double GplvmSparseLikelihood::operator()(const Kernel& kernel, ConstMatrixRef x, VectorXd* d_parameters, MatrixXd* d_x,
                                         Monitor& monitor) const {
  monitor.check();
  const Index d = y_active_.rows(), rest = y_rest_.rows();
  const double columns = static_cast<double>(y_active_.cols());
  const MatrixXd x_active = take_rows(x, active_), x_rest = take_rows(x, rest_);
  MatrixXd a = kernel.matrix(x_active);
  a.diagonal().array() += nugget_;
  if (!a.allFinite()) return -infinity;
  const Eigen::LLT<Eigen::Ref<MatrixXd>> factor(a);  // in place
  if (factor.info() != Eigen::Success) return -infinity;
  const MatrixXd alpha = factor.solve(y_active_);
  const double log_det = 2 * a.diagonal().array().log().sum();
  double value = -0.5 * (columns * (static_cast<double>(d) * log_two_pi + log_det) + alpha.cwiseProduct(y_active_).sum());

  MatrixXd w(d, rest), g(rest, y_active_.cols());
  VectorXd h(rest);
  if (rest > 0) {
    const MatrixXd k = kernel.cross(x_active, x_rest);
    w = factor.solve(k);
    const VectorXd own = (kernel.diagonal(x_rest).array() + nugget_).matrix();
    const VectorXd s = (own - k.cwiseProduct(w).colwise().sum().transpose()).cwiseMax(1e-14 * own);
    g = y_rest_ - k.transpose() * alpha;
    const VectorXd square = g.rowwise().squaredNorm();
    value -= 0.5 * (columns * (static_cast<double>(rest) * log_two_pi + s.array().log().sum()) + square.cwiseQuotient(s).sum());
    h = 0.5 * (square.cwiseQuotient(s).array() - columns).matrix().cwiseQuotient(s);
    g.array().colwise() /= s.array();
  }
  if (!std::isfinite(value)) return -infinity;
  if (!d_parameters && !d_x) return value;

  inverse_from_cholesky(a);
  MatrixXd da = a.selfadjointView<Eigen::Lower>();
  da *= -0.5 * columns;
  da.noalias() += 0.5 * alpha * alpha.transpose();
  VectorXd dp = VectorXd::Zero(kernel.n_parameters());
  MatrixXd dx_active = MatrixXd::Zero(d, x.cols()), dx_rest = MatrixXd::Zero(rest, x.cols());
  if (rest > 0) {
    const MatrixXd weighted = w * h.asDiagonal();
    const MatrixXd outer = (w * g) * alpha.transpose();
    da.noalias() += weighted * w.transpose();
    da -= 0.5 * (outer + outer.transpose());
    MatrixXd dk = alpha * g.transpose();
    dk -= 2 * weighted;
    kernel.add_cross_gradient(x_active, x_rest, dk, dp, d_x ? &dx_active : nullptr, d_x ? &dx_rest : nullptr);
    kernel.add_diagonal_gradient(x_rest, h, dp, d_x ? &dx_rest : nullptr);
  }
  kernel.add_gradient(x_active, da, dp, d_x ? &dx_active : nullptr);
  if (d_parameters) *d_parameters = dp;
  if (d_x) {
    d_x->resize(x.rows(), x.cols());
    for (Index k = 0; k < d; ++k) d_x->row(active_[static_cast<std::size_t>(k)]) = dx_active.row(k);
    for (Index j = 0; j < rest; ++j) d_x->row(rest_[static_cast<std::size_t>(j)]) = dx_rest.row(j);
  }
  return value;
}

}  // namespace granary::process
