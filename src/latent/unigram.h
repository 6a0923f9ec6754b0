// Smoothed laws of words and their log-loss, estimated without a hold-out set: Drukh and Mansour (JMLR 2005), sections 5 and 6.
//
// m draws, n_k words seen k times, n_0 words of the vocabulary never seen. The probability q(c) of one word seen c times is
//   loo            c <= 1: (K - 1) / ((n_0 + n_1)(m - 1));  c >= 2: (c - 1) / (m - 1), K words seen                          (section 5.2)
//   absolute       c = 0: alpha n_{1..tau} / (m n_0);  1 <= c <= tau: (c - alpha) / m;  c > tau: c / m                        (section 6)
//   good_turing    the combined mass of c shared by the n_c words, c = 0 included, scaled to one
//   ml, add        c / m;  (c + pseudo) / (m + N pseudo)
// With no unseen words, what was taken from the seen ones has to be given back. good_turing scales; absolute gives it to the words seen least, b times: each gets
//   q(b) = (b n_b + alpha n_{b+1..tau}) / (m n_b)
// In both a word that falls to b or below when an occurrence is deleted is one of those. So the loss is that of the law that is returned: with the formulas above a
// deleted singleton would be the only unseen word and take all of the missing mass, which no word of the law gets. The estimate could fall below the entropy, and drive
// alpha to one.
//
//   log-loss       L     = sum_w p_w log 1 / q(c_w) = sum_{k >= 0} M_k log 1 / q(k)      (the paper's sum leaves out k = 0)
//   leave-one-out  L_loo = sum_{k >= 1} (k n_k / m) log 1 / q'(k),   q'(k) what the word gets when one of its k occurrences is deleted and the law is learnt again
//
// Deleting an occurrence changes n_k, n_{k-1} and m only, so every q'(k) costs O(1).
#pragma once

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/math/frequency_table.h"
#include "core/random/rng.h"

namespace granary::latent {

enum class UnigramMethod { absolute, loo, good_turing, ml, add };
inline Names<UnigramMethod> names(UnigramMethod) {
  return {{UnigramMethod::absolute, "absolute"},
          {UnigramMethod::loo, "loo"},
          {UnigramMethod::good_turing, "good_turing"},
          {UnigramMethod::ml, "ml"},
          {UnigramMethod::add, "add"}};
}
enum class DiscountChoice { loo, gt, fixed };  // least leave-one-out log-loss; n_1 / n_{1..tau}; given
inline Names<DiscountChoice> names(DiscountChoice) {
  return {{DiscountChoice::loo, "loo"}, {DiscountChoice::gt, "gt"}, {DiscountChoice::fixed, "fixed"}};
}

struct UnigramOptions {
  UnigramMethod method = UnigramMethod::absolute;
  double unseen = -1;  // n_0, negative where it is not known
  DiscountChoice choice = DiscountChoice::loo;
  double discount = 0.5;
  double tau = 0;      // 0: floor of m^(2/5), at least 1
  double pseudo = 1;
};
template <class V>
void fields(V& v, UnigramOptions& t) {
  v("method", t.method);
  v("unseen", t.unseen);
  v("choice", t.choice);
  v("discount", t.discount);
  v("tau", t.tau);
  v("pseudo", t.pseudo);
}

struct UnigramResult {
  VectorXd count, times;             // the frequency table
  VectorXd prob, left_out;           // q(k) and q'(k) of every count
  double unseen_prob = 0;            // q(0), NaN where the number of unseen words is not known
  double unseen_mass = 0;            // of all unseen words
  double unseen = 0;                 // n_0, NaN where not known
  double discount = 0, tau = 0;
  double log_loss = 0, std_error = 0;  // leave-one-out, in nats; std_error: sd of log 1 / q' over sqrt(m)
  double stability = 0, worst = 0;   // max_k |log 1 / q'(k + 1) - log 1 / q(k)| and max_k log 1 / q(k)
  double total = 0, distinct = 0;
  double scale = 1;                  // what q was divided by to sum to one
};
template <class V>
void fields(V& v, UnigramResult& t) {
  v("count", t.count);
  v("times", t.times);
  v("prob", any_number(t.prob));
  v("left_out", any_number(t.left_out));
  v("unseen_prob", any_number(t.unseen_prob));
  v("unseen_mass", any_number(t.unseen_mass));
  v("unseen", any_number(t.unseen));
  v("discount", any_number(t.discount));
  v("tau", t.tau);
  v("log_loss", any_number(t.log_loss));
  v("std_error", any_number(t.std_error));
  v("stability", any_number(t.stability));
  v("worst", any_number(t.worst));
  v("total", t.total);
  v("distinct", t.distinct);
  v("scale", t.scale);
}

UnigramResult unigram_model(ConstVectorRef counts, const UnigramOptions& options);
UnigramResult unigram_model(const FrequencyTable& table, const UnigramOptions& options);

// One row per tau: the discount with the least leave-one-out log-loss, and that loss with its standard error. The loss is convex in the discount.
struct UnigramPath {
  VectorXd tau, discount, log_loss, std_error;
};
template <class V>
void fields(V& v, UnigramPath& t) {
  v("tau", t.tau);
  v("discount", any_number(t.discount));
  v("log_loss", any_number(t.log_loss));
  v("std_error", any_number(t.std_error));
}
UnigramPath unigram_path(ConstVectorRef counts, const UnigramOptions& options, ConstVectorRef tau);

// Laws over `size` words. zipf: p_i ~ i^-shape; geometric: p_i ~ (1 - shape)^i; dirichlet: a draw with all parameters `shape`.
enum class WordLaw { zipf, geometric, uniform, dirichlet };
inline Names<WordLaw> names(WordLaw) {
  return {{WordLaw::zipf, "zipf"}, {WordLaw::geometric, "geometric"}, {WordLaw::uniform, "uniform"}, {WordLaw::dirichlet, "dirichlet"}};
}
VectorXd word_law(WordLaw law, Index size, double shape, Rng& rng);
// Counts of n draws: by aliases where draws are fewer than words, else one binomial after the other.
VectorXd draw_counts(ConstVectorRef prob, double n, Rng& rng, Monitor& monitor);

// Replicates: n draws from `prob`, and how far from the truth the estimates of M_k and the leave-one-out log-loss are.
struct UnigramTrial {
  MatrixXd good_turing, empirical, combined;  // |estimate - M_k|, one row per replicate, one column per k
  VectorXd log_loss, left_out;                // L and L_loo of the smoother
};
template <class V>
void fields(V& v, UnigramTrial& t) {
  v("good_turing", any_number(t.good_turing));
  v("empirical", any_number(t.empirical));
  v("combined", any_number(t.combined));
  v("log_loss", any_number(t.log_loss));
  v("left_out", any_number(t.left_out));
}
UnigramTrial unigram_trials(ConstVectorRef prob, double n, Index replicates, ConstVectorRef k, const UnigramOptions& options, int threads, Rng& rng,
                            Monitor& monitor);

}  // namespace granary::latent
