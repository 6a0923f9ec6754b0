// Co-kriging of s levels of fidelity by their joint law (Kennedy and O'Hagan, Biometrika 2000).
//
//   y_1 = f_1'beta_1 + z_1,   y_t(x) = rho_t y_(t-1)(x) + f_t(x)'beta_t + z_t(x),   z_t ~ N(0, s2_t K_t) independent
//
// so that for s <= t  cov(y_s(x), y_t(x')) = (rho_(s+1) ... rho_t) cov(y_s(x), y_s(x')),
// cov(y_t(x), y_t(x')) = rho_t^2 cov(y_(t-1)(x), y_(t-1)(x')) + s2_t K_t(x, x').
//
// All runs together are one Gaussian vector with a linear trend in (beta_1, ..., beta_s); prediction of the last level is
// universal kriging with it. Needed where the designs are not nested; for nested designs it equals the recursion
// mean_t = rho_t mean_(t-1) + mean of the difference, which is cheaper (Le Gratiet and Garnier, IJUQ 2014). O((sum n_t)^3).
#pragma once

#include <vector>

#include "gp.h"

namespace granary::process {

struct JointLevel {
  Kernel kernel;
  double scale = 1;   // s2_t
  double nugget = 0;  // added to the diagonal of K_t among the runs of this level
  double rho = 1;     // rho_t; not used on the first level
  MatrixXd x, f;      // the runs of this level
  VectorXd y;
  std::vector<MatrixXd> below;  // trend columns of the levels below at the runs of this one, f_1 ... f_(t-1)
};

struct JointPrediction {
  VectorXd mean, variance;
};

// `f`: the trend columns of every level at the new points.
JointPrediction predict_joint(const std::vector<JointLevel>& levels, ConstMatrixRef x, const std::vector<MatrixXd>& f,
                              bool variance, Monitor& monitor);

}  // namespace granary::process
