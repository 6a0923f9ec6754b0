// Cross-validation of linear smoothers: prediction errors of all splits from one fit, and the exact variance of the estimate.
//
// Fit on S, tested on T = the rest: errors B y, B = (I - H_TT)^-1 (M)_T with H = X (X'X + L)^-1 X' and M = I - H of all rows, so
// that
//
//   mu = (1/J) sum_j |B_j y|^2 / n_j = y'A y,   A = M C M,   C = (1/J) sum_j P_j' (I - H_TT)^-2 P_j / n_j
//   (I - H_TT)^-1 = I + X_T G_S X_T',  G_S = (X_S'X_S + L)^-1
//
// and for independent errors of variance s2, skewness m3 and excess kurtosis k, with m = E y:
//
//   E mu   = s2 tr A + m'A m
//   Var mu = s2^2 (2 tr A^2 + k sum_i A_ii^2) + 4 s2 |A m|^2 + 4 m3 s2^1.5 sum_i A_ii (A m)_i
//
// given the splits. A m = 0 for least squares with a correct model. C is the identity plus terms of rank p on each test set:
// traces need no n x n matrix (p x p for every pair of splits that share a row).
//
// Moment approximation of the paper (Markatou, Tian, Biswas, Hripcsak, JMLR 2005, 3.13 to 3.16 with Propositions 3.4 to 3.6),
// with moments of a loss L(prediction, y) and its derivatives at the mean, h_ii' = x_i'G_S x_i' and q_ii' = x_i'G_S (X'X over S
// and S') G_S' x_i':
//
//   one split    sum_i [V + s2 h_ii (c + E L'^2)] + sum_{i != i'} [s2 (E L')^2 h_ii' + s2^2/2 (E L'')^2 h_ii'^2],  c = Cov(L,
//                L'')
//   two splits   the same with q for i != i';  V + s2/2 c (h_ii + h'_ii) + s2 E L'^2 q_ii + s2^2/2 (E L'')^2 q_ii^2 + s2^2/4
//                Var(L'') h_ii h'_ii
//                for rows in both test sets
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::ensemble {

using TestSets = std::vector<std::vector<Index>>;

struct CvLinearOptions {
  TestSets splits;     // rows of each test set
  double lambda = 0;   // ridge penalty lambda |b|^2; not on the first column where `intercept`
  bool intercept = true;
  double kurtosis = std::numeric_limits<double>::quiet_NaN();  // excess of the errors; NaN: from residuals
  bool moment = true;
  int threads = 1;
};
template <class V>
void fields(V& v, CvLinearOptions& t) {
  v("splits", positions(t.splits));
  v("lambda", t.lambda);
  v("intercept", t.intercept);
  v("kurtosis", any_number(t.kurtosis));
  v("moment", t.moment);
  v("threads", t.threads);
}

struct CvVariance {
  double noise_var = 0, skew = 0, kurtosis = 0;  // of the errors, skew and kurtosis over their variance
  double trace = 0, trace_square = 0, diagonal_square = 0;  // of A: tr A, tr A^2, sum_i A_ii^2
  double shift = 0;        // |A m|^2
  double shift_diagonal = 0;  // sum_i A_ii (A m)_i
  double expected = 0;     // E mu at the estimates
  double exact = 0;        // Var mu at the estimates
};
template <class V>
void fields(V& v, CvVariance& t) {
  v("noise_var", t.noise_var);
  v("skew", any_number(t.skew));
  v("kurtosis", any_number(t.kurtosis));
  v("trace", t.trace);
  v("trace_square", t.trace_square);
  v("diagonal_square", t.diagonal_square);
  v("shift", t.shift);
  v("shift_diagonal", t.shift_diagonal);
  v("expected", t.expected);
  v("exact", t.exact);
}

struct CvLinearResult {
  VectorXd errors;      // y - prediction, one split after the other
  VectorXd split_mean;  // mean squared error of each split
  VectorXd fitted;      // H y of all rows
  CvVariance variance;
};
template <class V>
void fields(V& v, CvLinearResult& t) {
  v("errors", t.errors);
  v("split_mean", t.split_mean);
  v("fitted", t.fitted);
  v("variance", t.variance);
}

// x without the intercept's column. InputError naming the split where its training rows do not determine the coefficients.
CvLinearResult cv_linear(ConstMatrixRef x, ConstVectorRef y, const CvLinearOptions& options, Monitor& monitor);

// Moments of a loss over the data that the approximations need.
struct LossMoments {
  double mean = 0, var = 0;     // of L
  double slope = 0;             // E L'
  double slope_square = 0;      // E L'^2
  double curvature = 0;         // E L''
  double curvature_var = 0;     // Var L''
  double cov_curvature = 0;     // Cov(L, L'')
  double noise_var = 0;         // s2
};
template <class V>
void fields(V& v, LossMoments& t) {
  v("mean", t.mean);
  v("var", t.var);
  v("slope", t.slope);
  v("slope_square", t.slope_square);
  v("curvature", t.curvature);
  v("curvature_var", t.curvature_var);
  v("cov_curvature", t.cov_curvature);
  v("noise_var", t.noise_var);
}

struct MomentParts {
  double split = 0, pair = 0, total = 0;  // mean variance of one split, mean covariance of two, variance of their mean
};
template <class V>
void fields(V& v, MomentParts& t) {
  v("split", t.split);
  v("pair", any_number(t.pair));
  v("total", t.total);
}
MomentParts cv_linear_moment(ConstMatrixRef x, const LossMoments& loss, const CvLinearOptions& options, Monitor& monitor);

// Two smoothers on the same rows and splits: mu_a - mu_b = y'(A_a - A_b) y, with A as n x n matrices. The errors' law is taken
// from the residuals of the larger model. InputError above 4000 rows.
struct CvDifference {
  double estimate = 0, expected = 0, exact = 0;
};
template <class V>
void fields(V& v, CvDifference& t) {
  v("estimate", t.estimate);
  v("expected", t.expected);
  v("exact", t.exact);
}
CvDifference cv_linear_difference(ConstMatrixRef x, ConstMatrixRef z, ConstVectorRef y, const CvLinearOptions& a,
    const CvLinearOptions& b,
                                  Monitor& monitor);

// A itself: for tests and small data.
MatrixXd cv_linear_matrix(ConstMatrixRef x, const CvLinearOptions& options, Monitor& monitor);

}  // namespace granary::ensemble
