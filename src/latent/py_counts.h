// Counts of symbols under a Pitman-Yor law with discount d in [0, 1) and strength a > -d; d = 0 is the Dirichlet process. Archer, Park and Pillow (JMLR 2014).
//
//   log p(n | d, a) = sum_{l<K} log(a + l d) - sum_{j<N} log(a + j) + sum_i log[Gamma(n_i - d) / Gamma(1 - d)]        (equation 23)
//
// Given the counts, the probabilities of the K symbols seen and of the rest are Dirichlet(n_1 - d, ..., n_K - d, a + K d), and the rest is again
// Pitman-Yor, with (d, a + K d). With S = a + N, weights w_i = (n_i - d) / S and w* = (a + K d) / S, f_i = digamma(n_i - d + 1), f* = digamma(1 - d):
//
//   E[H]   = digamma(S + 1) - fbar,                                             fbar = sum w f, over the symbols seen and *
//   Var[H] = [ sum w (f - fbar)^2 + sum w_i g(n_i - d + 1) + w* g(1 - d) - g(S + 1) ] / (S + 1),      g(x) = x trigamma(x) - 1
//
// The second is ours: it equals the paper's law of total variance and its appendix, but nothing in it cancels, from a = 1e-12 to 1e300.
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/math/frequency_table.h"

namespace granary::latent {

// A discount and what it lacks of 1: near 1 the second carries the digits.
struct Discount {
  double value = 0, rest = 1;
};

struct EntropyMoments {
  double mean = 0, variance = 0;
};

// g(x) = x trigamma(x) - 1, which is 1 / (2 x) far out.
double trigamma_excess(double x);
// log Gamma(x + n) - log Gamma(x) for real n > 0, without cancellation.
double log_gamma_ratio(double x, double n);

// Coordinates of the prior: u = digamma(a + 1) - digamma(1) and v = digamma(1) - digamma(1 - d), both from 0 to infinity, relative accuracy kept near 0.
double strength_of(double u);
Discount discount_of(double v);

class PyCounts {
 public:
  explicit PyCounts(const FrequencyTable& table);

  // What depends on the discount alone: one pass over the counts.
  struct AtDiscount {
    Discount discount;
    double log_symbols = 0;                               // sum_i log[Gamma(n_i - d) / Gamma(1 - d)]
    double weight = 0, mean = 0, spread = 0, excess = 0;  // of the symbols seen: sum a_i; mean and variance of f under a_i; sum a_i g(a_i + 1)
  };
  AtDiscount at(const Discount& d) const;

  double log_evidence(const AtDiscount& at, double strength) const;
  EntropyMoments entropy(const AtDiscount& at, double strength) const;
  double total() const { return total_; }
  double distinct() const { return distinct_; }

 private:
  WeightedCounts counts_;
  double total_ = 0, distinct_ = 0, center_ = 0;
};

// Of the law itself: no counts.
EntropyMoments py_entropy(const Discount& d, double strength);

// Expected number of symbols in n draws, and of new ones in `more` further draws after `n` that held `distinct`.
double py_distinct(double n, double discount, double strength);
double py_new(double more, double n, double distinct, double discount, double strength);

struct PyFit {
  double discount = 0, strength = 0, loglik = 0;
  double se_discount = 0, se_strength = 0, covariance = 0;  // from the Hessian at the answer; NaN on the edge
  bool edge = false;                                        // no discount, or a limit of the strength
  Convergence convergence;                                  // residual: the larger score over its standard error
};
template <class V>
void fields(V& v, PyFit& t) {
  v("discount", t.discount);
  v("strength", t.strength);
  v("loglik", t.loglik);
  v("se_discount", any_number(t.se_discount));
  v("se_strength", any_number(t.se_strength));
  v("covariance", any_number(t.covariance));
  v("edge", t.edge);
  v("convergence", t.convergence);
}
// A law, and what is known of its entropy before and after the counts (nats). An empty table: before only.
struct PyLaw {
  double discount = 0, strength = 0, loglik = 0;
  double prior_mean = 0, prior_sd = 0, mean = 0, sd = 0;
  double total = 0, distinct = 0, expected_distinct = 0;  // of as many draws as there are
};
template <class V>
void fields(V& v, PyLaw& t) {
  v("discount", t.discount);
  v("strength", t.strength);
  v("loglik", t.loglik);
  v("prior_mean", t.prior_mean);
  v("prior_sd", t.prior_sd);
  v("mean", t.mean);
  v("sd", t.sd);
  v("total", t.total);
  v("distinct", t.distinct);
  v("expected_distinct", t.expected_distinct);
}
PyLaw py_law(const FrequencyTable& table, double discount, double strength);

// The largest p(n | d, a); `dirichlet`: with d = 0. InputError where there are fewer than two symbols or no coincidence, for then there is no maximum.
PyFit py_fit(const FrequencyTable& table, bool dirichlet, Monitor& monitor);

}  // namespace granary::latent
