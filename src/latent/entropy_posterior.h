// Entropy under a prior that is flat in entropy: Archer, Park and Pillow (JMLR 2014); with a known alphabet, Nemenman, Shafee and Bialek (NIPS 2001).
//
//   H | n  =  int int  [H | n, d, a]  p(n | d, a) q(g) dh dg / Z                                                              (equation 24)
//
// h = digamma(a + 1) - digamma(1 - d) is the mean entropy under (d, a) and g = [digamma(1) - digamma(1 - d)] / h the share of the discount in it. The prior is flat
// in h on (0, infinity); q is a density of g on [0, 1), exp(-10 / (1 - g)) by default. With u = h (1 - g) and v = h g the strength depends on u alone and the discount on
// v alone, dh dg = du dv / (u + v), and the integrand is summed over equally spaced log u inside equally spaced log v, each between the points where it has fallen by e^-40
// (core/math/peak_integral.h). The number of points is doubled until the answer stands still.
//
// Differs from the paper: the variance is E[H^2 | n] - E[H | n]^2, not the mean of the conditional variances, which drops what the uncertainty of (d, a) adds;
// a grid that follows the integrand takes the place of the box around the mode, which misses mass where the mode is on an edge or the tail is algebraic.
#pragma once

#include <functional>
#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "latent/py_counts.h"

namespace granary::latent {

enum class PymPrior { pym, dp, pd, custom };  // q as above; g = 0; g = 1; the user's
inline Names<PymPrior> names(PymPrior) {
  return {{PymPrior::pym, "pym"}, {PymPrior::dp, "dp"}, {PymPrior::pd, "pd"}, {PymPrior::custom, "custom"}};
}
using PriorDensity = std::function<double(double g)>;  // need not integrate to 1

// A mixture over points of the parameters: given a point, H has this mean and standard deviation.
struct EntropyMixture {
  VectorXd discount, strength;  // with a known alphabet: strength is the pseudo-count of each symbol
  VectorXd rest;                // 1 - discount
  VectorXd weight, mean, sd;
  VectorXd width_u, width_v;    // of the cell of each point, in log u and log v (log of the pseudo-count)
};
template <class V>
void fields(V& v, EntropyMixture& t) {
  v("discount", t.discount);
  v("strength", t.strength);
  v("rest", t.rest);
  v("weight", t.weight);
  v("mean", t.mean);
  v("sd", t.sd);
}

struct EntropyPosterior {
  double mean = 0, sd = 0;
  double mode_discount = 0, mode_strength = 0;  // largest posterior density in (h, g)
  EntropyMixture mixture;
  Convergence convergence;  // residual: change of mean and sd by the last doubling; iterations: doublings
};

// The table must have a coincidence (N > K): without one the posterior mean is infinite.
EntropyPosterior pym_posterior(const FrequencyTable& table, PymPrior prior, const PriorDensity& density, double tol, Monitor& monitor);
// Dirichlet laws on `alphabet` symbols, the prior flat in the mean entropy on (0, log alphabet).
EntropyPosterior nsb_posterior(const FrequencyTable& table, double alphabet, double tol, Monitor& monitor);

// E[H] and Var[H] under Dirichlet(n_i + pseudo), over `alphabet` symbols.
EntropyMoments dirichlet_entropy(const WeightedCounts& counts, double total, double distinct, double alphabet, double pseudo);

// The quantile of the mixture of normal laws, none of it below zero, and its density.
double mixture_quantile(const EntropyMixture& m, double p);
enum class MixtureCurve { quantile, density };
inline Names<MixtureCurve> names(MixtureCurve) { return {{MixtureCurve::quantile, "quantile"}, {MixtureCurve::density, "density"}}; }
VectorXd mixture_curve(const EntropyMixture& m, ConstVectorRef at, MixtureCurve what);

}  // namespace granary::latent
