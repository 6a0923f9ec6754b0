// Markov chains that leave a density invariant, one transition at a time. All keep their own tuning outside, so a chain is fixed
// by its Rng.
//
//   slice_sweep         each coordinate once by stepping out and shrinkage (Neal, Ann. Statist. 2003)
//   elliptical_slice    for f ~ N(0, S) times a likelihood, given a draw from that prior; nothing to tune (Murray et al. 2010)
//   Hamiltonian         leapfrog steps with a step size learnt by dual averaging while warming up (Neal 2011; Hoffman and Gelman,
//                       JMLR 2014, section 3.2)
#pragma once

#include <functional>

#include "core/random/rng.h"
#include "core/base/types.h"

namespace granary {

using LogDensity = std::function<double(const VectorXd& x)>;
using LogDensityGradient = std::function<double(const VectorXd& x, VectorXd& gradient)>;

// `value` is log_density(x) on entry and on return. `widths`: typical sizes of the coordinates' slices.
void slice_sweep(const LogDensity& log_density, VectorXd& x, double& value, ConstVectorRef widths, Rng& rng, int max_steps = 20);

void elliptical_slice(const LogDensity& log_likelihood, VectorXd& f, double& value, const VectorXd& prior_draw, Rng& rng);

class Hamiltonian {
 public:
  explicit Hamiltonian(int steps = 15, double step_size = 0.1, double target = 0.8);

  // True when the proposal was taken. `value` and `gradient` belong to x, on entry and on return.
  bool move(const LogDensityGradient& log_density, VectorXd& x, double& value, VectorXd& gradient, Rng& rng);
  void end_warm_up();  // freezes the step size

  double step_size() const { return step_size_; }
  double acceptance() const { return moves_ > 0 ? accepted_ / moves_ : 0; }  // mean probability since the last end_warm_up()

 private:
  int steps_;
  double step_size_, target_;
  bool warming_ = true;
  double centre_, error_ = 0, log_mean_ = 0, count_ = 0;
  double accepted_ = 0, moves_ = 0;
};

// Draws per independent draw: n / (1 + 2 sum of autocorrelations), cut where pairs turn negative (Geyer 1992).
double effective_sample_size(ConstVectorRef series);

}  // namespace granary
