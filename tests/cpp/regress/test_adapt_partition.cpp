#include <algorithm>
#include <functional>
#include <map>

#include "core/random/rng.h"
#include "regress/adapt_partition.h"
#include "regress/adapt_partition_fit.h"
#include "harness.h"

using namespace granary;
using namespace granary::regress;

namespace {

MasterTree unit_tree(Split split, int d) {
  std::vector<Cuts> cuts(d, Cuts{{0.0, 1.0}});
  std::vector<int> active(d);
  for (int k = 0; k < d; ++k) active[k] = k;
  return MasterTree(split, cuts, active);
}

struct Data {
  MatrixXd x;
  VectorXd y;
};
Data noisy_step(Index n, int d, Rng& rng) {
  Data out{MatrixXd(n, d), VectorXd(n)};
  for (Index i = 0; i < n; ++i) {
    for (int k = 0; k < d; ++k) out.x(i, k) = rng.uniform();
    out.y[i] = (out.x(i, 0) < 0.3) + rng.normal(0, 0.3);
  }
  return out;
}

std::vector<Key> keys_of(const MasterTree& master, const MatrixXd& x) {
  std::vector<Key> out;
  for (Index i = 0; i < x.rows(); ++i) out.push_back(master.key(x.row(i)));
  return out;
}

PartitionTree grown(const MasterTree& master, const Data& data, int depth) {
  Monitor monitor;
  PartitionTree tree(master);
  tree.add_points(keys_of(master, data.x), data.y);
  tree.grow(depth, monitor);
  return tree;
}

PartitionOptions threshold_at(double level) {
  PartitionOptions out;
  out.level = level;
  return out;
}

// The cells as text, in the order of their boxes.
std::map<std::string, std::pair<int, double>> cell_map(const PartitionTree& tree, const PartitionOptions& options) {
  Monitor monitor;
  const Partition::Cells cells = Partition(tree, options).cells(monitor);
  std::map<std::string, std::pair<int, double>> out;
  for (Index i = 0; i < cells.n.size(); ++i) {
    std::ostringstream name;
    name << cells.level[i] << ":" << cells.prefix[i];
    out[name.str()] = {cells.n[i], cells.mean[i]};
  }
  return out;
}

}  // namespace

TEST("partition: keys name the cell at every level") {
  Rng rng(1);
  for (Split split : {Split::cube, Split::cyclic}) {
    for (int d : {1, 2, 3, 5}) {
      const MasterTree master = unit_tree(split, d);
      for (int rep = 0; rep < 20; ++rep) {
        Eigen::RowVectorXd x(d), lower, upper;
        for (int k = 0; k < d; ++k) x[k] = rep == 0 ? 1.0 : rep == 1 ? 0.0 : rng.uniform();
        const Key key = master.key(x);
        for (int level = 0; level <= std::min(master.levels(), 12); ++level) {
          master.bounds(master.prefix(key, level), level, lower, upper);
          bool inside = true;
          for (int k = 0; k < d; ++k) inside = inside && x[k] >= lower[k] && (x[k] < upper[k] || (upper[k] == 1 && x[k] == 1));
          CHECK(inside);
        }
      }
    }
  }
  const MasterTree one = unit_tree(Split::cube, 1);
  CHECK(one.levels() == 52);
  Eigen::RowVectorXd x(1);
  x << 0.5;
  CHECK(one.digit(one.key(x), 0) == 1);  // borders belong to the cell on the right
  x << -3;
  CHECK(one.key(x) == 0 && !one.inside(x));
  CHECK_THROWS(unit_tree(Split::cyclic, 63), InputError);
}

TEST("partition: quantile cuts invert") {
  const Cuts cuts{{1.0, 2.0, 10.0, 11.0, 50.0}};
  for (double u : {0.0, 0.1, 0.25, 0.5, 0.77, 1.0}) CHECK_NEAR(cuts.to_unit(cuts.from_unit(u)), u, 1e-14);
  CHECK_NEAR(cuts.from_unit(0.5), 10, 0);
  CHECK_NEAR(cuts.to_unit(-5), 0, 0);
}

