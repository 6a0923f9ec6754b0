#include "regress/adapt_partition_fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace granary::regress {

namespace {

int filled_children(const PartitionTree& tree, int node) {
  int filled = 0;
  for (int c = tree.nodes()[node].child; c >= 0; c = tree.nodes()[c].next) ++filled;
  return filled;
}

// With those that have no points. Nested factors have no such: only categories that occur are cells.
int children_of(const PartitionTree& tree, int node) {
  return tree.master().split() == Split::nested ? filled_children(tree, node) : tree.master().children(tree.nodes()[node].level);
}

}  // namespace

CartResult dyadic_cart(const PartitionTree& tree, double m_lambda) {
  const auto& nodes = tree.nodes();
  CartResult out;
  out.divided.assign(nodes.size(), 0);
  std::vector<double> cost(nodes.size());
  for (int i = static_cast<int>(nodes.size()) - 1; i >= 0; --i) {  // children come after their parents
    const double whole = nodes[i].ss + m_lambda;
    cost[i] = whole;
    if (nodes[i].leaf()) continue;
    double parts = m_lambda * (children_of(tree, i) - filled_children(tree, i));
    for (int c = nodes[i].child; c >= 0; c = nodes[c].next) parts += cost[c];
    if (parts < whole) {
      cost[i] = parts;
      out.divided[i] = 1;
    }
  }
  out.cost = cost[0];
  return out;
}

Partition::Partition(const PartitionTree& tree, const PartitionOptions& options) : tree_(tree), options_(options) {
  if (options.rule == PartitionRule::cart) keep_ = dyadic_cart(tree, options.level).divided;
}

bool Partition::divided(int node) const {
  const PartitionTree::Node& n = tree_.nodes()[node];
  if (n.leaf()) return false;
  if (options_.rule == PartitionRule::cart) return keep_[node];
  return options_.rule == PartitionRule::uniform ? n.level < options_.level : n.peak >= options_.level;
}

double Partition::truncated(double value) const { return std::min(std::max(value, options_.lower), options_.upper); }

Partition::Place Partition::locate(Key key, int known, const double* place) const {
  const MasterTree& master = tree_.master();
  Place at;
  while (divided(at.node)) {
    const int level = tree_.nodes()[at.node].level;
    const int child = level < known ? tree_.child_with(at.node, master.digit(key, level)) : -1;
    if (child < 0) {
      at.empty = true;
      break;
    }
    at.node = child;
  }
  const PartitionTree::Node& cell = tree_.nodes()[at.node];
  // A cell that was not split because its points cannot be told apart stands for the cell of the last level around them.
  if (options_.rule == PartitionRule::uniform && !at.empty && cell.leaf() && cell.level < options_.level && cell.n > 0) {
    const int level = std::min(static_cast<int>(options_.level), master.levels());
    at.empty = master.prefix(key, level) != master.prefix(tree_.key(cell.points), level);
  }
  at.value = truncated(at.empty && options_.empty_zero ? 0 : tree_.value(at.node, place));
  return at;
}

bool Partition::goes_on(int level) const {
  return options_.rule == PartitionRule::uniform && tree_.master().split() != Split::nested &&
         level < std::min<double>(options_.level, tree_.master().levels());
}

std::vector<int> Partition::tree() const {
  std::vector<int> out, stack{0};
  while (!stack.empty()) {
    const int node = stack.back();
    stack.pop_back();
    if (!divided(node)) continue;
    out.push_back(node);
    for (int c = tree_.nodes()[node].child; c >= 0; c = tree_.nodes()[c].next) stack.push_back(c);
  }
  return out;
}

double Partition::tree_size() const {
  double total = 0, cells = 1;
  for (int level = 0; goes_on(level); ++level) {
    total += cells;
    cells *= tree_.master().children(level);
  }
  return total > 0 ? total : static_cast<double>(tree().size());
}

double Partition::count() const {
  double cells = 1;
  for (int level = 0; goes_on(level); ++level) cells *= tree_.master().children(level);
  if (goes_on(0)) return cells;
  for (int node : tree()) cells += children_of(tree_, node) - 1;
  return cells;
}

double Partition::sse() const {
  double total = tree_.nodes()[0].ss;
  for (int node : tree()) total -= tree_.nodes()[node].energy;
  return std::max(0.0, total);
}

