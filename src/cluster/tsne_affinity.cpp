#include "cluster/tsne_affinity.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace granary::cluster {

Calibration calibrate(const double* distance, Index k, double perplexity, double* p) {
  // In units of the largest distance, and from the nearest: no overflow, and one exponent is always zero.
  const double nearest = distance[0], unit = distance[k - 1];
  const double wanted = std::log(perplexity);
  const auto excess = [&](Index j) {  // (d_j^2 - d_0^2) / unit^2
    return ((distance[j] - nearest) / unit) * ((distance[j] + nearest) / unit);
  };
  const auto even = [&](Index ties, double precision) {
    for (Index j = 0; j < k; ++j) p[j] = j < ties ? 1 / static_cast<double>(ties) : 0;
    return Calibration{precision, static_cast<double>(ties)};
  };
  Index ties = 0;
  while (ties < k && !(unit > 0 && excess(ties) > 0)) ++ties;
  if (ties == k) return even(k, 0);
  if (static_cast<double>(ties) >= perplexity) return even(ties, std::numeric_limits<double>::infinity());
  double entropy = 0, spread = 0;  // of p, and the variance of the excess
  const auto evaluate = [&](double beta) {
    double total = 0, mean = 0, square = 0;
    for (Index j = 0; j < k; ++j) {
      const double e = excess(j);
      p[j] = std::exp(-beta * e);
      total += p[j];
      mean += p[j] * e;
      square += p[j] * e * e;
    }
    mean /= total;
    spread = std::max(square / total - mean * mean, 0.0);
    entropy = std::log(total) + beta * mean;
    for (Index j = 0; j < k; ++j) p[j] /= total;
  };
  // H falls from log k at beta = 0 to log(ties); in t = log beta its slope is -beta^2 Var(excess).
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity(), t = 0;
  for (int iteration = 0; iteration < 200; ++iteration) {
    const double beta = std::exp(t);
    evaluate(beta);
    const double off = entropy - wanted;
    if (std::abs(off) <= 1e-12) break;
    (off > 0 ? low : high) = t;
    if (std::isfinite(low) && std::isfinite(high) && high - low <= 1e-15 * std::max(1.0, std::abs(t))) break;
    const double slope = beta * beta * spread;
    const double newton = slope > 0 ? t + off / slope : t;
    const bool inside = slope > 0 && newton > low && newton < high && std::abs(newton - t) < 4;
    t = inside ? newton : std::isfinite(low) && std::isfinite(high) ? 0.5 * (low + high) : t + (off > 0 ? 2 : -2);
  }
  return {std::exp(t) / unit / unit, std::exp(entropy)};
}

Affinity perplexity_affinity(const Neighbours& neighbours, double perplexity, int threads, Monitor& monitor) {
  constexpr Index block = 256;
  const Index k = neighbours.distance.rows(), n = neighbours.distance.cols();
  if (static_cast<double>(k) * static_cast<double>(n) > 1e9)
    throw InputError(message("the similarities of ", n, " rows with ", k, " neighbours each would need more than ",
                             2 * 12 * k * n / 1000000000, " GB; lower `perplexity`."));
  MatrixXd p(k, n);
  Affinity out;
  out.sigma.resize(n);
  std::vector<char> short_of(static_cast<std::size_t>(n), 0);
  parallel_for((n + block - 1) / block, threads, monitor, [&](Index task) {
    for (Index i = task * block; i < std::min(n, (task + 1) * block); ++i) {
      const Calibration found = calibrate(neighbours.distance.col(i).data(), k, perplexity, p.col(i).data());
      out.sigma[i] = 1 / std::sqrt(2 * found.precision);
      short_of[static_cast<std::size_t>(i)] = std::abs(found.perplexity - perplexity) > 1e-6 * perplexity;
    }
  });
  for (const char one : short_of) out.unreached += one;

  // P + P' by columns: each column's own entries and those of the columns that name it, both ascending, are joined.
  std::vector<Index> start(static_cast<std::size_t>(n) + 1, 0);
  for (Index e = 0; e < neighbours.index.size(); ++e) ++start[static_cast<std::size_t>(neighbours.index.data()[e]) + 1];
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) start[i + 1] += start[i];
  std::vector<int> from(static_cast<std::size_t>(k * n));
  std::vector<double> value(from.size());
  {
    std::vector<Index> at(start.begin(), start.end() - 1);
    for (Index i = 0; i < n; ++i) {
      for (Index r = 0; r < k; ++r) {
        const Index to = at[static_cast<std::size_t>(neighbours.index(r, i))]++;
        from[static_cast<std::size_t>(to)] = static_cast<int>(i);
        value[static_cast<std::size_t>(to)] = p(r, i);
      }
    }
  }
  monitor.check();
  struct Entry {
    int row;
    double p;
  };
  const auto join = [&](Index i, std::vector<Entry>& own, const auto& give) {
    own.clear();
    for (Index r = 0; r < k; ++r) own.push_back({neighbours.index(r, i), p(r, i)});
    std::sort(own.begin(), own.end(), [](const Entry& a, const Entry& b) { return a.row < b.row; });
    std::size_t a = 0;
    auto b = static_cast<std::size_t>(start[static_cast<std::size_t>(i)]);
    const auto end = static_cast<std::size_t>(start[static_cast<std::size_t>(i) + 1]);
    while (a < own.size() || b < end) {
      const bool mine = b >= end || (a < own.size() && own[a].row <= from[b]),
                 theirs = a >= own.size() || (b < end && from[b] <= own[a].row);
      const double sum = (mine ? own[a].p : 0) + (theirs ? value[b] : 0);
      give(mine ? own[a].row : from[b], sum / (2 * static_cast<double>(n)));
      a += mine;
      b += theirs;
    }
  };
  out.p.resize(n, n);
  int* outer = out.p.outerIndexPtr();
  const Index tasks = (n + block - 1) / block;
  parallel_for(tasks, threads, monitor, [&](Index task) {
    std::vector<Entry> own;
    for (Index i = task * block; i < std::min(n, (task + 1) * block); ++i) {
      int many = 0;
      join(i, own, [&](int, double sum) { many += sum > 0; });
      outer[i + 1] = many;
    }
  });
  outer[0] = 0;
  for (Index i = 0; i < n; ++i) outer[i + 1] += outer[i];
  out.p.resizeNonZeros(outer[n]);
  parallel_for(tasks, threads, monitor, [&](Index task) {
    std::vector<Entry> own;
    for (Index i = task * block; i < std::min(n, (task + 1) * block); ++i) {
      Index at = outer[i];
      join(i, own, [&](int row, double sum) {
        if (!(sum > 0)) return;
        out.p.innerIndexPtr()[at] = row;
        out.p.valuePtr()[at++] = sum;
      });
    }
  });
  return out;
}

}  // namespace granary::cluster
