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
#include "process/gplvm_dual.h"

namespace granary::process {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using Edge = std::pair<double, Index>;  // length, other end

VectorXd distances_from(ConstMatrixRef y, const VectorXd& squares, bool holes, Index row) {
  const Index n = y.rows();
  VectorXd out(n);
  if (!holes) {
    out = squares;
    out.array() += squares[row];
    out.noalias() -= 2 * (y * y.row(row).transpose());
    // Inner products lose what is close; those few are computed again.
    const double rounding = 1e-6 * (squares.maxCoeff() + squares[row]);
    for (Index j = 0; j < n; ++j)
      if (out[j] < rounding) out[j] = (y.row(j) - y.row(row)).squaredNorm();
  } else {
    VectorXd shared = VectorXd::Zero(n);
    out.setZero();
    for (Index i = 0; i < y.cols(); ++i) {
      for (Index j = 0; j < n; ++j) {
        const double gap = y(j, i) - y(row, i);
        if (std::isnan(gap)) continue;
        out[j] += gap * gap;
        shared[j] += 1;
      }
    }
    for (Index j = 0; j < n; ++j) out[j] = shared[j] > 0 ? out[j] * static_cast<double>(y.cols()) / shared[j] : infinity;
  }
  return out.cwiseSqrt();
}

// Every row's nearest others, nearest first.
std::vector<std::vector<Edge>> nearest(ConstMatrixRef y, Index k, int threads, Monitor& monitor) {
  const Index n = y.rows();
  const bool holes = !(y.array() == y.array()).all();
  const VectorXd squares = holes ? VectorXd() : VectorXd(y.rowwise().squaredNorm());
  std::vector<std::vector<Edge>> near(static_cast<std::size_t>(n));
  parallel_for(n, threads, monitor, [&](Index row) {
    const VectorXd distance = distances_from(y, squares, holes, row);
    std::vector<Edge> all;
    for (Index j = 0; j < n; ++j)
      if (j != row && distance[j] < infinity) all.emplace_back(distance[j], j);
    const Index count = std::min<Index>(k, static_cast<Index>(all.size()));
    std::partial_sort(all.begin(), all.begin() + count, all.end());
    all.resize(static_cast<std::size_t>(count));
    near[static_cast<std::size_t>(row)] = std::move(all);
  });
  return near;
}

bool connected(const std::vector<std::vector<Edge>>& near) {
  UnionFind sets(static_cast<int>(near.size()));
  for (std::size_t i = 0; i < near.size(); ++i)
    for (const Edge& edge : near[i]) sets.unite(static_cast<int>(i), static_cast<int>(edge.second));
  for (std::size_t i = 1; i < near.size(); ++i)
    if (sets.find(static_cast<int>(i)) != sets.find(0)) return false;
  return true;
}

// Dijkstra with a heap of tentative lengths.
void shortest_paths(const std::vector<std::vector<Edge>>& graph, Index source, VectorRef length) {
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
  std::vector<std::vector<Edge>> near = nearest(y, k, threads, monitor);
  while (!connected(near)) {
    if (k == n - 1) throw InputError("some rows share no observed cell with any other, so that they have no neighbours.");
    k = std::min<Index>(n - 1, k + std::max<Index>(1, k / 4));
    near = nearest(y, k, threads, monitor);
  }
  result.neighbours = static_cast<int>(k);
  std::vector<std::vector<Edge>> graph = near;
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
  const MatrixView& x = state.x;
  const Index n = x.rows(), count = std::min<Index>(state.neighbors, n);
  const VectorXd centre = state.distance.cwiseAbs2().rowwise().mean();
  MatrixXd out = MatrixXd::Zero(newdata.rows(), state.latent.cols());
  std::vector<char> lost(static_cast<std::size_t>(newdata.rows()), 0);
  parallel_for(newdata.rows(), threads, monitor, [&](Index row) {
    std::vector<Edge> near;
    for (Index j = 0; j < n; ++j) {
      double square = 0, shared = 0;
      for (Index i = 0; i < x.cols(); ++i) {
        const double gap = newdata(row, i) - x(j, i);
        if (std::isnan(gap)) continue;
        square += gap * gap;
        shared += 1;
      }
      if (shared > 0) near.emplace_back(std::sqrt(square * static_cast<double>(x.cols()) / shared), j);
    }
    if (near.empty()) {
      lost[static_cast<std::size_t>(row)] = 1;
      return;
    }
    const Index used = std::min<Index>(count, static_cast<Index>(near.size()));
    std::partial_sort(near.begin(), near.begin() + used, near.end());
    VectorXd geodesic = VectorXd::Constant(n, infinity);
    for (Index k = 0; k < used; ++k) {
      const Edge& edge = near[static_cast<std::size_t>(k)];
      geodesic = geodesic.cwiseMin((state.distance.col(edge.second).array() + edge.first).matrix());
    }
    const VectorXd right = 0.5 * (centre - geodesic.cwiseAbs2());
    for (Index k = 0; k < out.cols(); ++k)
      if (state.eigenvalues[k] > 0) out(row, k) = state.latent.col(k).dot(right) / state.eigenvalues[k];
  });
  for (const char one : lost)
    if (one) throw InputError("a row of `newdata` shares no observed cell with any row of the fit, so that it has no neighbours.");
  return out;
}

}  // namespace granary::process
