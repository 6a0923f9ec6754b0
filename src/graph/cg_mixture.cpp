#include "graph/cg_mixture.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/math/special.h"

namespace granary::graph {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// P(X <= x), or P(X > x): the smaller of the two keeps its digits.
double tail(const NormalMixture& law, double x, bool upper) {
  double p = 0;
  for (Index k = 0; k < law.weight.size(); ++k) {
    if (law.sd[k] > 0)
      p += law.weight[k] * normal_cdf((upper ? law.mean[k] - x : x - law.mean[k]) / law.sd[k]);
    else if (upper ? law.mean[k] > x : law.mean[k] <= x)
      p += law.weight[k];
  }
  return p;
}

}  // namespace

double mixture_density(const NormalMixture& law, double x) {
  double sum = 0;
  for (Index k = 0; k < law.weight.size(); ++k) {
    if (law.weight[k] <= 0) continue;
    if (law.sd[k] <= 0) {
      if (x == law.mean[k]) return infinity;
      continue;
    }
    sum += law.weight[k] * normal_pdf((x - law.mean[k]) / law.sd[k]) / law.sd[k];
  }
  return sum;
}

double mixture_cdf(const NormalMixture& law, double x) { return std::min(1.0, tail(law, x, false)); }

double mixture_quantile(const NormalMixture& law, double p) {
  const bool points = law.sd.maxCoeff() <= 0;
  if (p <= 0) return points ? law.mean.minCoeff() : -infinity;
  if (p >= 1) return points ? law.mean.maxCoeff() : infinity;
  double low = infinity, high = -infinity;
  for (Index k = 0; k < law.weight.size(); ++k) {
    low = std::min(low, law.mean[k] - 40 * law.sd[k]);
    high = std::max(high, law.mean[k] + 40 * law.sd[k]);
  }
  const auto reached = [&](double x) { return p < 0.5 ? tail(law, x, false) >= p : tail(law, x, true) <= 1 - p; };
  if (reached(low)) return low;
  for (int step = 0; step < 2000; ++step) {  // stops when low and high are neighbouring numbers
    const double middle = low + 0.5 * (high - low);
    if (middle <= low || middle >= high) break;
    (reached(middle) ? high : low) = middle;
  }
  return high;
}

VectorXd mixture_values(const NormalMixture& law, MixtureQuestion question, ConstVectorRef at) {
  const auto answer = question == MixtureQuestion::density ? mixture_density : question == MixtureQuestion::cdf ? mixture_cdf : mixture_quantile;
  VectorXd out(at.size());
  for (Index i = 0; i < at.size(); ++i) out[i] = answer(law, at[i]);
  return out;
}

}  // namespace granary::graph
