#include "regress/adapt_partition.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/base/errors.h"

namespace granary::regress {

void PartitionTree::add_points(const std::vector<Key>& keys, ConstVectorRef y, const std::vector<double>& places) {
  if (keys.size() + keys_.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) / 2) {
    throw InputError("There are too many rows for one partition.");
  }
  keys_.insert(keys_.end(), keys.begin(), keys.end());
  y_.insert(y_.end(), y.data(), y.data() + y.size());
  places_.insert(places_.end(), places.begin(), places.end());
  next_.resize(keys_.size(), -1);
}

std::vector<int> PartitionTree::order() const {
  std::vector<std::pair<Key, int>> sorted(keys_.size());
  for (std::size_t i = 0; i < keys_.size(); ++i) sorted[i] = {keys_[i], static_cast<int>(i)};
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> out(sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) out[i] = sorted[i].second;
  return out;
}

int PartitionTree::new_node(int parent, int level, int digit) {
  Node node;
  node.parent = parent;
  node.level = level;
  node.digit = digit;
  nodes_.push_back(node);
  planes_.add_cell();
  return static_cast<int>(nodes_.size()) - 1;
}

PartitionTree PartitionTree::without_cells() const {
  PartitionTree out(master_, planes_.used() ? 1 : 0);
  out.keys_ = keys_;
  out.y_ = y_;
  out.places_ = places_;
  out.next_.assign(keys_.size(), -1);
  return out;
}

void PartitionTree::grow(int depth, const std::vector<int>& points, Monitor& monitor) {
  depth_ = std::min(depth, master_.levels());
  nodes_.clear();
  planes_.clear();
  nodes_.reserve(2 * points.size() + 1);
  new_node(-1, 0, 0);
  grow_node(0, points, 0, static_cast<Index>(points.size()), monitor);
}

void PartitionTree::grow_node(int node, const std::vector<int>& order, Index from, Index to, Monitor& monitor) {
  if ((++ticks_ & 4095) == 0) monitor.check();
  const int level = nodes_[node].level;
  if (level == depth_ || to - from < 2 || keys_[order[from]] == keys_[order[to - 1]]) {
    fill_leaf(node, order, from, to);
    return;
  }
  nodes_[node].points = -1;
  int last = -1;
  while (from < to) {
    const int digit = master_.digit(keys_[order[from]], level);
    const auto end = std::partition_point(order.begin() + from, order.begin() + to,
                                          [&](int i) { return master_.digit(keys_[i], level) <= digit; });
    const int child = new_node(node, level + 1, digit);
    (last < 0 ? nodes_[node].child : nodes_[last].next) = child;
    last = child;
    const Index next = end - order.begin();
    grow_node(child, order, from, next, monitor);
    from = next;
  }
  update_inner(node);
}

void PartitionTree::fill_leaf(int node, const std::vector<int>& order, Index from, Index to) {
  Node& leaf = nodes_[node];
  leaf.n = static_cast<int>(to - from);
  leaf.points = -1;
  double sum = 0;
  for (Index i = to - 1; i >= from; --i) {
    next_[order[i]] = leaf.points;
    leaf.points = order[i];
    sum += y_[order[i]] - y_[order[from]];
  }
  leaf.ss = leaf.energy = leaf.peak = 0;
  if (leaf.n == 0) return;
  leaf.mean = y_[order[from]] + sum / leaf.n;
  if (planes_.used()) {
    planes_.reset(node);
    for (Index i = from; i < to; ++i) planes_.add_point(node, static_cast<int>(i - from) + 1, place(order[i]), y_[order[i]]);
    leaf.ss = planes_.fit(node);
    return;
  }
  for (Index i = from; i < to; ++i) leaf.ss += (y_[order[i]] - leaf.mean) * (y_[order[i]] - leaf.mean);
}

void PartitionTree::update_leaf(int node, int point) {
  Node& leaf = nodes_[node];
  ++leaf.n;
  const double y = y_[point], gap = y - leaf.mean;
  leaf.mean += gap / leaf.n;
  leaf.ss += gap * (y - leaf.mean);
  if (!planes_.used()) return;
  planes_.add_point(node, leaf.n, place(point), y);
  leaf.ss = planes_.fit(node);
}

