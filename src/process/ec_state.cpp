#include "process/ec_state.h"

#include <algorithm>
#include <cmath>

#include "core/linalg/spd_inverse.h"
#include "core/linalg/dense.h"
#include "core/linalg/small.h"

namespace granary::process {

EcParameters difference(const EcParameters& a, const EcParameters& b) {
  return {a.gamma - b.gamma, a.lambda - b.lambda, a.edge - b.edge};
}

EcState::EcState(ConstMatrixRef j, ConstVectorRef theta, const EcForest& with_forest, const VectorXd& start)
    : forest(with_forest), j_(j), theta_(theta) {
  const Index n = theta.size();
  // Gershgorin's bound is never below the largest eigenvalue, and far above it only where the loops do not mind.
  const double bound = n <= 300 ? SymmetricEigen(j, EigenParts::values).eigenvalues().maxCoeff()
                                : j.cwiseAbs().rowwise().sum().maxCoeff();
  r.gamma = start.size() == n ? start : VectorXd::Zero(n);
  r.lambda = VectorXd::Constant(n, std::max(1.0, bound + 1 + 1e-10 * std::abs(bound)));
  r.edge = VectorXd::Zero(static_cast<Index>(forest.edges.size()));
}

bool EcState::refresh() {
  MatrixXd work = -j_;
  work.diagonal() += r.lambda;
  for (Index e = 0; e < r.edge.size(); ++e) {
    const auto [i, j] = forest.edges[e];
    work(i, j) += r.edge[e];
    work(j, i) += r.edge[e];
  }
  if (!work.allFinite()) return false;
  {
    const LltInPlace llt(work);
    if (llt.info() != Eigen::Success) return false;
  }
  const double log_det = 2 * work.diagonal().array().log().sum();
  inverse_from_cholesky(work);
  work.triangularView<Eigen::StrictlyUpper>() = work.transpose();
  if (!work.allFinite() || !(work.diagonal().minCoeff() > 0)) return false;
  chi.swap(work);
  log_det_ = log_det;
  mean = chi * (r.gamma + theta_);
  return mean.allFinite();
}

EcMoments EcState::moments() const {
  EcMoments m{mean, chi.diagonal(), VectorXd(r.edge.size())};
  for (Index e = 0; e < r.edge.size(); ++e) m.edge[e] = chi(forest.edges[e].first, forest.edges[e].second);
  return m;
}

double EcState::residual(const EcMoments& q) const {
  const Eigen::ArrayXd mq = q.mean, mr = mean;
  double sum =
      (mq - mr).square().sum() + 0.25 * (q.variance.array() + mq.square() - chi.diagonal().array() - mr.square()).square().sum();
  for (Index e = 0; e < r.edge.size(); ++e) {
    const auto [i, j] = forest.edges[e];
    const double gap = q.edge[e] + mq[i] * mq[j] - chi(i, j) - mr[i] * mr[j];
    sum += gap * gap;
  }
  return sum;
}

void EcState::replace_node(Index i, double mean_i, double variance_i) {
  const double v = chi(i, i), m = mean[i];
  const VectorXd column = chi.col(i) / v;
  mean += column * (mean_i - m);
  chi.noalias() += (variance_i - v) * column * column.transpose();
  r.lambda[i] += 1 / variance_i - 1 / v;
  r.gamma[i] += mean_i / variance_i - m / v;
}

void EcState::replace_pair(Index e, double mean_i, double mean_j, double variance_i, double variance_j, double covariance) {
  const auto [i, j] = forest.edges[e];
  Eigen::Matrix2d old, now;
  old << chi(i, i), chi(i, j), chi(i, j), chi(j, j);
  now << variance_i, covariance, covariance, variance_j;
  const Eigen::Vector2d old_mean(mean[i], mean[j]), now_mean(mean_i, mean_j);
  const Eigen::Matrix2d precision = old.inverse(), now_precision = now.inverse();
  Eigen::Matrix<double, Eigen::Dynamic, 2> columns(size(), 2);
  columns.col(0) = chi.col(i);
  columns.col(1) = chi.col(j);
  const Eigen::Matrix<double, Eigen::Dynamic, 2> regression = columns * precision;
  const Eigen::Matrix2d change = now - old;
  mean += regression * (now_mean - old_mean);
  chi.noalias() += (regression * change) * regression.transpose();
  const Eigen::Matrix2d d = now_precision - precision;
  const Eigen::Vector2d shift = now_precision * now_mean - precision * old_mean;
  r.lambda[i] += d(0, 0);
  r.lambda[j] += d(1, 1);
  r.edge[e] += d(0, 1);
  r.gamma[i] += shift[0];
  r.gamma[j] += shift[1];
}

EcView view(const EcState& state) {
  EcView v;
  v.s = state.moments();
  v.q = difference(gaussian_parameters(v.s, state.forest), state.r);
  v.spins = binary_inference(v.q, state.forest);
  v.residual = state.residual(v.spins.moments);
  v.log_z = v.spins.log_z + state.log_zr() - gaussian_log_z(v.s, state.forest);
  return v;
}

}  // namespace granary::process
