// Kernel parameters of the surrogates of Bayesian optimisation.
//
//   score(theta) = log evidence, or the sum of log leave-one-out densities,  + sum_j log N(theta_j; prior)
//
// theta the logarithms of the kernel's parameters and, where it is learnt, of the noise. `bo_learn` maximises it: DIRECT over the
// box of theta where a global search is asked for, then L-BFGS with the gradients of bo_surrogate.h (the paper has BOBYQA, and no
// gradients) from the best points found and from the parameters of before. `bo_sample` draws theta from the posterior one
// coordinate at a time by slices (Neal 2003): burn-in, then one particle per sweep. Martinez-Cantin (JMLR 2014), section 2.1.
#pragma once

#include <vector>

#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "process/bo_surrogate.h"
#include "process/gp_parameters.h"

namespace granary::process {

struct BoModel {
  Kernel kernel;
  double noise = 1e-6;  // nr
  bool learn_noise = false;
  BoTrend trend = {};
  BoPrior prior = {};

  Index n_parameters() const { return kernel.n_parameters() + (learn_noise ? 1 : 0); }
  VectorXd parameters() const;
  BoSurrogate surrogate(ConstVectorRef theta, ConstMatrixRef x, ConstVectorRef y, Cholesky factor = {}) const;
};

struct BoLearnOptions {
  BoScore score = BoScore::evidence;
  VectorXd lower, upper;               // of theta
  LogPrior prior;                      // of theta
  bool global = true;                  // search the whole box
  int evaluations_per_parameter = 30;  // of the global search
  int max_iter = 50;                   // of L-BFGS
  int burn_in = 100, particles = 10;
  bool sample = false;  // particles in place of the maximum
};
template <class V>
void fields(V& v, BoLearnOptions& t) {
  v("score", t.score);
  v("lower", t.lower);
  v("upper", t.upper);
  v("prior", t.prior);
  v("global", t.global);
  v("burn_in", t.burn_in);
  v("particles", t.particles);
  v("sample", t.sample);
}

// -infinity outside the box and where K~ cannot be factored. `gradient` may be null.
double bo_score(const BoModel& model, ConstMatrixRef x, ConstVectorRef y, ConstVectorRef theta, const BoLearnOptions& options,
                VectorXd* gradient);

VectorXd bo_learn(const BoModel& model, ConstMatrixRef x, ConstVectorRef y, ConstVectorRef start, const BoLearnOptions& options,
                  Monitor& monitor);

MatrixXd bo_sample(const BoModel& model, ConstMatrixRef x, ConstVectorRef y, ConstVectorRef start, const BoLearnOptions& options,
                   Rng& rng, Monitor& monitor);  // one particle per row

// Whichever the options ask for: one row per particle, or one row.
MatrixXd bo_parameters(const BoModel& model, ConstMatrixRef x, ConstVectorRef y, ConstVectorRef start, const BoLearnOptions& options,
                       Rng& rng, Monitor& monitor);

}  // namespace granary::process
