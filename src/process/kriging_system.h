// The linear algebra of prediction with a Gaussian process and a linear trend, from covariances alone (up to the scale s2).
//
//   y = F beta + z,  cov z = C = L L'      observations, n of them
//   r (n x m), k (m)                       covariances of the values at m new points with z, and their variances
//   f (m x p)                              the trend there
//
//   alpha = C^-1 (y - F beta),   W = precision of beta = F'C^-1 F, plus that of its prior
//   mean = f beta + r'alpha,     variance = k - r'C^-1 r + u'W^-1 u,  u = F'C^-1 r - f'   (no last term where beta is known)
//   H = C^-1 - C^-1 F W^-1 F'C^-1
//
// GaussianProcess, JointKriging and BoSurrogate stand on it. Sacks et al. (Statist. Sci. 1989); Dubrule (Math. Geol. 1983) for H.
#pragma once

#include "process/system_factor.h"
#include "core/base/types.h"

namespace granary::process {

class KrigingSystem {
 public:
  KrigingSystem() = default;
  KrigingSystem(SystemFactor c, ConstMatrixRef f) : c_(std::move(c)), root_(c_.solve_lower(MatrixXd(f))) {}

  // One more observation, as far as its place goes, O(n^2). Throws as Cholesky::append.
  void append(ConstVectorRef column, double diagonal, ConstVectorRef f, Index more = 1);

  // For responses y and a flat prior of beta, by QR: as accurate as F allows, where F'C^-1 F would square its condition number.
  // Returns the first term that depends on those before it, and does not solve, or -1.
  Index solve_flat(ConstVectorRef y, double tol = 1e-12);
  void solve_normal(ConstVectorRef y, ConstVectorRef mean, ConstVectorRef inverse_variance);  // of independent beta_j
  void solve_known(ConstVectorRef y, ConstVectorRef beta);

  const SystemFactor& factor() const { return c_; }     // of C
  MatrixXd take_factor() { return c_.take(); }          // ... for good
  const MatrixXd& trend_root() const { return root_; }  // L^-1 F
  const Cholesky& precision() const { return w_; }      // W; empty where beta is known
  const VectorXd& beta() const { return beta_; }
  const VectorXd& residual() const { return e_; }  // L^-1 (y - F beta)
  const VectorXd& alpha() const { return alpha_; }

  VectorXd mean(ConstMatrixRef r, ConstMatrixRef f) const { return r.transpose() * alpha_ + f * beta_; }
  VectorXd variance(MatrixXd r, ConstMatrixRef f, ConstVectorRef k) const;  // not below zero
  // The same, and its derivatives in r (n x m) and f (p x m), column by column.
  VectorXd variance_slopes(ConstMatrixRef r, ConstMatrixRef f, ConstVectorRef k, MatrixXd& on_r, MatrixXd& on_f) const;
  MatrixXd covariance(MatrixXd r, ConstMatrixRef f, ConstMatrixRef k) const;  // joint, k m x m
  MatrixXd weights(ConstMatrixRef r, ConstMatrixRef f) const;                 // n x m: mean = weights'y; for a flat prior
  void project(MatrixXd& inverse) const;                                      // H in place of C^-1
  VectorXd projection() const;                                                // diagonal of C^-1 - H

 private:
  bool uncertain() const { return w_.size() > 0; }
  void finish(VectorXd yt);
  MatrixXd half_projection() const;  // A with A'A = C^-1 - H

  SystemFactor c_;
  Cholesky w_;
  MatrixXd root_;
  VectorXd beta_, e_, alpha_;
};

}  // namespace granary::process
