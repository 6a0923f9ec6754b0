#include "core/cluster/kmeans.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace granary {

namespace {

constexpr Index chunk = 512;  // rows per task

struct Assignment {
  VectorXi cluster;
  VectorXd distance;  // squared, to the own centre
  VectorXd regret;    // how much farther the second nearest centre is
};

// Points and centres as columns, so that a distance runs over contiguous memory.
Assignment nearest(const MatrixXd& points, const MatrixXd& centres, int threads, Monitor& monitor) {
  const Index n = points.cols(), k = centres.cols();
  Assignment out{VectorXi(n), VectorXd(n), VectorXd(n)};
  const VectorXd half_norms = 0.5 * centres.colwise().squaredNorm().transpose();
  parallel_for((n + chunk - 1) / chunk, threads, monitor, [&](Index task) {
    const Index from = task * chunk, count = std::min(chunk, n - from);
    MatrixXd score = centres.transpose() * points.middleCols(from, count);  // x'c - |c|^2 / 2 is largest at the nearest centre
    score.colwise() -= half_norms;
    for (Index i = 0; i < count; ++i) {
      Index best = 0;
      score.col(i).maxCoeff(&best);
      const double top = score(best, i);
      score(best, i) = -std::numeric_limits<double>::infinity();
      const double second = k > 1 ? score.col(i).maxCoeff() : top;
      out.cluster[from + i] = static_cast<int>(best);
      out.distance[from + i] = (points.col(from + i) - centres.col(best)).squaredNorm();
      out.regret[from + i] = 2 * (top - second);
    }
  });
  return out;
}

// Every cluster gets floor(n/k) or ceil(n/k) points. Those with most to lose choose first.
void balance(const MatrixXd& points, const MatrixXd& centres, Assignment& a, Monitor& monitor) {
  const Index n = points.cols(), k = centres.cols();
  std::vector<Index> order(n);
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) { return a.regret[i] > a.regret[j]; });
  const Index base = n / k;
  Index extra = n % k;  // so many clusters may take one more
  std::vector<Index> size(k, 0);
  const auto room = [&](Index c) { return size[c] < base || (size[c] == base && extra > 0); };
  for (Index at = 0; at < n; ++at) {
    if (at % chunk == 0) monitor.check();
    const Index i = order[at];
    Index own = a.cluster[i];
    if (!room(own)) {
      double best = std::numeric_limits<double>::infinity();
      for (Index c = 0; c < k; ++c) {
        if (!room(c)) continue;
        const double distance = (points.col(i) - centres.col(c)).squaredNorm();
        if (distance < best) {
          best = distance;
          own = c;
        }
      }
      a.cluster[i] = static_cast<int>(own);
      a.distance[i] = best;
    }
    if (size[own]++ == base) --extra;
  }
}

VectorXi cluster_sizes(const VectorXi& cluster, Index k) {
  VectorXi sizes = VectorXi::Zero(k);
  for (Index i = 0; i < cluster.size(); ++i) ++sizes[cluster[i]];
  return sizes;
}

// Means of the clusters; an empty one moves to the point farthest from its centre, which leaves its old cluster.
void update_centres(const MatrixXd& points, Assignment& a, MatrixXd& centres) {
  const Index k = centres.cols();
  VectorXi sizes = cluster_sizes(a.cluster, k);
  for (Index c = 0; c < k; ++c) {
    if (sizes[c] > 0) continue;
    Index far = -1;
    for (Index i = 0; i < points.cols(); ++i)
      if (sizes[a.cluster[i]] > 1 && (far < 0 || a.distance[i] > a.distance[far])) far = i;
    if (far < 0) continue;  // cannot happen while k <= n
    --sizes[a.cluster[far]];
    a.cluster[far] = static_cast<int>(c);
    a.distance[far] = 0;
    sizes[c] = 1;
  }
  centres.setZero();
  for (Index i = 0; i < points.cols(); ++i) centres.col(a.cluster[i]) += points.col(i);
  for (Index c = 0; c < k; ++c) centres.col(c) /= std::max(1, sizes[c]);
}

