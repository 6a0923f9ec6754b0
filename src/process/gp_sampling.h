// Markov chains for the exact posterior of a Gaussian process classifier, and its evidence by annealed importance sampling.
//
// With K = L L', f = mean + L g and g white under the prior, the law at inverse temperature t has
//
//   log density(g) = t sum_i log p(y_i | f_i) - g'g / 2,   gradient = t L'(d log p / df) - g
//
// Hamiltonian leapfrogs, step size learnt while warming up, or elliptical slices, which have nothing to tune. Evidence: draw from
// the prior, then for t_s = (s / T)^4, s = 1..T, add (t_s - t_(s-1)) log p(y | f) of the point at hand and move it by one
// transition at t_s. The mean of exp(sum) over runs is unbiased (Neal 2001); the printed equation 31 evaluates after the move,
// and the runs are to be averaged by the arithmetic mean. Step sizes come from a short anneal before the runs, so the moves are
// valid at every temperature.
//
// Kuss and Rasmussen (JMLR 2005), section 6; Murray, Adams and MacKay (AISTATS 2010).
#pragma once

#include "process/gp_classify.h"

namespace granary::process {

enum class Sampler { hmc, ess };
inline Names<Sampler> names(Sampler) { return {{Sampler::hmc, "hmc"}, {Sampler::ess, "ess"}}; }

struct SampleOptions {
  Sampler sampler = Sampler::hmc;
  int draws = 1000, burn_in = 500, thin = 1, steps = 15, chains = 1, threads = 1;
};
template <class V>
void fields(V& v, SampleOptions& t) {
  v("sampler", t.sampler);
  v("n_draws", t.draws);
  v("burn_in", t.burn_in);
  v("thin", t.thin);
  v("steps", t.steps);
  v("chains", t.chains);
  v("threads", t.threads);
}
struct SampleResult {
  MatrixXd f;           // one row per draw, the chains one after the other
  MatrixXd weight;      // K^-1 (f - mean), for predictions
  VectorXd log_joint;   // log p(y | f) - g'g / 2
  VectorXd acceptance;  // of each chain; one for slices
  VectorXd step_size;   // of each chain; zero for slices
  double jitter = 0;    // added to the diagonal of K
  double effective_size = 0;  // of log_joint, added over the chains
};
template <class V>
void fields(V& v, SampleResult& t) {
  v("f", t.f);
  v("weight", t.weight);
  v("log_joint", t.log_joint);
  v("acceptance", t.acceptance);
  v("step_size", t.step_size);
  v("jitter", t.jitter);
  v("effective_size", t.effective_size);
}
SampleResult sample_posterior(const ClassifyModel& model, ConstMatrixRef x, ConstVectorRef y, const SampleOptions& options,
                              const Rng& rng, Monitor& monitor);

struct AisOptions {
  Sampler sampler = Sampler::hmc;
  int temperatures = 8000, runs = 3, steps = 10, threads = 1;
};
template <class V>
void fields(V& v, AisOptions& t) {
  v("sampler", t.sampler);
  v("temperatures", t.temperatures);
  v("runs", t.runs);
  v("steps", t.steps);
  v("threads", t.threads);
}
struct AisResult {
  double log_evidence = 0;
  VectorXd log_weights;       // one per run
  double effective_size = 0;  // (sum w)^2 / sum w^2
};
template <class V>
void fields(V& v, AisResult& t) {
  v("log_evidence", t.log_evidence);
  v("log_weights", t.log_weights);
  v("effective_size", t.effective_size);
}
AisResult annealed_evidence(const ClassifyModel& model, ConstMatrixRef x, ConstVectorRef y, const AisOptions& options,
                            const Rng& rng, Monitor& monitor);

// Mean over draws of p(y = 1 | f*): f* | draw is N(mean + k*'weight_s, v) with v = k** - k*'K^-1 k*. Also mean and variance of
// f*.
struct SamplePrediction {
  VectorXd probability, mean, variance, monte_carlo_se;
};
template <class V>
void fields(V& v, SamplePrediction& t) {
  v("probability", t.probability);
  v("mean", t.mean);
  v("variance", t.variance);
  v("monte_carlo_se", t.monte_carlo_se);
}
SamplePrediction predict_sample(const ClassifyModel& model, ConstMatrixRef x, ConstMatrixRef weight, double jitter,
                                ConstMatrixRef at, Monitor& monitor);

}  // namespace granary::process
