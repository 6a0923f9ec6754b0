// The range of k independent standard normals: P(max - min <= q) and its quantiles (Tukey's studentised range with infinite
// degrees of freedom).
//
//   P(q) = k int phi(z) (Phi(z) - Phi(z - q))^(k - 1) dz
//
// by the trapezoidal rule on [-8, 8 + q], whose error for such integrands is far below 1e-12.
#pragma once

#include "core/base/types.h"

namespace granary {

double normal_range_cdf(double q, Index k);    // k >= 2
double normal_range_upper(double q, Index k);  // 1 - P(q), with relative accuracy
double normal_range_quantile(double p, Index k);

}  // namespace granary
