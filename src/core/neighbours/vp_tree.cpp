#include "core/neighbours/vp_tree.h"

#include <cmath>

#include "core/base/parallel.h"

namespace granary {

namespace {

double manhattan(const double* a, const double* b, Index d) {
  double sum = 0;
  for (Index j = 0; j < d; ++j) sum += std::abs(a[j] - b[j]);
  return sum;
}

double maximum(const double* a, const double* b, Index d) {
  double most = 0;
  for (Index j = 0; j < d; ++j) most = std::max(most, std::abs(a[j] - b[j]));
  return most;
}

double euclidean(const double* a, const double* b, Index d) { return std::sqrt(squared_distance(a, b, d)); }

template <class Between>
Neighbours search_all(ConstMatrixRef points, ConstMatrixRef queries, bool same, int k, int threads, Monitor& monitor,
                      const Between& between) {
  constexpr Index queries_per_task = 64;
  const Index d = points.rows(), n = queries.cols(), tasks = (n + queries_per_task - 1) / queries_per_task;
  const auto point = [&](Index i) { return points.data() + i * d; };
  const VpTree tree(
      points.cols(), [&](Index i, Index j) { return between(point(i), point(j), d); }, monitor);
  Neighbours out{Eigen::MatrixXi(k, n), MatrixXd(k, n)};
  parallel_for(tasks, threads, monitor, [&](Index task) {
    NearestFew best(k);
    for (Index i = task * queries_per_task; i < std::min(n, (task + 1) * queries_per_task); ++i) {
      const Index query = same ? tree.order()[static_cast<std::size_t>(i)] : i;
      const double* from = queries.data() + query * d;
      tree.search([&](Index j) { return between(from, point(j), d); }, same ? static_cast<int>(query) : -1, best);
      best.write(out, query);
    }
  });
  return out;
}

}  // namespace

Neighbours vp_tree_neighbours(ConstMatrixRef points, ConstMatrixRef queries, bool same, Metric metric, int k, int threads,
                              Monitor& monitor) {
  if (metric == Metric::manhattan) return search_all(points, queries, same, k, threads, monitor, manhattan);
  if (metric == Metric::maximum) return search_all(points, queries, same, k, threads, monitor, maximum);
  return search_all(points, queries, same, k, threads, monitor, euclidean);
}

Neighbours nearest_neighbours(Index n, const PairDistance& distance, int k, Monitor& monitor) {
  const auto measured = [&](Index i, Index j) {
    const double d = distance(i, j);
    if (!(d >= 0) || !std::isfinite(d))
      throw InputError(
          message("the distance of rows ", i + 1, " and ", j + 1, " is ", d, "; it must be a number that is not negative."));
    return d;
  };
  const VpTree tree(n, measured, monitor);
  Neighbours out{Eigen::MatrixXi(k, n), MatrixXd(k, n)};
  NearestFew best(k);
  for (Index i = 0; i < n; ++i) {
    monitor.progress(static_cast<double>(i) / static_cast<double>(n));
    tree.search([&](Index j) { return measured(i, j); }, static_cast<int>(i), best);
    best.write(out, i);
  }
  return out;
}

}  // namespace granary
