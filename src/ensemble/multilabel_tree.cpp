#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "ensemble/multilabel.h"

namespace granary::ensemble {

namespace {

// Rows of a node as far as the best single decision needs them: Delta without its division by n.
class NodeTable {
 public:
  NodeTable(int labels, double beta)
      : m_(labels),
        delta_(MatrixXd::Zero(labels, labels)),
        weight_(labels + 1, labels),
        column_(static_cast<std::size_t>(labels)) {
    const double b2 = beta * beta;
    for (Index k = 0; k < m_; ++k)
      for (Index s = 0; s <= m_; ++s) weight_(s, k) = (1 + b2) / (b2 * static_cast<double>(s) + static_cast<double>(k + 1));
  }
  void move(const std::vector<int>& ones, double sign) {
    rows_ += sign;
    if (ones.empty()) {
      none_ += sign;
      return;
    }
    const Index s = static_cast<Index>(ones.size());
    for (Index k = 0; k < m_; ++k) {
      const double w = sign * weight_(s, k);
      double* column = delta_.data() + k * m_;
      for (const int i : ones) column[i] += w;
    }
  }
  // Sum of F over the rows under their best single decision.
  double best() {
    double most = none_;
    for (Index k = 1; k <= m_; ++k) {
      std::copy(delta_.data() + (k - 1) * m_, delta_.data() + k * m_, column_.begin());
      if (k < m_) std::nth_element(column_.begin(), column_.begin() + (k - 1), column_.end(), std::greater<double>());
      most = std::max(most, std::accumulate(column_.begin(), column_.begin() + k, 0.0));
    }
    return most;
  }
  double rows() const { return rows_; }

 private:
  Index m_;
  MatrixXd delta_, weight_;
  std::vector<double> column_;
  double none_ = 0, rows_ = 0;
};

struct Grower {
  ConstMatrixRef x;
  const std::vector<std::vector<int>>& ones;
  int labels;
  const MultilabelOptions& options;
  Rng& rng;
  VectorXd& importance;
  Monitor& monitor;
  LabelTree tree{};
  double whole = 0;

  int node(std::vector<int> rows) {
    monitor.check();
    const int id = static_cast<int>(tree.column.size());
    tree.column.push_back(-1);
    tree.threshold.push_back(0);
    tree.left.push_back(0);
    tree.right.push_back(0);
    NodeTable all(labels, options.beta);
    for (const int r : rows) all.move(ones[static_cast<std::size_t>(r)], 1);
    const double value = all.best(), n = all.rows();
    double gain = 1e-9 * n, threshold = 0;
    int column = -1;
    if (static_cast<int>(rows.size()) >= options.min_node && value < n * (1 - 1e-12)) {
      const int p = static_cast<int>(x.cols());
      std::vector<int> tried(static_cast<std::size_t>(p));
      if (options.mtry > 0 && options.mtry < p) {
        tried = rng.sample_without_replacement(p, options.mtry);
      } else {
        std::iota(tried.begin(), tried.end(), 0);
      }
      for (const int j : tried) {
        monitor.check();
        std::stable_sort(rows.begin(), rows.end(), [&](int a, int b) { return x(a, j) < x(b, j); });
        NodeTable left(labels, options.beta), right = all;
        // Cuts evenly among the rows, where they are limited.
        const std::size_t size = rows.size();
        const double step = options.cuts > 0 ? std::max(1.0, static_cast<double>(size) / (options.cuts + 1)) : 1;
        double next = step;
        for (std::size_t r = 0; r + 1 < size; ++r) {
          left.move(ones[static_cast<std::size_t>(rows[r])], 1);
          right.move(ones[static_cast<std::size_t>(rows[r])], -1);
          if (static_cast<double>(r + 1) < next || !(x(rows[r], j) < x(rows[r + 1], j))) continue;
          while (next <= static_cast<double>(r + 1)) next += step;
          const double found = left.best() + right.best() - value;
          if (found > gain + 1e-9) {
            gain = found;
            column = j;
            threshold = x(rows[r], j) + 0.5 * (x(rows[r + 1], j) - x(rows[r], j));
            if (!(threshold < x(rows[r + 1], j))) threshold = x(rows[r], j);
          }
        }
      }
    }
    if (column < 0) {
      std::sort(rows.begin(), rows.end());
      tree.left[static_cast<std::size_t>(id)] = static_cast<int>(tree.rows.size());
      tree.rows.insert(tree.rows.end(), rows.begin(), rows.end());
      tree.right[static_cast<std::size_t>(id)] = static_cast<int>(tree.rows.size());
      return id;
    }
    importance[column] += gain / whole;
    std::vector<int> low, high;
    for (const int r : rows) (x(r, column) <= threshold ? low : high).push_back(r);
    rows.clear();
    rows.shrink_to_fit();
    tree.column[static_cast<std::size_t>(id)] = column;
    tree.threshold[static_cast<std::size_t>(id)] = threshold;
    const int l = node(std::move(low));
    tree.left[static_cast<std::size_t>(id)] = l;
    const int h = node(std::move(high));
    tree.right[static_cast<std::size_t>(id)] = h;
    return id;
  }
};

}  // namespace

LabelTree grow_label_tree(ConstMatrixRef x, const std::vector<std::vector<int>>& ones, int labels, std::vector<int> rows,
                          const MultilabelOptions& options, Rng& rng, VectorXd& importance, Monitor& monitor) {
  Grower grower{x, ones, labels, options, rng, importance, monitor};
  grower.whole = static_cast<double>(rows.size());
  grower.node(std::move(rows));
  return grower.tree;
}

std::pair<int, int> label_leaf(const LabelTree& tree, ConstVectorRef x) {
  std::size_t at = 0;
  while (tree.column[at] >= 0)
    at = static_cast<std::size_t>(x[tree.column[at]] <= tree.threshold[at] ? tree.left[at] : tree.right[at]);
  return {tree.left[at], tree.right[at]};
}

}  // namespace granary::ensemble
