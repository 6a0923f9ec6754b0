// Co-kriging of several levels of fidelity by their joint law (Kennedy and O'Hagan, Biometrika 2000).
//
//   y_1 = f_1'beta_1 + z_1,   y_t(x) = rho_t y_(t-1)(x) + f_t(x)'beta_t + z_t(x),   z_t ~ N(0, s2_t K_t) independent
//
// so that y_t = sum_(s <= t) c_st (f_s'beta_s + z_s) with c_st = rho_(s+1) ... rho_t: all runs together are one Gaussian vector,
// each level's process adding s2_s c_s c_s' o K_s among the runs of level s and above, with a linear trend in (beta_1, beta_2,
// ...). Prediction of the last level is universal kriging with it.
//
// Needed where the designs are not nested; for nested designs it equals the recursion mean_t = rho_t mean_(t-1) + mean of the
// difference, which is cheaper (Le Gratiet and Garnier, IJUQ 2014). O((sum n_t)^3).
#pragma once

#include <vector>

#include "process/gp.h"

namespace granary::process {

struct JointLevel {
  Kernel kernel;
  double scale = 1;   // s2_t
  double nugget = 0;  // added to the diagonal of K_t among the runs of this level
  double rho = 1;     // rho_t; not used on the first level
  MatrixXd x;         // the runs of this level
  VectorXd y;
  MatrixXd f;  // the trend of this level at its runs and at those of all levels above
};

class JointKriging {
 public:
  JointKriging(std::vector<JointLevel> levels, Monitor& monitor);

  // Of the last level. `f`: the trend of every level at the points, side by side.
  GpPrediction predict(ConstMatrixRef x, ConstMatrixRef f, bool variance, int threads, Monitor& monitor) const;
  MatrixXd covariance(ConstMatrixRef x, ConstMatrixRef f) const;
  // df[k]: derivative of the rows of f in input k. Empty for constant trends.
  GpGradient gradient(ConstMatrixRef x, ConstMatrixRef f, const std::vector<MatrixXd>& df) const;

  double prior_variance(ConstMatrixRef x) const { return variances(x).maxCoeff(); }

 private:
  auto above(std::size_t s) const { return x_.bottomRows(x_.rows() - from_[s]); }  // the runs of level s and above
  MatrixXd with_runs(ConstMatrixRef x) const;                                      // covariance of all runs with y_last(x)
  VectorXd variances(ConstMatrixRef x) const;
  MatrixXd carried(ConstMatrixRef f) const;  // the trend of y_last

  std::vector<JointLevel> levels_;
  std::vector<Index> from_;        // the first run of each level
  std::vector<VectorXd> carried_;  // c_s over the runs above(s); its last entry is that of the last level
  MatrixXd x_;
  KrigingSystem system_;
};

}  // namespace granary::process