TEST("partition: the worked table") {
  const std::vector<double> x{.05, .1, .2, .3, .4, .45, .55, .6, .7, .8, .9, .95}, y{0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0};
  Data data{Eigen::Map<const VectorXd>(x.data(), 12), Eigen::Map<const VectorXd>(y.data(), 12)};
  const PartitionTree tree = grown(unit_tree(Split::cube, 1), data, 6);
  std::map<std::pair<int, int>, double> eps2;
  for (const auto& node : tree.nodes()) {
    int place = node.digit;
    for (int p = node.parent, shift = 1; p > 0; p = tree.nodes()[p].parent, ++shift) place += tree.nodes()[p].digit << shift;
    if (!node.leaf()) eps2[{node.level, place}] = node.energy / 12;
  }
  CHECK_NEAR((eps2[{0, 0}]), 0.0277778, 1e-7);
  CHECK_NEAR((eps2[{1, 0}]), 0.0555556, 1e-7);
  CHECK_NEAR((eps2[{1, 1}]), 0.0555556, 1e-7);
  CHECK_NEAR((eps2[{2, 1}]), 0.0555556, 1e-7);
  CHECK_NEAR((eps2[{2, 3}]), 0.0555556, 1e-7);
  const double tau = 0.2 * std::sqrt(std::log(12.0) / 12);
  CHECK_NEAR(tau, 0.0910111, 1e-7);
  const Partition partition(tree, threshold_at(12 * tau * tau));
  CHECK(partition.count() == 6);
  CHECK_NEAR(partition.sse(), 0, 1e-15);
}

TEST("partition: energy identities, E bounds the energy of every descendant, cells tile the box") {
  Rng rng(2);
  Monitor monitor;
  for (Split split : {Split::cube, Split::cyclic}) {
    for (int d : {1, 2, 3}) {
      const Data data = noisy_step(300, d, rng);
      const PartitionTree tree = grown(unit_tree(split, d), data, split == Split::cube ? 5 : 9);
      const auto& nodes = tree.nodes();
      for (const auto& node : nodes) {
        CHECK(node.energy <= node.ss * (1 + 1e-12) + 1e-12);
        CHECK(node.peak <= node.ss * (1 + 1e-12) + 1e-12);
        if (node.parent >= 0) {
          CHECK(node.ss <= nodes[node.parent].ss * (1 + 1e-12) + 1e-12);
          CHECK(node.peak <= nodes[node.parent].peak);
        }
      }
      for (double level : {0.0, 0.1, 0.5, 2.0, 1e9}) {
        const Partition partition(tree, threshold_at(level));
        const Partition::Cells cells = partition.cells(monitor);
        double volume = 0, rows = 0, ss = 0, spent = nodes[0].ss;
        for (Index i = 0; i < cells.n.size(); ++i) {
          volume += (cells.upper.row(i) - cells.lower.row(i)).prod();
          rows += cells.n[i];
          if (cells.n[i] > 0) ss += nodes[cells.node[i]].ss;
        }
        for (std::size_t i = 0; i < nodes.size(); ++i) {
          if (partition.divided(static_cast<int>(i))) spent -= nodes[i].energy;
        }
        CHECK_NEAR(volume, 1, 1e-12);
        CHECK(rows == 300);
        CHECK_NEAR(ss, spent, 1e-10);
        CHECK_NEAR(partition.sse(), ss, 1e-10);
        const int a = split == Split::cube ? 1 << d : 2;
        CHECK(partition.count() == (a - 1) * partition.tree_size() + 1);
        CHECK(partition.count() == static_cast<double>(cells.n.size()));
        for (Index i = 0; i < 50; ++i) {  // the value at a row is the mean of its cell's rows
          const Partition::Place at = partition.locate(tree.key(i), tree.master().levels());
          double sum = 0, count = 0;
          for (Index r = 0; r < 300; ++r) {
            if (partition.locate(tree.key(r), tree.master().levels()).node == at.node) {
              sum += data.y[r];
              count += 1;
            }
          }
          CHECK_NEAR(at.value, sum / count, 1e-12);
        }
      }
      CHECK(Partition(tree, threshold_at(1e9)).count() == 1);
    }
  }
}

