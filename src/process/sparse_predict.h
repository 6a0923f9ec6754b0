// Predictions of sparse Gaussian process regression.
//
// With w = L_u^-1 k_u*, t = L_B^-1 w and the trend f*:
//
//   mean       f*'b + t'c (1, -b)
//   variance   t't (SoR), k** - w'w + t't (DTC, FITC, PITC, vfe), k** - w'w (exact: w = L^-1 k_f*)
//
// plus u'(F'C^-1F)^-1 u, u = f* - c_F't, for the trend that was estimated. Nystrom (Section 10.1): K_*f C^-1 (y - F b) and
// k** - K_*f C^-1 K_f*, which can be negative and is returned as it is. Augmented predictions (Section 8.1) add each test input
// in turn to the inducing ones.
#pragma once

#include "core/kernel/kernel.h"
#include "core/base/monitor.h"
#include "process/sparse_system.h"

namespace granary::process {

struct SparsePredictOptions {
  bool variance = false;
  bool covariance = false;
  bool diagonal_conditional = false;  // FIC: test values are independent given u
  bool gradient = false;              // of the mean, in the inputs
  bool augment = false;               // each new row joins the inducing inputs for its own prediction
  int threads = 1;
};
template <class V>
void fields(V& v, SparsePredictOptions& t) {
  v("variance", t.variance);
  v("covariance", t.covariance);
  v("diagonal_conditional", t.diagonal_conditional);
  v("gradient", t.gradient);
  v("augment", t.augment);
  v("threads", t.threads);
}

struct SparsePrediction {
  VectorXd mean;
  VectorXd variance;    // of f*, without noise
  MatrixXd covariance;  // of f*
  MatrixXd gradient;    // of f*'s mean without the trend, rows as newx
};
template <class V>
void fields(V& v, SparsePrediction& t) {
  v("mean", t.mean);
  v("variance", t.variance);
  v("covariance", t.covariance);
  v("gradient", t.gradient);
}

// `trend` is F for the new rows; it has no columns where there is no trend.
SparsePrediction sparse_predict(const SparseState& state, const Kernel& kernel, ConstMatrixRef newx, ConstMatrixRef trend,
                                const SparsePredictOptions& options, Monitor& monitor);

// Needs the rows again: O(n m) for each new one.
SparsePrediction nystrom_predict(const SparseState& state, const SparseProblem& problem, const Kernel& kernel,
                                 ConstMatrixRef newx, ConstMatrixRef trend, const SparsePredictOptions& options,
                                 Monitor& monitor);

// O(n m) for each new row with SoR, DTC and vfe, and with PITC in blocks of about m rows; O(n m^2) with FITC, whose Lambda
// changes in every row. Mean and variance only.
SparsePrediction augmented_predict(const SparseState& state, const SparseProblem& problem, const Kernel& kernel,
                                   ConstMatrixRef newx, ConstMatrixRef trend, int threads, Monitor& monitor);

}  // namespace granary::process
