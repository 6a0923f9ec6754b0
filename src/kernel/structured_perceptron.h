// The structured perceptron over the same outputs as the support vector machine.
//
//   for every example whose prediction is wrong:  w <- w + Psi(x_i, y_i) - Psi(x_i, f(x_i))
//
// Collins (EMNLP 2002); with `averaged`, the mean of w over all visits, which the last example does not tilt. Where the examples
// can be separated with margin gamma, at most (R / gamma)^2 mistakes are made in all. Works in any Space, so also with kernels.
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "kernel/structured_space.h"

namespace granary::kernel {

struct PerceptronOptions {
  int max_epochs = 20;
  bool averaged = true;
  bool shuffle = true;
};
template <class V>
void fields(V& v, PerceptronOptions& t) {
  v("epochs", t.max_epochs);
  v("averaged", t.averaged);
  v("shuffle", t.shuffle);
}

struct PerceptronResult {
  VectorXd weights;
  std::vector<int> mistakes;  // per epoch
  Convergence convergence;    // converged: an epoch without mistakes
};
template <class V>
void fields(V& v, PerceptronResult& t) {
  v("weights", t.weights);
  v("mistakes", t.mistakes);
  v("convergence", t.convergence);
}

PerceptronResult structured_perceptron(const Output& output, Space& space, const PerceptronOptions& options, Rng& rng,
                                       Monitor& monitor);

}  // namespace granary::kernel
