#include "core/cluster/interval_clusters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/errors.h"
#include "core/cluster/interval_partition.h"

namespace granary {

namespace {

// `Convex`: g, a function of the number and of its distance from the middle, so that squares of the latter are one product.
template <class Convex>
class Layers {
 public:
  Layers(const std::vector<double>& x, const std::vector<double>& w, const Convex& g) : g_(g) {
    const std::size_t n = x.size();
    sums_.resize(n + 1);
    // Relative to the middle of the numbers, or their sums would cancel.
    middle_ = 0.5 * (x.front() + x.back());
    for (std::size_t i = 0; i < n; ++i) {
      const double from_middle = x[i] - middle_;
      sums_[i + 1] = {sums_[i].weight + w[i], sums_[i].first + w[i] * from_middle, sums_[i].loss + w[i] * g_(x[i], from_middle)};
    }
  }

  double operator()(Index from, Index to) const {  // numbers from .. to - 1
    if (to - from == 1) return 0;
    const Sums &a = sums_[static_cast<std::size_t>(from)], &b = sums_[static_cast<std::size_t>(to)];
    const double weight = b.weight - a.weight;
    if (!(weight > 0)) return 0;
    const double from_middle = (b.first - a.first) / weight;
    return std::max(b.loss - a.loss - weight * g_(middle_ + from_middle, from_middle), 0.0);
  }

 private:
  struct Sums {  // of the numbers before
    double weight = 0, first = 0, loss = 0;
  };
  const Convex& g_;
  std::vector<Sums> sums_;
  double middle_ = 0;
};

template <class Convex>
IntervalClusters divide(ConstVectorRef x, ConstVectorRef weights, Index k, const Convex& g, Monitor& monitor) {
  const Index n = x.size();
  if (n < 1 || k < 1) throw InputError("there must be at least one number and one group.");
  if (n > std::numeric_limits<int>::max()) throw InputError(message("there may be at most 2147483647 numbers, not ", n, "."));
  std::vector<std::pair<double, int>> order(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = {x[i], static_cast<int>(i)};
  std::sort(order.begin(), order.end());
  std::vector<double> value, mass;  // of the distinct numbers
  std::vector<int> place(static_cast<std::size_t>(n));
  for (const auto& [number, i] : order) {
    if (value.empty() || number > value.back()) {
      value.push_back(number);
      mass.push_back(0);
    }
    mass.back() += weights[i];
    place[static_cast<std::size_t>(i)] = static_cast<int>(value.size()) - 1;
  }
  const Index m = static_cast<Index>(value.size());
  k = std::min(k, m);
  const Layers<Convex> layers(value, mass, g);

  IntervalLayers<Layers<Convex>> rows(m, layers, true, monitor);
  IntervalClusters out;
  out.losses.resize(k);
  out.losses[0] = rows.loss();
  for (Index h = 1; h < k; ++h) {
    if (h + 1 < k) rows.next();
    else rows.last();
    out.losses[h] = rows.loss();
  }
  out.loss = rows.loss();
  const VectorXi group = rows.groups(k);
  out.cluster.resize(n);
  for (Index i = 0; i < n; ++i) out.cluster[i] = group[place[static_cast<std::size_t>(i)]];
  return out;
}

}  // namespace

IntervalClusters interval_clusters(ConstVectorRef x, ConstVectorRef weights, Index k, const std::function<double(double)>& g, Monitor& monitor) {
  return divide(x, weights, k, [&](double value, double) { return g(value); }, monitor);
}

IntervalClusters interval_squares(ConstVectorRef x, ConstVectorRef weights, Index k, Monitor& monitor) {
  return divide(x, weights, k, [](double, double from_middle) { return from_middle * from_middle; }, monitor);
}

}  // namespace granary
