#include "process/rvm_model.h"

#include <algorithm>
#include <limits>

#include "core/base/errors.h"
#include "core/linalg/dense.h"
#include "core/optim/lbfgs.h"

namespace granary::process {

// With D = A^-1/2 the system is B = I + beta D Phi'Phi D, whose eigenvalues are at least one. Where its largest is beyond 1e9, columns
// that nearly repeat one another have eaten up the digits of the Gram matrix, and [sqrt(beta) Phi D; I] = Q R takes its place, whose
// condition number is the square root. The quadratic form is the sum of squares that mu leaves, so that nothing cancels.
void refresh(RvmModel& model, const MatrixXd& gram, const VectorXd& projection, const RvmScaled& data) {
  const Index m = model.size(), rows = data.y.size();
  const double n = static_cast<double>(rows), beta = 1 / model.noise;
  double log_det = 0;
  VectorXd rest = data.y;
  if (m > 0) {
    const VectorXd d = model.alpha.cwiseSqrt().cwiseInverse();
    MatrixXd root;  // upper triangular, root'root = B
    VectorXd z;     // B^-1 sqrt(beta) D Phi'y
    MatrixXd inner = beta * (d.asDiagonal() * gram * d.asDiagonal());
    inner.diagonal().array() += 1;
    const bool stable = inner.trace() < 1e9;
    if (stable) {
      const Llt factor(inner);
      if (factor.info() != Eigen::Success) throw NumericalError("the system of the relevance vectors is singular.");
      root = factor.matrixL().toDenseMatrix().transpose();
      z = factor.solve(VectorXd(std::sqrt(beta) * d.cwiseProduct(projection)));
    } else {
      MatrixXd tall = MatrixXd::Zero(rows + m, m);
      for (Index k = 0; k < m; ++k) tall.col(k).head(rows) = (std::sqrt(beta) * d[k]) * data.phi.col(model.active[k]);
      tall.bottomRows(m).setIdentity();
      VectorXd right = VectorXd::Zero(rows + m);
      right.head(rows) = data.y;
      const Qr qr(tall);
      root = qr.r().topRows(m);
      z = qr.solve(right);
    }
    MatrixXd half = d.asDiagonal().toDenseMatrix();
    root.transpose().triangularView<Eigen::Lower>().solveInPlace(half);  // R'^-1 D
    model.covariance.noalias() = half.transpose() * half;
    model.mean = std::sqrt(beta) * d.cwiseProduct(z);
    log_det = 2 * root.diagonal().cwiseAbs().array().log().sum();
    for (Index k = 0; k < m; ++k) rest.noalias() -= model.mean[k] * data.phi.col(model.active[k]);
  } else {
    model.covariance.resize(0, 0);
    model.mean.resize(0);
  }
  const double quadratic = beta * rest.squaredNorm() + (m > 0 ? model.mean.cwiseAbs2().dot(model.alpha) : 0);
  model.evidence = -0.5 * (n * std::log(2 * std::acos(-1.0) * model.noise) + log_det + quadratic);
}

void refresh(RvmModel& model, const RvmScaled& data) {
  MatrixXd phi(data.y.size(), model.size());
  for (Index k = 0; k < model.size(); ++k) phi.col(k) = data.phi.col(model.active[k]);
  refresh(model, phi.transpose() * phi, phi.transpose() * data.y, data);
}

double residual_noise(const RvmModel& model, const RvmScaled& data) {
  VectorXd rest = data.y;
  for (Index k = 0; k < model.size(); ++k) rest -= model.mean[k] * data.phi.col(model.active[k]);
  const double n = static_cast<double>(data.y.size());
  const double freedom = std::max(n - gammas(model).sum(), 1e-3 * n);
  return std::max(rest.squaredNorm() / freedom, 1e-10);
}

double rvm_residual(const RvmModel& model) {
  if (model.size() == 0) return 0;
  return (model.alpha.array() * model.mean.array().square() - gammas(model).array()).abs().maxCoeff();
}

RvmModel equal_precisions(const RvmScaled& data, const RvmOptions& options, double noise, Monitor& monitor) {
  RvmModel model;
  for (Index k = 0; k < data.phi.cols(); ++k)
    if (data.phi.col(k).squaredNorm() > 0) model.active.push_back(k);
  const Svd svd(data.phi, SvdParts::thin);
  const Eigen::ArrayXd d2 = svd.singularValues().array().square();
  const Eigen::ArrayXd u2 = (svd.matrixU().transpose() * data.y).array().square();
  const double n = static_cast<double>(data.y.size()), rest = std::max(0.0, data.y.squaredNorm() - u2.sum());
  const double zeros = n - static_cast<double>(d2.size());
  const bool learns = !(options.noise > 0);
  const Objective minus = [&](const VectorXd& p, VectorXd& gradient) {
    const double s2 = learns ? std::exp(p[1]) : noise;
    const Eigen::ArrayXd part = d2 * std::exp(-p[0]), variance = part + s2;
    const Eigen::ArrayXd slope = 0.5 * (1 / variance - u2 / variance.square());  // of minus the evidence, in the variances
    gradient[0] = -(slope * part).sum();
    if (learns) gradient[1] = s2 * (slope.sum() + 0.5 * (zeros / s2 - rest / (s2 * s2)));
    return 0.5 * (variance.log().sum() + (u2 / variance).sum() + zeros * std::log(s2) + rest / s2);
  };
  const Index free = learns ? 2 : 1;
  LbfgsResult best;
  best.value = std::numeric_limits<double>::infinity();
  for (const double down : {0.0, 10.0, 20.0}) {
    VectorXd start = VectorXd::Constant(free, std::log(noise)), lower = VectorXd::Constant(free, std::log(1e-10)), upper(free);
    start[0] = std::log(static_cast<double>(model.size())) - down;
    lower[0] = start[0] - 60;
    upper = VectorXd::Constant(free, std::log(1e2));
    upper[0] = std::log(options.prune);
    LbfgsResult found = lbfgs_box(minus, start, lower, upper, LbfgsOptions(), monitor);
    if (found.value < best.value) best = std::move(found);
  }
  model.alpha = VectorXd::Constant(model.size(), std::exp(best.x[0]));
  model.noise = learns ? std::exp(best.x[1]) : noise;
  model.evidence = -best.value - 0.5 * n * std::log(2 * std::acos(-1.0));
  return model;
}

}  // namespace granary::process
