// Kernel ridge regression with a part that is not penalised, through features z(x) of the kernel:
//
//   min_{w, b}  sum_i a_i (y_i - z_i'w - p_i'b)^2 + lambda |w|^2
//
// which with Z Z' = K is the penalised least-squares problem in the reproducing space, and the mean of a Gaussian process with
// covariance (sigma^2 / lambda) K, noise sigma^2 and flat priors of b. With P taken out of Z and y by its QR, one SVD Z~ = U S V'
// gives every lambda in O(k):
//
//   df = q + sum s^2 / (s^2 + lambda),   RSS = r0 + sum (lambda / (s^2 + lambda))^2 t^2,   t = U'y~
//   GCV = n RSS / (n - df)^2;   LOO = mean (e_i / (1 - h_i))^2, exact
//   REML = -1/2 ((n - q)(log 2 pi s2 + 1) + sum log(1 + s^2 / lambda)),  s2 = (r0 + sum t^2 lambda / (s^2 + lambda)) / (n - q)
//
// (Wahba 1990, chapter 4; REML is that of orthonormal contrasts.) Drineas and Mahoney (JMLR 2005) is where Z comes from, when n
// is large.
#pragma once

#include "core/base/convergence.h"
#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary::kernel {

enum class RidgeRule { gcv, loo, reml, ml };
inline Names<RidgeRule> names(RidgeRule) {
  return {{RidgeRule::gcv, "gcv"}, {RidgeRule::loo, "loo"}, {RidgeRule::reml, "reml"}, {RidgeRule::ml, "ml"}};
}

struct RidgeOptions {
  RidgeRule rule = RidgeRule::gcv;
  VectorXd lambda;  // one: taken as it is; several: the best of them; none: searched for
  int n_lambda = 61;
};
template <class V>
void fields(V& v, RidgeOptions& t) {
  v("rule", t.rule);
  v("lambda", t.lambda);
  v("n_lambda", t.n_lambda);
}

struct RidgeScores {  // at one lambda
  double lambda = 0, df = 0, rss = 0, gcv = 0, loo = 0, reml = 0, ml = 0;
};
template <class V>
void fields(V& v, RidgeScores& t) {
  v("lambda", t.lambda);
  v("df", t.df);
  v("rss", t.rss);
  v("gcv", any_number(t.gcv));
  v("loo", any_number(t.loo));
  v("reml", any_number(t.reml));
  v("ml", any_number(t.ml));
}

struct RidgeResult {
  std::vector<RidgeScores> table;
  RidgeScores chosen;
  double noise_var = 0;  // by REML for the likelihood rules, RSS / (n - df) for the others
  VectorXd weights;      // w
  VectorXd parametric;   // b
  VectorXd fitted, residuals, leverage, loo_residuals;
  MatrixXd covariance;   // of (w, b), divided by the noise variance
  bool at_edge = false;  // the best lambda is the first or last that was looked at
  Convergence convergence;
};
template <class V>
void fields(V& v, RidgeResult& t) {
  v("table", columns(t.table));
  v("chosen", t.chosen);
  v("noise_var", t.noise_var);
  v("weights", t.weights);
  v("parametric", t.parametric);
  v("fitted", t.fitted);
  v("residuals", t.residuals);
  v("leverage", t.leverage);
  v("loo_residuals", t.loo_residuals);
  v("covariance", t.covariance);
  v("at_edge", t.at_edge);
  v("convergence", t.convergence);
}

// `parametric` may have no columns; InputError where its columns depend on each other. Weights are positive, or there are none.
RidgeResult kernel_ridge(ConstMatrixRef z, ConstMatrixRef parametric, ConstVectorRef y, ConstVectorRef weights,
                         const RidgeOptions& options);

// Variances of the regression function at new points, z and p their features, `left` = k(x, x) - |z|^2.
VectorXd ridge_variance(ConstMatrixRef z, ConstMatrixRef parametric, ConstVectorRef left, ConstMatrixRef covariance,
                        double noise_var, double lambda);

}  // namespace granary::kernel
