// Stochastic gradient descent for linear regression, run: the model of sgd_dynamics.h at finite N.
#pragma once

#include "core/base/fields.h"
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
inline Names<SgdOrder> names(SgdOrder) {
  return {{SgdOrder::replacement, "replacement"}, {SgdOrder::cyclic, "cyclic"}, {SgdOrder::shuffled, "shuffled"},
          {SgdOrder::full, "full"}};
}
enum class SgdInputs { sphere, gaussian };
inline Names<SgdInputs> names(SgdInputs) { return {{SgdInputs::sphere, "sphere"}, {SgdInputs::gaussian, "gaussian"}}; }

struct SgdSimulation {
  Index weights = 100;   // N
  Index examples = 200;  // p
  SgdStep step;
  double sigma2 = 0.1;
  SgdInputs inputs = SgdInputs::sphere;  // |x|^2 = N, or independent normals
  SgdOrder order = SgdOrder::replacement;
  int n_rep = 20;
  int threads = 1;
};
template <class V>
void fields(V& v, SgdSimulation& t) {
  v("N", t.weights);
  v("p", t.examples);
  v("eta", t.step.eta);
  v("lambda", t.step.lambda);
  v("noise_var", t.sigma2);
  v("inputs", t.inputs);
  v("order", t.order);
  v("n_rep", t.n_rep);
  v("threads", t.threads);
}

// Times x replicates. A replicate draws its own teacher and examples from stream(replicate).
struct SgdRuns {
  MatrixXd test, train;
};
template <class V>
void fields(V& v, SgdRuns& t) {
  v("test", t.test);
  v("train", t.train);
}
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
template <class V>
void fields(V& v, SgdData& t) {
  v("x", t.x);
  v("y", t.y);
  v("newx", t.test_x);
  v("newy", t.test_y);
}
SgdRuns simulate_sgd(const SgdData& data, const SgdStep& step, SgdOrder order, ConstVectorRef times, Index replicates,
                     const Rng& rng, int threads, Monitor& monitor);

// Means over all orders of drawing with replacement, exactly, for one set of examples: no limit of large N, no simulation. The
// mean and the second moment of the weights obey linear recursions; O(p N^2) per update.
struct SgdMoments {
  VectorXd train, test;  // after each of `updates`; test against the teacher, NaN without one
  MatrixXd mean;         // N x times, mean of w
  MatrixXd variance;     // N x times, variances of the weights
};
template <class V>
void fields(V& v, SgdMoments& t) {
  v("train", t.train);
  v("test", t.test);
  v("mean", t.mean);
  v("variance", t.variance);
}
// `teacher` may be empty. With `average_noise` y is the teacher's clean response, and the mean is also over noise of variance
// sigma2.
struct SgdExact {
  MatrixXd x;  // N x p
  VectorXd y, teacher;
  bool average_noise = false;
  double sigma2 = 0;
  SgdStep step;
  VectorXi updates;
};
template <class V>
void fields(V& v, SgdExact& t) {
  v("x", t.x);
  v("y", t.y);
  v("truth", t.teacher);
  v("average_noise", t.average_noise);
  v("noise_var", t.sigma2);
  v("eta", t.step.eta);
  v("lambda", t.step.lambda);
  v("updates", t.updates);
}
SgdMoments exact_sgd(const MatrixXd& x, const VectorXd& y, const VectorXd& teacher, bool average_noise, double sigma2,
                     const SgdStep& step, const VectorXi& updates, Monitor& monitor);

inline SgdMoments exact_sgd(const SgdExact& s, Monitor& monitor) {
  return exact_sgd(s.x, s.y, s.teacher, s.average_noise, s.sigma2, s.step, s.updates, monitor);
}

}  // namespace granary::kernel