Partition::Cells Partition::cells(Monitor& monitor) const {
  struct Item {
    Key prefix;
    int level, node;
    bool empty;
  };
  const MasterTree& master = tree_.master();
  const bool nested = master.split() == Split::nested;
  std::vector<Item> found;
  std::vector<Item> stack{{0, 0, 0, false}};
  while (!stack.empty()) {
    const Item item = stack.back();
    stack.pop_back();
    const PartitionTree::Node& node = tree_.nodes()[item.node];
    const bool real = !item.empty && item.level == node.level && divided(item.node);
    if (!real && !goes_on(item.level)) {
      found.push_back(item);
      if ((found.size() & 4095) == 0) monitor.check();
      continue;
    }
    int bits = 0;
    while ((1 << bits) < master.children(item.level)) ++bits;
    const auto child = [&](int digit, int at, bool empty) {
      return Item{(item.prefix << bits) | static_cast<Key>(digit), item.level + 1, at, empty};
    };
    std::vector<Item> children;
    if (real) {
      int c = node.child;
      for (int digit = 0; digit < master.children(item.level) && !(nested && c < 0); ++digit) {
        const bool here = c >= 0 && tree_.nodes()[c].digit == digit;
        if (here || !nested) children.push_back(child(digit, here ? c : item.node, !here));
        if (here) c = tree_.nodes()[c].next;
      }
    } else {  // an empty cell, or one whose points all lie in one child
      const int only = item.empty || node.n == 0 ? -1 : master.digit(tree_.key(node.points), item.level);
      for (int digit = 0; digit < master.children(item.level); ++digit)
        children.push_back(child(digit, item.node, digit != only));
    }
    // last child first, so that cells come out in the order of their keys
    for (std::size_t k = children.size(); k-- > 0;) stack.push_back(children[k]);
  }
  Cells out;
  const Index count = static_cast<Index>(found.size()), d = master.coordinates();
  out.lower.resize(count, d);
  out.upper.resize(count, d);
  out.level.resize(count);
  out.n.resize(count);
  out.node.resize(count);
  out.mean.resize(count);
  out.prefix.resize(found.size());
  Eigen::RowVectorXd lower, upper;
  const CellPlanes& planes = tree_.planes();
  if (planes.used()) out.centre = out.slope = MatrixXd::Zero(count, d);
  for (Index k = 0; k < count; ++k) {
    const Item& item = found[k];
    const PartitionTree::Node& node = tree_.nodes()[item.node];
    if (d > 0) {
      master.bounds(item.prefix, item.level, lower, upper);
      out.lower.row(k) = lower;
      out.upper.row(k) = upper;
    }
    out.level[k] = item.level;
    out.n[k] = item.empty ? 0 : node.n;
    out.node[k] = item.node;
    out.mean[k] = truncated(item.empty && options_.empty_zero ? 0 : node.mean);
    out.prefix[k] = item.prefix;
    for (Index l = 0; l < planes.dimensions(); ++l) {
      const int at = master.coordinate(l);
      out.centre(k, at) = master.end(l) + planes.centre(item.node)[l] * master.width(l);
      if (!(item.empty && options_.empty_zero)) out.slope(k, at) = planes.slope(item.node)[l] / master.width(l);
    }
  }
  out.tree_size = tree_size();
  out.sse = sse();
  return out;
}

PartitionPath threshold_path(const PartitionTree& tree) {
  const auto& nodes = tree.nodes();
  std::vector<int> inner;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].leaf() && nodes[i].peak > 0) inner.push_back(static_cast<int>(i));
  }
  std::sort(inner.begin(), inner.end(), [&](int i, int j) { return nodes[i].peak > nodes[j].peak; });
  std::vector<double> level{std::numeric_limits<double>::infinity()}, cells{1}, sse{nodes[0].ss};
  for (std::size_t k = 0; k < inner.size(); ++k) {
    const PartitionTree::Node& node = nodes[inner[k]];
    if (k == 0 || node.peak < nodes[inner[k - 1]].peak) {
      level.push_back(node.peak);
      cells.push_back(cells.back());
      sse.push_back(sse.back());
    }
    cells.back() += children_of(tree, inner[k]) - 1;
    sse.back() = std::max(0.0, sse.back() - node.energy);
  }
  const auto as_vector = [](const std::vector<double>& v) {
    return Eigen::Map<const VectorXd>(v.data(), static_cast<Index>(v.size()));
  };
  return {as_vector(level), as_vector(cells), as_vector(sse)};
}

