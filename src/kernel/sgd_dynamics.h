// Learning curves of stochastic gradient descent for linear regression on a finite training set, without running it.
//
//   w <- w - eta [ x_mu (w'x_mu / sqrt(N) - y_mu) / sqrt(N) + (gamma / N) w ],   mu drawn from p = alpha N examples,
//   lambda = gamma alpha,  time t = updates / N,  w = 0 at the start,  y = w*'x / sqrt(N) + xi,  var xi = sigma2,  |w*|^2 = N.
//
// Sollich and Barber (NIPS 9, 1997): N -> infinity at fixed alpha. Their equation (2) is a Laplace transform; in the time domain
// it says, with rho the spectrum of A = (1/N) sum_mu x_mu x_mu' and, for the mode with eigenvalue a,
//
//   g(a, t) = 1 - exp(-(eta/alpha)(a + lambda) t)                  what the mean weight has reached of its end value z / (a +
//   lambda) E_0(t)  = training error of the mean weights E_t(t)  = E_0(t) + int_0^t K(t - u) E_t(u) du,   K(v) = (eta/alpha)^2
//   int rho a^2 exp(-2 (eta/alpha)(a + lambda) v) c(a, t) = eta^2 (a/alpha) int_0^t exp(-2 (eta/alpha)(a + lambda)(t - u)) E_t(u)
//   du      spread of the weights by the random order
//
// and the test error is int rho (m + c), m(a, t) that of the mean weights.
#pragma once

#include "core/math/marchenko_pastur.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::kernel {

// The problem, one entry per eigenvalue. Of the response only z = (projection of X'y / sqrt(N) on the eigenvector)^2 matters.
struct SgdModes {
  VectorXd value;       // a
  VectorXd weight;      // mass, sums to one over all N eigenvalues; modes with a = 0 never move and may be left out
  VectorXd power;       // mean square of z
  double response = 0;  // mean of y^2
  double alpha = 1;
};

SgdModes teacher_modes(const Quadrature& spectrum, double alpha, double sigma2);  // mean square of z is a^2 + sigma2 a

struct SgdStep {
  double eta = 1;
  double lambda = 0;
};

struct SgdCurveOptions {
  double tol = 1e-5;         // on the residual of the Volterra equation between the collocation points, relative to E_t
  bool keep_spread = false;  // fill SgdCurve::spread
};

// At each of `times`, ascending from t >= 0. Infinite once the error is beyond 1e200.
struct SgdCurve {
  VectorXd train;       // E_t
  VectorXd train_mean;  // E_0
  VectorXd noise;       // int rho c
  MatrixXd spread;      // c, modes x times
  long steps = 0;
};
SgdCurve online_curve(const SgdModes& modes, const SgdStep& step, ConstVectorRef times, const SgdCurveOptions& options,
                      Monitor& monitor);
// Full-gradient descent w <- w - eta [(A + lambda) w - X'y/sqrt(N)] after floor(t / alpha) passes: no spread, and train =
// train_mean.
SgdCurve offline_curve(const SgdModes& modes, const SgdStep& step, ConstVectorRef times);

// g(a, t), modes x 1: the share of its end value that the mean weight of each mode has reached.
VectorXd progress_online(const SgdModes& modes, const SgdStep& step, double time);
VectorXd progress_offline(const SgdModes& modes, const SgdStep& step, double time);

// Test error of the mean weights for a teacher with |w*|^2 = N and noise sigma2, in two parts whose sum is int rho m.
struct MeanError {
  double bias = 0;      // 1/2 int rho (g r - 1)^2,  r = a / (a + lambda)
  double variance = 0;  // sigma2 / 2 int rho g^2 a / (a + lambda)^2
};
MeanError mean_error(const SgdModes& modes, const SgdStep& step, const VectorXd& progress, double sigma2);

// Closed forms, for the Marchenko-Pastur law or, with sums for integrals, for any spectrum.
class SgdTheory {
 public:
  explicit SgdTheory(const MarchenkoPastur& law);
  SgdTheory(const Quadrature& spectrum, double alpha);

  double critical_rate(double lambda) const;   // eta_c: beyond it the weights diverge
  double slow_mode_rate(double lambda) const;  // eta_min: from here on the slow mode exists; 0 for a discrete spectrum
  double fastest_rate(double lambda) const;    // eta_x: the slow mode overtakes the normal one; fastest final convergence
  double offline_limit(double lambda) const;   // full-gradient descent is stable below it
  double normal_decay(const SgdStep& step) const;
  double slow_decay(const SgdStep& step) const;  // NaN where there is no slow mode; negative where the weights diverge

  struct Asymptote {
    double test, train, offline;  // offline: test error for eta -> 0, and of full-gradient descent
  };
  Asymptote asymptote(const SgdStep& step, double sigma2) const;  // infinite for eta >= eta_c

 private:
  // int rho a^2 / (a + l) for l > -lower edge.
  double curvature(double l) const;

  bool closed_;
  MarchenkoPastur law_;
  Quadrature spectrum_;
  double alpha_, lower_, upper_;
};

}  // namespace granary::kernel
