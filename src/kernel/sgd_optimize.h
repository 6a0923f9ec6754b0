// The learning rate, and the penalty, that give the smallest test error at a given time: Sollich and Barber (1997), Figure 4.
//
//   minimise  eps_g(t; eta, lambda)  over 0 < eta < eta_c(lambda) and, if asked, lambda >= 0
//
// and the schedule eta_opt(t) = (a + b log t) / t fitted to the results, with which short runs say what long ones need.
#pragma once

#include "kernel/sgd_dynamics.h"

namespace granary::kernel {

struct SgdProblem {
  Quadrature spectrum;
  double alpha = 1;
  double sigma2 = 0.1;
  bool online = true;
};

double test_error(const SgdProblem& problem, const SgdStep& step, double time, Monitor& monitor);

struct SgdOptimum {
  SgdStep step;
  double test = 0;
  int evaluations = 0;
};
// Brent's method on log eta after a coarse grid; the same on log lambda around it when `lambda` is negative, with lambda = 0 as
// one more candidate. `theory` must belong to the spectrum of `problem`.
SgdOptimum best_step(const SgdProblem& problem, const SgdTheory& theory, double time, double lambda, Monitor& monitor);

struct EtaSchedule {
  double a = 0, b = 0;
  VectorXd fitted;      // eta at the given times
  double residual = 0;  // root mean square of eta - fitted, relative to eta
};
template <class V>
void fields(V& v, EtaSchedule& t) {
  v("a", t.a);
  v("b", t.b);
  v("fitted", t.fitted);
  v("residual", t.residual);
}
EtaSchedule fit_eta_schedule(ConstVectorRef time, ConstVectorRef eta);  // least squares of eta t on log t

}  // namespace granary::kernel
