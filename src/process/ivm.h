// Active sets of the informative vector machine, and sites by assumed density filtering.
//
// Points are taken in one at a time, each time the one whose inclusion lowers the entropy of the posterior process most. With
// current means h_ni and variances v_ni of f_ni,
//
//   gain_n = -1/2 sum_i log(1 - nu_ni v_ni),    nu = g^2 - 2 dlogZ/dv,   g = dlogZ/dh,   Z = E p(y_ni | f_ni)
//
// For normal noise nu = 1 / (v + noise) and the gain is that of the largest variance. Including n: s = K_:n - M' M_:n, then
// M gets the row sqrt(nu) s', v -= nu s^2, h += g s, and the site N(m | f, r) has r = 1/nu - v, m = h + g/nu (equations 15 and 16
// of Lawrence 2005, whose beta is 1/r). Lawrence, Seeger, Herbrich (NIPS 2003); O(N d^2) for each group of columns with equal
// noise.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/kernel/kernel.h"
#include "core/base/monitor.h"
#include "process/gplvm_groups.h"

namespace granary::process {

enum class OutputNoise { gaussian, bernoulli };
inline Names<OutputNoise> names(OutputNoise) { return {{OutputNoise::gaussian, "gaussian"}, {OutputNoise::bernoulli, "bernoulli"}}; }

struct IvmOptions {
  Index size = 100;  // d
  OutputNoise noise = OutputNoise::gaussian;
  double nugget = 0;  // variance on top of the kernel's white part
  VectorXd offset;    // bernoulli: P(y = 1 | f) = Phi(f + offset_i)
};

struct IvmResult {
  std::vector<Index> active;  // in the order of inclusion
  NoisyTargets sites;         // of the active rows: what f was seen as. Normal noise: the targets themselves
  double log_evidence = 0;    // bernoulli: sum of log Z as they came in
};

// Targets of a bernoulli model hold -1 and 1. `size` beyond the number of rows means all.
IvmResult ivm_select(const Kernel& kernel, ConstMatrixRef x, const NoisyTargets& targets, const IvmOptions& options,
                     Monitor& monitor);

struct AdfResult {
  NoisyTargets sites;
  double log_evidence = 0;  // sum of log Z along the pass
};
// One pass over all rows, in their order, for every column: a Cholesky factorisation whose diagonal is decided on the way, N^3 /
// 3 operations per column.
AdfResult adf_pass(const Kernel& kernel, ConstMatrixRef x, const NoisyTargets& targets, const IvmOptions& options, int threads,
                   Monitor& monitor);

}  // namespace granary::process
