// What expectation consistent inference is compared with beyond graph/spin_moments.h, and its inverse.
//
//   TAP       m_i = tanh(theta_i + sum_j J_ij m_j - m_i sum_j J_ij^2 (1 - m_j^2)): Plefka's expansion to second order,
//             log Z = mean field's + 1/2 sum_{i<j} J_ij^2 (1 - m_i^2)(1 - m_j^2), covariances by linear response
//   inverse   the parameters of r at which q and s have given moments: with C the covariance of the data, J = Lambda_r - C^-1 and
//             theta = C^-1 m - gamma_r make all moments of the EC approximation those of the data
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "process/ec_tree.h"

namespace granary::process {

struct TapOptions {
  double damping = 0.5;  // share of the step taken; halved where the steps do not settle
  double tol = 1e-10;    // largest change of a mean at a full step
  int max_iter = 5000;
};
struct TapResult {
  VectorXd mean;
  MatrixXd covariance;
  double log_z = 0;
  bool stable = true;  // whether the linear response is positive definite
  Convergence convergence;
};
TapResult tap(ConstMatrixRef j, ConstVectorRef theta, const TapOptions& options, Monitor& monitor);

// Linear response of the mean-field equations: (diag(1 / (1 - m^2)) - J)^-1.
MatrixXd mean_field_response(ConstMatrixRef j, ConstVectorRef mean);

// Lambda_ii, of no effect on spins, is counted with s; J_ii = 0 takes its place.
EcParameters ec_inverse(const EcMoments& moments, const EcForest& forest);

}  // namespace granary::process
