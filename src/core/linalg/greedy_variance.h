// Points chosen one by one where the conditional variance is largest: pivoted Cholesky of a kernel matrix, from its columns
// alone.
//
// With v_n the variance of f_n given the points picked so far, each observed with variance `noise`:
//   pick n = argmax v;  s = K_:n - M'M_:n;  append s' / sqrt(v_n + noise) to M;  v <- v - s^2 / (v_n + noise)
// noise = 0 is the pivoted incomplete Cholesky factorisation, K ~ M'M with trace error sum v (Fine and Scheinberg, JMLR 2001);
// noise > 0 the greedy choice by information gain 1/2 log(1 + v_n / noise) (informative vector machine, uncertainty sampling).
// O(n k^2) time, O(n k) memory for k picks. Ties go to the smallest index.
#pragma once

#include <functional>
#include <vector>

#include "core/kernel/kernel.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

using KernelColumn = std::function<void(Index j, VectorRef column)>;
KernelColumn kernel_column(const Kernel& kernel, const ConstMatrixRef& x);  // of a kernel matrix; both arguments must outlive it

struct GreedyVariance {
  std::vector<Index> picks;
  VectorXd variances;  // v of each pick when it was picked
  MatrixXd rows;       // M, one row per pick
  VectorXd left;       // v of all points at the end
  double lowest = 0;   // the smallest v met, before it was raised to 0: beyond rounding, the kernel is not positive semi-definite

  double information(double noise) const;  // 1/2 sum log(1 + v / noise) over the picks
};

struct GreedyVarianceOptions {
  Index max_picks = 0;  // 0: as many as there are points
  double noise = 0;
  double tol = 1e-12;     // stop when the sum of v (noise = 0), else the largest v, is below tol times its start
  bool repeated = false;  // whether a point may be picked again (sensible with noise only)
};

GreedyVariance greedy_variance(const KernelColumn& column, ConstVectorRef diagonal, const GreedyVarianceOptions& options,
                               Monitor& monitor);
GreedyVariance greedy_variance(const Kernel& kernel, ConstMatrixRef x, const GreedyVarianceOptions& options, Monitor& monitor);

}  // namespace granary
