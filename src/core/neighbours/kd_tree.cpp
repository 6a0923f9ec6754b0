// A kd-tree: cells are split at the median of their widest side, and a query leaves out cells that are farther than its k-th
// neighbour so far.
#include <algorithm>
#include <numeric>
#include <vector>

#include "core/base/parallel.h"
#include "core/neighbours/neighbours.h"

namespace granary {

namespace {

constexpr Index leaf_size = 12;
constexpr Index queries_per_task = 256;

struct KdNode {
  Index first, last;         // of the points in the order of the tree
  int side = -1;             // split along it; -1: a leaf
  double low = 0, high = 0;  // the largest coordinate on the left, the least on the right
  Index right = 0;           // the left child is the next node
};

class KdTree {
 public:
  explicit KdTree(ConstMatrixRef points) : d_(points.rows()), order_(static_cast<std::size_t>(points.cols())) {
    std::iota(order_.begin(), order_.end(), 0);
    build(points, 0, points.cols());
    sorted_.resize(d_, points.cols());
    for (Index i = 0; i < points.cols(); ++i) sorted_.col(i) = points.col(order_[static_cast<std::size_t>(i)]);
  }

  const std::vector<int>& order() const { return order_; }

  void search(const double* query, int self, NearestFew& best, std::vector<double>& offset) const {
    std::fill(offset.begin(), offset.end(), 0.0);
    visit(0, query, self, 0, best, offset);
  }

 private:
  void build(ConstMatrixRef points, Index first, Index last) {
    const std::size_t here = nodes_.size();
    nodes_.push_back({first, last});
    if (last - first <= leaf_size) return;
    int side = 0;
    double widest = -1;
    for (Index j = 0; j < d_; ++j) {
      double low = points(j, order_[static_cast<std::size_t>(first)]), high = low;
      for (Index i = first + 1; i < last; ++i) {
        const double value = points(j, order_[static_cast<std::size_t>(i)]);
        low = std::min(low, value);
        high = std::max(high, value);
      }
      if (high - low > widest) widest = high - low, side = static_cast<int>(j);
    }
    if (!(widest > 0)) return;  // all equal
    const Index middle = first + (last - first) / 2;
    const auto at = [&](Index i) { return order_.begin() + i; };
    std::nth_element(at(first), at(middle), at(last), [&](int a, int b) { return points(side, a) < points(side, b); });
    nodes_[here].side = side;
    nodes_[here].high = points(side, order_[static_cast<std::size_t>(middle)]);
    double low = points(side, order_[static_cast<std::size_t>(first)]);
    for (Index i = first; i < middle; ++i) low = std::max(low, points(side, order_[static_cast<std::size_t>(i)]));
    nodes_[here].low = low;
    build(points, first, middle);
    nodes_[here].right = static_cast<Index>(nodes_.size());
    build(points, middle, last);
  }

  // `away` is the squared distance of the query from the cell, the sum of the squares in `offset`, one for each side (Arya and
  // Mount 1993).
  void visit(Index node, const double* query, int self, double away, NearestFew& best, std::vector<double>& offset) const {
    const KdNode& t = nodes_[static_cast<std::size_t>(node)];
    if (t.side < 0) {
      for (Index i = t.first; i < t.last; ++i) {
        const int index = order_[static_cast<std::size_t>(i)];
        if (index == self) continue;
        const double s = squared_distance(query, sorted_.data() + i * d_, d_);
        if (s <= best.worst()) best.offer(s, index);
      }
      return;
    }
    const auto side = static_cast<std::size_t>(t.side);
    const double q = query[side], to_left = q - t.low, to_right = t.high - q;
    const bool left_first = to_left < to_right;
    visit(left_first ? node + 1 : t.right, query, self, away, best, offset);
    const double before = offset[side], cut = std::max(left_first ? to_right : to_left, 0.0);
    const double further = away - before * before + cut * cut;
    // Rounding of the sum must not lose a neighbour.
    if (cut > before && further * (1 - 1e-12) > best.worst()) return;
    if (cut > before) offset[side] = cut;
    visit(left_first ? t.right : node + 1, query, self, cut > before ? further : away, best, offset);
    offset[side] = before;
  }

  Index d_;
  std::vector<int> order_;
  std::vector<KdNode> nodes_;
  MatrixXd sorted_;
};

}  // namespace

double squared_distance(const double* a, const double* b, Index d) {
  double sum[4] = {0, 0, 0, 0};
  Index j = 0;
  for (; j + 4 <= d; j += 4) {
    for (int l = 0; l < 4; ++l) {
      const double by = a[j + l] - b[j + l];
      sum[l] += by * by;
    }
  }
  for (; j < d; ++j) sum[0] += (a[j] - b[j]) * (a[j] - b[j]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

Neighbours kd_tree_neighbours(ConstMatrixRef points, ConstMatrixRef queries, bool same, int k, int threads, Monitor& monitor) {
  const KdTree tree(points);
  const Index n = queries.cols(), tasks = (n + queries_per_task - 1) / queries_per_task;
  Neighbours out{Eigen::MatrixXi(k, n), MatrixXd(k, n)};
  parallel_for(tasks, threads, monitor, [&](Index task) {
    NearestFew best(k);
    std::vector<double> offset(static_cast<std::size_t>(points.rows()));
    for (Index i = task * queries_per_task; i < std::min(n, (task + 1) * queries_per_task); ++i) {
      const Index query = same ? tree.order()[static_cast<std::size_t>(i)] : i;  // neighbours ask for the same memory
      tree.search(queries.data() + query * queries.rows(), same ? static_cast<int>(query) : -1, best, offset);
      best.write(out, query);
    }
  });
  out.distance = out.distance.cwiseSqrt();
  return out;
}

}  // namespace granary
