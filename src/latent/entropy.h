// Shannon entropy of an unknown law from the counts of a sample, in nats. Archer, Park and Pillow (JMLR 2014) and the estimators they compare with.
//
// With p_i = n_i / N, K symbols seen and f1 of them once:
//   plugin              -sum p_i log p_i
//   miller_madow        plugin + (K - 1) / (2 N)
//   jackknife           N plugin - (N - 1) mean of plugin without one draw
//   chao_shen           -sum C p_i log(C p_i) / (1 - (1 - C p_i)^N), coverage C = 1 - f1 / N, with f1 = N - 1 where all were seen once
//   coverage_adjusted   the same with C = 1 - f1 / (N + 1): Vu, Yu and Kass (Statistics in Medicine 2007)
//   grassberger         log N - sum (n_i / N) G(n_i), G(n) = psi(n) + (-1)^n [psi((n + 1) / 2) - psi(n / 2)] / 2
//   zhang               sum (n_i / N) (psi(N) - psi(n_i))
//   dirichlet           plugin of (n_i + b) / (N + A b), over an alphabet of A
//   shrink              plugin of lambda / A + (1 - lambda) p_i, lambda = (1 - sum p^2) / ((N - 1) sum (1 / A - p)^2) in [0, 1]
//   ansb                2 log N - psi(N - K) - psi(1) - log 2 (printed with + psi(N - K)): for N - K small beside N
//   pym, dpm, nsb       latent/entropy_posterior.h
// Standard deviations: posterior for the last three; jackknife for jackknife, chao_shen, coverage_adjusted, dirichlet and shrink; trigamma(N - K)^(1/2) for ansb;
// else by the delta method, sqrt(Var(log p) / N).
#pragma once

#include "core/random/rng.h"
#include "latent/entropy_posterior.h"

namespace granary::latent {

enum class EntropyMethod {
  pym, dpm, nsb, ansb, plugin, miller_madow, jackknife, chao_shen, coverage_adjusted, grassberger, zhang, dirichlet, shrink
};
inline Names<EntropyMethod> names(EntropyMethod) {
  using M = EntropyMethod;
  return {{M::pym, "pym"},
          {M::dpm, "dpm"},
          {M::nsb, "nsb"},
          {M::ansb, "ansb"},
          {M::plugin, "plugin"},
          {M::miller_madow, "miller_madow"},
          {M::jackknife, "jackknife"},
          {M::chao_shen, "chao_shen"},
          {M::coverage_adjusted, "coverage_adjusted"},
          {M::grassberger, "grassberger"},
          {M::zhang, "zhang"},
          {M::dirichlet, "dirichlet"},
          {M::shrink, "shrink"}};
}

struct EntropyOptions {
  EntropyMethod method = EntropyMethod::pym;
  double alphabet = 0;  // number of symbols there are, for nsb, dirichlet and shrink
  double pseudo = 0.5;  // for dirichlet
  PymPrior prior = PymPrior::pym;
  PriorDensity density;  // for a prior of the user's own; no field, for it crosses by itself
  double level = 0.95;
  int n_draws = 0;
  double tol = 1e-7;
  int threads = 1;
};
template <class V>
void fields(V& v, EntropyOptions& t) {
  v("method", t.method);
  v("alphabet", t.alphabet);
  v("pseudo", t.pseudo);
  v("prior", t.prior);
  v("level", t.level);
  v("n_draws", t.n_draws);
  v("tol", t.tol);
  v("threads", t.threads);
}

struct EntropyResult {
  double estimate = 0, sd = 0, lower = 0, upper = 0;
  double total = 0, distinct = 0, coverage = 0;
  VectorXd count, times;  // the frequency table
  double mode_discount = 0, mode_strength = 0;
  EntropyMixture mixture;
  MatrixXd draws;  // entropy, sum of p^2, probability not seen, discount, strength
  double shrinkage = 0;
  Convergence convergence;
};
template <class V>
void fields(V& v, EntropyResult& t) {
  v("estimate", any_number(t.estimate));
  v("sd", any_number(t.sd));
  v("lower", any_number(t.lower));
  v("upper", any_number(t.upper));
  v("total", t.total);
  v("distinct", t.distinct);
  v("coverage", t.coverage);
  v("count", t.count);
  v("times", t.times);
  v("mode_discount", any_number(t.mode_discount));
  v("mode_strength", any_number(t.mode_strength));
  v("mixture", t.mixture);
  v("draws", t.draws);
  v("shrinkage", any_number(t.shrinkage));
  v("convergence", t.convergence);
}

EntropyResult entropy_estimate(ConstVectorRef counts, const EntropyOptions& options, Rng& rng, Monitor& monitor);

// Entropy and the rest for one law of the posterior at a time (section B5 of the paper): a point of the mixture, jittered within its cell; probabilities of what was seen
// from a Dirichlet law; the rest by stick-breaking, until the entropy of what is left of the stick has a standard deviation below `precision`, and then from
// a normal law with its exact mean and variance, times what is left (the paper prints the last term without that factor).
MatrixXd pym_draws(const FrequencyTable& table, const EntropyPosterior& posterior, Index n, double precision, int threads, Rng& rng, Monitor& monitor);
MatrixXd nsb_draws(const FrequencyTable& table, double alphabet, const EntropyPosterior& posterior, Index n, int threads, Rng& rng, Monitor& monitor);

}  // namespace granary::latent
