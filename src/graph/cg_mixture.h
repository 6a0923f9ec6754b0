// Univariate normal mixtures sum_k w_k N(m_k, s_k^2), s_k >= 0 (zero: a point): density, distribution function, quantiles,
// moments.
#pragma once

#include "core/base/types.h"

namespace granary::graph {

struct NormalMixture {
  VectorXd weight, mean, sd;
};

double mixture_density(const NormalMixture& law, double x);   // +infinity at a point of positive weight
double mixture_cdf(const NormalMixture& law, double x);       // P(X <= x)
double mixture_quantile(const NormalMixture& law, double p);  // the smallest x with P(X <= x) >= p, by bisection to rounding

}  // namespace granary::graph