TEST("partition: coarse to fine with the bound E finds the same tree as the full search") {
  Rng rng(3);
  const Data data = noisy_step(400, 1, rng);
  const PartitionTree tree = grown(unit_tree(Split::cube, 1), data, 8);
  const auto& nodes = tree.nodes();
  for (double level : {0.05, 0.2, 1.0}) {
    // By hand: follow cells only while E >= level, take those with energy >= level and their ancestors.
    std::vector<char> pruned(nodes.size(), 0), full(nodes.size(), 0);
    std::vector<int> stack{0};
    int visited = 0;
    while (!stack.empty()) {
      const int i = stack.back();
      stack.pop_back();
      ++visited;
      if (nodes[i].leaf() || nodes[i].ss < level) continue;
      if (nodes[i].energy >= level) {
        for (int up = i; up >= 0; up = nodes[up].parent) pruned[up] = 1;
      }
      for (int c = nodes[i].child; c >= 0; c = nodes[c].next) stack.push_back(c);
    }
    const Partition partition(tree, threshold_at(level));
    for (std::size_t i = 0; i < nodes.size(); ++i) full[i] = partition.divided(static_cast<int>(i));
    CHECK(pruned == full);
    CHECK(visited < static_cast<int>(nodes.size()));
  }
}

TEST("partition: one point at a time gives the batch tree, in any order, also when it grows deeper") {
  Rng rng(4);
  Monitor monitor;
  for (Split split : {Split::cube, Split::cyclic}) {
    for (int d : {1, 3}) {
      Data data = noisy_step(200, d, rng);
      data.x.row(7) = data.x.row(3);  // points that cannot be told apart
      data.x.row(8) = data.x.row(3);
      const MasterTree master = unit_tree(split, d);
      const PartitionTree batch = grown(master, data, 6);
      const std::vector<Key> keys = keys_of(master, data.x);
      PartitionTree online(master);
      online.grow(2, monitor);
      const std::vector<int> order = rng.permutation(200);
      for (int k = 0; k < 200; ++k) {
        online.insert(keys[order[k]], data.y[order[k]]);
        if (k == 60) online.deepen(4, monitor);
        if (k == 150) online.deepen(6, monitor);
      }
      CHECK(batch.nodes().size() == online.nodes().size());
      for (double level : {0.0, 0.1, 0.7}) {
        const auto one = cell_map(batch, threshold_at(level)), two = cell_map(online, threshold_at(level));
        CHECK(one.size() == two.size());
        for (const auto& cell : one) {
          const auto other = two.find(cell.first);
          CHECK(other != two.end() && other->second.first == cell.second.first);
          if (other != two.end()) CHECK_NEAR(other->second.second, cell.second.second, 1e-12);
        }
      }
      CHECK_NEAR(batch.nodes()[0].peak, online.nodes()[0].peak, 1e-10);
      CHECK_NEAR(batch.nodes()[0].ss, online.nodes()[0].ss, 1e-10);
    }
  }
}

TEST("partition: equally spaced points give Haar coefficients and hereditary thresholding") {
  Rng rng(5);
  const int levels = 6, n = 1 << levels;
  Data data{MatrixXd(n, 1), VectorXd(n)};
  for (int i = 0; i < n; ++i) {
    data.x(i, 0) = (i + 0.5) / n;
    data.y[i] = (i > 20) + rng.normal(0, 0.5);
  }
  const PartitionTree tree = grown(unit_tree(Split::cube, 1), data, levels);
  // Haar coefficients by the pyramid.
  std::vector<std::vector<double>> smooth{std::vector<double>(data.y.data(), data.y.data() + n)}, detail;
  while (smooth.back().size() > 1) {
    const std::vector<double> from = smooth.back();
    std::vector<double> s, w;
    for (std::size_t k = 0; k < from.size(); k += 2) {
      s.push_back((from[k] + from[k + 1]) / std::sqrt(2.0));
      w.push_back((from[k + 1] - from[k]) / std::sqrt(2.0));
    }
    smooth.push_back(s);
    detail.insert(detail.begin(), w);  // coarsest first
  }
  const auto& nodes = tree.nodes();
  std::vector<std::vector<double>> peak(levels);
  std::function<void(int, std::size_t)> visit = [&](int node, std::size_t place) {
    if (nodes[node].leaf()) return;
    CHECK_NEAR(std::sqrt(nodes[node].energy), std::abs(detail[nodes[node].level][place]), 1e-12);
    for (int c = nodes[node].child; c >= 0; c = nodes[c].next) visit(c, 2 * place + static_cast<std::size_t>(nodes[c].digit));
  };
  visit(0, 0);
  const double cut = 1.1;
  // Keep a coefficient if it or a descendant is large; rebuild.
  for (int j = levels - 1; j >= 0; --j) {
    peak[j].resize(detail[j].size());
    for (std::size_t k = 0; k < detail[j].size(); ++k) {
      peak[j][k] = std::abs(detail[j][k]);
      if (j + 1 < levels) peak[j][k] = std::max({peak[j][k], peak[j + 1][2 * k], peak[j + 1][2 * k + 1]});
    }
  }
  std::vector<double> value{smooth.back()[0]};
  for (int j = 0; j < levels; ++j) {
    std::vector<double> finer(2 * value.size());
    for (std::size_t k = 0; k < value.size(); ++k) {
      const double w = peak[j][k] >= cut ? detail[j][k] : 0;
      finer[2 * k] = (value[k] - w) / std::sqrt(2.0);
      finer[2 * k + 1] = (value[k] + w) / std::sqrt(2.0);
    }
    value = finer;
  }
  const Partition partition(tree, threshold_at(cut * cut));
  for (int i = 0; i < n; ++i) CHECK_NEAR(partition.locate(tree.key(i), 52).value, value[i], 1e-12);
}

