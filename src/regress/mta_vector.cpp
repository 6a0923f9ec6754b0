#include "regress/mta_vector.h"


#include "core/base/errors.h"
#include "core/linalg/dense.h"

namespace granary::regress {

VectorMeansResult shrink_vectors(ConstMatrixRef mean, ConstMatrixRef common, ConstVectorRef scale, ConstMatrixRef a, double tau2,
                                 double gamma, Monitor& monitor) {
  const SymmetricEigen eigen(common);
  const MatrixXd& u = eigen.eigenvectors();
  const MatrixXd rotated = mean * u;
  MatrixXd estimate(mean.rows(), mean.cols()), variance(mean.rows(), mean.cols());
  VectorXd target(mean.cols());
  for (Index k = 0; k < mean.cols(); ++k) {
    const VectorXd s = scale * std::max(0.0, eigen.eigenvalues()[k]);
    const MeansResult one =
        a.size() == 0 ? shrink_to_common(rotated.col(k), s, tau2) : shrink_along(a, rotated.col(k), s, gamma, true, monitor);
    estimate.col(k) = one.estimate;
    variance.col(k) = one.variance;
    target[k] = one.target;
  }
  VectorMeansResult out;
  out.estimate = estimate * u.transpose();
  out.variance = variance * u.array().square().matrix().transpose();
  if (a.size() == 0) out.target = u * target;
  return out;
}

namespace {

VectorMeansResult shrink_blocks_to_common(ConstMatrixRef mean, const std::vector<MatrixXd>& blocks, double tau2,
                                          Monitor& monitor) {
  const Index tasks = mean.rows(), d = mean.cols();
  const MatrixXd identity = MatrixXd::Identity(d, d);
  std::vector<MatrixXd> w(tasks);
  MatrixXd total = MatrixXd::Zero(d, d), noise = MatrixXd::Zero(d, d);
  VectorXd sum = VectorXd::Zero(d);
  const VectorXd origin = mean.row(0);
  for (Index t = 0; t < tasks; ++t) {
    if ((t & 255) == 0) monitor.check();
    w[t] = Lu(identity + blocks[t] / tau2).inverse();
    total += w[t];
    noise += w[t] * blocks[t] * w[t].transpose();
    sum += w[t] * (mean.row(t).transpose() - origin);
  }
  const Lu factor(total);
  const MatrixXd inverse = factor.inverse();
  VectorMeansResult out;
  out.target = origin + inverse * sum;
  const MatrixXd target_noise = inverse * noise * inverse.transpose();
  out.estimate.resize(tasks, d);
  out.variance.resize(tasks, d);
  for (Index t = 0; t < tasks; ++t) {
    const MatrixXd away = identity - w[t];
    out.estimate.row(t) = (out.target + w[t] * (mean.row(t).transpose() - out.target)).transpose();
    const MatrixXd cross = w[t] * blocks[t] * w[t].transpose() * inverse.transpose() * away.transpose();
    const MatrixXd covariance =
        w[t] * blocks[t] * w[t].transpose() + cross + cross.transpose() + away * target_noise * away.transpose();
    out.variance.row(t) = covariance.diagonal();
  }
  return out;
}

}  // namespace

VectorMeansResult shrink_vectors(ConstMatrixRef mean, const std::vector<MatrixXd>& blocks, ConstMatrixRef a, double tau2,
                                 double gamma, Monitor& monitor) {
  const Index tasks = mean.rows(), d = mean.cols();
  if (a.size() == 0) return shrink_blocks_to_common(mean, blocks, tau2, monitor);
  MatrixXd system = MatrixXd::Identity(tasks * d, tasks * d), sigma = MatrixXd::Zero(tasks * d, tasks * d);
  VectorXd right(tasks * d);
  for (Index t = 0; t < tasks; ++t) {
    const MatrixXd scaled = blocks[t] * (gamma / static_cast<double>(tasks));
    sigma.block(t * d, t * d, d, d) = blocks[t];
    right.segment(t * d, d) = (mean.row(t) - mean.row(0)).transpose();
    for (Index r = 0; r < tasks; ++r) {
      if (r == t) continue;
      system.block(t * d, t * d, d, d) += scaled * a(t, r);
      system.block(t * d, r * d, d, d) -= scaled * a(t, r);
    }
  }
  monitor.check();
  const MatrixXd w = Lu(system).inverse();
  const VectorXd solved = w * right;
  const VectorXd variance = (w * sigma).cwiseProduct(w).rowwise().sum();
  VectorMeansResult out;
  out.estimate.resize(tasks, d);
  out.variance.resize(tasks, d);
  for (Index t = 0; t < tasks; ++t) {
    out.estimate.row(t) = solved.segment(t * d, d).transpose() + mean.row(0);
    out.variance.row(t) = variance.segment(t * d, d).transpose();
  }
  return out;
}

VectorMeansResult shrink_vectors(const VectorMeansData& data, Monitor& monitor) {
  if (!data.blocks.empty()) return shrink_vectors(data.mean, data.blocks, data.similarity, data.tau2, data.gamma, monitor);
  return shrink_vectors(data.mean, data.common, data.scale, data.similarity, data.tau2, data.gamma, monitor);
}

}  // namespace granary::regress
