#include "core/cluster/interval_clusters.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/cluster/interval_partition.h"

namespace granary {

namespace {

class Layers {
 public:
  Layers(const std::vector<double>& x, const std::vector<double>& w, const std::function<double(double)>& g) : g_(g) {
    const std::size_t n = x.size();
    sums_.resize(n + 1);
    // Relative to the middle of the numbers, or their sums would cancel.
    middle_ = 0.5 * (x.front() + x.back());
    for (std::size_t i = 0; i < n; ++i)
      sums_[i + 1] = {sums_[i].weight + w[i], sums_[i].first + w[i] * (x[i] - middle_), sums_[i].loss + w[i] * g(x[i])};
  }

  double operator()(Index from, Index to) const {  // numbers from .. to - 1
    if (to - from == 1) return 0;
    const Sums &a = sums_[static_cast<std::size_t>(from)], &b = sums_[static_cast<std::size_t>(to)];
    const double weight = b.weight - a.weight;
    if (!(weight > 0)) return 0;
    return std::max(b.loss - a.loss - weight * g_(middle_ + (b.first - a.first) / weight), 0.0);
  }

 private:
  struct Sums {  // of the numbers before
    double weight = 0, first = 0, loss = 0;
  };
  const std::function<double(double)>& g_;
  std::vector<Sums> sums_;
  double middle_ = 0;
};

}  // namespace

IntervalClusters interval_clusters(ConstVectorRef x, ConstVectorRef weights, Index k, const std::function<double(double)>& g,
                                   Monitor& monitor) {
  const Index n = x.size();
  if (n < 1 || k < 1) throw InputError("there must be at least one number and one group.");
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return x[a] < x[b]; });
  std::vector<double> value, mass;  // of the distinct numbers
  std::vector<Index> place(static_cast<std::size_t>(n));
  for (const Index i : order) {
    if (value.empty() || x[i] > value.back()) {
      value.push_back(x[i]);
      mass.push_back(0);
    }
    mass.back() += weights[i];
    place[static_cast<std::size_t>(i)] = static_cast<Index>(value.size()) - 1;
  }
  const Index m = static_cast<Index>(value.size());
  k = std::min(k, m);
  const Layers layers(value, mass, g);

  IntervalLayers<Layers> rows(m, layers, true, monitor);
  IntervalClusters out;
  out.losses.resize(k);
  out.losses[0] = rows.loss();
  for (Index h = 1; h < k; ++h) {
    rows.next();
    out.losses[h] = rows.loss();
  }
  out.loss = rows.loss();
  const VectorXi group = rows.groups(k);
  out.cluster.resize(n);
  for (Index i = 0; i < n; ++i) out.cluster[i] = group[place[static_cast<std::size_t>(i)]];
  return out;
}

}  // namespace granary