TEST("partition: dyadic CART against all prunings") {
  Rng rng(6);
  for (int rep = 0; rep < 6; ++rep) {
    const Data data = noisy_step(14, rep % 2 + 1, rng);
    const PartitionTree tree = grown(unit_tree(Split::cube, rep % 2 + 1), data, rep % 2 ? 2 : 4);
    const auto& nodes = tree.nodes();
    for (double lambda : {0.0, 0.02, 0.1, 0.6}) {
      // All (sum of squares, cells) a subtree can have.
      std::function<std::vector<std::pair<double, double>>(int)> all = [&](int node) {
        std::vector<std::pair<double, double>> out{{nodes[node].ss, 1}};
        if (nodes[node].leaf()) return out;
        std::vector<std::pair<double, double>> sums{{0, 0}};
        int filled = 0;
        for (int c = nodes[node].child; c >= 0; c = nodes[c].next) {
          std::vector<std::pair<double, double>> next;
          for (const auto& s : sums) {
            for (const auto& t : all(c)) next.push_back({s.first + t.first, s.second + t.second});
          }
          sums = next;
          ++filled;
        }
        for (auto& s : sums) {
          s.second += tree.master().children(nodes[node].level) - filled;
          out.push_back(s);
        }
        return out;
      };
      double best = 1e300;
      for (const auto& choice : all(0)) best = std::min(best, choice.first + lambda * choice.second);
      CHECK_NEAR(dyadic_cart(tree, lambda).cost, best, 1e-12);
      PartitionOptions options;
      options.rule = PartitionRule::cart;
      options.level = lambda;
      const Partition partition(tree, options);
      CHECK_NEAR(partition.sse() + lambda * partition.count(), best, 1e-12);
    }
  }
}

TEST("partition: the path lists every threshold's partition") {
  Rng rng(7);
  const Data data = noisy_step(150, 2, rng);
  const PartitionTree tree = grown(unit_tree(Split::cube, 2), data, 5);
  const PartitionPath path = threshold_path(tree);
  CHECK(path.cells[0] == 1);
  for (Index k = 1; k < path.level.size(); ++k) {
    const Partition partition(tree, threshold_at(path.level[k]));
    CHECK(partition.count() == path.cells[k]);
    CHECK_NEAR(partition.sse(), path.sse[k], 1e-10);
    CHECK(path.level[k] < path.level[k - 1] && path.cells[k] > path.cells[k - 1]);
  }
}

