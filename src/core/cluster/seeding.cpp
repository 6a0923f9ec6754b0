#include "core/cluster/seeding.h"

#include <algorithm>
#include <limits>

#include "core/base/errors.h"

namespace granary {

Index draw_index(ConstVectorRef mass, double uniform) {
  // Sums over blocks first: of ten million terms one after the other the last digits would be lost, and with them the rows at the end.
  constexpr Index block = 1024;
  const Index n = mass.size(), blocks = (n + block - 1) / block;
  VectorXd sums(blocks);
  for (Index b = 0; b < blocks; ++b) sums[b] = mass.segment(b * block, std::min(block, n - b * block)).sum();
  const auto pick = [](const auto& m, double left) {
    Index at = -1;
    for (Index i = 0; i < m.size(); ++i) {
      if (!(m[i] > 0)) continue;
      at = i;  // rounding may carry past the end: the last one with mass
      if (left < m[i]) break;
      left -= m[i];
    }
    return std::make_pair(at, left);
  };
  const double total = sums.sum();
  const auto [b, left] = pick(sums, uniform * total);
  if (b < 0) throw InputError("there is no mass to draw from.");
  return b * block + pick(mass.segment(b * block, std::min(block, n - b * block)), left).first;
}

Seeds spread_seeds(Index n, ConstVectorRef weights, const SeedOptions& options, const std::function<VectorXd(Index)>& divergence, Rng& rng, Monitor& monitor) {
  Seeds out;
  out.divergence = VectorXd::Constant(n, std::numeric_limits<double>::infinity());
  VectorXd mass = weights.size() > 0 ? VectorXd(weights) : VectorXd::Ones(n);
  const auto cost = [&](const VectorXd& d) { return weights.size() > 0 ? weights.dot(d) : d.sum(); };
  for (Index round = 0; round < options.rounds; ++round) {
    monitor.check();
    if (!(mass.maxCoeff() > 0)) break;  // every row coincides with a seed
    VectorXd next = out.divergence;
    std::vector<Index> drawn;
    for (Index r = 0; r < options.per_round; ++r) {
      Index best = -1;
      VectorXd best_next;
      double best_cost = std::numeric_limits<double>::infinity();
      for (Index c = 0; c < options.candidates; ++c) {
        monitor.check();
        const Index i = draw_index(mass, rng.uniform());
        if (std::find(drawn.begin(), drawn.end(), i) != drawn.end()) continue;
        VectorXd with = next.cwiseMin(divergence(i));
        with[i] = 0;
        const double at = options.candidates > 1 ? cost(with) : 0;
        if (best < 0 || at < best_cost) {
          best = i;
          best_cost = at;
          best_next = std::move(with);
        }
      }
      if (best < 0) continue;
      drawn.push_back(best);
      next = std::move(best_next);
    }
    out.rows.insert(out.rows.end(), drawn.begin(), drawn.end());
    out.divergence = std::move(next);
    mass = weights.size() > 0 ? VectorXd(weights.cwiseProduct(out.divergence)) : out.divergence;
  }
  out.cost = cost(out.divergence);
  return out;
}

}  // namespace granary
