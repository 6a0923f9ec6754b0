// How many mistakes SASB can make.
//
// Suppose gamma_i, g_i >= 0 sum to one and S(x) = sum_i gamma_i x_i + g_i (1 - x_i) is at most b0 where y = 0 and at least b1
// where y = 1, delta = b1 - b0 > 0. At a mistake the predictive probability of the observed (x, y) is at most 2^-(n-1) / 4, so
// after m mistakes, M of them with y = 1, the marginal likelihood of the mistakes is at most (2^-(n-1) / 4)^m; it is at least
// 2^-(n-1)m times 1 / [n (m+1)^2 C(m, M) C(m, s)] for the attribute (or complement) that matched best, which did so in s >= s(M)
// trials, s(M) = max(m/2, M b1 + (m - M)(1 - b0)), the mean over gamma. Hence
//
//   n (m + 1)^2 C(m, M) C(m, s(M)) >= 4^m     for some M in 0..m,
//
// and the bound is the largest such m. (The theorem in the paper has the order log(n / delta) / delta^2; its constant is not
// legible.)
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::kernel {

// Infinity where b1 <= b0.
double sasb_mistake_bound(double n, double b0, double b1, Monitor& monitor);

// The largest delta for given data, by linear programming over (gamma, g, b0, b1). Negative where no such S separates.
struct SeparationGap {
  double delta = 0, b0 = 0, b1 = 0;
  VectorXd gamma, gamma_complement;
  Convergence convergence;  // gap: largest violation of a row by S, b0, b1
};
template <class V>
void fields(V& v, SeparationGap& t) {
  v("delta", t.delta);
  v("b0", t.b0);
  v("b1", t.b1);
  v("gamma", t.gamma);
  v("gamma_complement", t.gamma_complement);
  v("convergence", t.convergence);
}

// `x` is 0/1; `label` 0/1 per row, both occurring. Rows join the program as they are violated, so that it stays small.
SeparationGap separation_gap(ConstMatrixRef x, const std::vector<int>& label, Monitor& monitor);

}  // namespace granary::kernel