TEST("partition: cross-validation equals refitting") {
  Rng rng(8);
  Monitor monitor;
  const Data data = noisy_step(80, 1, rng);
  const MasterTree master = unit_tree(Split::cube, 1);
  const PartitionTree tree = grown(master, data, 5);
  std::vector<int> fold(80);
  for (int i = 0; i < 80; ++i) fold[i] = i % 3;
  VectorXd grid(4);
  for (PartitionRule rule : {PartitionRule::threshold, PartitionRule::cart, PartitionRule::uniform}) {
    PartitionOptions options;
    options.rule = rule;
    if (rule == PartitionRule::uniform) {
      grid << 0, 2, 3, 5;
    } else {
      grid << 0.3, 0.01, 0.05, 2;
    }
    const MatrixXd errors = partition_cv(tree, fold, 3, grid, 5, options, 1, 1, monitor);
    CHECK((errors - partition_cv(tree, fold, 3, grid, 5, options, 1, 2, monitor)).norm() == 0);
    for (int f = 0; f < 3; ++f) {
      Data train;
      std::vector<int> rows;
      for (int i = 0; i < 80; ++i) {
        if (fold[i] != f) rows.push_back(i);
      }
      train.x.resize(static_cast<Index>(rows.size()), 1);
      train.y.resize(static_cast<Index>(rows.size()));
      for (std::size_t k = 0; k < rows.size(); ++k) {
        train.x(k, 0) = data.x(rows[k], 0);
        train.y[k] = data.y[rows[k]];
      }
      const PartitionTree refit = grown(master, train, 5);
      for (Index g = 0; g < grid.size(); ++g) {
        options.level = rule == PartitionRule::uniform ? grid[g] : grid[g] * std::log(static_cast<double>(rows.size()));
        const Partition partition(refit, options);
        double total = 0;
        for (int i = 0; i < 80; ++i) {
          if (fold[i] == f) total += std::pow(data.y[i] - partition.locate(tree.key(i), 52).value, 2);
        }
        CHECK_NEAR(errors(f, g), total, 1e-10);
      }
    }
  }
}

TEST("partition: empty cells, uniform cells, truncation") {
  Monitor monitor;
  Data data{MatrixXd(3, 1), VectorXd(3)};
  data.x << 0.05, 0.1, 0.9;
  data.y << 1, 3, 8;
  const PartitionTree tree = grown(unit_tree(Split::cube, 1), data, 3);
  PartitionOptions options;
  options.rule = PartitionRule::uniform;
  options.level = 3;
  const Partition parent(tree, options);
  CHECK(parent.count() == 8 && parent.tree_size() == 7);
  CHECK(parent.cells(monitor).n.size() == 8);
  Eigen::RowVectorXd x(1);
  const auto value = [&](double at) {
    x << at;
    return Partition(tree, options).locate(tree.master().key(x), 52).value;
  };
  CHECK_NEAR(value(0.01), 2, 1e-15);
  CHECK_NEAR(value(0.3), 2, 1e-15);  // no point in [0, 0.5) but those two
  CHECK_NEAR(value(0.6), 8, 1e-15);
  options.empty_zero = true;
  CHECK_NEAR(value(0.3), 0, 0);
  CHECK_NEAR(value(0.6), 0, 0);
  CHECK_NEAR(value(0.95), 8, 0);
  options.upper = 5;
  CHECK_NEAR(value(0.95), 5, 0);
}

TEST("partition: nested factors") {
  Monitor monitor;
  const MasterTree master({1, 2});
  Eigen::MatrixXi digits(6, 2);
  digits << 0, 0, 0, 1, 0, 2, 1, 0, 1, 0, 1, 1;
  VectorXd y(6);
  y << 0, 0, 5, 9, 9, 9;
  std::vector<Key> keys;
  int known = 0;
  for (Index i = 0; i < 6; ++i) keys.push_back(master.nested_key(digits.row(i), known));
  CHECK(known == 2);
  PartitionTree tree(master);
  tree.add_points(keys, y);
  tree.grow(2, monitor);
  const Partition partition(tree, threshold_at(1e-9));
  CHECK(partition.count() == 4);  // the three of the first category, and the second, which is pure
  Eigen::MatrixXi unseen(1, 2);
  unseen << 0, -1;
  const Key key = master.nested_key(unseen.row(0), known);
  CHECK(known == 1);
  const Partition::Place at = partition.locate(key, known);
  CHECK(at.empty);
  CHECK_NEAR(at.value, 5.0 / 3, 1e-15);
}

TEST("partition: noise from neighbours, at any scale") {
  Rng rng(9);
  for (double unit : {1e-8, 1.0, 1e8}) {
    Data data = noisy_step(4000, 1, rng);
    data.y *= unit;
    CHECK_NEAR(neighbour_sigma(grown(unit_tree(Split::cube, 1), data, 3)) / unit, 0.3, 0.02);
  }
  Data flat{MatrixXd::Random(10, 1), VectorXd::Constant(10, 4)};
  CHECK(neighbour_sigma(grown(unit_tree(Split::cube, 1), flat, 3)) == 0);
}
