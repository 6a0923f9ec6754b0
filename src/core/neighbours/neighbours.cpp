#include "core/neighbours/neighbours.h"

#include <cmath>

#include "core/base/parallel.h"

namespace granary {

namespace {

// Measured on ten normal groups of 1000 points, 90 neighbours: beyond it products of blocks are faster than the kd-tree.
constexpr Index kd_most_dimensions = 9;

bool on_sphere(Metric metric) { return metric == Metric::cosine || metric == Metric::correlation; }

void require_sizes(Index n, bool same, int k) {
  const Index most = same ? n - 1 : n;
  if (k < 1 || k > most)
    throw InputError(
        message("`k` must be at least 1 and at most ", most, ", the number of ", same ? "other " : "", "rows, not ", k, "."));
}

[[noreturn]] void no_direction(Index row, Metric metric) {
  throw InputError(message("row ", row + 1, " is ", metric == Metric::cosine ? "zero" : "constant",
                           " and has no direction, which the metric \"", name_of(metric), "\" needs."));
}

// Rows as columns, one point after the other in memory; on the sphere where the metric says so.
MatrixXd as_points(const Design& x, Metric metric) {
  MatrixXd points = x.is_sparse() ? MatrixXd(MatrixXd(x.sparse()).transpose()) : MatrixXd(x.dense().transpose());
  if (!on_sphere(metric)) return points;
  for (Index i = 0; i < points.cols(); ++i) {
    auto point = points.col(i);
    const double largest = point.cwiseAbs().maxCoeff();
    if (largest > 0) point /= largest;
    if (metric == Metric::correlation) point.array() -= point.mean();
    const double norm = point.norm();
    if (!(norm > 1e-14 * std::sqrt(static_cast<double>(points.rows())))) no_direction(i, metric);
    point /= norm;
  }
  return points;
}

SparseRows sparse_points(const Design& x, Metric metric) {
  SparseRows points = x.sparse();
  if (metric == Metric::euclidean) return points;
  for (Index i = 0; i < points.rows(); ++i) {
    double norm = 0;
    for (SparseRows::InnerIterator it(points, i); it; ++it) norm = std::hypot(norm, it.value());
    if (!(norm > 0)) no_direction(i, metric);
    for (SparseRows::InnerIterator it(points, i); it; ++it) it.valueRef() /= norm;
  }
  return points;
}

Neighbours find(const Design& x, const Design& queries, bool same, const NeighbourOptions& options, Monitor& monitor) {
  require_sizes(x.rows(), same, options.k);
  if (queries.cols() != x.cols())
    throw InputError(message("the queries have ", queries.cols(), " columns, the points ", x.cols(), "."));
  const bool as_products = options.method == NeighbourEngine::automatic || options.method == NeighbourEngine::blocked;
  Neighbours out;
  if (x.is_sparse() && queries.is_sparse() && as_products &&
      (options.metric == Metric::euclidean || options.metric == Metric::cosine)) {
    const SparseRows points = sparse_points(x, options.metric);
    out = sparse_neighbours(points, same ? points : sparse_points(queries, options.metric), same, options.k, options.threads,
                            monitor);
  } else {
    const double cells = static_cast<double>(x.rows() + (same ? 0 : queries.rows())) * static_cast<double>(x.cols());
    if (x.is_sparse() && cells > 1e9)
      throw InputError(
          "this metric needs dense rows, and these are too many to be made dense; use \"euclidean\" or \"cosine\", or fewer "
          "columns.");
    const MatrixXd points = as_points(x, options.metric);
    const MatrixXd others = same ? MatrixXd() : as_points(queries, options.metric);
    const MatrixXd& asked = same ? points : others;
    NeighbourEngine engine = options.method;
    const bool euclidean = options.metric == Metric::euclidean || on_sphere(options.metric);
    if (!euclidean && engine != NeighbourEngine::automatic && engine != NeighbourEngine::vp_tree)
      throw InputError(message("method \"", name_of(engine),
                               "\" is for Euclidean distances, cosines and correlations; the metric \"", name_of(options.metric),
                               "\" needs \"vp_tree\"."));
    if (!euclidean) {
      engine = NeighbourEngine::vp_tree;
    } else if (engine == NeighbourEngine::automatic) {
      engine = points.rows() <= kd_most_dimensions ? NeighbourEngine::kd_tree : NeighbourEngine::blocked;
    }
    if (engine == NeighbourEngine::kd_tree) out = kd_tree_neighbours(points, asked, same, options.k, options.threads, monitor);
    if (engine == NeighbourEngine::blocked) out = blocked_neighbours(points, asked, same, options.k, options.threads, monitor);
    if (engine == NeighbourEngine::vp_tree)
      out = vp_tree_neighbours(points, asked, same, options.metric, options.k, options.threads, monitor);
  }
  if (on_sphere(options.metric)) out.distance = out.distance.array().square() / 2;  // 1 - cos
  return out;
}

}  // namespace

Neighbours nearest_neighbours(const Design& x, const NeighbourOptions& options, Monitor& monitor) {
  return find(x, x, true, options, monitor);
}

Neighbours nearest_neighbours(const Design& x, const Design& queries, const NeighbourOptions& options, Monitor& monitor) {
  return find(x, queries, false, options, monitor);
}

Neighbours nearest_neighbours(Index n, ConstVectorRef lower, int k, int threads, Monitor& monitor) {
  require_sizes(n, true, k);
  Neighbours out{Eigen::MatrixXi(k, n), MatrixXd(k, n)};
  parallel_for(n, threads, monitor, [&](Index i) {
    NearestFew best(k);
    for (Index j = 0; j < i; ++j) best.offer(lower[j * n - j * (j + 1) / 2 + i - j - 1], static_cast<int>(j));
    for (Index j = i + 1; j < n; ++j) best.offer(lower[i * n - i * (i + 1) / 2 + j - i - 1], static_cast<int>(j));
    best.write(out, i);
  });
  return out;
}

}  // namespace granary
