#include "ensemble/transfer_trees.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace granary::ensemble {
namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from, T shift = 0) {
  for (const T& value : from) to.push_back(value + shift);
}

}  // namespace

TransferTrees join(const std::vector<TransferTrees>& parts) {
  TransferTrees out;
  Index leaves = 0, before = 0;
  for (const TransferTrees& part : parts) leaves += part.cases.cols();
  for (const TransferTrees& part : parts) {
    if (out.size() == 0) {
      out.inputs = part.inputs;
      out.classes = part.classes;
      out.center = part.center;
      out.scale = part.scale;
      out.cases.resize(part.classes, leaves);
    }
    const int nodes = out.nodes(), leaf = static_cast<int>(before);
    append(out.start, part.start, nodes);
    for (int i = 0; i < part.nodes(); ++i) out.left.push_back(part.left[i] + (part.length[i] > 0 ? nodes : leaf));
    append(out.from, part.from, static_cast<int>(out.column.size()));
    append(out.length, part.length);
    append(out.column, part.column);
    append(out.weight, part.weight);
    append(out.threshold, part.threshold);
    for (int l : part.lender) out.lender.push_back(l < 0 ? -1 : l + leaf);
    out.cases.middleCols(before, part.cases.cols()) = part.cases;
    before += part.cases.cols();
  }
  return out;
}

void check(const TransferTrees& t) {
  const auto n = static_cast<std::size_t>(t.nodes());
  require(t.inputs > 0 && t.classes > 0 && t.size() > 0, "there are no trees");
  require(t.center.size() == t.inputs && t.scale.size() == t.inputs && (t.scale.array() > 0).all(), "the scale of the columns is not there");
  require(t.from.size() == n && t.length.size() == n && t.threshold.size() == n, "the nodes of the trees are not all there");
  require(t.weight.size() == t.column.size(), "directions without weights");
  require(t.cases.rows() == t.classes && static_cast<Index>(t.lender.size()) == t.cases.cols(), "the leaves are not all there");
  require((t.cases.array() >= 0).all() && (t.cases.cols() == 0 || t.cases.colwise().sum().minCoeff() > 0), "a leaf without cases");
  for (int l : t.lender) require(l >= -1 && l < t.cases.cols(), "a leaf that borrows from nowhere");
  for (int j : t.column) require(j >= 0 && j < t.inputs, "a direction of other columns");
  for (int tree = 0; tree < t.size(); ++tree) {
    const int begin = t.start[tree], end = t.end(tree);
    require(begin >= 0 && begin < end && end <= t.nodes(), "a tree without nodes");
    for (int i = begin; i < end; ++i) {
      require(t.length[i] >= 0 && t.from[i] >= 0, "a split without direction");
      require(static_cast<std::size_t>(t.from[i]) + static_cast<std::size_t>(t.length[i]) <= t.column.size(), "a split without direction");
      if (t.length[i] == 0) require(t.left[i] >= 0 && t.left[i] < t.cases.cols(), "a leaf without cases");
      else require(t.left[i] > i && t.left[i] < end - 1, "a split that leads nowhere");
    }
  }
}

MatrixXd standardized(ConstMatrixRef x, const TransferTrees& trees) {
  return ((x.rowwise() - trees.center.transpose()).array().rowwise() / trees.scale.transpose().array()).matrix().transpose();
}

VectorXd leaf_shares(const TransferTrees& trees, int leaf, double smooth) {
  const VectorXd cases = trees.cases.col(leaf).array() + smooth;
  return cases / cases.sum();
}

MatrixXd transfer_predict(ConstMatrixRef x, const TransferTrees& trees, double smooth, int threads, Monitor& monitor) {
  const MatrixXd rows = standardized(x, trees);
  MatrixXd shares(trees.classes, trees.cases.cols());
  for (int leaf = 0; leaf < shares.cols(); ++leaf) shares.col(leaf) = leaf_shares(trees, leaf, smooth);
  MatrixXd sum = MatrixXd::Zero(trees.classes, x.rows());
  constexpr Index size = 64;
  parallel_for((x.rows() + size - 1) / size, threads, monitor, [&](Index block) {
    const Index end = std::min(x.rows(), (block + 1) * size);
    for (int tree = 0; tree < trees.size(); ++tree)
      for (Index i = block * size; i < end; ++i) sum.col(i) += shares.col(trees.leaf(tree, rows.col(i).data()));
  });
  return sum.transpose() / trees.size();
}

Eigen::MatrixXi transfer_leaves(ConstMatrixRef x, const TransferTrees& trees, int threads, Monitor& monitor) {
  const MatrixXd rows = standardized(x, trees);
  Eigen::MatrixXi out(x.rows(), trees.size());
  parallel_for(trees.size(), threads, monitor, [&](Index tree) {
    for (Index i = 0; i < x.rows(); ++i) out(i, tree) = trees.leaf(static_cast<int>(tree), rows.col(i).data());
  });
  return out;
}

MatrixXd group_posterior(ConstMatrixRef prob, const VectorXi& group, const GroupOptions& options) {
  const Index classes = prob.cols();
  MatrixXd out = MatrixXd::Zero(options.groups, classes);
  if (options.prior.size() > 0) {
    const VectorXd prior = options.prior.array().log();
    out.rowwise() += (options.other.array().log()).matrix().transpose();
    for (Index i = 0; i < prob.rows(); ++i) out.row(group[i]) -= prior.transpose();
  }
  for (Index i = 0; i < prob.rows(); ++i)
    for (Index c = 0; c < classes; ++c) out(group[i], c) += std::log(std::max(prob(i, c), options.floor));
  for (Index g = 0; g < out.rows(); ++g) {
    const double most = out.row(g).maxCoeff();
    out.row(g) = (out.row(g).array() - most).exp();
    out.row(g) /= out.row(g).sum();
  }
  return out;
}

}  // namespace granary::ensemble