void PartitionTree::update_inner(int node) {
  Node& inner = nodes_[node];
  double sum = 0;
  const double origin = nodes_[inner.child].mean;
  inner.n = 0;
  for (int c = inner.child; c >= 0; c = nodes_[c].next) {
    inner.n += nodes_[c].n;
    sum += nodes_[c].n * (nodes_[c].mean - origin);
  }
  inner.mean = origin + sum / inner.n;
  inner.energy = inner.ss = inner.peak = 0;
  for (int c = inner.child; c >= 0; c = nodes_[c].next) {
    const double gap = nodes_[c].mean - inner.mean;
    inner.energy += nodes_[c].n * gap * gap;
    inner.ss += nodes_[c].ss;
    inner.peak = std::max(inner.peak, nodes_[c].peak);
  }
  if (planes_.used()) {
    planes_.reset(node);
    int n = 0;
    for (int c = inner.child; c >= 0; c = nodes_[c].next) {
      planes_.absorb(node, n, c, nodes_[c].n);
      n += nodes_[c].n;
    }
    inner.energy = std::max(0.0, planes_.fit(node) - inner.ss);
  }
  inner.ss += inner.energy;
  inner.peak = std::max(inner.peak, inner.energy);
}

int PartitionTree::child_with(int node, int digit) const {
  int c = nodes_[node].child;
  while (c >= 0 && nodes_[c].digit < digit) c = nodes_[c].next;
  return c >= 0 && nodes_[c].digit == digit ? c : -1;
}

int PartitionTree::leaf_child(int node, int digit) {
  int before = -1, c = nodes_[node].child;
  while (c >= 0 && nodes_[c].digit < digit) {
    before = c;
    c = nodes_[c].next;
  }
  if (c >= 0 && nodes_[c].digit == digit) return c;
  const int made = new_node(node, nodes_[node].level + 1, digit);
  nodes_[made].next = c;
  (before < 0 ? nodes_[node].child : nodes_[before].next) = made;
  return made;
}

// All points of a leaf above the last level have one key: they go to one child, with their statistics.
void PartitionTree::split_leaf(int node) {
  const int child = leaf_child(node, master_.digit(keys_[nodes_[node].points], nodes_[node].level));
  Node& to = nodes_[child];
  Node& from = nodes_[node];
  to.n = from.n;
  to.mean = from.mean;
  to.ss = from.ss;
  to.points = from.points;
  from.points = -1;
  planes_.copy(node, child);
}

void PartitionTree::insert(Key key, double y, const double* place) {
  const int point = static_cast<int>(y_.size());
  keys_.push_back(key);
  y_.push_back(y);
  places_.insert(places_.end(), place, place + planes_.dimensions());
  next_.push_back(-1);
  int node = 0;
  for (;;) {
    const bool here =
        nodes_[node].leaf() && (nodes_[node].level == depth_ || nodes_[node].n == 0 || keys_[nodes_[node].points] == key);
    if (here) break;
    if (nodes_[node].leaf()) split_leaf(node);
    node = leaf_child(node, master_.digit(key, nodes_[node].level));
  }
  next_[point] = nodes_[node].points;
  nodes_[node].points = point;
  update_leaf(node, point);
  for (int up = nodes_[node].parent; up >= 0; up = nodes_[up].parent) update_inner(up);
}

void PartitionTree::deepen(int depth, Monitor& monitor) {
  depth = std::min(depth, master_.levels());
  if (depth <= depth_) return;
  const int before = depth_, count = static_cast<int>(nodes_.size());
  depth_ = depth;
  for (int node = 0; node < count; ++node) {
    if (!nodes_[node].leaf() || nodes_[node].level != before) continue;
    std::vector<int> points;
    for (int i = nodes_[node].points; i >= 0; i = next_[i]) points.push_back(i);
    std::sort(points.begin(), points.end(), [&](int i, int j) { return keys_[i] != keys_[j] ? keys_[i] < keys_[j] : i < j; });
    grow_node(node, points, 0, static_cast<Index>(points.size()), monitor);
  }
  // Children come after their parents.
  for (int node = count - 1; node >= 0; --node) {
    if (!nodes_[node].leaf()) update_inner(node);
  }
}

}  // namespace granary::regress
