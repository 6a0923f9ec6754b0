// Confidence statements and calculators of Drukh and Mansour (JMLR 2005), with every constant; each holds with probability 1 - delta over m draws.
//
//   counts     Lemma 11: all words with c > 18 log(4 m / delta) at once: |m p - c| <= sqrt(6 c log(4 m / delta))
//   unseen     Lemma 13: all unseen words at once: p < log(m / delta) / m
//   word       Lemma 12: one word, or one set of words, fixed beforehand: |c / m - p| < sqrt(3 log(2 / delta) / m)
//   frequent   Lemma 9:  all words with m p >= 3 log(2 m / delta) at once: |m p - c| <= sqrt(3 m p log(2 m / delta))
//   rare       Lemma 10: all words with m p <= 3 log(m / delta) at once: c <= 6 log(m / delta)
//   missing    the missing mass M_0 about G_0 (latent/good_turing.h)
//   tail       Lemma 8:  a sum over words exceeds with at most 3 sqrt(m) times the probability that it has with independent binomials
//   rates      orders of the error of the estimators of M_k, constants hidden
// Of a known law p:
//   hitting    E M_k, E G_k, their difference sum_w p_w (k + 1) / (m - k) P(c_w = k + 1), Var M_k, and a bound of |G_k - M_k|: Lemma 24 for both about their means
//   log_loss   Theorem 39: the excess log-loss of absolute discounting, minimised over lambda > 3
//
// For M_k Lemma 24 needs weights p_w <= B. Words above B are seen k times with a total probability that is exact here; B is the least that leaves it below delta / 4.
#pragma once

#include <string>
#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::latent {

enum class GtBound { counts, unseen, word, frequent, rare, missing, tail, rates, hitting, log_loss };
inline Names<GtBound> names(GtBound) {
  return {{GtBound::counts, "counts"},   {GtBound::unseen, "unseen"},     {GtBound::word, "word"},     {GtBound::frequent, "frequent"}, {GtBound::rare, "rare"},
          {GtBound::missing, "missing"}, {GtBound::tail, "tail"},         {GtBound::rates, "rates"},   {GtBound::hitting, "hitting"},   {GtBound::log_loss, "log_loss"}};
}

struct GtBoundOptions {
  GtBound what = GtBound::missing;
  VectorXd n;           // m, one or several; one for "hitting", "counts" and "log_loss"
  VectorXd k;
  VectorXd prob;        // a law, or probabilities of words
  VectorXd counts;
  double delta = 0.05;
  double discount = 0.5, tau = 1;
  double lambda = 0;    // 0: the best
};
template <class V>
void fields(V& v, GtBoundOptions& t) {
  v("what", t.what);
  v("n", t.n);
  v("k", t.k);
  v("prob", t.prob);
  v("counts", t.counts);
  v("delta", t.delta);
  v("discount", t.discount);
  v("tau", t.tau);
  v("lambda", t.lambda);
}

struct GtBoundTable {
  std::vector<std::string> columns;
  MatrixXd values;
};
template <class V>
void fields(V& v, GtBoundTable& t) {
  v("columns", t.columns);
  v("values", any_number(t.values));
}

GtBoundTable good_turing_bounds(const GtBoundOptions& options, Monitor& monitor);

// Exact moments under a law.
double expected_hitting_mass(ConstVectorRef prob, double m, double k);
double expected_good_turing(ConstVectorRef prob, double m, double k);
double hitting_mass_variance(ConstVectorRef prob, double m, double k, Monitor& monitor);  // grouped by distinct p; NaN above 20000 of them

}  // namespace granary::latent
