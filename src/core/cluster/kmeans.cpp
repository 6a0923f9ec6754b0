#include "core/cluster/kmeans.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/cluster/seeding.h"

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

KMeansResult balanced_run(const MatrixXd& points, MatrixXd centres, const KMeansOptions& options, Monitor& monitor) {
  KMeansResult best;
  best.objective = std::numeric_limits<double>::infinity();
  double last = best.objective;
  int stalled = 0;
  for (int iteration = 1; iteration <= options.max_iter; ++iteration) {
    Assignment a = nearest(points, centres, options.threads, monitor);
    balance(points, centres, a, monitor);
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
    if (stalled >= 3) {  // a balanced assignment can get worse before it gets better
      best.convergence.converged = true;
      break;
    }
  }
  return best;
}

// Fewer distinct rows than clusters: a cluster without rows takes one of those that coincide with their centre.
void share_equal_rows(const MatrixXd& x, KMeansResult& fit) {
  for (Index c = 0; c < fit.sizes.size(); ++c) {
    for (Index i = 0; i < x.rows() && fit.sizes[c] == 0; ++i) {
      if (fit.sizes[fit.cluster[i]] < 2 || (x.row(i) - fit.centres.row(fit.cluster[i])).squaredNorm() > 0) continue;
      --fit.sizes[fit.cluster[i]];
      fit.cluster[i] = static_cast<int>(c);
      fit.sizes[c] = 1;
      fit.centres.row(c) = x.row(i);
    }
  }
}

}  // namespace

LinearScores centre_scores(const MatrixXd& centres) { return {centres, -0.5 * centres.rowwise().squaredNorm()}; }

void mean_scores(const ClusterSums& sums, LinearScores& scores) {
  for (Index h = 0; h < sums.weight.size(); ++h) {
    if (!(sums.weight[h] > 0)) continue;
    scores.theta.row(h) = sums.first.row(h) / sums.weight[h];
    scores.bias[h] = -0.5 * scores.theta.row(h).squaredNorm();
  }
}

KMeansResult kmeans_from(ConstMatrixRef x, ConstVectorRef weights, const MatrixXd& centres, const KMeansOptions& options, Monitor& monitor) {
  const DataRows rows(x);
  const VectorXd base = 0.5 * rows.squared_norms();
  HardOptions how;
  how.max_iter = options.max_iter;
  how.tol = options.tol;
  how.threads = options.threads;
  HardResult found = hard_clusters(rows, weights, base, centre_scores(centres), mean_scores, how, monitor);
  KMeansResult out;
  out.cluster = std::move(found.cluster);
  out.centres = std::move(found.scores.theta);
  out.sizes = cluster_sizes(out.cluster, centres.rows());
  for (Index i = 0; i < x.rows(); ++i)  // by differences: what the products say cancels
    out.objective += (weights.size() > 0 ? weights[i] : 1) * rows.squared_distance(i, out.centres, out.cluster[i]);
  out.convergence = found.convergence;
  return out;
}

KMeansResult kmeans(ConstMatrixRef x, const KMeansOptions& options, Rng& rng, Monitor& monitor) {
  const Index n = x.rows(), k = options.k;
  if (n < 1) throw InputError("k-means needs at least one row.");
  if (k < 1 || k > n)
    throw InputError(message("the number of clusters must be between 1 and the number of rows, ", n, ", not ", k, "."));
  const Stopwatch clock;
  const Eigen::RowVectorXd middle = x.colwise().mean();  // far from zero, x'c - |c|^2 / 2 would cancel
  const MatrixXd centred = x.rowwise() - middle;
  const DataRows rows(centred);
  KMeansResult best;
  for (int start = 0; start < std::max(1, options.n_starts); ++start) {
    Rng own = rng.stream(static_cast<std::uint64_t>(start));
    SeedOptions plusplus;
    plusplus.rounds = k;
    std::vector<Index> seeds = spread_seeds(n, VectorXd(), plusplus, [&](Index i) { return rows.squared_distances(i); }, own, monitor).rows;
    while (static_cast<Index>(seeds.size()) < k) seeds.push_back(static_cast<Index>(own.below(static_cast<std::uint64_t>(n))));  // fewer distinct rows
    MatrixXd centres(k, x.cols());
    for (Index c = 0; c < k; ++c) centres.row(c) = centred.row(seeds[static_cast<std::size_t>(c)]);
    KMeansResult run = options.balanced ? balanced_run(centred.transpose(), centres.transpose(), options, monitor)
                                        : kmeans_from(centred, VectorXd(), centres, options, monitor);
    if (options.balanced) run.centres.transposeInPlace();
    if (start == 0 || run.objective < best.objective) best = std::move(run);
  }
  best.sizes = cluster_sizes(best.cluster, k);
  share_equal_rows(centred, best);
  best.centres.rowwise() += middle;
  best.convergence.seconds = clock.seconds();
  return best;
}

}  // namespace granary
