// What is believed of the parameters of a Gaussian process before and after the data.
//
//   log p(theta | y) = log evidence(theta) - 1/2 sum_j ((theta_j - mean_j) / sd_j)^2 + const,   lower <= theta <= upper
//
// theta the logarithms of positive parameters, so that a normal prior is a log-normal one of the parameter. sd_j infinite: flat.
// `sample_parameters` draws from it by one of the chains of core/mcmc.h; elliptical slices want a proper prior of every parameter.
#pragma once

#include <functional>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/base/types.h"

namespace granary::process {

struct LogPrior {
  VectorXd mean, sd;  // empty: flat

  // Its log density at theta up to a constant; what it adds to the gradient is added, where not null.
  double add(ConstVectorRef theta, VectorXd* gradient) const {
    if (mean.size() == 0) return 0;
    const VectorXd z = (theta - mean).cwiseQuotient(sd);
    if (gradient != nullptr) *gradient -= z.cwiseQuotient(sd);
    return -0.5 * z.squaredNorm();
  }
};

template <class V>
void fields(V& v, LogPrior& t) {
  v("mean", t.mean);
  v("sd", any_number(t.sd));  // infinite: this parameter has none
}

enum class ParameterSampler { slice, hmc, ess };
inline Names<ParameterSampler> names(ParameterSampler) {
  return {{ParameterSampler::slice, "slice"}, {ParameterSampler::hmc, "hmc"}, {ParameterSampler::ess, "ess"}};
}

struct ParameterSampleOptions {
  ParameterSampler sampler = ParameterSampler::slice;
  int draws = 500, burn_in = 200, thin = 1;  // of each chain, in sweeps or moves
  int steps = 10;                            // leapfrog steps of a Hamiltonian move
  int chains = 1;
  VectorXd lower, upper;
  LogPrior prior;
  int threads = 1;
};
template <class V>
void fields(V& v, ParameterSampleOptions& t) {
  v("sampler", t.sampler);
  v("n_draws", t.draws);
  v("burn_in", t.burn_in);
  v("thin", t.thin);
  v("steps", t.steps);
  v("chains", t.chains);
  v("lower", t.lower);
  v("upper", t.upper);
  v("prior", t.prior);
  v("threads", t.threads);
}

struct ParameterSample {
  MatrixXd theta;        // one row per draw, chain after chain
  VectorXd log_density;  // of each draw, up to a constant
  VectorXd acceptance;   // of each chain; one for slices
  double effective_size = 0;  // of log_density, added over the chains
};
template <class V>
void fields(V& v, ParameterSample& t) {
  v("theta", t.theta);
  v("log_density", t.log_density);
  v("acceptance", t.acceptance);
  v("effective_size", t.effective_size);
}

// -infinity where it cannot be computed; called from several threads at once.
using LogEvidence = std::function<double(const VectorXd& theta, VectorXd* gradient)>;

// Chains start at `start`, the second and later ones a little beside it.
ParameterSample sample_parameters(const LogEvidence& log_evidence, ConstVectorRef start, const ParameterSampleOptions& options,
                                  const Rng& rng, Monitor& monitor);

}  // namespace granary::process
