// A vantage-point tree (Yianilos 1993): a node is a point and the median of its distances to the points below it; those inside go
// left, the others right. A query follows the side it lies on first, and the other only if the ball of its k-th neighbour so far
// crosses the border: |d - radius| <= tau. Leaves of a few points are looked through. All it asks of the points are distances of
// pairs.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/neighbours/neighbours.h"

namespace granary {

class VpTree {
 public:
  static constexpr Index leaf_size = 16;

  // distance(i, j) of points i, j of 0 .. n - 1, a metric. Vantage points are spread over the range, not drawn, so the tree has
  // no seed.
  template <class Distance>
  VpTree(Index n, const Distance& distance, Monitor& monitor) : order_(static_cast<std::size_t>(n)) {
    std::iota(order_.begin(), order_.end(), 0);
    std::vector<std::pair<double, int>> away(static_cast<std::size_t>(n));
    build(0, n, distance, away, monitor);
  }

  const std::vector<int>& order() const { return order_; }

  // to(j): distance of the query from point j. Point `self` is left out.
  template <class To>
  void search(const To& to, int self, NearestFew& best) const {
    visit(0, to, self, best);
  }

 private:
  struct Node {
    Index first, last;
    double radius = -1;  // negative: a leaf; otherwise the vantage point is at `first`
    Index right = 0;     // the left child is the next node
    double scale = 0;    // the largest distance below: what rounding is measured by
  };

  template <class Distance>
  void build(Index first, Index last, const Distance& distance, std::vector<std::pair<double, int>>& away, Monitor& monitor) {
    monitor.check();
    const std::size_t here = nodes_.size();
    nodes_.push_back({first, last});
    if (last - first <= leaf_size) return;
    const auto at = [&](Index i) { return static_cast<std::size_t>(i); };
    std::swap(order_[at(first)], order_[at(first + (last - first) / 2)]);
    const int vantage = order_[at(first)];
    for (Index i = first + 1; i < last; ++i) away[at(i)] = {distance(vantage, order_[at(i)]), order_[at(i)]};
    const Index middle = first + 1 + (last - first - 1) / 2;
    std::nth_element(away.begin() + first + 1, away.begin() + middle, away.begin() + last);
    double largest = 0;
    for (Index i = first + 1; i < last; ++i) {
      order_[at(i)] = away[at(i)].second;
      largest = std::max(largest, away[at(i)].first);
    }
    nodes_[here].radius = away[at(middle)].first;
    nodes_[here].scale = largest;
    build(first + 1, middle, distance, away, monitor);
    nodes_[here].right = static_cast<Index>(nodes_.size());
    build(middle, last, distance, away, monitor);
  }

  template <class To>
  void visit(Index node, const To& to, int self, NearestFew& best) const {
    const Node& t = nodes_[static_cast<std::size_t>(node)];
    if (t.radius < 0) {
      for (Index i = t.first; i < t.last; ++i) {
        const int index = order_[static_cast<std::size_t>(i)];
        if (index != self) best.offer(to(index), index);
      }
      return;
    }
    const int vantage = order_[static_cast<std::size_t>(t.first)];
    const double d = to(vantage);
    if (vantage != self) best.offer(d, vantage);
    const double slack = 1e-12 * (d + t.scale);  // rounding must not lose a neighbour
    const auto left = [&] {
      if (d - best.worst() <= t.radius + slack) visit(node + 1, to, self, best);
    };
    const auto right = [&] {
      if (d + best.worst() >= t.radius - slack) visit(t.right, to, self, best);
    };
    if (d < t.radius) {
      left();
      right();
    } else {
      right();
      left();
    }
  }

  std::vector<int> order_;
  std::vector<Node> nodes_;
};

}  // namespace granary
