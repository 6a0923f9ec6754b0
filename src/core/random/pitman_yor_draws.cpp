#include "core/random/pitman_yor_draws.h"

#include <cmath>
#include <vector>

#include "core/base/errors.h"

namespace granary {
namespace {

void check_law(double discount, double strength) {
  if (!(discount >= 0 && discount < 1)) throw InputError(message("`discount` must be at least 0 and less than 1, got ", discount, "."));
  if (!(strength > -discount) || !std::isfinite(strength)) {
    throw InputError(message("`strength` must be above minus the discount, got ", strength, "."));
  }
}

}  // namespace

StickWeights pitman_yor_weights(double discount, double strength, double left, Index most, Rng& rng, Monitor& monitor) {
  check_law(discount, strength);
  constexpr Index block = 1000;
  std::vector<double> weights;
  double rest = 1;
  while (rest >= left && static_cast<Index>(weights.size()) < most) {
    monitor.check();
    for (Index i = 0; i < block && static_cast<Index>(weights.size()) < most; ++i) {
      const double piece = rng.beta(1 - discount, strength + (static_cast<double>(weights.size()) + 1) * discount);
      weights.push_back(rest * piece);
      rest *= 1 - piece;
    }
  }
  StickWeights out;
  out.weights = VectorView(weights.data(), static_cast<Index>(weights.size()));
  out.left = rest;
  return out;
}

VectorXi pitman_yor_labels(Index n, double discount, double strength, Rng& rng, Monitor& monitor) {
  check_law(discount, strength);
  VectorXi label(n);
  std::vector<double> size;
  for (Index i = 0; i < n; ++i) {
    if (i % 4096 == 0) monitor.check();
    const double tables = static_cast<double>(size.size()), seated = static_cast<double>(i);
    if (i == 0 || rng.uniform() * (strength + seated) < strength + tables * discount) {
      label[i] = static_cast<int>(size.size());
      size.push_back(1);
      continue;
    }
    // A table of size s with probability proportional to s - d: that of an earlier guest, kept with probability 1 - d / s.
    int at = 0;
    do {
      at = label[static_cast<Index>(rng.below(static_cast<std::uint64_t>(i)))];
    } while (discount > 0 && rng.uniform() * size[static_cast<std::size_t>(at)] < discount);
    label[i] = at;
    ++size[static_cast<std::size_t>(at)];
  }
  return label;
}

}  // namespace granary
