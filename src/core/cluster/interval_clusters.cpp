#include "core/cluster/interval_clusters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"

namespace granary {

namespace {

class Layers {
 public:
  Layers(const std::vector<double>& x, const std::vector<double>& w, const std::function<double(double)>& g) : g_(g) {
    const std::size_t n = x.size();
    weight_.assign(n + 1, 0);
    first_.assign(n + 1, 0);
    loss_.assign(n + 1, 0);
    // Relative to the middle of the numbers, or their sums would cancel.
    middle_ = 0.5 * (x.front() + x.back());
    for (std::size_t i = 0; i < n; ++i) {
      weight_[i + 1] = weight_[i] + w[i];
      first_[i + 1] = first_[i] + w[i] * (x[i] - middle_);
      loss_[i + 1] = loss_[i] + w[i] * g(x[i]);
    }
  }

  double cost(Index from, Index to) const {  // numbers from .. to - 1
    const std::size_t a = static_cast<std::size_t>(from), b = static_cast<std::size_t>(to);
    if (to - from == 1) return 0;
    const double weight = weight_[b] - weight_[a];
    if (!(weight > 0)) return 0;
    return std::max(loss_[b] - loss_[a] - weight * g_(middle_ + (first_[b] - first_[a]) / weight), 0.0);
  }

 private:
  const std::function<double(double)>& g_;
  std::vector<double> weight_, first_, loss_;
  double middle_ = 0;
};

}  // namespace

IntervalClusters interval_clusters(ConstVectorRef x, ConstVectorRef weights, Index k, const std::function<double(double)>& g, Monitor& monitor) {
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

  VectorXd last(m + 1), now(m + 1);  // the least loss of the first j numbers
  Eigen::MatrixXi cut(m + 1, k);     // where the last group begins
  last[0] = 0;
  for (Index j = 1; j <= m; ++j) last[j] = layers.cost(0, j);
  cut.col(0).setZero();
  IntervalClusters out;
  out.losses.resize(k);
  out.losses[0] = last[m];
  for (Index h = 1; h < k; ++h) {
    now.setConstant(std::numeric_limits<double>::infinity());
    // Ends [low, high] whose best cuts lie in [left, right].
    const std::function<void(Index, Index, Index, Index)> fill = [&](Index low, Index high, Index left, Index right) {
      if (low > high) return;
      monitor.check();
      const Index j = low + (high - low) / 2;
      Index best = std::max(left, h);
      for (Index c = std::max(left, h); c <= std::min(right, j - 1); ++c) {
        const double at = last[c] + layers.cost(c, j);
        if (at < now[j]) {
          now[j] = at;
          best = c;
        }
      }
      cut(j, h) = static_cast<int>(best);
      fill(low, j - 1, left, best);
      fill(j + 1, high, best, right);
    };
    fill(h + 1, m, h, m - 1);
    last.swap(now);
    out.losses[h] = last[m];
  }
  out.loss = last[m];
  VectorXi group(m);
  Index end = m;
  for (Index h = k - 1; h >= 0; --h) {
    const Index from = h > 0 ? cut(end, h) : 0;
    for (Index i = from; i < end; ++i) group[i] = static_cast<int>(h);
    end = from;
  }
  out.cluster.resize(n);
  for (Index i = 0; i < n; ++i) out.cluster[i] = group[place[static_cast<std::size_t>(i)]];
  return out;
}

}  // namespace granary
