#include "latent/partition_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "latent/partition_exact.h"

namespace granary::latent {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// c_k, k = 1 .. n, on the log scale.
std::vector<double> order_constants(const BlockFamily& family, Index t, Monitor& monitor) {
  const Index n = family.rows();
  const std::vector<double> m = subset_marginals(family, monitor);
  std::vector<double> out(static_cast<std::size_t>(n), -infinity), ratio(static_cast<std::size_t>(n));
  long seen = 0;
  for_each_partition(n, t, [&](const std::vector<unsigned>& block, int blocks) {
    if (blocks != t) return;
    if ((++seen & 16383) == 0) monitor.check();
    for (int b = 0; b < blocks; ++b) {
      const unsigned bits = block[static_cast<std::size_t>(b)];
      for (Index j = 0; j < n; ++j)
        if (bits >> j & 1u) ratio[static_cast<std::size_t>(j)] = m[bits] - m[bits & ~(1u << j)] - m[1u << j];
    }
    std::sort(ratio.begin(), ratio.end());
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = std::max(out[k], ratio[k]);
  });
  return out;
}

}  // namespace

double growth_constant(const PartitionPrior& prior, Index n, Index t) {
  const PartitionLaw law(prior, n);
  const double above = law.log_v(t + 1);
  if (t >= n || above == -infinity) return infinity;
  const double s = static_cast<double>(n - t + 1);
  return static_cast<double>(t + 1) / static_cast<double>(n) * std::exp(law.log_v(t) - above + law.log_size(s) - law.log_size(s - 1) - law.log_size(1));
}

CountBound count_bound(const BlockFamily& family, const PartitionPrior& prior, Index t, bool exact_phi, Monitor& monitor) {
  const Index n = family.rows();
  if (t < 1) throw InputError("`t` must be at least 1.");
  CountBound out;
  out.bound = out.c = out.phi = std::numeric_limits<double>::quiet_NaN();
  out.growth = growth_constant(prior, n, t);
  const double opening = prior.type == PriorType::mfm ? 0 : prior.theta + static_cast<double>(t) * (prior.type == PriorType::py ? prior.sigma : 0);
  out.limit = opening > 0 ? static_cast<double>(t + 1) / opening : infinity;
  if (!std::isfinite(out.growth)) return out;
  std::vector<double> constants;
  if (exact_phi && n <= most_enumerated) {
    constants = order_constants(family, t, monitor);
  } else {
    const std::unique_ptr<BlockFamily> work = family.clone();
    work->slots(1);
    work->clear(0);
    for (Index i = 0; i < n; ++i) constants.push_back(work->log_supremum(i) - work->log_predictive(i, 0));
    std::sort(constants.begin(), constants.end());
  }
  for (Index k = t + 1; k <= n; ++k) {
    const double c = std::exp(constants[static_cast<std::size_t>(k - 1)]), phi = static_cast<double>(k) / static_cast<double>(n);
    if (!std::isfinite(c)) break;
    const double big = static_cast<double>(t) * c * out.growth / (phi - static_cast<double>(t) / static_cast<double>(n));
    const double bound = big / (1 + big);
    if (std::isnan(out.bound) || bound < out.bound) {
      out.bound = bound;
      out.c = c;
      out.phi = phi;
    }
  }
  return out;
}

}  // namespace granary::latent
