// Gaussian log-densities of rows in each of k states, with covariances of four kinds:
//
//   full        Sigma_h                    (VVV of mclust)      diagonal    diag(v_h)       (VVI)
//   spherical   v_h I                      (VII)                tied        Sigma           (EEE)
//
// A covariance is held as one stretch of numbers: full p x p x k, tied p x p, diagonal p x k, spherical k.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary {

enum class CovarianceKind { full, diagonal, spherical, tied };
inline Names<CovarianceKind> names(CovarianceKind) {
  return {{CovarianceKind::full, "full"},
          {CovarianceKind::diagonal, "diagonal"},
          {CovarianceKind::spherical, "spherical"},
          {CovarianceKind::tied, "tied"}};
}
Index covariance_size(CovarianceKind kind, Index p, Index k);
Index gaussian_parameters(CovarianceKind kind, Index p, Index k);  // free ones, of means and covariances
// The covariance of state h as p x p.
MatrixXd state_covariance(CovarianceKind kind, const double* covariance, Index p, Index h);

class GaussianDensity {
 public:
  GaussianDensity() = default;
  // means: p x k. NumericalError where a covariance is not positive definite.
  GaussianDensity(CovarianceKind kind, ConstMatrixRef means, const double* covariance) { set(kind, means, covariance); }
  void set(CovarianceKind kind, ConstMatrixRef means, const double* covariance);
  void log_density(ConstMatrixRef rows, MatrixRef out) const;  // n x p, n x k

  Index states() const { return means_.cols(); }
  const MatrixXd& means() const { return means_; }
  const MatrixXd& factor(Index h) const { return factor_[static_cast<std::size_t>(kind_ == CovarianceKind::tied ? 0 : h)]; }
  const VectorXd& half_log_det() const { return half_log_det_; }

 private:
  CovarianceKind kind_ = CovarianceKind::full;
  MatrixXd means_;                // p x k
  std::vector<MatrixXd> factor_;  // full: L_h; tied: one L; diagonal, spherical: p x 1 standard deviations
  VectorXd half_log_det_;
};

// The covariance nearest in likelihood among those of at least floor * diag(spread): where C is the covariance of some rows, the
// maximum of their likelihood under that bound. Eigenvalues of D^-1/2 C D^-1/2, D = diag(spread), are raised to `floor`. True
// where something was raised.
bool clip_covariance(MatrixXd& covariance, ConstVectorRef spread, double floor);

}  // namespace granary
