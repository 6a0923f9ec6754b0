// Univariate normal mixtures sum_k w_k N(m_k, s_k^2), s_k >= 0 (zero: a point): density, distribution function, quantiles,
// moments.
#pragma once

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary::graph {

struct NormalMixture {
  VectorXd weight, mean, sd;
};
template <class V>
void fields(V& v, NormalMixture& t) {
  v("weights", t.weight);
  v("means", t.mean);
  v("sds", t.sd);
}
inline void check(const NormalMixture& t) {
  require(t.mean.size() == t.weight.size() && t.sd.size() == t.weight.size() && t.weight.size() > 0, "`weights`, `means` and `sds` must have one entry per component.");
}
enum class MixtureQuestion { density, cdf, quantile };
inline Names<MixtureQuestion> names(MixtureQuestion) {
  return {{MixtureQuestion::density, "density"}, {MixtureQuestion::cdf, "cdf"}, {MixtureQuestion::quantile, "quantile"}};
}
VectorXd mixture_values(const NormalMixture& law, MixtureQuestion question, ConstVectorRef at);

double mixture_density(const NormalMixture& law, double x);   // +infinity at a point of positive weight
double mixture_cdf(const NormalMixture& law, double x);       // P(X <= x)
double mixture_quantile(const NormalMixture& law, double p);  // the smallest x with P(X <= x) >= p, by bisection to rounding

}  // namespace granary::graph