KMeansResult one_run(const MatrixXd& points, MatrixXd centres, const KMeansOptions& options, Monitor& monitor) {
  KMeansResult best;
  best.objective = std::numeric_limits<double>::infinity();
  double last = best.objective;
  int stalled = 0;
  for (int iteration = 1; iteration <= options.max_iter; ++iteration) {
    Assignment a = nearest(points, centres, options.threads, monitor);
    if (options.balanced) balance(points, centres, a, monitor);
    update_centres(points, a, centres);
    double objective = 0;
    for (Index i = 0; i < points.cols(); ++i) objective += (points.col(i) - centres.col(a.cluster[i])).squaredNorm();
    best.convergence.iterations = iteration;
    if (objective < best.objective) {
      best.objective = objective;
      best.centres = centres;
      best.cluster = a.cluster;
    }
    stalled = objective >= last * (1 - options.tol) ? stalled + 1 : 0;
    last = objective;
    // A balanced assignment can get worse before it gets better.
    if (stalled >= (options.balanced ? 3 : 1)) {
      best.convergence.converged = true;
      break;
    }
  }
  return best;
}

}  // namespace

std::vector<Index> kmeans_seeds(ConstMatrixRef x, Index k, Rng& rng, Monitor& monitor) {
  const Index n = x.rows();
  const MatrixXd points = x.transpose();
  std::vector<Index> seeds{static_cast<Index>(rng.below(static_cast<std::uint64_t>(n)))};
  VectorXd distance = (points.colwise() - points.col(seeds[0])).colwise().squaredNorm().transpose();
  while (static_cast<Index>(seeds.size()) < k) {
    monitor.check();
    const double total = distance.sum();
    Index pick = 0;
    if (total > 0) {
      double left = rng.uniform() * total;
      for (pick = 0; pick < n - 1 && left >= distance[pick]; ++pick) left -= distance[pick];
      while (pick > 0 && distance[pick] == 0) --pick;  // rounding at the end of the sum
    } else {                                           // all rows coincide with a seed: any will do
      pick = static_cast<Index>(rng.below(static_cast<std::uint64_t>(n)));
    }
    seeds.push_back(pick);
    distance = distance.cwiseMin((points.colwise() - points.col(pick)).colwise().squaredNorm().transpose());
  }
  return seeds;
}

KMeansResult kmeans(ConstMatrixRef x, const KMeansOptions& options, Rng& rng, Monitor& monitor) {
  const Index n = x.rows(), k = options.k;
  if (n < 1) throw InputError("k-means needs at least one row.");
  if (k < 1 || k > n)
    throw InputError(message("the number of clusters must be between 1 and the number of rows, ", n, ", not ", k, "."));
  const Stopwatch clock;
  const Eigen::RowVectorXd middle = x.colwise().mean();  // far from zero, x'c - |c|^2 / 2 would cancel
  const MatrixXd points = (x.rowwise() - middle).transpose();
  KMeansResult best;
  for (int start = 0; start < std::max(1, options.n_starts); ++start) {
    Rng own = rng.stream(static_cast<std::uint64_t>(start));
    const std::vector<Index> seeds = kmeans_seeds(points.transpose(), k, own, monitor);
    MatrixXd centres(points.rows(), k);
    for (Index c = 0; c < k; ++c) centres.col(c) = points.col(seeds[c]);
    KMeansResult run = one_run(points, std::move(centres), options, monitor);
    if (start == 0 || run.objective < best.objective) best = std::move(run);
  }
  best.centres = (best.centres.colwise() + middle.transpose()).transpose().eval();
  best.sizes = cluster_sizes(best.cluster, k);
  best.convergence.seconds = clock.seconds();
  return best;
}

}  // namespace granary
