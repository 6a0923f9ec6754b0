// Nearest neighbours in many dimensions. Points are put into balls of a few hundred near ones; a query looks only into balls that
// reach nearer than its k-th candidate so far, and the distances of all queries of a ball to all points of another are one
// product of matrices:
//
//   |x - y|^2 = |x|^2 + |y|^2 - 2 x'y
//
// in single precision, with a bound on its error. Whatever may be among the k nearest within that bound is kept and measured by
// differences in double precision, so the answer is exact.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/base/parallel.h"
#include "core/neighbours/neighbours.h"

namespace granary {

namespace {

using Eigen::MatrixXf;
using Eigen::VectorXf;

constexpr Index ball_size = 192;

struct Ball {
  Index first, last;  // in the order of the balls
  double radius = 0;
};

// Halves by the projection on the line through two far points, until few are left.
class Balls {
 public:
  explicit Balls(ConstMatrixRef points)
      : order(static_cast<std::size_t>(points.cols())), projection_(static_cast<std::size_t>(points.cols())) {
    std::iota(order.begin(), order.end(), 0);
    split(points, 0, points.cols());
    centres.resize(points.rows(), static_cast<Index>(list.size()));
    for (std::size_t b = 0; b < list.size(); ++b) {
      auto centre = centres.col(static_cast<Index>(b));
      centre.setZero();
      for (Index i = list[b].first; i < list[b].last; ++i) centre += points.col(at(i));
      centre /= static_cast<double>(list[b].last - list[b].first);
      double most = 0;
      for (Index i = list[b].first; i < list[b].last; ++i) most = std::max(most, (points.col(at(i)) - centre).squaredNorm());
      list[b].radius = std::sqrt(most) * (1 + 1e-12);
    }
  }

  Index at(Index i) const { return order[static_cast<std::size_t>(i)]; }

  std::vector<int> order;
  std::vector<Ball> list;
  MatrixXd centres;

 private:
  void split(ConstMatrixRef points, Index first, Index last) {
    if (last - first <= ball_size) {
      list.push_back({first, last});
      return;
    }
    const auto farthest = [&](Index from) {
      Index far = first;
      double most = -1;
      for (Index i = first; i < last; ++i) {
        const double s = (points.col(at(i)) - points.col(from)).squaredNorm();
        if (s > most) most = s, far = i;
      }
      return at(far);
    };
    const Index a = farthest(at(first)), b = farthest(a);
    const VectorXd line = points.col(b) - points.col(a);
    for (Index i = first; i < last; ++i) projection_[static_cast<std::size_t>(at(i))] = line.dot(points.col(at(i)));
    // Whole balls on the left, so that few are small.
    const Index half = std::max<Index>(1, ((last - first) / 2 + ball_size / 2) / ball_size) * ball_size;
    const Index middle = first + std::min(half, (last - first) / 2 + ball_size / 2);
    std::nth_element(order.begin() + first, order.begin() + middle, order.begin() + last, [&](int i, int j) {
      return std::make_pair(projection_[static_cast<std::size_t>(i)], i) <
             std::make_pair(projection_[static_cast<std::size_t>(j)], j);
    });
    split(points, first, middle);
    split(points, middle, last);
  }

  std::vector<double> projection_;
};

struct Candidate {
  float s;  // |y|^2 - 2 x'y
  int index;
};
inline bool nearer(const Candidate& a, const Candidate& b) { return a.s < b.s; }

// Candidates of one query: all that may be among the k nearest, and now and then fewer.
class Shortlist {
 public:
  void start(int k, float slack) {
    k_ = static_cast<std::size_t>(k);
    slack_ = slack;
    limit_ = 3 * k_ + 32;
    list_.clear();
    threshold = std::numeric_limits<float>::infinity();
  }
  void add(float s, int index) {
    list_.push_back({s, index});
    if (list_.size() >= limit_) shrink();
  }
  // The k-th so far, and whatever the error could make equal to it, stay.
  void shrink() {
    if (list_.size() <= k_) return;
    std::nth_element(list_.begin(), list_.begin() + static_cast<std::ptrdiff_t>(k_) - 1, list_.end(), nearer);
    threshold = list_[k_ - 1].s + slack_;
    list_.erase(std::partition(list_.begin() + static_cast<std::ptrdiff_t>(k_), list_.end(),
                               [&](const Candidate& c) { return c.s <= threshold; }),
                list_.end());
    limit_ = std::max(limit_, 2 * list_.size());
  }
  const std::vector<Candidate>& list() const { return list_; }
  bool full() const { return list_.size() >= k_; }

