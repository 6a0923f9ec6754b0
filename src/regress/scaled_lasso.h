// Lasso with its noise level, jointly.
//
//   minimise over t, s > 0   |y - X t|^2 / (2 n s) + s / 2 + lambda0 |t|_1
//
// Sun, Zhang (Biometrika 99, 2012); step 1 of Algorithm 1 in Javanmard, Montanari (JMLR 15, 2014). Jointly convex: alternating
// lambda <- s lambda0 (a lasso) and s <- |y - X t| / sqrt(n) reaches the minimum. The conventions for weights, centring and scale
// are those of core/lasso.h.
#pragma once

#include "core/optim/lasso.h"

namespace granary::regress {

struct ScaledLassoOptions {
  double lambda0 = 0;  // 0: sqrt(2 log p / n)
  bool intercept = true;
  bool standardize = true;
  double tol = 1e-8;  // relative change of s
  double lasso_tol = 1e-9;
  int max_iter = 200;
};
template <class V>
void fields(V& v, ScaledLassoOptions& t) {
  v("lambda0", t.lambda0);
  v("intercept", t.intercept);
  v("standardize", t.standardize);
  v("tol", t.tol);
  v("lasso_tol", t.lasso_tol);
  v("max_iter", t.max_iter);
}

struct ScaledLassoResult {
  double intercept = 0, sigma = 0, lambda = 0, lambda0 = 0, objective = 0;
  VectorXd coefficients;
  Convergence convergence;  // residual: |s - rms residual| / s at the end
};
template <class V>
void fields(V& v, ScaledLassoResult& t) {
  v("coefficients", t.coefficients);
  v("intercept", t.intercept);
  v("sigma", t.sigma);
  v("lambda", t.lambda);
  v("lambda0", t.lambda0);
  v("objective", t.objective);
  v("convergence", t.convergence);
}

ScaledLassoResult scaled_lasso(ConstMatrixRef x, ConstVectorRef y, const ScaledLassoOptions& options, Monitor& monitor);
ScaledLassoResult scaled_lasso(const ConstSparseRef& x, ConstVectorRef y, const ScaledLassoOptions& options, Monitor& monitor);
ScaledLassoResult scaled_lasso(const Design& x, ConstVectorRef y, const ScaledLassoOptions& options, Monitor& monitor);

}  // namespace granary::regress
