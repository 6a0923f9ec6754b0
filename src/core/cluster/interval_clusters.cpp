#include "core/cluster/interval_clusters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/errors.h"

namespace granary {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

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

  double cost(Index from, Index to) const {  // numbers from .. to - 1
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

// For every end j the cut c < j of least last[c] + cost(c, j). The best cut never moves to the left as j grows, and a cut that loses to a later one at j loses
// to it ever after: of 2r cuts only r can serve r ends, the cuts of every other end lie between those of its neighbours, and all are found in linear time (SMAWK).
template <class Convex>
class RowMinima {
 public:
  RowMinima(const Layers<Convex>& layers, const VectorXd& last, VectorXd& now, int* cut, Monitor& monitor)
      : layers_(layers), last_(last), now_(now), cut_(cut), monitor_(monitor) {}

  // Ends h + 1 .. m, cuts h .. m - 1.
  void find(Index h, Index m) {
    std::vector<int> cuts(static_cast<std::size_t>(m - h));
    std::iota(cuts.begin(), cuts.end(), static_cast<int>(h));
    search(h + 1, 1, m - h, cuts);
  }

  // End m alone: no layer follows.
  void find_last(Index h, Index m) {
    for (Index c = h; c < m; ++c) {
      if ((c & 16383) == 0) monitor_.check();
      const double here = loss(m, c);
      if (here < now_[m]) {
        now_[m] = here;
        cut_[m] = static_cast<int>(c);
      }
    }
  }

 private:
  double loss(Index j, Index c) const { return c < j ? last_[c] + layers_.cost(c, j) : infinity; }

  // Ends first, first + step, ... (count of them).
  void search(Index first, Index step, Index count, const std::vector<int>& cuts) {
    if (count < 1) return;
    std::vector<int> kept;
    std::vector<double> value;  // of a kept cut at the end it was last judged by, the one of its place
    kept.reserve(static_cast<std::size_t>(count));
    value.reserve(static_cast<std::size_t>(count));
    std::size_t looked = 0;
    for (const int c : cuts) {
      if ((++looked & 16383u) == 0) monitor_.check();
      while (!kept.empty() && value.back() > loss(first + step * (static_cast<Index>(kept.size()) - 1), c)) {
        kept.pop_back();
        value.pop_back();
      }
      if (static_cast<Index>(kept.size()) == count) continue;
      kept.push_back(c);
      value.push_back(loss(first + step * (static_cast<Index>(kept.size()) - 1), c));
    }
    if (count > 1) search(first + step, 2 * step, count / 2, kept);
    std::size_t at = 0;
    for (Index r = 0; r < count; r += 2) {
      if ((r & 16383) == 0) monitor_.check();
      const Index j = first + step * r;
      const Index right = r + 1 < count ? cut_[j + step] : kept.back();
      double best = infinity;
      for (;; ++at) {
        const double here = loss(j, kept[at]);
        if (here < best) {
          best = here;
          cut_[j] = kept[at];
        }
        if (kept[at] >= right) break;
      }
      now_[j] = best;
    }
  }

  const Layers<Convex>& layers_;
  const VectorXd& last_;
  VectorXd& now_;
  int* cut_;
  Monitor& monitor_;
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

  VectorXd last(m + 1), now(m + 1);  // the least loss of the first j numbers
  Eigen::MatrixXi cut(m + 1, k);     // where the last group begins
  last[0] = 0;
  for (Index j = 1; j <= m; ++j) last[j] = layers.cost(0, j);
  cut.col(0).setZero();
  IntervalClusters out;
  out.losses.resize(k);
  out.losses[0] = last[m];
  for (Index h = 1; h < k; ++h) {
    now.setConstant(infinity);
    RowMinima<Convex> minima(layers, last, now, cut.col(h).data(), monitor);
    if (h + 1 < k) minima.find(h, m);
    else minima.find_last(h, m);
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

}  // namespace

IntervalClusters interval_clusters(ConstVectorRef x, ConstVectorRef weights, Index k, const std::function<double(double)>& g, Monitor& monitor) {
  return divide(x, weights, k, [&](double value, double) { return g(value); }, monitor);
}

IntervalClusters interval_squares(ConstVectorRef x, ConstVectorRef weights, Index k, Monitor& monitor) {
  return divide(x, weights, k, [](double, double from_middle) { return from_middle * from_middle; }, monitor);
}

}  // namespace granary
