// Expectation propagation for a Gaussian prior times one factor per variable (Minka 2001; the same fixed point as the expectation
// consistent approximation of Opper and Winther, JMLR 2005).
//
//   p(f) ~ N(f | mu, K) prod_i t_i(f_i)   approximated by   N(f | mu, K) prod_i exp(nu_i g_i - tau_i g_i^2 / 2),  g = f - mu
//
//   A = (K^-1 + T)^-1,  T = diag(tau),  mean of g = A nu
//   cavity i: precision c = 1 / A_ii - tau_i, shift (A nu)_i / A_ii - nu_i
//   tilted moments of t_i under the cavity give the new tau_i, nu_i
//   log Z = sum log Z_i - 1/2 log|I + K T| + 1/2 sum log(1 + tau_i / c_i) + 1/2 nu'A nu - 1/2 sum nu_i^2 / (c_i + tau_i)
//           + 1/2 sum m_i c_i (tau_i m_i - 2 nu_i) / (c_i + tau_i),   m_i the cavity's mean of g_i
// which divides by no tau (Rasmussen and Williams 2006, 3.6, rearranged). K is never factored: I + T^1/2 K T^1/2 has no
// eigenvalue below one. Where a factor that is not log-concave makes a tau negative, I + K T is factored by LU.
//
// Sequential sweeps visit the sites in random order and change A by rank one each; parallel sweeps change all sites at once
// with damping, one factorisation per sweep, and turn sequential when they do not settle.
#pragma once

#include <memory>

#include "core/base/convergence.h"
#include "core/infer/ep_sites.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/base/types.h"

namespace granary {

struct EpOptions {
  bool parallel = false;
  double damping = 0;  // share of the step taken; 0: 1 for sequential, 0.9 for parallel sweeps
  double tol =
      1e-6;  // on the difference of tilted and Gaussian moments, in standard deviations; log Z is then good to its square
  int max_sweeps = 100;
  bool accelerate = true;       // parallel sweeps: Anderson's extrapolation over the last five
  bool full_covariance = true;  // whether the result carries A
  bool with_r = false;          // whether it carries R, see EpSolver
};

template <class V>
void fields(V& v, EpOptions& t) {
  v("parallel", t.parallel);
  v("damping", t.damping);
  v("tol", t.tol);
  v("max_iter", t.max_sweeps);
}

struct EpState {
  VectorXd tau, nu;
};

struct EpResult {
  VectorXd tau, nu;
  VectorXd mean, variance;                // of f
  MatrixXd covariance;                    // A, where asked for
  MatrixXd r;                             // R, where asked for
  VectorXd cavity_mean, cavity_variance;  // of f
  VectorXd site_log_z;                    // log Z_i under the cavity; for probit sites the leave-one-out log probability
  VectorXd weight;                        // A nu = K weight: predictions are k*'weight
  double log_z = 0;
  double log_determinant = 0;  // log|I + K T|
  int skipped = 0;             // site updates left out in the last sweep for an improper cavity
  Convergence convergence;     // residual = largest difference of means and sds, tilted against Gaussian
};
template <class V>
void fields(V& v, EpResult& t) {
  v("mean", t.mean);
  v("cov", t.covariance);
  v("variance", t.variance);
  v("log_z", t.log_z);
  v("tau", t.tau);
  v("nu", t.nu);
  v("cavity_mean", t.cavity_mean);
  v("cavity_variance", t.cavity_variance);
  v("site_log_z", t.site_log_z);
  v("weight", t.weight);
  v("r", t.r);
  v("skipped", t.skipped);
  v("convergence", t.convergence);
}

// `start` may be empty. K symmetric, both triangles filled.
EpResult expectation_propagation(ConstMatrixRef k, ConstVectorRef mu, const EpSites& sites, const EpOptions& options, Rng& rng,
                                 Monitor& monitor, const EpState& start = {});

// N(0, covariance) cut to the positive orthant: variances only, no covariance.
EpResult orthant_ep(ConstMatrixRef covariance, Rng& rng, Monitor& monitor);

// R = (K + T^-1)^-1 = T^1/2 (I + T^1/2 K T^1/2)^-1 T^1/2 for tau >= 0: predictive variances are k** - k*'R k*, and
// d log Z / dK = 1/2 (weight weight' - R) at a fixed point.
class EpSolver {
 public:
  // NumericalError when I + K T is not positive definite. With a monitor, which must outlive it, large matrices are worked on in steps
  // between which the user can interrupt.
  EpSolver(ConstMatrixRef k, ConstVectorRef tau, Monitor* monitor = nullptr);
  EpSolver(EpSolver&&) noexcept;
  ~EpSolver();

  double log_determinant() const;               // log|I + K T|
  VectorXd weight(ConstVectorRef nu) const;     // (I + T K)^-1 nu
  MatrixXd covariance() const;                  // A
  VectorXd variance() const;                    // diag A
  MatrixXd r() const;                           // R
  MatrixXd solve_root(ConstMatrixRef b) const;  // V with V'V = b'R b; needs tau >= 0

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace granary
