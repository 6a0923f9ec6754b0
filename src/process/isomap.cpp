#include "process/isomap.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/graph/union_find.h"
#include "core/neighbours/neighbours.h"
#include "process/gplvm_dual.h"

namespace granary::process {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using Edge = std::pair<double, Index>;  // length, other end

// Distances over the cells that two rows share, scaled up; infinite where they share none.
VectorXd shared_distances(ConstMatrixRef y, ConstMatrixRef row) {
  const Index n = y.rows();
  VectorXd out = VectorXd::Zero(n), shared = VectorXd::Zero(n);
  for (Index i = 0; i < y.cols(); ++i) {
    for (Index j = 0; j < n; ++j) {
      const double gap = y(j, i) - row(0, i);
      if (std::isnan(gap)) continue;
      out[j] += gap * gap;
      shared[j] += 1;
    }
  }
  for (Index j = 0; j < n; ++j) out[j] = shared[j] > 0 ? std::sqrt(out[j] * static_cast<double>(y.cols()) / shared[j]) : infinity;
  return out;
}

bool complete(ConstMatrixRef y) { return (y.array() == y.array()).all(); }

using NearRows = std::vector<std::vector<Edge>>;

NearRows as_edges(const Neighbours& found) {
  NearRows near(static_cast<std::size_t>(found.index.cols()));
  for (Index row = 0; row < found.index.cols(); ++row)
    for (Index r = 0; r < found.index.rows(); ++r) near[static_cast<std::size_t>(row)].emplace_back(found.distance(r, row), found.index(r, row));
  return near;
}

// The nearest rows of y for every row of `rows`, nearest first; `same`: the rows are those of y, and none is its own neighbour. Rows with missing cells are no
// points of a metric space, so that there every pair is looked at.
NearRows nearest(const MatrixXd& y, const MatrixXd& rows, bool same, Index k, int threads, Monitor& monitor) {
  if (complete(y) && (same || complete(rows))) {
    NeighbourOptions how;
    how.k = static_cast<int>(k);
    how.threads = threads;
    const Design points(MatrixView(y.data(), y.rows(), y.cols()));
    if (same) return as_edges(nearest_neighbours(points, how, monitor));
    return as_edges(nearest_neighbours(points, Design(MatrixView(rows.data(), rows.rows(), rows.cols())), how, monitor));
  }
  NearRows near(static_cast<std::size_t>(rows.rows()));
  parallel_for(rows.rows(), threads, monitor, [&](Index row) {
    const VectorXd distance = shared_distances(y, rows.row(row));
    std::vector<Edge> all;
    for (Index j = 0; j < y.rows(); ++j)
      if (!(same && j == row) && distance[j] < infinity) all.emplace_back(distance[j], j);
    const Index count = std::min<Index>(k, static_cast<Index>(all.size()));
    std::partial_sort(all.begin(), all.begin() + count, all.end());
    all.resize(static_cast<std::size_t>(count));
    near[static_cast<std::size_t>(row)] = std::move(all);
  });
  return near;
}

bool connected(const NearRows& near) {
  UnionFind sets(static_cast<int>(near.size()));
  for (std::size_t i = 0; i < near.size(); ++i)
    for (const Edge& edge : near[i]) sets.unite(static_cast<int>(i), static_cast<int>(edge.second));
  for (std::size_t i = 1; i < near.size(); ++i)
    if (sets.find(static_cast<int>(i)) != sets.find(0)) return false;
  return true;
}

// Dijkstra with a heap of tentative lengths.
void shortest_paths(const NearRows& graph, Index source, VectorRef length) {
  length.setConstant(infinity);
  length[source] = 0;
  std::priority_queue<Edge, std::vector<Edge>, std::greater<Edge>> heap;
  heap.emplace(0, source);
  while (!heap.empty()) {
    const Edge top = heap.top();
    heap.pop();
    if (top.first > length[top.second]) continue;
    for (const Edge& edge : graph[static_cast<std::size_t>(top.second)]) {
      const double through = top.first + edge.first;
      if (through < length[edge.second]) {
        length[edge.second] = through;
        heap.emplace(through, edge.second);
      }
    }
  }
}

// 1 - R^2 between the entries of two distance matrices, the second one that of the map.
double residual_variance(const MatrixXd& distance, const MatrixXd& x) {
  double a = 0, b = 0, aa = 0, bb = 0, ab = 0, count = 0;
  for (Index j = 0; j < x.rows(); ++j) {
    for (Index i = j + 1; i < x.rows(); ++i) {
      const double u = distance(i, j), v = (x.row(i) - x.row(j)).norm();
      a += u, b += v, aa += u * u, bb += v * v, ab += u * v, count += 1;
    }
  }
  if (count == 0) return 0;
  const double cov = ab - a * b / count, va = aa - a * a / count, vb = bb - b * b / count;
  return va > 0 && vb > 0 ? std::max(0.0, 1 - cov * cov / (va * vb)) : 1;
}

}  // namespace

