// The state of the expectation consistent loops: the Gaussian r, and from it s and q. See ec_ising.h.
#pragma once

#include <vector>

#include "process/ec_tree.h"

namespace granary::process {

class EcState {
 public:
  // Lambda_r = max(1, lambda_max(J) + 1), gamma_r = start or zero.
  EcState(ConstMatrixRef j, ConstVectorRef theta, const EcForest& forest, const VectorXd& start);

  EcParameters r;
  MatrixXd chi;   // (Lambda_r - J)^-1
  VectorXd mean;  // chi (gamma_r + theta)

  const EcForest& forest;
  Index size() const { return theta_.size(); }

  bool refresh();  // chi and mean from r; false, and no change of chi, when Lambda_r - J is not positive definite
  double log_zr() const { return -0.5 * log_det_ + 0.5 * (r.gamma + theta_).dot(mean); }  // after a refresh
  EcMoments moments() const;                                                              // of r
  // ||<g>_q - <g>_r||^2
  double residual(const EcMoments& q) const;

  // Gives the marginal of r on one or two variables new moments and keeps the conditional of the others; the parameters follow.
  void replace_node(Index i, double mean_i, double variance_i);
  void replace_pair(Index e, double mean_i, double mean_j, double variance_i, double variance_j, double covariance);

 private:
  ConstMatrixRef j_;
  ConstVectorRef theta_;
  double log_det_ = 0;
};

EcParameters difference(const EcParameters& a, const EcParameters& b);

// What r says: s by its moments, q = s - r, the moments of q, the residual and log Z. Needs a state fresh from refresh().
struct EcView {
  EcParameters q;
  BinaryForest spins;
  EcMoments s;
  double residual = 0, log_z = 0;
};
EcView view(const EcState& state);

}  // namespace granary::process
