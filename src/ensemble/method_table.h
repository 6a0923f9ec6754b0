// Many methods on many data sets: ranks, tests and shares of the best value of a table with one row per data set and one column
// per method.
//
// Larger is better, or smaller; NaN is a run that failed. Fernandez-Delgado, Cernadas, Barro and Amorim (JMLR 15, 2014), section
// 4:
//
//   rank        within a row, 1 the best, ties averaged; a failed run gets the row's mean for this purpose only
//   Friedman    chi2 = (k - 1) sum_j (R_j - N (k + 1)/2)^2 / sum_ij (r_ij - (k + 1)/2)^2, and F = (N - 1) chi2 / (N (k - 1) -
//               chi2)
//   Nemenyi     two methods differ where their mean ranks do by q sqrt(k (k + 1) / (6 N)), q Tukey's quantile over sqrt(2)
//   PAMA        share of the rows in which a method attains the best value
//   P95         share of the rows in which it reaches `level` of the best value
//   PMA         mean of value / best over the rows without failure; best / value where smaller is better
//   profile     share of the rows with value / best >= t
//
// Weighted means of the values, by the difficulty of a row and by its size (section 4.4); printed for "decreasing" is a
// denominator with which the weights do not sum to N, here it is N max - sum.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/base/types.h"

namespace granary::ensemble {

struct MethodOptions {
  bool maximize = true;
  double level = 0.95;  // of the best value, for P95
  double alpha = 0.05;  // of the critical difference
  double scale = 100;   // the best possible value
};
template <class V>
void fields(V& v, MethodOptions& t) {
  v("maximize", t.maximize);
  v("level", t.level);
  v("alpha", t.alpha);
  v("scale", t.scale);
}

struct MethodTable {
  MatrixXd ranks;      // rows x methods
  VectorXd mean_rank;  // by method
  VectorXd mean, sd, failed;
  VectorXd pama, reach, pma;  // in percent; NaN where a ratio to the best has no meaning
  double chi2 = 0, chi2_df = 0, chi2_p = 1, f = 0, f_df1 = 0, f_df2 = 0, f_p = 1;
  double critical = 0;  // difference of mean ranks
};
template <class V>
void fields(V& v, MethodTable& t) {
  v("ranks", t.ranks);
  v("mean_rank", t.mean_rank);
  v("mean", any_number(t.mean));
  v("sd", any_number(t.sd));
  v("failed", t.failed);
  v("pama", any_number(t.pama));
  v("reach", any_number(t.reach));
  v("pma", any_number(t.pma));
  v("chi2", any_number(t.chi2));
  v("chi2_df", t.chi2_df);
  v("chi2_p", any_number(t.chi2_p));
  v("f", any_number(t.f));
  v("f_df1", t.f_df1);
  v("f_df2", t.f_df2);
  v("f_p", any_number(t.f_p));
  v("critical", t.critical);
}

// InputError for a table without values, and for rows or columns that are all NaN.
MethodTable method_table(ConstMatrixRef a, const MethodOptions& options);

// Values over the best of their row (best over value where smaller is better), NaN where they failed; empty where the best is not
// above 0.
MatrixXd ratio_to_best(ConstMatrixRef a, bool maximize);
// Share of all rows with a ratio of at least t: thresholds x methods.
MatrixXd performance_profile(ConstMatrixRef a, bool maximize, ConstVectorRef thresholds);

enum class MethodWeight { complexity, proportional, decreasing };
inline Names<MethodWeight> names(MethodWeight) {
  return {{MethodWeight::complexity, "complexity"}, {MethodWeight::proportional, "proportional"},
      {MethodWeight::decreasing, "decreasing"}};
}
// Weights that sum to the number of rows; `size` is not looked at for complexity, where it may be empty.
VectorXd row_weights(ConstMatrixRef a, ConstVectorRef size, MethodWeight kind, const MethodOptions& options);

// Maximal groups of methods, in the order of their mean ranks, within which no two differ by more than `critical`: first and last
// place.
std::vector<std::vector<Index>> rank_groups(ConstVectorRef sorted_ranks, double critical);

struct PairTest {
  Index first = 0, second = 0;  // methods
  double rank_difference = 0, nemenyi_p = 0;
  double difference = 0;  // mean of first less second, over rows where both are there
  double t = 0, t_p = 0, conf_low = 0, conf_high = 0;
  double w = 0, w_p = 0, sign_p = 0;  // Wilcoxon's V, sign test
  double wins = 0, ties = 0, losses = 0, gain = 0, loss = 0;  // of the first; sums of positive and negative differences
  double below = 0, inside = 0, above = 0;  // Bayesian signed rank: second better, no matter, first better; NaN without draws
};
template <class V>
void fields(V& v, PairTest& t) {
  v("first", positions(t.first));
  v("second", positions(t.second));
  v("rank_difference", t.rank_difference);
  v("nemenyi_p", t.nemenyi_p);
  v("difference", any_number(t.difference));
  v("t", any_number(t.t));
  v("t_p", any_number(t.t_p));
  v("conf_low", any_number(t.conf_low));
  v("conf_high", any_number(t.conf_high));
  v("w", any_number(t.w));
  v("w_p", any_number(t.w_p));
  v("sign_p", any_number(t.sign_p));
  v("wins", t.wins);
  v("ties", t.ties);
  v("losses", t.losses);
  v("gain", t.gain);
  v("loss", t.loss);
  v("below", any_number(t.below));
  v("inside", any_number(t.inside));
  v("above", any_number(t.above));
}

struct PairOptions {
  std::vector<Index> first, second;
  bool maximize = true;
  double conf = 0.95;   // level of the intervals
  double rope = 0;
  int n_draws = 0;      // of the Bayesian signed rank test
  double prior = 0.5;   // weight of a difference of zero, added
  int threads = 1;
};
template <class V>
void fields(V& v, PairOptions& t) {
  v("first", positions(t.first));
  v("second", positions(t.second));
  v("maximize", t.maximize);
  v("conf", t.conf);
  v("rope", t.rope);
  v("n_draws", t.n_draws);
  v("prior", t.prior);
  v("threads", t.threads);
}
std::vector<PairTest> pair_tests(ConstMatrixRef a, ConstVectorRef mean_rank, const PairOptions& options, std::uint64_t seed,
    Monitor& monitor);

struct SignedRank {
  double v = 0, p = 1;  // sum of the ranks of positive differences; two-sided
  bool exact = false;
};
// Zeros are left out. Exact given the ranks, ties and all, for up to 50 differences, else normal with the variance for ties and
// continuity.
SignedRank signed_rank(ConstVectorRef difference);

// Dirichlet weights (prior, 1, ..., 1) on differences (0, z_1, ..., z_N): share of the draws in which the pairs' averages lie
// mostly below -rope, inside, above (Benavoli, Corani, Mangili, Zaffalon, Ruggeri, ICML 2014).
struct BayesShares {
  double below = 0, inside = 0, above = 0;
};
BayesShares bayes_signed_rank(ConstVectorRef difference, double rope, double prior, int n_draws, Rng& rng);

}  // namespace granary::ensemble
