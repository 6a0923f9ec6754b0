#include "cluster/k_center.h"

#include <algorithm>
#include <limits>

#include "core/base/errors.h"

namespace granary::cluster {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Farthest {
  std::vector<int> order;  // k + 1 points, or fewer where all others coincide with them
  double radius = 0;       // with the first k as centres
};

Farthest farthest_first(Index n, Index k, const DistanceColumn& column, Monitor& monitor) {
  Farthest out;
  VectorXd gap = VectorXd::Constant(n, infinity);
  Index next = 0;
  for (Index h = 0; h <= k && h < n; ++h) {
    monitor.check();
    if (h > 0) {
      const double far = gap.maxCoeff(&next);
      if (h == k) out.radius = far;
      if (!(far > 0)) break;
    }
    out.order.push_back(static_cast<int>(next));
    if (h < k) gap = gap.cwiseMin(column(next));
  }
  return out;
}

// Centres, no two within `reach`, chosen greedily in the order of the points; empty if there are more than k.
std::vector<int> scattered(const MatrixXd& d, double reach, Index k) {
  std::vector<int> centres;
  for (Index p = 0; p < d.rows(); ++p) {
    bool covered = false;
    for (const int c : centres) covered = covered || d(p, c) <= reach;
    if (covered) continue;
    if (static_cast<Index>(centres.size()) == k) return {};
    centres.push_back(static_cast<int>(p));
  }
  return centres;
}

// Do k balls of radius r cover all points? Branch and bound: the point with the fewest balls left that hold it must be covered by one of them.
class Cover {
 public:
  Cover(const MatrixXd& d, double r, Index k, double max_nodes, Monitor& monitor) : n_(d.rows()), k_(k), left_(max_nodes), monitor_(monitor) {
    for (Index x = 0; x < n_; ++x) {
      std::vector<int> inside;
      for (Index p = 0; p < n_; ++p)
        if (d(p, x) <= r) inside.push_back(static_cast<int>(p));
      balls_.push_back(std::move(inside));
    }
    covered_.assign(static_cast<std::size_t>(n_), 0);
  }

  bool possible() { return search(n_); }
  bool finished() const { return left_ > 0; }
  const std::vector<int>& centres() const { return chosen_; }

 private:
  bool search(Index open) {
    if (open == 0) return true;
    if (static_cast<Index>(chosen_.size()) == k_ || left_ <= 0) return false;
    left_ -= 1;
    monitor_.check();
    // By symmetry of d the balls that hold p have their centres in the ball of p.
    Index most = 0, worst = -1, fewest = n_ + 1;
    for (Index p = 0; p < n_; ++p) {
      if (!covered_[static_cast<std::size_t>(p)]) {
        const auto size = static_cast<Index>(balls_[static_cast<std::size_t>(p)].size());
        if (size < fewest) {
          fewest = size;
          worst = p;
        }
      }
      Index news = 0;
      for (const int q : balls_[static_cast<std::size_t>(p)]) news += covered_[static_cast<std::size_t>(q)] == 0;
      most = std::max(most, news);
    }
    if (most * (k_ - static_cast<Index>(chosen_.size())) < open) return false;
    std::vector<std::pair<Index, int>> choices;
    for (const int x : balls_[static_cast<std::size_t>(worst)]) {
      Index news = 0;
      for (const int q : balls_[static_cast<std::size_t>(x)]) news += covered_[static_cast<std::size_t>(q)] == 0;
      choices.push_back({-news, x});
    }
    std::sort(choices.begin(), choices.end());
    for (const auto& [news, x] : choices) {
      for (const int q : balls_[static_cast<std::size_t>(x)]) ++covered_[static_cast<std::size_t>(q)];
      chosen_.push_back(x);
      if (search(open + news)) return true;
      chosen_.pop_back();
      for (const int q : balls_[static_cast<std::size_t>(x)]) --covered_[static_cast<std::size_t>(q)];
    }
    return false;
  }

