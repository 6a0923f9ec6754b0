#include "regress/completion_rademacher.h"

#include <cmath>

#include "core/base/parallel.h"
#include "core/linalg/spectral.h"

namespace granary::regress {

namespace {

std::vector<double> signs(const ObservedCells& counts, Rng rng) {
  std::vector<double> sum(counts.by_col.weight.size());
  for (std::size_t a = 0; a < sum.size(); ++a) {
    const auto h = static_cast<std::int64_t>(counts.by_col.weight[a]);
    sum[a] = h == 1 ? (rng() >> 63 ? 1.0 : -1.0) : 2.0 * static_cast<double>(rng.binomial(h, 0.5)) - static_cast<double>(h);
  }
  return sum;
}

}  // namespace

// 2^(1-h) ceil(h/2) C(h, ceil(h/2)), by logarithms so that h may be large.
double mean_absolute_sum(double h) {
  if (h <= 0) return 0;
  const double half = std::ceil(0.5 * h);
  return half * std::exp((1 - h) * std::log(2.0) + std::lgamma(h + 1) - std::lgamma(half + 1) - std::lgamma(h - half + 1));
}

MatrixXd sign_norms(const ObservedCells& counts, const std::vector<double>& thresholds, int draws, const Rng& rng, int threads,
                    Monitor& monitor) {
  MatrixXd norms(draws, static_cast<Index>(thresholds.size()));
  EigenOptions lanczos;
  lanczos.tol = 1e-6;
  parallel_for(draws, threads, monitor, [&](Index draw) {
    const std::vector<double> gamma = signs(counts, rng.stream(static_cast<std::uint64_t>(draw)));
    for (Index k = 0; k < norms.cols(); ++k) {
      std::vector<double> part = gamma;
      bool any = false;
      for (std::size_t a = 0; a < part.size(); ++a) {
        if (counts.by_col.weight[a] > thresholds[k]) part[a] = 0;
        any = any || part[a] != 0;
      }
      norms(draw, k) = any ? truncated_svd(on_cells(counts, part), 1, lanczos, monitor).values[0] : 0;
    }
    if (monitor.on_owner_thread()) monitor.progress(static_cast<double>(draw) / draws);
  });
  return norms;
}

VectorXd sign_dual_norms(const ObservedCells& counts, double t, double b, int draws, const Rng& rng, int threads,
                         Monitor& monitor) {
  VectorXd norms(draws);
  parallel_for(draws, threads, monitor, [&](Index draw) {
    const MatrixXd gamma(on_cells(counts, signs(counts, rng.stream(static_cast<std::uint64_t>(draw)))));
    norms[draw] = mixed_dual_norm(gamma, t, b, 1e-3, 2000, monitor).value;
  });
  return norms;
}

MatrixXd sign_norms(const ObservedCells& counts, const SignNormOptions& options, const Rng& rng, Monitor& monitor) {
  if (options.b > 0) return sign_dual_norms(counts, options.t, options.b, options.draws, rng, options.threads, monitor);
  return sign_norms(counts, options.thresholds, options.draws, rng, options.threads, monitor);
}

}  // namespace granary::regress