double neighbour_sigma(const PartitionTree& tree) {
  const std::vector<int> order = tree.order();
  if (order.size() < 2) return 0;
  std::vector<double> gap(order.size() - 1);
  double squares = 0, largest = 0;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    gap[i] = std::abs(tree.y(order[i + 1]) - tree.y(order[i]));
    largest = std::max(largest, gap[i]);
  }
  if (largest == 0) return 0;
  for (double g : gap) squares += (g / largest) * (g / largest);
  const std::size_t middle = gap.size() / 2;
  std::nth_element(gap.begin(), gap.begin() + middle, gap.end());
  double median = gap[middle];
  if (gap.size() % 2 == 0) median = (median + *std::max_element(gap.begin(), gap.begin() + middle)) / 2;
  // 0.6745: the upper quartile of the normal law; a difference has twice the variance.
  if (median > 0) return median / (0.6744897501960817 * std::sqrt(2.0));
  return largest * std::sqrt(squares / (2 * static_cast<double>(gap.size())));
}

namespace {

// Errors of one point for all thresholds: grid indices are visited from the largest level down while the point descends the tree.
void threshold_errors(const PartitionTree& tree, const Partition& frame, const std::vector<double>& level,
                      const std::vector<int>& falling, bool empty_zero, Key key, double y, const double* place,
                      Eigen::Ref<VectorXd> errors) {
  int node = 0;
  bool empty = false;
  for (int g : falling) {
    while (!empty && !tree.nodes()[node].leaf() && tree.nodes()[node].peak >= level[g]) {
      const int child = tree.child_with(node, tree.master().digit(key, tree.nodes()[node].level));
      if (child < 0) {
        empty = true;
      } else {
        node = child;
      }
    }
    const double error = y - frame.truncated(empty && empty_zero ? 0 : tree.value(node, place));
    errors[g] += error * error;
  }
}

}  // namespace

MatrixXd partition_cv(const PartitionTree& tree, const std::vector<int>& fold, int folds, ConstVectorRef grid, int depth,
                      const PartitionOptions& options, int log_power, int threads, Monitor& monitor) {
  MatrixXd errors = MatrixXd::Zero(grid.size(), folds);
  const Index n = tree.size();
  const std::vector<int> order = tree.order();
  parallel_for(folds, threads, monitor, [&](Index f) {
    std::vector<char> keep(n);
    for (Index i = 0; i < n; ++i) keep[i] = fold[i] != f;
    std::vector<int> points;
    points.reserve(n);
    for (int i : order) {
      if (keep[i]) points.push_back(i);
    }
    PartitionTree train = tree.without_cells();
    train.grow(depth, points, monitor);
    const double logarithm = std::pow(std::log(std::max(3.0, static_cast<double>(train.used()))), log_power);
    std::vector<double> level(grid.size());
    std::vector<int> falling(grid.size());
    std::iota(falling.begin(), falling.end(), 0);
    for (Index g = 0; g < grid.size(); ++g) level[g] = options.rule == PartitionRule::uniform ? grid[g] : grid[g] * logarithm;
    std::sort(falling.begin(), falling.end(), [&](int i, int j) { return level[i] > level[j]; });
    if (options.rule == PartitionRule::threshold) {
      const Partition frame(train, options);
      VectorXd sums = VectorXd::Zero(grid.size());
      for (Index i = 0; i < n; ++i) {
        if ((i & 4095) == 0) monitor.check();
        if (keep[i]) continue;
        threshold_errors(train, frame, level, falling, options.empty_zero, tree.key(i), tree.y(i), tree.place(i), sums);
      }
      errors.col(f) = sums;
      return;
    }
    for (Index g = 0; g < grid.size(); ++g) {
      PartitionOptions own = options;
      own.level = level[g];
      const Partition partition(train, own);
      for (Index i = 0; i < n; ++i) {
        if ((i & 4095) == 0) monitor.check();
        if (keep[i]) continue;
        const double error = tree.y(i) - partition.locate(tree.key(i), tree.master().levels(), tree.place(i)).value;
        errors(g, f) += error * error;
      }
    }
  });
  return errors.transpose();
}

}  // namespace granary::regress