  float threshold = 0;  // nothing above it matters any more

 private:
  std::size_t k_ = 0, limit_ = 0;
  float slack_ = 0;
  std::vector<Candidate> list_;
};

}  // namespace

Neighbours blocked_neighbours(ConstMatrixRef points, ConstMatrixRef queries, bool same, int k, int threads, Monitor& monitor) {
  const Index d = points.rows(), n = points.cols(), m = queries.cols();
  const Balls balls(points);
  const Balls asked = same ? balls : Balls(queries);
  const Index n_balls = static_cast<Index>(balls.list.size());
  // Relative to the mean of the points, and to their size: single precision has little room.
  const VectorXd mean = points.rowwise().mean();
  double size = 0;
  for (Index i = 0; i < n; ++i) size = std::max(size, (points.col(i) - mean).squaredNorm());
  for (Index i = 0; !same && i < m; ++i) size = std::max(size, (queries.col(i) - mean).squaredNorm());
  const double unit = size > 0 ? 1 / std::sqrt(size) : 1;
  MatrixXf x(d, n);
  VectorXf squares(n);
  for (Index i = 0; i < n; ++i) {
    x.col(i) = ((points.col(balls.at(i)) - mean) * unit).cast<float>();
    squares[i] = static_cast<float>(((points.col(balls.at(i)) - mean) * unit).squaredNorm());
  }
  // of s, relative to |x| |y| + |y|^2, which is at most 2 in these units
  const double rounding = (static_cast<double>(d) + 8) * 0x1p-23;
  Neighbours out{Eigen::MatrixXi(k, m), MatrixXd(k, m)};
  parallel_for(static_cast<Index>(asked.list.size()), threads, monitor, [&](Index task) {
    const Ball& own = asked.list[static_cast<std::size_t>(task)];
    const Index count = own.last - own.first;
    MatrixXf q(d, count), chosen(d, count), product;
    VectorXd norm(count);
    MatrixXd gap(n_balls, count);  // how near a ball comes to a query, at least; in units
    std::vector<Shortlist> shortlist(static_cast<std::size_t>(count));
    VectorXd nearest = VectorXd::Constant(n_balls, std::numeric_limits<double>::infinity());
    for (Index c = 0; c < count; ++c) {
      const VectorXd from = queries.col(asked.at(own.first + c));
      q.col(c) = ((from - mean) * unit).cast<float>();
      norm[c] = ((from - mean) * unit).norm();
      shortlist[static_cast<std::size_t>(c)].start(k, static_cast<float>(4 * rounding * (norm[c] + 1)));
      for (Index b = 0; b < n_balls; ++b) {
        gap(b, c) = std::max(
            0.0, ((from - balls.centres.col(b)).norm() * (1 - 1e-12) - balls.list[static_cast<std::size_t>(b)].radius) * unit);
        nearest[b] = std::min(nearest[b], gap(b, c));
      }
    }
    std::vector<Index> visit(static_cast<std::size_t>(n_balls)), active;
    std::iota(visit.begin(), visit.end(), 0);
    std::sort(visit.begin(), visit.end(),
              [&](Index a, Index b) { return std::make_pair(nearest[a], a) < std::make_pair(nearest[b], b); });
    for (const Index b : visit) {
      monitor.check();
      const Ball& ball = balls.list[static_cast<std::size_t>(b)];
      active.clear();
      for (Index c = 0; c < count; ++c) {
        const Shortlist& s = shortlist[static_cast<std::size_t>(c)];
        // of squared distances that matter
        const double reach = static_cast<double>(s.threshold) + norm[c] * norm[c] + 4 * rounding * (norm[c] + 1);
        if (!s.full() || gap(b, c) * gap(b, c) <= reach) active.push_back(c);
      }
      if (active.empty()) continue;
      for (std::size_t a = 0; a < active.size(); ++a) chosen.col(static_cast<Index>(a)) = q.col(active[a]);
      const Index width = ball.last - ball.first, many = static_cast<Index>(active.size());
      product.resize(width, many);
      product.noalias() = x.middleCols(ball.first, width).transpose() * chosen.leftCols(many);
      for (Index a = 0; a < many; ++a) {
        Shortlist& s = shortlist[static_cast<std::size_t>(active[static_cast<std::size_t>(a)])];
        const float* inner = product.data() + a * width;
        const int self = same ? static_cast<int>(own.first + active[static_cast<std::size_t>(a)]) : -1;
        for (Index i = 0; i < width; ++i) {
          const float value = squares[ball.first + i] - 2 * inner[i];
          if (value <= s.threshold && static_cast<int>(ball.first + i) != self) s.add(value, static_cast<int>(ball.first + i));
        }
        s.shrink();
      }
    }
    NearestFew best(k);
    for (Index c = 0; c < count; ++c) {
      const Index query = asked.at(own.first + c);
      for (const Candidate& one : shortlist[static_cast<std::size_t>(c)].list()) {
        const Index index = balls.at(one.index);
        best.offer(squared_distance(queries.data() + query * d, points.data() + index * d, d), static_cast<int>(index));
      }
      best.write(out, query);
    }
  });
  out.distance = out.distance.cwiseSqrt();
  return out;
}

Neighbours sparse_neighbours(const SparseRows& points, const SparseRows& queries, bool same, int k, int threads,
                             Monitor& monitor) {
  constexpr Index lanes = 8;
  const Index n = points.rows(), m = queries.rows(), d = points.cols(), tasks = (m + lanes - 1) / lanes;
  const auto squared_norms = [](const SparseRows& a) {
    VectorXd out(a.rows());
    for (Index i = 0; i < a.rows(); ++i) out[i] = a.row(i).squaredNorm();
    return out;
  };
  const VectorXd of_points = squared_norms(points), of_queries = squared_norms(queries);
  const double size = n > 0 ? of_points.maxCoeff() : 0;
  Neighbours out{Eigen::MatrixXi(k, m), MatrixXd(k, m)};
  parallel_for(tasks, threads, monitor, [&](Index task) {
    const Index first = task * lanes, count = std::min(lanes, m - first);
    MatrixXd wide = MatrixXd::Zero(lanes, d);  // the queries, column by column side by side
    for (Index c = 0; c < count; ++c)
      for (SparseRows::InnerIterator it(queries, first + c); it; ++it) wide(c, it.col()) = it.value();
    std::vector<NearestFew> best(static_cast<std::size_t>(count), NearestFew(k));
    for (Index i = 0; i < n; ++i) {
      if (i % 1024 == 0) monitor.check();
      double inner[lanes] = {};
      for (SparseRows::InnerIterator it(points, i); it; ++it)
        for (Index c = 0; c < lanes; ++c) inner[c] += it.value() * wide(c, it.col());
      for (Index c = 0; c < count; ++c) {
        if (same && first + c == i) continue;
        const double s = of_points[i] + of_queries[first + c] - 2 * inner[c];
        NearestFew& mine = best[static_cast<std::size_t>(c)];
        if (s > mine.worst() + 1e-13 * (size + of_queries[first + c])) continue;
        double exact = 0;  // by differences: walk along the point's row, and what the query has beside it
        SparseRows::InnerIterator a(points, i), b(queries, first + c);
        while (a || b) {
          const double by = !b || (a && a.col() < b.col()) ? a.value()
                            : !a || b.col() < a.col()      ? b.value()
                                                           : a.value() - b.value();
          const Index at = !b || (a && a.col() < b.col()) ? a.col() : b.col();
          exact += by * by;
          if (a && a.col() == at) ++a;
          if (b && b.col() == at) ++b;
        }
        mine.offer(exact, static_cast<int>(i));
      }
    }
    for (Index c = 0; c < count; ++c) best[static_cast<std::size_t>(c)].write(out, first + c);
  });
  out.distance = out.distance.cwiseSqrt();
  return out;
}

}  // namespace granary