IsomapResult isomap(ConstMatrixRef y, Index q, int neighbours, int threads, Monitor& monitor) {
  const Index n = y.rows();
  if (n < 2) throw InputError("Isomap needs at least two rows.");
  IsomapResult result;
  Index k = std::min<Index>(neighbours, n - 1);
  const MatrixXd rows = y;
  NearRows near = nearest(rows, rows, true, k, threads, monitor);
  while (!connected(near)) {
    if (k == n - 1) throw InputError("some rows share no observed cell with any other, so that they have no neighbours.");
    k = std::min<Index>(n - 1, k + std::max<Index>(1, k / 4));
    near = nearest(rows, rows, true, k, threads, monitor);
  }
  result.neighbours = static_cast<int>(k);
  NearRows graph = near;
  for (std::size_t i = 0; i < near.size(); ++i)
    for (const Edge& edge : near[i]) graph[static_cast<std::size_t>(edge.second)].emplace_back(edge.first, static_cast<Index>(i));
  result.distance.resize(n, n);
  parallel_for(n, threads, monitor, [&](Index row) {
    shortest_paths(graph, row, result.distance.col(row));
    monitor.progress(0.9 * static_cast<double>(row + 1) / static_cast<double>(n));
  });
  MatrixXd s = -0.5 * result.distance.cwiseAbs2();
  s = 0.5 * (s + s.transpose()).eval();  // paths added up in the other direction differ in the last bits
  centre_both(s);
  SimilarityMap map = similarity_map(s, q, monitor);
  result.x = std::move(map.x);
  result.values = std::move(map.values);
  result.residual = residual_variance(result.distance, result.x);
  return result;
}

void check(const IsomapState& t) {
  const Index n = t.latent.rows();
  if (n < 2 || t.x.rows() != n || t.distance.rows() != n || t.distance.cols() != n || t.eigenvalues.size() != t.latent.cols() ||
      t.neighbors < 1)
    throw InputError("rows, map, distances and eigenvalues do not belong together.");
}

MatrixXd isomap_place(const IsomapState& state, ConstMatrixRef newdata, int threads, Monitor& monitor) {
  const MatrixXd x = state.x;
  const Index n = x.rows();
  const VectorXd centre = state.distance.cwiseAbs2().rowwise().mean();
  MatrixXd out = MatrixXd::Zero(newdata.rows(), state.latent.cols());
  const NearRows near = nearest(x, newdata, false, std::min<Index>(state.neighbors, n), threads, monitor);
  for (const auto& one : near)
    if (one.empty()) throw InputError("a row of `newdata` shares no observed cell with any row of the fit, so that it has no neighbours.");
  parallel_for(newdata.rows(), threads, monitor, [&](Index row) {
    VectorXd geodesic = VectorXd::Constant(n, infinity);
    for (const Edge& edge : near[static_cast<std::size_t>(row)])
      geodesic = geodesic.cwiseMin((state.distance.col(edge.second).array() + edge.first).matrix());
    const VectorXd right = 0.5 * (centre - geodesic.cwiseAbs2());
    for (Index k = 0; k < out.cols(); ++k)
      if (state.eigenvalues[k] > 0) out(row, k) = state.latent.col(k).dot(right) / state.eigenvalues[k];
  });
  return out;
}

}  // namespace granary::process
