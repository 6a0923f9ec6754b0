#include "core/infer/emission_gaussian.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"

namespace granary {
namespace {

constexpr double log_two_pi = 1.8378770664093454836;

using Vec = Eigen::Map<VectorXd>;
using ConstVec = Eigen::Map<const VectorXd>;
using Mat = Eigen::Map<MatrixXd>;
using ConstMat = Eigen::Map<const MatrixXd>;

}  // namespace

// Parameters: means (p x k), then covariances: full p x p x k, tied p x p, diagonal p x k, spherical k.
// Statistics: S0 (k), S1 (p x k), then S2: full p x p x k, diagonal p x k, spherical k, tied none (its sum does not depend on Q).
GaussianEmission::GaussianEmission(ConstMatrixRef y, ConstVectorRef weights, Index k, CovarianceKind kind, double prior_df, double floor)
    : y_(y), k_(k), p_(y.cols()), kind_(kind), prior_df_(prior_df), floor_(floor) {
  const double total = weights.size() > 0 ? weights.sum() : static_cast<double>(y.rows());
  centre_ = weights.size() > 0 ? VectorXd(y.transpose() * weights / total) : VectorXd(y.colwise().mean().transpose());
  y_.rowwise() -= centre_.transpose();
  spread_.resize(p_);
  for (Index j = 0; j < p_; ++j) {
    const double ss = weights.size() > 0 ? (y_.col(j).array().square() * weights.array()).sum() : y_.col(j).squaredNorm();
    spread_[j] = ss / total;
  }
  const double largest = spread_.maxCoeff();
  if (!(largest > 0)) throw InputError("all rows are equal: a Gaussian state has no variance then.");
  for (Index j = 0; j < p_; ++j)
    if (spread_[j] <= 0) spread_[j] = 1e-12 * largest;
  if (kind_ == CovarianceKind::tied) {
    total_second_ = weights.size() > 0 ? MatrixXd(y_.transpose() * weights.asDiagonal() * y_) : MatrixXd(y_.transpose() * y_);
  }
}

Index GaussianEmission::second_size() const {
  switch (kind_) {
    case CovarianceKind::full: return p_ * p_ * k_;
    case CovarianceKind::diagonal: return p_ * k_;
    case CovarianceKind::spherical: return k_;
    default: return 0;
  }
}

Index GaussianEmission::covariance_size() const { return kind_ == CovarianceKind::tied ? p_ * p_ : second_size(); }

Index GaussianEmission::free_parameters() const {
  const Index triangle = p_ * (p_ + 1) / 2;
  switch (kind_) {
    case CovarianceKind::full: return k_ * (p_ + triangle);
    case CovarianceKind::diagonal: return 2 * k_ * p_;
    case CovarianceKind::spherical: return k_ * (p_ + 1);
    default: return k_ * p_ + triangle;
  }
}

void GaussianEmission::set(const double* theta) {
  means_ = ConstMat(theta, p_, k_);
  const double* c = theta + k_ * p_;
  half_log_det_.resize(k_);
  const Index factors = kind_ == CovarianceKind::tied ? 1 : k_;
  factor_.resize(static_cast<std::size_t>(factors));
  for (Index h = 0; h < factors; ++h) {
    MatrixXd& f = factor_[static_cast<std::size_t>(h)];
    switch (kind_) {
      case CovarianceKind::full:
      case CovarianceKind::tied: {
        const Llt llt(ConstMat(c + h * p_ * p_, p_, p_));
        if (llt.info() != Eigen::Success) throw NumericalError("the covariance of a state is not positive definite.");
        f = llt.matrixL();
        half_log_det_[h] = f.diagonal().array().log().sum();
        break;
      }
      case CovarianceKind::diagonal:
        f = ConstVec(c + h * p_, p_).array().sqrt().matrix();
        half_log_det_[h] = f.array().log().sum();
        break;
      case CovarianceKind::spherical:
        f = VectorXd::Constant(p_, std::sqrt(c[h]));
        half_log_det_[h] = 0.5 * static_cast<double>(p_) * std::log(c[h]);
        break;
    }
    if (!std::isfinite(half_log_det_[h])) throw NumericalError("the covariance of a state is not positive definite.");
  }
  if (kind_ == CovarianceKind::tied) half_log_det_.setConstant(half_log_det_[0]);
}

void GaussianEmission::log_density(Index from, MatrixRef out) const {
  const Index n = out.rows();
  const double constant = 0.5 * static_cast<double>(p_) * log_two_pi;
  MatrixXd z(p_, n);
  MatrixXd white, white_means;
  if (kind_ == CovarianceKind::tied) {  // one solve serves all states
    white = y_.middleRows(from, n).transpose();
    factor_[0].triangularView<Eigen::Lower>().solveInPlace(white);
    white_means = means_;
    factor_[0].triangularView<Eigen::Lower>().solveInPlace(white_means);
  }
  for (Index h = 0; h < k_; ++h) {
    switch (kind_) {
      case CovarianceKind::full:
        z = y_.middleRows(from, n).transpose();
        z.colwise() -= means_.col(h);
        factor_[static_cast<std::size_t>(h)].triangularView<Eigen::Lower>().solveInPlace(z);
        break;
      case CovarianceKind::tied: z = white.colwise() - white_means.col(h); break;
      default:
        z = y_.middleRows(from, n).transpose();
        z.colwise() -= means_.col(h);
        z.array().colwise() /= factor_[static_cast<std::size_t>(h)].col(0).array();
    }
    out.col(h) = -0.5 * z.colwise().squaredNorm().transpose();
    out.col(h).array() -= constant + half_log_det_[h];
  }
}

void GaussianEmission::accumulate(Index from, ConstMatrixRef r, double* s) const {
  const Index n = r.rows();
  const auto y = y_.middleRows(from, n);
  Vec(s, k_) += r.colwise().sum().transpose();
  Mat(s + k_, p_, k_).noalias() += y.transpose() * r;
  double* second = s + k_ * (1 + p_);
  if (kind_ == CovarianceKind::tied) return;
  if (kind_ == CovarianceKind::full) {
    MatrixXd weighted(n, p_);
    for (Index h = 0; h < k_; ++h) {
      weighted = y.array().colwise() * r.col(h).array();
      Mat(second + h * p_ * p_, p_, p_).noalias() += y.transpose() * weighted;
    }
    return;
  }
  const MatrixXd squares = y.array().square().matrix();
  if (kind_ == CovarianceKind::diagonal) {
    Mat(second, p_, k_).noalias() += squares.transpose() * r;
  } else {
    Vec(second, k_).noalias() += r.transpose() * squares.rowwise().sum();
  }
}

// full: p x p; diagonal: p x 1; spherical: 1 x 1 (summed over columns); tied: p x p, of all states together (h is not used, mean ignored).
MatrixXd GaussianEmission::scatter(const double* s, Index h, ConstVectorRef mean) const {
  const double s0 = s[h];
  const ConstVec s1(s + k_ + h * p_, p_);
  const double* second = s + k_ * (1 + p_);
  switch (kind_) {
    case CovarianceKind::full: {
      MatrixXd c = ConstMat(second + h * p_ * p_, p_, p_);
      c -= s1 * mean.transpose() + mean * s1.transpose() - s0 * mean * mean.transpose();
      return 0.5 * (c + c.transpose());
    }
    case CovarianceKind::diagonal:
      return (ConstVec(second + h * p_, p_).array() - 2 * s1.array() * mean.array() + s0 * mean.array().square()).matrix();
    case CovarianceKind::spherical: return MatrixXd::Constant(1, 1, second[h] - 2 * s1.dot(mean) + s0 * mean.squaredNorm());
    default: throw NumericalError("a tied covariance has no scatter of its own.");
  }
}

void GaussianEmission::lift(MatrixXd& covariance) {
  const Llt llt(covariance);
  bool low = llt.info() != Eigen::Success;
  for (Index j = 0; j < p_ && !low; ++j) low = !(llt.matrixLLT()(j, j) * llt.matrixLLT()(j, j) > 1e-4 * floor_ * spread_[j]);
  if (!low) return;
  ++repairs_;
  covariance.diagonal() += floor_ * spread_;
}

// The prior adds prior_df rows of covariance diag(spread) to the scatter of a state; its mode is then (C + df diag(spread)) / (S0 + df).
void GaussianEmission::maximise(const double* s, double* theta) {
  double* c = theta + k_ * p_;
  MatrixXd sum = MatrixXd::Zero(kind_ == CovarianceKind::tied ? p_ : 0, kind_ == CovarianceKind::tied ? p_ : 0);
  double weight = 0;
  for (Index h = 0; h < k_; ++h) weight += std::max(0.0, s[h]);
  if (kind_ == CovarianceKind::tied) sum = total_second_;
  for (Index h = 0; h < k_; ++h) {
    Vec mean(theta + h * p_, p_);
    if (!(s[h] > 1e-10 * weight)) continue;  // a state without rows keeps what it had
    const ConstVec s1(s + k_ + h * p_, p_);
    mean = s1 / s[h];
    const double n = s[h] + prior_df_;
    switch (kind_) {
      case CovarianceKind::full: {
        MatrixXd covariance = scatter(s, h, mean);
        covariance.diagonal() += prior_df_ * spread_;
        covariance /= n;
        lift(covariance);
        Mat(c + h * p_ * p_, p_, p_) = covariance;
        break;
      }
      case CovarianceKind::diagonal: {
        Vec v(c + h * p_, p_);
        v = (scatter(s, h, mean).col(0) + prior_df_ * spread_) / n;
        for (Index j = 0; j < p_; ++j) {
          if (v[j] > 1e-4 * floor_ * spread_[j]) continue;
          ++repairs_;
          v[j] = std::max(0.0, v[j]) + floor_ * spread_[j];
        }
        break;
      }
      case CovarianceKind::spherical: {
        double& v = c[h];
        v = (scatter(s, h, mean)(0, 0) + prior_df_ * spread_.sum()) / (n * static_cast<double>(p_));
        if (!(v > 1e-4 * floor_ * spread_.mean())) {
          ++repairs_;
          v = std::max(0.0, v) + floor_ * spread_.mean();
        }
        break;
      }
      case CovarianceKind::tied: sum -= s1 * mean.transpose(); break;
    }
  }
  if (kind_ == CovarianceKind::tied) {
    MatrixXd covariance = 0.5 * (sum + sum.transpose());
    covariance.diagonal() += prior_df_ * spread_;
    covariance /= weight + prior_df_;
    lift(covariance);
    Mat(c, p_, p_) = covariance;
  }
}

double GaussianEmission::log_prior() const {
  if (prior_df_ <= 0) return 0;
  double sum = 0;
  const Index factors = static_cast<Index>(factor_.size());
  for (Index h = 0; h < factors; ++h) {
    const MatrixXd& f = factor_[static_cast<std::size_t>(h)];
    double trace = 0;  // tr(Sigma^-1 diag(spread))
    if (kind_ == CovarianceKind::full || kind_ == CovarianceKind::tied) {
      MatrixXd root = spread_.cwiseSqrt().asDiagonal();
      f.triangularView<Eigen::Lower>().solveInPlace(root);
      trace = root.squaredNorm();
    } else {
      trace = (spread_.array() / f.col(0).array().square()).sum();
    }
    sum -= prior_df_ * (half_log_det_[h] + 0.5 * trace);
  }
  return sum;
}

double GaussianEmission::complete(const double* s) const {
  const double p = static_cast<double>(p_);
  double sum = log_prior(), weight = 0;
  MatrixXd pooled;
  if (kind_ == CovarianceKind::tied) pooled = total_second_;
  for (Index h = 0; h < k_; ++h) {
    const double s0 = s[h];
    weight += s0;
    sum -= s0 * (half_log_det_[h] + 0.5 * p * log_two_pi);
    if (kind_ == CovarianceKind::tied) {
      const ConstVec s1(s + k_ + h * p_, p_);
      pooled += s0 * means_.col(h) * means_.col(h).transpose() - s1 * means_.col(h).transpose() - means_.col(h) * s1.transpose();
      continue;
    }
    MatrixXd c = scatter(s, h, means_.col(h));
    const MatrixXd& f = factor_[static_cast<std::size_t>(h)];
    if (kind_ == CovarianceKind::full) {
      f.triangularView<Eigen::Lower>().solveInPlace(c);
      MatrixXd d = c.transpose();
      f.triangularView<Eigen::Lower>().solveInPlace(d);
      sum -= 0.5 * d.trace();
    } else if (kind_ == CovarianceKind::diagonal) {
      sum -= 0.5 * (c.col(0).array() / f.col(0).array().square()).sum();
    } else {
      sum -= 0.5 * c(0, 0) / (f(0, 0) * f(0, 0));
    }
  }
  if (kind_ == CovarianceKind::tied) {
    factor_[0].triangularView<Eigen::Lower>().solveInPlace(pooled);
    MatrixXd d = pooled.transpose();
    factor_[0].triangularView<Eigen::Lower>().solveInPlace(d);
    sum -= 0.5 * d.trace();
  }
  return sum;
}

double GaussianEmission::score(const double* s, double total) const {
  double worst = 0;
  const auto look = [&](double x) { worst = std::max(worst, std::abs(x)); };
  MatrixXd pooled;
  if (kind_ == CovarianceKind::tied) pooled = total_second_;
  double weight = 0;
  for (Index h = 0; h < k_; ++h) {
    const double s0 = s[h];
    weight += s0;
    const MatrixXd& f = factor_[static_cast<std::size_t>(kind_ == CovarianceKind::tied ? 0 : h)];
    VectorXd step = ConstVec(s + k_ + h * p_, p_) - s0 * means_.col(h);
    const bool dense = kind_ == CovarianceKind::full || kind_ == CovarianceKind::tied;
    if (dense) {
      f.triangularView<Eigen::Lower>().solveInPlace(step);
    } else {
      step.array() /= f.col(0).array();
    }
    look(step.cwiseAbs().maxCoeff());
    if (kind_ == CovarianceKind::tied) {
      const ConstVec s1(s + k_ + h * p_, p_);
      pooled += s0 * means_.col(h) * means_.col(h).transpose() - s1 * means_.col(h).transpose() - means_.col(h) * s1.transpose();
      continue;
    }
    MatrixXd c = scatter(s, h, means_.col(h));
    const double n = s0 + prior_df_;
    if (kind_ == CovarianceKind::full) {
      c.diagonal() += prior_df_ * spread_;
      f.triangularView<Eigen::Lower>().solveInPlace(c);
      MatrixXd d = c.transpose();
      f.triangularView<Eigen::Lower>().solveInPlace(d);
      d.diagonal().array() -= n;
      look(0.5 * d.cwiseAbs().maxCoeff());
    } else if (kind_ == CovarianceKind::diagonal) {
      look(0.5 * ((c.col(0) + prior_df_ * spread_).array() / f.col(0).array().square() - n).abs().maxCoeff());
    } else {
      look(0.5 * ((c(0, 0) + prior_df_ * spread_.sum()) / (f(0, 0) * f(0, 0)) / static_cast<double>(p_) - n));
    }
  }
  if (kind_ == CovarianceKind::tied) {
    pooled.diagonal() += prior_df_ * spread_;
    factor_[0].triangularView<Eigen::Lower>().solveInPlace(pooled);
    MatrixXd d = pooled.transpose();
    factor_[0].triangularView<Eigen::Lower>().solveInPlace(d);
    d.diagonal().array() -= weight + prior_df_;
    look(0.5 * d.cwiseAbs().maxCoeff());
  }
  return worst / total;
}

GaussianStates GaussianEmission::read(const double* theta) const {
  GaussianStates out;
  out.means = (ConstMat(theta, p_, k_).colwise() + centre_).transpose();
  const double* c = theta + k_ * p_;
  for (Index h = 0; h < k_; ++h) {
    switch (kind_) {
      case CovarianceKind::full: out.covariance.push_back(ConstMat(c + h * p_ * p_, p_, p_)); break;
      case CovarianceKind::tied: out.covariance.push_back(ConstMat(c, p_, p_)); break;
      case CovarianceKind::diagonal: out.covariance.push_back(MatrixXd(ConstVec(c + h * p_, p_).asDiagonal())); break;
      case CovarianceKind::spherical: out.covariance.push_back(c[h] * MatrixXd::Identity(p_, p_)); break;
    }
  }
  return out;
}

void GaussianEmission::write(const GaussianStates& states, double* theta) const {
  require(states.means.rows() == k_ && states.means.cols() == p_ && static_cast<Index>(states.covariance.size()) == k_,
          message("the start must have ", k_, " means of ", p_, " columns and as many covariances."));
  Mat(theta, p_, k_) = (states.means.rowwise() - centre_.transpose()).transpose();
  double* c = theta + k_ * p_;
  if (kind_ == CovarianceKind::tied) Mat(c, p_, p_).setZero();
  for (Index h = 0; h < k_; ++h) {
    const MatrixXd& covariance = states.covariance[static_cast<std::size_t>(h)];
    require(covariance.rows() == p_ && covariance.cols() == p_, message("a covariance must be ", p_, " x ", p_, "."));
    switch (kind_) {
      case CovarianceKind::full: Mat(c + h * p_ * p_, p_, p_) = covariance; break;
      case CovarianceKind::tied: Mat(c, p_, p_) += covariance / static_cast<double>(k_); break;
      case CovarianceKind::diagonal: Vec(c + h * p_, p_) = covariance.diagonal(); break;
      case CovarianceKind::spherical: c[h] = covariance.diagonal().mean(); break;
    }
  }
}

}  // namespace granary
