// Stochastic gradient descent for linear regression, run: the model of sgd_dynamics.h at finite N.
#pragma once

#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/base/types.h"
#include "kernel/sgd_dynamics.h"

namespace granary::kernel {

enum class SgdOrder {
  replacement,  // each update draws an example, as in the paper
  cyclic,       // 1, ..., p, 1, ...
  shuffled,     // a new order at every pass
  full          // the whole gradient once per p updates
};
SgdOrder sgd_order(const std::string& name);

struct SgdSimulation {
  Index weights = 100;   // N
  Index examples = 200;  // p
  SgdStep step;
  double sigma2 = 0.1;
  bool sphere = true;  // |x|^2 = N; else independent normals
  SgdOrder order = SgdOrder::replacement;
};

// Times x replicates. A replicate draws its own teacher and examples from stream(replicate).
struct SgdRuns {
  MatrixXd test, train;
};
SgdRuns simulate_sgd(const SgdSimulation& setting, ConstVectorRef times, Index replicates, const Rng& rng, int threads,
                     Monitor& monitor);

// The same on given examples: x is N x p (one example per column), the test error (1/2 mean square) is that on `test_x`, N x m,
// if m > 0.
struct SgdData {
  MatrixXd x;
  VectorXd y;
  MatrixXd test_x;
  VectorXd test_y;
};
SgdRuns simulate_sgd(const SgdData& data, const SgdStep& step, SgdOrder order, ConstVectorRef times, Index replicates,
                     const Rng& rng, int threads, Monitor& monitor);

// Means over all orders of drawing with replacement, exactly, for one set of examples: no limit of large N, no simulation. The
// mean and the second moment of the weights obey linear recursions; O(p N^2) per update.
struct SgdMoments {
  VectorXd train, test;  // after each of `updates`; test against the teacher, NaN without one
  MatrixXd mean;         // N x times, mean of w
  MatrixXd variance;     // N x times, variances of the weights
};
// `teacher` may be empty. With `average_noise` y is the teacher's clean response, and the mean is also over noise of variance
// sigma2.
SgdMoments exact_sgd(const MatrixXd& x, const VectorXd& y, const VectorXd& teacher, bool average_noise, double sigma2,
                     const SgdStep& step, const VectorXi& updates, Monitor& monitor);

}  // namespace granary::kernel
