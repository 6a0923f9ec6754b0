// Variance of a cross-validated error without the errors themselves: moments of a loss for the sample mean, estimates from the
// means of the splits, and what a plan would give.
//
// Markatou, Tian, Biswas and Hripcsak (JMLR 6, 2005). J splits, training size n1, test size n2, n = n1 + n2.
//
// Sample mean (Theorem 3.1), Y and Y* the rows that two training sets and two test sets share:
//
//   Var(mu_j)         = {V + (s2/n1)(E L'^2 + c)} / n2 + (n2 - 1)/n2 (s2/n1) (E L')^2,   c = Cov(L, L'')
//   Cov(mu_j, mu_j')  = (1 - EY*/n2^2) [s2 EY/n1^2 (E L')^2 - s2^2/(4 n1^2) (E L'')^2]
//                       + EY*/n2^2 [V + (s2/n1) c + s2 EY/n1^2 E L'^2 - s2^2/(4 n1^2) (E L'')^2]
//
// EY = n1^2/n, EY* = n2^2/n for random splits (hypergeometric, Lemmas 3.1, 3.2); Y = n (k-2)/k, Y* = 0 for the folds of one
// partition. Printed in the last bracket is (E L')^2; the squared loss (3.10) shows that it is E L'^2.
//
// The exact variance for normal data and the squared loss is ours; the paper's "exact" covariance is not (see the catalogue's
// errata).
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"
#include "ensemble/cv_linear.h"

namespace granary::ensemble {

// Losses of a prediction m for x with derivatives in m. absolute: sqrt((m - x)^2 + d). smooth: a cubic step of width h for the
// rule "first group where m > x" (4.4), class -1 for the first group and 1 for the second.
enum class CvLoss { squared, absolute, smooth };
inline Names<CvLoss> names(CvLoss) { return {{CvLoss::squared, "squared"}, {CvLoss::absolute, "absolute"},
    {CvLoss::smooth, "smooth"}}; }

struct LossOptions {
  CvLoss loss = CvLoss::squared;
  double width = 0;  // d of absolute, h of smooth
};
template <class V>
void fields(V& v, LossOptions& t) {
  v("loss", t.loss);
  v("width", t.width);
}

// Moments over the rows of L(mean_i, x_i); `group` is -1 or 1 for smooth and may be empty otherwise. noise_var is not set.
LossMoments loss_moments(ConstVectorRef mean, ConstVectorRef x, ConstVectorRef group, const LossOptions& options);
// The same from values of a loss at mean - h, mean, mean + h.
LossMoments loss_moments_from(ConstVectorRef below, ConstVectorRef at, ConstVectorRef above, double h);

enum class CvScheme { random, kfold };
inline Names<CvScheme> names(CvScheme) { return {{CvScheme::random, "random"}, {CvScheme::kfold, "kfold"}}; }

struct CvPlan {
  double n = 0, n1 = 0;  // rows and training rows
  double splits = 0;     // of one repetition (the folds), or random ones
  double repeats = 1;    // partitions
  CvScheme scheme = CvScheme::random;
  double kurtosis = 0;
};
template <class V>
void fields(V& v, CvPlan& t) {
  v("n", t.n);
  v("n1", t.n1);
  v("splits", t.splits);
  v("repeats", t.repeats);
  v("scheme", t.scheme);
  v("kurtosis", t.kurtosis);
}

MomentParts mean_moment(const LossMoments& loss, const CvPlan& plan);
// Squared error of the sample mean, errors of variance 1.
MomentParts mean_exact(const CvPlan& plan);
// Normal short form of the paper: 2 (n1 + 2)/(n1 n2 J) + (J - 1)/J [2 (n + 2)/n^2 - 1/n1^2], and its k-fold form.
MomentParts mean_normal(const CvPlan& plan);

struct PlanRow {
  double n1 = 0, n2 = 0, splits = 0, repeats = 0, split_var = 0, pair_cov = 0, variance = 0, moment = 0, limit = 0, cost = 0;
};
template <class V>
void fields(V& v, PlanRow& t) {
  v("n1", t.n1);
  v("n2", t.n2);
  v("splits", t.splits);
  v("repeats", t.repeats);
  v("split_var", t.split_var);
  v("pair_cov", any_number(t.pair_cov));
  v("variance", t.variance);
  v("moment", t.moment);
  v("limit", t.limit);
  v("cost", t.cost);
}
// One row per plan; `limit` is the variance with splits or repetitions without end, `cost` the rows fitted over n.
std::vector<PlanRow> plan_table(const std::vector<CvPlan>& plans);

// P(Y = y) for y = max(0, 2 n1 - n), ..., n1.
VectorXd overlap_law(Index n, Index n1);

// (1/J + rho/(1 - rho)) S^2 with rho = n2/n where NaN: the variance of a mean of J split means (Nadeau and Bengio). NaN for J =
// 1.
double nadeau_bengio(ConstVectorRef split_mean, double n1, double n2, double rho);
// sum (mu_1m - mu_2m)^2 / (2 M).
double conservative_variance(ConstVectorRef first, ConstVectorRef second);

// Corrected resampled t test of mean differences, the Bayesian correlated t test with it (Corani and Benavoli, Machine Learning
// 2015), for a region of practical equivalence of half-width `rope`.
struct CvCompareOptions {
  double n1 = 0, n2 = 0;
  double rho = std::numeric_limits<double>::quiet_NaN();
  double rope = 0;
  double level = 0.95;
};
template <class V>
void fields(V& v, CvCompareOptions& t) {
  v("n1", t.n1);
  v("n2", t.n2);
  v("rho", any_number(t.rho));
  v("rope", t.rope);
  v("level", t.level);
}
struct CvTest {
  double estimate = 0, variance = 0, statistic = 0, df = 0, p_value = 0, low = 0, high = 0;
  double below = 0, inside = 0, above = 0;  // posterior probabilities
};
template <class V>
void fields(V& v, CvTest& t) {
  v("estimate", t.estimate);
  v("variance", any_number(t.variance));
  v("statistic", any_number(t.statistic));
  v("df", any_number(t.df));
  v("p.value", any_number(t.p_value));
  v("conf.low", any_number(t.low));
  v("conf.high", any_number(t.high));
  v("below", any_number(t.below));
  v("inside", any_number(t.inside));
  v("above", any_number(t.above));
}
CvTest corrected_t(ConstVectorRef difference, const CvCompareOptions& options);
// The same from a variance that is known up to `df`; infinite df for the normal.
CvTest t_test(double estimate, double variance, double df, double rope, double level);
// Dietterich's 5 x 2 test and Alpaydin's F of it: differences of the two folds, one row per repetition of a 2-fold partition.
CvTest five_by_two(ConstMatrixRef difference, double level);

}  // namespace granary::ensemble
