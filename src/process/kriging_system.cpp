#include "process/kriging_system.h"
#include "core/linalg/dense.h"

#include <cmath>

namespace granary::process {

void KrigingSystem::append(ConstVectorRef column, double diagonal, ConstVectorRef f, Index more) {
  const Index n = c_.size();
  c_.append(column, diagonal, more);
  const auto last = c_.lower().row(n);
  const Eigen::RowVectorXd carried = last.head(n) * root_;
  root_.conservativeResize(n + 1, Eigen::NoChange);
  root_.row(n) = (f.transpose() - carried) / last[n];
}

void KrigingSystem::finish(VectorXd yt) {
  if (beta_.size() > 0) yt.noalias() -= root_ * beta_;
  e_ = std::move(yt);
  alpha_ = c_.solve_upper(e_);
}

Index KrigingSystem::solve_flat(ConstVectorRef y, double tol) {
  const Index p = root_.cols();
  VectorXd yt = c_.solve_lower(VectorXd(y));
  beta_.resize(p);
  if (p > 0) {
    const Qr qr(root_);
    MatrixXd g = qr.matrixQR().topRows(p).triangularView<Eigen::Upper>();
    const VectorXd column = root_.colwise().norm();
    for (Index j = 0; j < p; ++j) {
      if (!(std::abs(g(j, j)) > tol * column[j])) return j;
      if (g(j, j) < 0) g.row(j) = -g.row(j);
    }
    beta_ = qr.solve(yt);
    w_ = Cholesky::from_lower(g.transpose());
  }
  finish(std::move(yt));
  return -1;
}

void KrigingSystem::solve_normal(ConstVectorRef y, ConstVectorRef mean, ConstVectorRef inverse_variance) {
  VectorXd yt = c_.solve_lower(VectorXd(y));
  MatrixXd precision = root_.transpose() * root_;
  precision.diagonal() += inverse_variance;
  w_ = Cholesky(precision);
  beta_ = w_.solve(VectorXd(root_.transpose() * yt + inverse_variance.cwiseProduct(mean)));
  finish(std::move(yt));
}

void KrigingSystem::solve_known(ConstVectorRef y, ConstVectorRef beta) {
  w_ = Cholesky();
  beta_ = beta;
  finish(c_.solve_lower(VectorXd(y)));
}

VectorXd KrigingSystem::variance(MatrixXd r, ConstMatrixRef f, ConstVectorRef k) const {
  c_.lower().triangularView<Eigen::Lower>().solveInPlace(r);
  VectorXd result = k - r.colwise().squaredNorm().transpose();
  if (uncertain()) {
    const MatrixXd u = w_.solve_lower(MatrixXd(root_.transpose() * r - f.transpose()));
    result += u.colwise().squaredNorm().transpose();
  }
  return result.cwiseMax(0);
}

MatrixXd KrigingSystem::covariance(MatrixXd r, ConstMatrixRef f, ConstMatrixRef k) const {
  c_.lower().triangularView<Eigen::Lower>().solveInPlace(r);
  MatrixXd result = k;
  result.noalias() -= r.transpose() * r;
  if (uncertain()) {
    const MatrixXd u = w_.solve_lower(MatrixXd(root_.transpose() * r - f.transpose()));
    result.noalias() += u.transpose() * u;
  }
  return 0.5 * (result + result.transpose());
}

VectorXd KrigingSystem::variance_slopes(ConstMatrixRef r, ConstMatrixRef f, ConstVectorRef k, MatrixXd& on_r,
                                        MatrixXd& on_f) const {
  const MatrixXd v = c_.solve_lower(MatrixXd(r));
  VectorXd result = k - v.colwise().squaredNorm().transpose();
  on_f.setZero(f.cols(), f.rows());
  on_r = -2 * v;
  if (uncertain()) {
    const MatrixXd u = root_.transpose() * v - f.transpose();
    on_f = -2 * w_.solve(u);
    result -= 0.5 * u.cwiseProduct(on_f).colwise().sum().transpose();
    on_r.noalias() -= root_ * on_f;
  }
  c_.lower().transpose().triangularView<Eigen::Upper>().solveInPlace(on_r);
  return result.cwiseMax(0);
}

MatrixXd KrigingSystem::weights(ConstMatrixRef r, ConstMatrixRef f) const {
  MatrixXd v = c_.solve_lower(MatrixXd(r));
  if (uncertain()) v -= root_ * w_.solve(MatrixXd(root_.transpose() * v - f.transpose()));
  return c_.solve_upper(v);
}

MatrixXd KrigingSystem::half_projection() const { return w_.solve_lower(MatrixXd(c_.solve_upper(root_).transpose())); }

void KrigingSystem::project(MatrixXd& inverse) const {
  if (!uncertain()) return;
  const MatrixXd a = half_projection();
  inverse.noalias() -= a.transpose() * a;
}

VectorXd KrigingSystem::projection() const {
  if (!uncertain()) return VectorXd::Zero(c_.size());
  return half_projection().colwise().squaredNorm().transpose();
}

}  // namespace granary::process
