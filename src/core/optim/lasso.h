// Least squares and logistic regression with an elastic-net penalty, along a path of penalties.
//
//   minimise over b0, b:   loss(b0 + x_i'b + offset_i) + lambda sum_j f_j (alpha |b_j| + (1 - alpha)/2 b_j^2)
//
//   lasso            loss = 1/(2n) sum_i w_i (y_i - eta_i)^2
//   lasso_logistic   loss = 1/n sum_i w_i (log(1 + exp(eta_i)) - y_i eta_i),   y_i in [0, 1]
//
// Weights are rescaled to sum n. With `standardize`, b in the penalty is the coefficient of the column divided by its
// (weighted, 1/n) standard deviation; coefficients and bounds are always on the original scale. These are the conventions
// of glmnet (Friedman, Hastie, Tibshirani, J. Stat. Softw. 33, 2010) with two differences: penalty factors f_j are used as
// they are, not rescaled to sum p, and y is never rescaled, so that the objective is the one above for alpha < 1 too.
// f_j = 0 leaves a column unpenalised, f_j = infinity leaves it out; a constant column is left out when there is an intercept.
//
// Path: warm starts; sequential strong rules (Tibshirani et al., JRSS-B 74, 2012) checked against the optimality conditions
// of all columns and repaired. The residual is the largest violation of those conditions as a correlation,
//   max_j violation_j / (sd(x_j) sd(y)),
// so it does not change with the units of x or y; a step ends when it is at most `tol`.
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/linalg/design.h"

namespace granary {

enum class LassoUpdate {
  automatic,
  covariance,  // least squares only: inner products between columns are kept, a step costs O(active) instead of O(n)
  naive        // the residual is kept
};

inline Names<LassoUpdate> names(LassoUpdate) {
  return {{LassoUpdate::automatic, "automatic"}, {LassoUpdate::covariance, "covariance"}, {LassoUpdate::naive, "naive"}};
}

enum class LassoFamily { gaussian, binomial };
inline Names<LassoFamily> names(LassoFamily) {
  return {{LassoFamily::gaussian, "gaussian"}, {LassoFamily::binomial, "binomial"}};
}

struct LassoOptions {
  LassoFamily family = LassoFamily::gaussian;  // read by lasso_path() only
  double alpha = 1;  // 1: lasso, 0: ridge
  VectorXd lambda;   // sorted downwards before use; empty: a log grid from the smallest lambda with all penalised b = 0
  int n_lambda = 100;
  double lambda_min_ratio = 0;  // end of the grid over its start; 0: 1e-4 if n > p, else 1e-2
  VectorXd weights;             // n; empty: ones
  VectorXd offset;              // n; empty: zeros
  VectorXd penalty_factor;      // p; empty: ones
  VectorXd lower, upper;        // p, lower <= 0 <= upper; empty: unbounded
  bool intercept = true;
  bool standardize = true;
  LassoUpdate update = LassoUpdate::automatic;
  double tol = 1e-6;
  int max_iter = 100000;         // sweeps for each lambda
  double max_dev_ratio = 0.999;  // the path stops beyond (least squares: only a path on the default grid)
  double min_dev_gain = 1e-5;    // a default grid stops when a step adds less than this share to the deviance explained
};

template <class V>
void fields(V& v, LassoOptions& t) {
  v("family", t.family);
  v("mixture", t.alpha);
  v("lambda", t.lambda);
  v("n_lambda", t.n_lambda);
  v("lambda_min_ratio", t.lambda_min_ratio);
  v("weights", t.weights);
  v("offset", t.offset);
  v("penalty_factor", t.penalty_factor);
  v("lower", t.lower);
  v("upper", t.upper);
  v("intercept", t.intercept);
  v("standardize", t.standardize);
  v("update", t.update);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("max_dev_ratio", t.max_dev_ratio);
  v("min_dev_gain", t.min_dev_gain);
}

struct LassoPath {
  VectorXd lambda;            // the values fitted; fewer than asked for when the path stopped early
  VectorXd intercept;         // one for each lambda
  SparseMatrix coefficients;  // p x lambdas
  VectorXi df;                // coefficients that are not zero
  VectorXd dev_ratio;         // share of the null deviance explained
  VectorXd objective;
  VectorXd residual;         // the optimality residual above
  VectorXd gap;              // duality gap of the objective; NaN for logistic, bounds, f_j = 0, or no feasible dual point
  double null_deviance = 0;  // sum_i w_i times the unit deviance of the model with intercept and offset only
  Convergence convergence;   // iterations are sweeps over the whole path; the message says why a path stopped early
};

template <class V>
void fields(V& v, LassoPath& t) {
  v("lambda", t.lambda);
  v("intercept", t.intercept);
  v("coefficients", t.coefficients);
  v("df", t.df);
  v("dev_ratio", t.dev_ratio);
  v("objective", t.objective);
  v("residual", t.residual);
  v("gap", any_number(t.gap));
  v("null_deviance", t.null_deviance);
  v("convergence", t.convergence);
}

LassoPath lasso(ConstMatrixRef x, ConstVectorRef y, const LassoOptions& options, Monitor& monitor);
LassoPath lasso(const ConstSparseRef& x, ConstVectorRef y, const LassoOptions& options, Monitor& monitor);

LassoPath lasso_logistic(ConstMatrixRef x, ConstVectorRef y, const LassoOptions& options, Monitor& monitor);
LassoPath lasso_logistic(const ConstSparseRef& x, ConstVectorRef y, const LassoOptions& options, Monitor& monitor);

// The one of these that the design and the family of the options call for.
LassoPath lasso_path(const Design& x, ConstVectorRef y, const LassoOptions& options, Monitor& monitor);

}  // namespace granary
