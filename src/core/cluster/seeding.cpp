#include "core/cluster/seeding.h"

#include <algorithm>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/linalg/wide_loops.h"

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

namespace {

// lower(i, number, divergence, nearest): what seed `number` at row i changes.
template <class Lower>
Seeds spread(Index n, ConstVectorRef weights, const SeedOptions& options, const Lower& lower, Rng& rng, Monitor& monitor) {
  Seeds out;
  out.divergence = VectorXd::Constant(n, std::numeric_limits<double>::infinity());
  out.nearest = VectorXd::Constant(n, -1);
  VectorXd mass = weights.size() > 0 ? VectorXd(weights) : VectorXd::Ones(n);
  const auto cost = [&](const VectorXd& d) { return weights.size() > 0 ? weights.dot(d) : d.sum(); };
  const auto add = [&](Index i, VectorXd& divergence, VectorXd& nearest) {
    const double number = static_cast<double>(out.rows.size());
    lower(i, number, divergence, nearest);
    if (divergence[i] > 0) nearest[i] = number;
    divergence[i] = 0;
  };
  for (Index round = 0; round < options.rounds; ++round) {
    monitor.check();
    if (!(mass.maxCoeff() > 0)) break;  // every row coincides with a seed
    const std::size_t before = out.rows.size();
    for (Index r = 0; r < options.per_round; ++r) {
      Index best = -1;
      VectorXd best_divergence, best_nearest;
      double best_cost = std::numeric_limits<double>::infinity();
      for (Index c = 0; c < options.candidates; ++c) {
        monitor.check();
        const Index i = draw_index(mass, rng.uniform());
        if (std::find(out.rows.begin() + static_cast<std::ptrdiff_t>(before), out.rows.end(), i) != out.rows.end()) continue;
        if (options.candidates == 1) {
          best = i;
          continue;
        }
        VectorXd divergence = out.divergence, nearest = out.nearest;
        add(i, divergence, nearest);
        const double at = cost(divergence);
        if (best < 0 || at < best_cost) {
          best = i;
          best_cost = at;
          best_divergence = std::move(divergence);
          best_nearest = std::move(nearest);
        }
      }
      if (best < 0) continue;
      if (options.candidates == 1) {
        add(best, out.divergence, out.nearest);
      } else {
        out.divergence = std::move(best_divergence);
        out.nearest = std::move(best_nearest);
      }
      out.rows.push_back(best);
    }
    mass = weights.size() > 0 ? VectorXd(weights.cwiseProduct(out.divergence)) : out.divergence;
  }
  out.cost = cost(out.divergence);
  return out;
}

}  // namespace

Seeds spread_seeds(Index n, ConstVectorRef weights, const SeedOptions& options, const std::function<VectorXd(Index)>& divergence, Rng& rng, Monitor& monitor) {
  const auto lower = [&](Index i, double number, VectorXd& least, VectorXd& nearest) {
    const VectorXd d = divergence(i);
    for (Index r = 0; r < n; ++r) {
      if (!(d[r] < least[r])) continue;
      least[r] = d[r];
      nearest[r] = number;
    }
  };
  return spread(n, weights, options, lower, rng, monitor);
}

Seeds spread_seeds(ConstMatrixRef x, ConstVectorRef weights, const SeedOptions& options, int threads, Rng& rng, Monitor& monitor) {
  constexpr Index block = 16384;
  const Index n = x.rows(), blocks = (n + block - 1) / block;
  VectorXd centre(x.cols());
  const auto lower = [&](Index i, double number, VectorXd& least, VectorXd& nearest) {
    centre = x.row(i).transpose();
    parallel_for(blocks, threads, monitor, [&](Index b) {
      const Index from = b * block;
      lower_squares(x.data() + from, x.outerStride(), std::min(block, n - from), x.cols(), centre.data(), number, least.data() + from, nearest.data() + from);
    });
  };
  return spread(n, weights, options, lower, rng, monitor);
}

Seeds best_seeds(ConstMatrixRef x, ConstVectorRef weights, const SeedOptions& options, int repeats, int threads, const Rng& rng, Monitor& monitor) {
  Seeds best;
  for (int r = 0; r < std::max(1, repeats); ++r) {
    Rng own = rng.stream(static_cast<std::uint64_t>(r));
    Seeds run = spread_seeds(x, weights, options, threads, own, monitor);
    if (r == 0 || run.cost < best.cost) best = std::move(run);
  }
  return best;
}

}  // namespace granary
