// Confidence intervals for the coefficients of a sparse linear model with more columns than rows.
//
//   y = X theta0 + w,   S = X'X / n
//   1  sigma, from the scaled lasso with penalty lambda0                                       (scaled_lasso.h)
//   2  theta = argmin |y - X theta|^2 / (2n) + lambda |theta|_1                                (3)
//   3  m_i = argmin m'Sm  subject to  |S m - e_i|_inf <= mu,   for every i                     (4), decorrelate.h
//   4  thetau = theta + M X'(y - X theta) / n                                                  (5)
//   5  interval of coefficient i:  thetau_i -+ Phi^-1(1 - alpha/2) sigma [M S M']_ii^1/2 / n^1/2
//
// Javanmard, Montanari (JMLR 15, 2014), Algorithm 1; equation numbers are theirs. Columns are centred and scaled first.
//
// Beyond the paper, a guess of how far the intervals hold: the error is noise + (MS - I)(theta0 - theta). A selected coefficient
// is off by about lambda (or by noise, where that is more), or by all of itself if it should be zero; for random signs the sum
// over the selected ones has size `bias` standard errors. And the lasso estimate of a selected coefficient carries noise of its
// own: in all that of least squares, of which the standard error has the share (MS)_ii only.
#pragma once

#include <optional>
#include <vector>

#include "core/random/rng.h"
#include "regress/decorrelate.h"
#include "regress/scaled_design.h"

namespace granary::regress {

enum class DebiasedPreset {
  standard,  // lambda0 = u, lambda = sigma u / 2, mu = sqrt(log p / n), with u = sqrt(2 log p / n)
  paper      // as printed: 10 u, 4 sigma u, twice that mu, and the identity where no row is feasible
};
inline Names<DebiasedPreset> names(DebiasedPreset) {
  return {{DebiasedPreset::standard, "default"}, {DebiasedPreset::paper, "paper"}};
}

struct DebiasedOptions {
  std::optional<double> lambda, sigma, lambda0;
  DecorrelateOptions rows;
  DebiasedPreset preset = DebiasedPreset::standard;
  bool standardize = true;
  bool intercept = true;
  double alpha = 0.05;
};
template <class V>
void fields(V& v, DebiasedOptions& t) {
  v("lambda", t.lambda);
  v("sigma", t.sigma);
  v("lambda0", t.lambda0);
  v("preset", t.preset);
  v("standardize", t.standardize);
  v("intercept", t.intercept);
  v("alpha", t.alpha);
  fields(v, t.rows);
}

// What comes in. `rows` (X m_i) or `m` (|which| x columns that vary) where they are known; else step 3 makes them.
struct DebiasedData {
  MatrixView x{nullptr, 0, 0};
  VectorView y{nullptr, 0};
  std::vector<Index> which;  // columns of x; empty: all that vary
  std::optional<MatrixXd> rows, m;
};
template <class V>
void fields(V& v, DebiasedData& t) {
  v("x", t.x);
  v("y", t.y);
  v("which", positions(t.which));
  v("rows", t.rows);
  v("m", t.m);
}

// Steps 1 and 2, which the baselines share.
struct DebiasedStart {
  ScaledDesign design;
  VectorXd response;  // centred
  double mean_y = 0, sigma = 0, lambda = 0;
  bool sigma_estimated = false;
  VectorXd theta, residual;  // on the scale of the design; y - X theta
  Convergence noise, lasso;
};

struct DebiasedResult {
  VectorXd coefficients, se, p_value;  // of `which`, on the scale of x
  VectorXd bias, coverage;             // the guess above; empty where there is none
  VectorXd delta;                      // ridge projection: what its bias may add to an interval; else empty
  std::vector<int> which;              // among the columns kept
  Decorrelation rows;
  std::vector<Index> keep;  // columns of x that vary; center, scale and lasso are theirs
  VectorXd center, scale, lasso;
  double mean_y = 0, sigma = 0, lambda = 0;
  bool sigma_estimated = false;
  Convergence noise, lasso_convergence;
};
template <class V>
void fields(V& v, DebiasedResult& t) {
  v("coefficients", t.coefficients);
  v("se", any_number(t.se));
  v("p_value", t.p_value);
  v("bias", t.bias);
  v("coverage", t.coverage);
  v("delta", t.delta);
  v("which", positions(t.which));
  v("rows", t.rows);
  v("keep", positions(t.keep));
  v("center", t.center);
  v("scale", t.scale);
  v("lasso", t.lasso);
  v("mean_y", t.mean_y);
  v("sigma", t.sigma);
  v("lambda", t.lambda);
  v("sigma_estimated", t.sigma_estimated);
  v("noise", t.noise);
  v("lasso_convergence", t.lasso_convergence);
}

DebiasedResult debiased_lasso(const DebiasedData& data, const DebiasedOptions& options, Monitor& monitor);

DebiasedStart debiased_start(const DebiasedData& data, const DebiasedOptions& options, Monitor& monitor);
DebiasedResult debiased_shell(const DebiasedStart& start, std::vector<int> which);  // all but estimates, errors and rows
DebiasedResult debias(const DebiasedStart& start, std::vector<int> which, Decorrelation rows, double alpha);  // steps 4 and 5

// Columns centred and scaled, then decorrelated: what R's decorrelate() gives.
struct DecorrelatedDesign {
  Decorrelation rows;
  std::vector<int> which;
  std::vector<Index> keep;
  VectorXd center, scale;
};
template <class V>
void fields(V& v, DecorrelatedDesign& t) {
  fields(v, t.rows);
  v("which", positions(t.which));
  v("keep", positions(t.keep));
  v("center", t.center);
  v("scale", t.scale);
}
DecorrelatedDesign decorrelate_columns(const DebiasedData& data, const DebiasedOptions& options, Monitor& monitor);

// The generalised coherence |M S - I|_inf of rows, of a matrix M, or (neither given) of the identity.
double coherence(const DebiasedData& data, const DebiasedOptions& options);

// (c'b - value)' [c V c']^-1 (c'b - value): NaN where the covariance is singular.
double wald_statistic(ConstVectorRef difference, ConstMatrixRef covariance);

}  // namespace granary::regress
