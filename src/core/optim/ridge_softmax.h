// Logistic regression with a ridge, for two or more classes:
//
//   minimise over a, B:  sum_i w_i [ log sum_c exp(eta_ic) - eta_i,y_i ] + lambda/2 sum_c |B_c|^2,   eta_ic = a_c + z_i'B_c
//
// z are the columns at mean 0 and variance 1; constant columns get 0. Two classes have one eta, that of the second. Intercepts
// are free, so a class without cases is refused: leave it out. The objective is strongly convex in B, so its gradient says how
// far the answer is from the best: gap <= |gradient|^2 / (2 lambda).
// `ridge_softmax_cv` chooses lambda by the held-out log loss, from strong to weak with warm starts, and stops once two weaker
// ones were worse.
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

struct RidgeSoftmax {
  MatrixXd coefficients;  // columns x etas, on the scale of x
  VectorXd intercept;     // etas
  double lambda = 0;
  Convergence convergence;
};
template <class V>
void fields(V& v, RidgeSoftmax& t) {
  v("coefficients", t.coefficients);
  v("intercept", t.intercept);
  v("lambda", t.lambda);
  v("convergence", t.convergence);
}

struct RidgeSoftmaxOptions {
  int classes = 2;
  double tol = 1e-5;
  int max_iter = 500;
};

// y: classes from 0, each with a case. weights: empty for equal.
RidgeSoftmax ridge_softmax(ConstMatrixRef x, const VectorXi& y, ConstVectorRef weights, double lambda,
                           const RidgeSoftmaxOptions& options, Monitor& monitor);

// fold: of every row, from 0. lambdas in any order; one of them: no choice.
RidgeSoftmax ridge_softmax_cv(ConstMatrixRef x, const VectorXi& y, const std::vector<double>& lambdas, const VectorXi& fold,
                              int folds, const RidgeSoftmaxOptions& options, Monitor& monitor);

// Log-probabilities, rows x classes.
MatrixXd log_softmax(ConstMatrixRef x, const RidgeSoftmax& fit);

}  // namespace granary
