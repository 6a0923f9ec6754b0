#include "ensemble/forest.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/tree/scores.h"

namespace granary::ensemble {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// What was drawn for a tree: distinct rows, and how often each.
struct Bag {
  std::vector<std::uint32_t> rows, count;
};

Bag draw_bag(Index n, const ForestOptions& options, Rng& rng) {
  Bag bag;
  bag.count.assign(n, 0);
  const auto size = std::max<Index>(1, static_cast<Index>(std::llround(options.sample * static_cast<double>(n))));
  if (options.replace) {
    for (Index i = 0; i < size; ++i) ++bag.count[rng.below(n)];
  } else if (size >= n) {
    bag.count.assign(n, 1);
  } else {
    for (int i : rng.sample_without_replacement(static_cast<int>(n), static_cast<int>(size))) bag.count[i] = 1;
  }
  for (Index i = 0; i < n; ++i)
    if (bag.count[i] > 0) bag.rows.push_back(static_cast<std::uint32_t>(i));
  return bag;
}

class Forest {
 public:
  Forest(const Design& x, ConstVectorRef y, ConstVectorRef weights, const ForestOptions& options)
      : x_(x), columns_(x, options.levels, options.threads), y_(y), classes_(options.classes), options_(options), weights_(weights) {
    if (weights_.size() == 0) weights_ = VectorXd::Ones(x.rows());
    if (classes_ > 0) {
      labels_ = y.cast<int>();
    } else {
      centre_ = weights_.dot(y_) / weights_.sum();
      y_.array() -= centre_;  // sums of squares without cancellation
    }
    if ((options.mtry <= 0 || options.mtry >= x.cols()) && options.cuts == 0) orders_ = std::make_unique<TreeOrders>(columns_);
  }

  ForestResult grow(Rng& rng, Monitor& monitor) {
    const int trees = options_.n_trees;
    std::vector<Trees> parts(trees);
    bags_.resize(trees);
    const bool permute = options_.importance == ForestImportance::permutation;
    MatrixXd rises = MatrixXd::Zero(permute ? x_.cols() : 0, permute ? trees : 0);
    const double work = permute ? 0.7 : 0.85;
    std::atomic<int> done{0};
    parallel_for(trees, options_.threads, monitor, [&](Index t) {
      Rng own = rng.stream(static_cast<std::uint64_t>(t));
      const Bag bag = draw_bag(x_.rows(), options_, own);
      bags_[t].assign((x_.rows() + 63) / 64, 0);
      for (std::uint32_t i : bag.rows) bags_[t][i / 64] |= std::uint64_t{1} << (i % 64);
      parts[t] = grow_one(bag, own, monitor);
      if (permute) rises.col(t) = permuted_rise(parts[t], bag, own, monitor);
      monitor.progress(work * ++done / trees);
    });
    ForestResult out;
    out.trees = join(parts);
    if (classes_ == 0) out.trees.value.array() += centre_;
    out_of_bag(out, monitor);
    if (options_.importance == ForestImportance::impurity) {
      out.importance = VectorXd::Zero(x_.cols());
      for (int i = 0; i < out.trees.nodes(); ++i)
        if (out.trees.feature[i] >= 0) out.importance[out.trees.feature[i]] += out.trees.gain[i];
      out.importance /= trees;
    } else if (permute) {
      out.importance = rises.rowwise().mean();
      out.importance_se = (rises.colwise() - out.importance).rowwise().norm() / std::sqrt(std::max(1.0, trees * (trees - 1.0)));
    }
    monitor.progress(1);
    return out;
  }

 private:
  Trees grow_one(const Bag& bag, Rng& rng, Monitor& monitor) const {
    const GrowOptions how{options_.max_leaves, options_.max_depth, options_.min_node, options_.min_leaf, options_.mtry, options_.cuts};
    VectorXd w(x_.rows());
    for (Index i = 0; i < w.size(); ++i) w[i] = weights_[i] * bag.count[i];
    const auto with = [&](auto score) {
      TreeGrower<decltype(score)> grower(columns_, orders_.get(), how);
      return grower.grow(bag.rows, bag.count.data(), score, rng, monitor);
    };
    if (classes_ == 0) return with(SquareScore(w, y_));
    if (options_.score == ForestScore::gini) return with(GiniScore(w, labels_, classes_));
    return with(EntropyScore(w, labels_, classes_));
  }

  double loss(const double* answer, Index row) const {
    if (classes_ == 0) return (answer[0] - y_[row]) * (answer[0] - y_[row]);
    return std::max_element(answer, answer + classes_) - answer == labels_[row] ? 0 : 1;
  }