  Index n_, k_;
  double left_;
  Monitor& monitor_;
  std::vector<std::vector<int>> balls_;
  std::vector<int> covered_, chosen_;
};

MatrixXd all_distances(Index n, const DistanceColumn& column, Monitor& monitor) {
  MatrixXd d(n, n);
  for (Index x = 0; x < n; ++x) {
    monitor.check();
    d.col(x) = column(x);
  }
  return d;
}

// Labels and radius of the centres; where fewer than k do, the farthest points join them while that brings any point nearer.
void finish(Index n, std::vector<int> centres, Index k, const DistanceColumn& column, KCenterResult& out) {
  VectorXd gap = VectorXd::Constant(n, infinity);
  out.cluster = VectorXi::Zero(n);
  for (std::size_t h = 0; h < static_cast<std::size_t>(k); ++h) {
    if (h == centres.size()) {
      Index far = 0;
      if (!(gap.maxCoeff(&far) > 0)) break;
      centres.push_back(static_cast<int>(far));
    }
    const VectorXd from = column(centres[h]);
    for (Index p = 0; p < n; ++p)
      if (from[p] < gap[p]) {
        gap[p] = from[p];
        out.cluster[p] = static_cast<int>(h);
      }
  }
  out.medoids = Eigen::Map<const VectorXi>(centres.data(), static_cast<Index>(centres.size()));
  out.objective = gap.maxCoeff();
}

}  // namespace

KCenterResult k_center(Index n, const DistanceColumn& column, const KCenterOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  const Index k = options.k;
  if (k < 1 || k > n) throw InputError(message("`k` must be between 1 and the number of points, ", n, "."));
  KCenterResult out;
  const Farthest first = farthest_first(n, k, column, monitor);
  std::vector<int> centres(first.order.begin(), first.order.begin() + std::min<std::ptrdiff_t>(k, static_cast<std::ptrdiff_t>(first.order.size())));
  finish(n, centres, k, column, out);
  out.lower_bound = first.radius / 2;
  out.convergence.iterations = static_cast<int>(k);

  if (options.method != KCenterMethod::farthest && first.radius > 0) {
    const MatrixXd d = all_distances(n, column, monitor);
    std::vector<double> lengths;
    for (Index v = 0; v < n; ++v)
      for (Index u = 0; u <= v; ++u)
        if (d(u, v) <= out.objective) lengths.push_back(d(u, v));
    std::sort(lengths.begin(), lengths.end());
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    // The least length r at which at most k greedy centres, pairwise farther apart than 2 r, are enough: below it more than k points are pairwise farther than
    // 2 r apart, so no k balls of radius r can do.
    std::size_t low = 0, high = lengths.size() - 1;
    while (low < high) {
      const std::size_t mid = (low + high) / 2;
      if (scattered(d, 2 * lengths[mid], k).empty()) low = mid + 1;
      else high = mid;
    }
    const std::vector<int> greedy = scattered(d, 2 * lengths[low], k);
    if (!greedy.empty()) {
      KCenterResult other;
      finish(n, greedy, k, column, other);
      if (options.method == KCenterMethod::threshold || other.objective < out.objective) {
        centres = greedy;
        out.cluster = other.cluster;
        out.medoids = other.medoids;
        out.objective = other.objective;
      }
      out.lower_bound = std::max(out.lower_bound, lengths[low]);
    }
    if (options.method == KCenterMethod::exact) {
      high = static_cast<std::size_t>(std::lower_bound(lengths.begin(), lengths.end(), out.objective) - lengths.begin());
      low = static_cast<std::size_t>(std::lower_bound(lengths.begin(), lengths.end(), out.lower_bound) - lengths.begin());
      bool certain = true;
      while (low < high) {
        const std::size_t mid = (low + high) / 2;
        Cover cover(d, lengths[mid], k, options.max_nodes, monitor);
        if (cover.possible()) {
          high = mid;
          finish(n, cover.centres(), k, column, out);
          high = std::min(high, static_cast<std::size_t>(std::lower_bound(lengths.begin(), lengths.end(), out.objective) - lengths.begin()));
        } else if (cover.finished()) {
          low = mid + 1;
        } else {
          certain = false;
          break;
        }
        ++out.convergence.iterations;
      }
      out.lower_bound = std::max(out.lower_bound, lengths[std::min(low, lengths.size() - 1)]);
      out.exact = certain;
    }
  }
  if (first.radius == 0) out.exact = true;
  if (out.exact) out.lower_bound = out.objective;
  Convergence& c = out.convergence;
  c.gap = out.objective - out.lower_bound;
  c.converged = options.method != KCenterMethod::exact || out.exact;
  if (!c.converged) c.message = message("the search for covers stopped after ", options.max_nodes, " nodes: the best radius is between ", out.lower_bound, " and ", out.objective);
  c.seconds = watch.seconds();
  return out;
}

}  // namespace granary::cluster
