#include "core/infer/gaussian_density.h"

#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"

namespace granary {
namespace {

constexpr double log_two_pi = 1.8378770664093454836;
using ConstVec = Eigen::Map<const VectorXd>;
using ConstMat = Eigen::Map<const MatrixXd>;

}  // namespace

Index covariance_size(CovarianceKind kind, Index p, Index k) {
  switch (kind) {
    case CovarianceKind::full: return p * p * k;
    case CovarianceKind::diagonal: return p * k;
    case CovarianceKind::spherical: return k;
    default: return p * p;
  }
}

Index gaussian_parameters(CovarianceKind kind, Index p, Index k) {
  const Index triangle = p * (p + 1) / 2;
  switch (kind) {
    case CovarianceKind::full: return k * (p + triangle);
    case CovarianceKind::diagonal: return 2 * k * p;
    case CovarianceKind::spherical: return k * (p + 1);
    default: return k * p + triangle;
  }
}

MatrixXd state_covariance(CovarianceKind kind, const double* c, Index p, Index h) {
  switch (kind) {
    case CovarianceKind::full: return ConstMat(c + h * p * p, p, p);
    case CovarianceKind::tied: return ConstMat(c, p, p);
    case CovarianceKind::diagonal: return ConstVec(c + h * p, p).asDiagonal();
    default: return c[h] * MatrixXd::Identity(p, p);
  }
}

void GaussianDensity::set(CovarianceKind kind, ConstMatrixRef means, const double* c) {
  kind_ = kind;
  means_ = means;
  const Index p = means_.rows(), k = means_.cols(), factors = kind_ == CovarianceKind::tied ? 1 : k;
  half_log_det_.resize(k);
  factor_.resize(static_cast<std::size_t>(factors));
  for (Index h = 0; h < factors; ++h) {
    MatrixXd& f = factor_[static_cast<std::size_t>(h)];
    switch (kind_) {
      case CovarianceKind::full:
      case CovarianceKind::tied: {
        const Llt llt(ConstMat(c + h * p * p, p, p));
        if (llt.info() != Eigen::Success) throw NumericalError("the covariance of a state is not positive definite.");
        f = llt.matrixL();
        half_log_det_[h] = f.diagonal().array().log().sum();
        break;
      }
      case CovarianceKind::diagonal:
        f = ConstVec(c + h * p, p).array().sqrt().matrix();
        half_log_det_[h] = f.array().log().sum();
        break;
      case CovarianceKind::spherical:
        f = VectorXd::Constant(p, std::sqrt(c[h]));
        half_log_det_[h] = 0.5 * static_cast<double>(p) * std::log(c[h]);
        break;
    }
    if (!std::isfinite(half_log_det_[h])) throw NumericalError("the covariance of a state is not positive definite.");
  }
  if (kind_ == CovarianceKind::tied) half_log_det_.setConstant(half_log_det_[0]);
}

void GaussianDensity::log_density(ConstMatrixRef rows, MatrixRef out) const {
  const Index p = means_.rows(), k = means_.cols(), n = rows.rows();
  const double constant = 0.5 * static_cast<double>(p) * log_two_pi;
  const bool dense = p > 1 && (kind_ == CovarianceKind::full || kind_ == CovarianceKind::tied);
  MatrixXd z, white_means;
  if (dense && kind_ == CovarianceKind::tied) {  // one solve serves all states
    z = rows.transpose();
    factor_[0].triangularView<Eigen::Lower>().solveInPlace(z);
    white_means = means_;
    factor_[0].triangularView<Eigen::Lower>().solveInPlace(white_means);
  }
  for (Index h = 0; h < k; ++h) {
    const MatrixXd& f = factor(h);
    if (!dense) {  // column by column, along memory
      double* to = out.data() + h * out.outerStride();
      for (Index i = 0; i < n; ++i) to[i] = 0;
      for (Index j = 0; j < p; ++j) {
        const double* y = rows.data() + j * rows.outerStride();
        const double mean = means_(j, h), scale = 1 / f(j, 0);
        for (Index i = 0; i < n; ++i) {
          const double d = (y[i] - mean) * scale;
          to[i] += d * d;
        }
      }
    } else if (kind_ == CovarianceKind::tied) {
      out.col(h) = (z.colwise() - white_means.col(h)).colwise().squaredNorm().transpose();
    } else {
      z = rows.transpose();
      z.colwise() -= means_.col(h);
      f.triangularView<Eigen::Lower>().solveInPlace(z);
      out.col(h) = z.colwise().squaredNorm().transpose();
    }
    out.col(h).array() = -0.5 * out.col(h).array() - (constant + half_log_det_[h]);
  }
}

bool clip_covariance(MatrixXd& covariance, ConstVectorRef spread, double floor) {
  const VectorXd root = spread.cwiseSqrt();
  const MatrixXd scaled = root.cwiseInverse().asDiagonal() * covariance * root.cwiseInverse().asDiagonal();
  const SymmetricEigen eigen(scaled);
  if (eigen.info() != Eigen::Success) throw NumericalError("the eigenvalues of a covariance could not be found.");
  if (eigen.eigenvalues()[0] >= floor) return false;
  const MatrixXd v = root.asDiagonal() * eigen.eigenvectors();
  const MatrixXd lifted = v * eigen.eigenvalues().cwiseMax(floor).asDiagonal();
  covariance.noalias() = lifted * v.transpose();
  covariance = 0.5 * (covariance + covariance.transpose()).eval();
  return true;
}

}  // namespace granary
