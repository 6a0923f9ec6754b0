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
GaussianEmission::GaussianEmission(ConstMatrixRef y, ConstVectorRef weights, Index k, CovarianceKind kind, double prior_df,
                                   double floor, const GaussianBounds& bounds)
    : y_(y), k_(k), p_(y.cols()), kind_(kind), prior_df_(prior_df), floor_(floor), clip_(bounds.clip), observed_(y.rows()) {
  VectorXd own;  // weights, none on missing rows
  for (Index i = 0; i < y_.rows(); ++i) {
    bool missing = false;
    for (Index j = 0; j < p_ && !missing; ++j) missing = std::isnan(y_(i, j));
    if (!missing) continue;
    if (missing_.empty()) {
      missing_.assign(static_cast<std::size_t>(y_.rows()), 0);
      own = weights.size() > 0 ? VectorXd(weights) : VectorXd::Ones(y_.rows());
    }
    missing_[static_cast<std::size_t>(i)] = 1;
    own[i] = 0;
    y_.row(i).setZero();
    --observed_;
  }
  if (observed_ == 0) throw InputError("no row has a value in every column.");
  if (own.size() == 0 && weights.size() > 0) own = weights;
  const double total = own.size() > 0 ? own.sum() : static_cast<double>(y.rows());
  if (!(total > 0)) throw InputError("no row with values has a positive weight.");
  centre_ = own.size() > 0 ? VectorXd(y_.transpose() * own / total) : VectorXd(y_.colwise().mean().transpose());
  y_.rowwise() -= centre_.transpose();
  if (!missing_.empty())
    for (Index i = 0; i < y_.rows(); ++i)
      if (missing_[static_cast<std::size_t>(i)] != 0) y_.row(i).setZero();
  spread_.resize(p_);
  for (Index j = 0; j < p_; ++j) {
    const double ss = own.size() > 0 ? (y_.col(j).array().square() * own.array()).sum() : y_.col(j).squaredNorm();
    spread_[j] = ss / total;
  }
  if (bounds.spread.size() > 0) spread_ = bounds.spread;
  const double largest = spread_.maxCoeff();
  if (!(largest > 0)) throw InputError("all rows are equal: a Gaussian state has no variance then.");
  for (Index j = 0; j < p_; ++j)
    if (spread_[j] <= 0) spread_[j] = 1e-12 * largest;
  if (kind_ == CovarianceKind::tied) {
    total_second_ = own.size() > 0 ? MatrixXd(y_.transpose() * own.asDiagonal() * y_) : MatrixXd(y_.transpose() * y_);
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

void GaussianEmission::set(const double* theta) { at_.set(kind_, ConstMat(theta, p_, k_), theta + k_ * p_); }

void GaussianEmission::log_density(Index from, MatrixRef out) const {
  at_.log_density(y_.middleRows(from, out.rows()), out);
  if (missing_.empty()) return;
  for (Index i = 0; i < out.rows(); ++i)
    if (missing_[static_cast<std::size_t>(from + i)] != 0) out.row(i).setZero();
}

void GaussianEmission::accumulate(Index from, ConstMatrixRef given, double* s) const {
  const Index n = given.rows();
  const auto y = y_.middleRows(from, n);
  MatrixXd seen;
  if (!missing_.empty()) {
    seen = given;
    for (Index i = 0; i < n; ++i)
      if (missing_[static_cast<std::size_t>(from + i)] != 0) seen.row(i).setZero();
  }
  const ConstMatrixRef r = missing_.empty() ? given : ConstMatrixRef(seen);
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

// full: p x p; diagonal: p x 1; spherical: 1 x 1 (summed over columns); tied: p x p, of all states together (h is not used, mean
// ignored).
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
  if (clip_) {
    clip_covariance(covariance, spread_, floor_);
    return;
  }
  const Llt llt(covariance);
  bool low = llt.info() != Eigen::Success;
  for (Index j = 0; j < p_ && !low; ++j) low = !(llt.matrixLLT()(j, j) * llt.matrixLLT()(j, j) > 1e-4 * floor_ * spread_[j]);
  if (!low) return;
  ++repairs_;
  covariance.diagonal() += floor_ * spread_;
}

void GaussianEmission::lift(double& variance, double spread) {
  if (clip_) {
    variance = std::max(variance, floor_ * spread);
  } else if (!(variance > 1e-4 * floor_ * spread)) {
    ++repairs_;
    variance = std::max(0.0, variance) + floor_ * spread;
  }
}

// The prior adds prior_df rows of covariance diag(spread) to the scatter of a state; its mode is then (C + df diag(spread)) / (S0
// + df).
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
        for (Index j = 0; j < p_; ++j) lift(v[j], spread_[j]);
        break;
      }
      case CovarianceKind::spherical: {
        double& v = c[h];
        v = (scatter(s, h, mean)(0, 0) + prior_df_ * spread_.sum()) / (n * static_cast<double>(p_));
        lift(v, spread_.mean());
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
  const Index factors = kind_ == CovarianceKind::tied ? 1 : k_;
  for (Index h = 0; h < factors; ++h) {
    const MatrixXd& f = at_.factor(h);
    double trace = 0;  // tr(Sigma^-1 diag(spread))
    if (kind_ == CovarianceKind::full || kind_ == CovarianceKind::tied) {
      MatrixXd root = spread_.cwiseSqrt().asDiagonal();
      f.triangularView<Eigen::Lower>().solveInPlace(root);
      trace = root.squaredNorm();
    } else {
      trace = (spread_.array() / f.col(0).array().square()).sum();
    }
    sum -= prior_df_ * (at_.half_log_det()[h] + 0.5 * trace);
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
    sum -= s0 * (at_.half_log_det()[h] + 0.5 * p * log_two_pi);
    if (kind_ == CovarianceKind::tied) {
      const ConstVec s1(s + k_ + h * p_, p_);
      pooled += s0 * at_.means().col(h) * at_.means().col(h).transpose() - s1 * at_.means().col(h).transpose()
          - at_.means().col(h) * s1.transpose();
      continue;
    }
    MatrixXd c = scatter(s, h, at_.means().col(h));
    const MatrixXd& f = at_.factor(h);
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
    at_.factor(0).triangularView<Eigen::Lower>().solveInPlace(pooled);
    MatrixXd d = pooled.transpose();
    at_.factor(0).triangularView<Eigen::Lower>().solveInPlace(d);
    sum -= 0.5 * d.trace();
  }
  return sum;
}

// With bounds the derivative is that towards what the M-step would give: half of n |L^-1 (C - Sigma) L^-T|, C the bounded
// covariance of the scatter.
double GaussianEmission::clipped_score(MatrixXd c, double n, const MatrixXd& factor) const {
  c /= n;
  clip_covariance(c, spread_, floor_);
  factor.triangularView<Eigen::Lower>().solveInPlace(c);
  MatrixXd d = c.transpose();
  factor.triangularView<Eigen::Lower>().solveInPlace(d);
  d.diagonal().array() -= 1;
  return 0.5 * n * d.cwiseAbs().maxCoeff();
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
    const MatrixXd& f = at_.factor(h);
    VectorXd step = ConstVec(s + k_ + h * p_, p_) - s0 * at_.means().col(h);
    const bool dense = kind_ == CovarianceKind::full || kind_ == CovarianceKind::tied;
    if (dense) {
      f.triangularView<Eigen::Lower>().solveInPlace(step);
    } else {
      step.array() /= f.col(0).array();
    }
    look(step.cwiseAbs().maxCoeff());
    if (kind_ == CovarianceKind::tied) {
      const ConstVec s1(s + k_ + h * p_, p_);
      pooled += s0 * at_.means().col(h) * at_.means().col(h).transpose() - s1 * at_.means().col(h).transpose()
          - at_.means().col(h) * s1.transpose();
      continue;
    }
    MatrixXd c = scatter(s, h, at_.means().col(h));
    const double n = s0 + prior_df_;
    if (n <= 0) continue;
    if (kind_ == CovarianceKind::full) {
      c.diagonal() += prior_df_ * spread_;
      if (clip_) {
        look(clipped_score(c, n, f));
        continue;
      }
      f.triangularView<Eigen::Lower>().solveInPlace(c);
      MatrixXd d = c.transpose();
      f.triangularView<Eigen::Lower>().solveInPlace(d);
      d.diagonal().array() -= n;
      look(0.5 * d.cwiseAbs().maxCoeff());
    } else if (kind_ == CovarianceKind::diagonal) {
      VectorXd v = c.col(0) + prior_df_ * spread_;
      if (clip_) v = v.cwiseMax(n * floor_ * spread_);
      look(0.5 * (v.array() / f.col(0).array().square() - n).abs().maxCoeff());
    } else {
      double v = (c(0, 0) + prior_df_ * spread_.sum()) / static_cast<double>(p_);
      if (clip_) v = std::max(v, n * floor_ * spread_.mean());
      look(0.5 * (v / (f(0, 0) * f(0, 0)) - n));
    }
  }
  if (kind_ == CovarianceKind::tied) {
    pooled.diagonal() += prior_df_ * spread_;
    if (clip_) {
      look(clipped_score(pooled, weight + prior_df_, at_.factor(0)));
      return worst / total;
    }
    at_.factor(0).triangularView<Eigen::Lower>().solveInPlace(pooled);
    MatrixXd d = pooled.transpose();
    at_.factor(0).triangularView<Eigen::Lower>().solveInPlace(d);
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
    out.covariance.push_back(state_covariance(kind_, c, p_, h));
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
