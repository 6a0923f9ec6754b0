// The k nearest neighbours of points, exactly, by the engine that suits the metric and the number of dimensions.
//
//   kd_tree   Euclidean distance in few dimensions (Friedman, Bentley, Finkel 1977)
//   vp_tree   any metric, known by nothing but distances of pairs (Yianilos 1993)
//   blocked   Euclidean distance in many dimensions: balls of near points, and products of blocks for pairs of balls that may hold neighbours;
//             of sparse points every pair is looked at
//
// Cosine and correlation are Euclidean distance of points on the sphere: 1 - cos = |a - b|^2 / 2. Distances that are returned are
// always computed by differences in double precision; of equal ones the point of smaller number comes first. So all engines give
// the same answer.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/linalg/design.h"

namespace granary {

struct Neighbours {
  Eigen::MatrixXi index;  // k x number of points; of each the nearest first
  MatrixXd distance;
};
template <class V>
void fields(V& v, Neighbours& t) {
  v("index", positions(t.index));
  v("distance", t.distance);
}

enum class Metric { euclidean, manhattan, maximum, cosine, correlation };
inline Names<Metric> names(Metric) {
  return {{Metric::euclidean, "euclidean"},
          {Metric::manhattan, "manhattan"},
          {Metric::maximum, "maximum"},
          {Metric::cosine, "cosine"},
          {Metric::correlation, "correlation"}};
}
enum class NeighbourEngine { automatic, kd_tree, vp_tree, blocked };
inline Names<NeighbourEngine> names(NeighbourEngine) {
  return {{NeighbourEngine::automatic, "auto"},
          {NeighbourEngine::kd_tree, "kd_tree"},
          {NeighbourEngine::vp_tree, "vp_tree"},
          {NeighbourEngine::blocked, "blocked"}};
}

struct NeighbourOptions {
  int k = 10;
  Metric metric = Metric::euclidean;
  NeighbourEngine method = NeighbourEngine::automatic;
  int threads = 1;
};
template <class V>
void fields(V& v, NeighbourOptions& t) {
  v("k", t.k);
  v("metric", t.metric);
  v("method", t.method);
  v("threads", t.threads);
}

// Points are the rows of x. Without queries each row's neighbours among the others (k < n); with queries (rows, too) those of
// each query (k <= n).
Neighbours nearest_neighbours(const Design& x, const NeighbourOptions& options, Monitor& monitor);
Neighbours nearest_neighbours(const Design& x, const Design& queries, const NeighbourOptions& options, Monitor& monitor);

// Any metric of the user: distance(i, j) of points i and j of 0 .. n - 1, by a vantage-point tree; on this thread only. Each
// point's among the others.
using PairDistance = std::function<double(Index, Index)>;
Neighbours nearest_neighbours(Index n, const PairDistance& distance, int k, Monitor& monitor);
// Distances of all pairs are known: the lower triangle by columns, as R's dist() has them.
Neighbours nearest_neighbours(Index n, ConstVectorRef lower, int k, int threads, Monitor& monitor);

// ---- the engines: points are the columns, Euclidean distance
// ----------------------------------------------------------------------------------------

double squared_distance(const double* a, const double* b, Index d);  // by differences

// `same`: the queries are the points themselves, and no point is its own neighbour.
Neighbours kd_tree_neighbours(ConstMatrixRef points, ConstMatrixRef queries, bool same, int k, int threads, Monitor& monitor);
Neighbours blocked_neighbours(ConstMatrixRef points, ConstMatrixRef queries, bool same, int k, int threads, Monitor& monitor);
Neighbours vp_tree_neighbours(ConstMatrixRef points, ConstMatrixRef queries, bool same, Metric metric, int k, int threads,
                              Monitor& monitor);
using SparseRows = Eigen::SparseMatrix<double, Eigen::RowMajor>;
Neighbours sparse_neighbours(const SparseRows& points, const SparseRows& queries, bool same, int k, int threads,
                             Monitor& monitor);

// The best k of the candidates seen so far.
class NearestFew {
 public:
  explicit NearestFew(int k) : k_(static_cast<std::size_t>(k)) { heap_.reserve(k_); }
  bool full() const { return heap_.size() == k_; }
  double worst() const { return full() ? heap_.front().first : std::numeric_limits<double>::infinity(); }
  void offer(double distance, int index) {
    const std::pair<double, int> candidate(distance, index);
    if (!full()) {
      heap_.push_back(candidate);
      std::push_heap(heap_.begin(), heap_.end());
    } else if (candidate < heap_.front()) {
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.back() = candidate;
      std::push_heap(heap_.begin(), heap_.end());
    }
  }
  // Sorted into column `at`; empty again.
  void write(Neighbours& to, Index at) {
    std::sort_heap(heap_.begin(), heap_.end());
    for (std::size_t r = 0; r < heap_.size(); ++r) {
      to.distance(static_cast<Index>(r), at) = heap_[r].first;
      to.index(static_cast<Index>(r), at) = heap_[r].second;
    }
    heap_.clear();
  }

 private:
  std::size_t k_;
  std::vector<std::pair<double, int>> heap_;  // the worst in front
};

}  // namespace granary