  // Of one tree: by how much the mean loss of the rows it has not seen rises when a column is shuffled among them.
  VectorXd permuted_rise(const Trees& tree, const Bag& bag, Rng& rng, Monitor& monitor) const {
    VectorXd out = VectorXd::Zero(x_.cols());
    std::vector<std::uint32_t> unseen;
    for (Index i = 0; i < x_.rows(); ++i)
      if (bag.count[i] == 0) unseen.push_back(static_cast<std::uint32_t>(i));
    if (unseen.empty()) return out;
    const auto value = [&](std::uint32_t row, int j) {
      const TreeColumn& column = columns_[j];
      const std::uint32_t code = column[row];
      return code == column.codes ? nan : column.categorical ? static_cast<double>(code) : column.values[code];
    };
    double total = 0;
    VectorXd before(static_cast<Index>(unseen.size()));
    for (std::size_t i = 0; i < unseen.size(); ++i) {
      before[i] = weights_[unseen[i]] * loss(tree.value.col(tree.leaf_of(0, [&](int j) { return value(unseen[i], j); })).data(), unseen[i]);
      total += weights_[unseen[i]];
    }
    std::vector<bool> used(x_.cols(), false);
    for (int f : tree.feature)
      if (f >= 0) used[f] = true;
    for (Index k = 0; k < x_.cols(); ++k) {
      if (!used[k]) continue;
      monitor.check();
      std::vector<std::uint32_t> other = unseen;
      rng.shuffle(other);
      double rise = 0;
      for (std::size_t i = 0; i < unseen.size(); ++i) {
        const int leaf = tree.leaf_of(0, [&](int j) { return value(j == k ? other[i] : unseen[i], j); });
        rise += weights_[unseen[i]] * loss(tree.value.col(leaf).data(), unseen[i]) - before[i];
      }
      out[k] = total > 0 ? rise / total : 0;
    }
    return out;
  }

  void out_of_bag(ForestResult& out, Monitor& monitor) const {
    const Index n = x_.rows();
    out.out_of_bag = MatrixXd::Zero(n, out.trees.outputs);
    VectorXd seen = VectorXd::Zero(n);
    MatrixXd by_row = MatrixXd::Zero(out.trees.outputs, n);
    TreeWalker walker(out.trees);
    walker.walk_if(x_, 0, out.trees.size(), options_.threads, monitor,
                   [&](int tree, Index row) { return (bags_[tree][row / 64] >> (row % 64) & 1) == 0; },
                   [&](int, Index row, int leaf) {
                     by_row.col(row) += out.trees.value.col(leaf);
                     seen[row] += 1;
                   });
    double wrong = 0, total = 0;
    for (Index i = 0; i < n; ++i) {
      if (seen[i] == 0) {
        out.out_of_bag.row(i).setConstant(nan);
        continue;
      }
      by_row.col(i) /= seen[i];
      out.out_of_bag.row(i) = by_row.col(i).transpose();
      if (classes_ == 0) by_row(0, i) -= centre_;
      wrong += weights_[i] * loss(by_row.col(i).data(), i);
      total += weights_[i];
    }
    out.error = total > 0 ? wrong / total : nan;
  }

  Design x_;
  TreeColumns columns_;
  std::unique_ptr<TreeOrders> orders_;
  VectorXd y_;
  int classes_;
  ForestOptions options_;
  VectorXd weights_;
  VectorXi labels_;
  double centre_ = 0;
  std::vector<std::vector<std::uint64_t>> bags_;  // bit per row: it was drawn
};

}  // namespace

ForestResult forest(const Design& x, ConstVectorRef y, ConstVectorRef weights, const ForestOptions& options, Rng& rng, Monitor& monitor) {
  if (y.size() != x.rows()) throw InputError("`y` needs one value per row.");
  return Forest(x, y, weights, options).grow(rng, monitor);
}

MatrixXd forest_predict(const Design& x, const Trees& trees, int first, int last, int threads, Monitor& monitor) {
  MatrixXd sum = MatrixXd::Zero(trees.outputs, x.rows());
  TreeWalker(trees).walk(x, first, last, threads, monitor, [&](int, Index row, int leaf) { sum.col(row) += trees.value.col(leaf); });
  return sum.transpose() / std::max(1, last - first);
}

Eigen::MatrixXi forest_leaves(const Design& x, const Trees& trees, int threads, Monitor& monitor) {
  Eigen::MatrixXi out(x.rows(), trees.size());
  TreeWalker(trees).walk(x, 0, trees.size(), threads, monitor, [&](int tree, Index row, int leaf) { out(row, tree) = leaf; });
  return out;
}

}  // namespace granary::ensemble
