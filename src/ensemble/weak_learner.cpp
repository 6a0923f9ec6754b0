#include "ensemble/weak_learner.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"

namespace granary::ensemble {

TreeLearner::TreeLearner(const Design& x, const VectorXi& levels, int max_leaves, int min_leaf, int threads)
    : columns_(x, levels, threads), orders_(columns_), many_(columns_, &orders_, {max_leaves, 0, 2, min_leaf, 0, 0}),
      two_(columns_, &orders_, {max_leaves, 0, 2, min_leaf, 0, 0}), sets_(columns_, &orders_, {max_leaves, 0, 2, min_leaf, 0, 0}),
      rows_(x.rows()) {
  std::iota(rows_.begin(), rows_.end(), 0u);
}

VectorXd TreeLearner::learn(const MatrixXd& costs, Rng& rng, Monitor& monitor) {
  VectorXd out(costs.cols());
  const auto answer = [&](const auto& grower) {
    const Trees& tree = parts_.back();
    for (const TreeLeaf& leaf : grower.leaves()) {
      Index best = 0;
      tree.value.col(leaf.leaf).maxCoeff(&best);
      for (std::uint32_t at = leaf.from; at < leaf.to; ++at) out[grower.rows()[at]] = static_cast<double>(best);
    }
  };
  if (costs.rows() == 2) {
    more_ = costs.row(1) - costs.row(0);
    PairScore score(more_);
    parts_.push_back(two_.grow(rows_, nullptr, score, rng, monitor));
    answer(two_);
  } else {
    CostScore score(costs);
    parts_.push_back(many_.grow(rows_, nullptr, score, rng, monitor));
    answer(many_);
  }
  return out;
}

MatrixXd TreeLearner::learn_sets(const MatrixXd& costs, Rng& rng, Monitor& monitor) {
  SetScore score(costs);
  parts_.push_back(sets_.grow(rows_, nullptr, score, rng, monitor));
  const Trees& tree = parts_.back();
  MatrixXd out(costs.rows(), costs.cols());
  for (const TreeLeaf& leaf : sets_.leaves())
    for (std::uint32_t at = leaf.from; at < leaf.to; ++at) out.col(sets_.rows()[at]) = tree.value.col(leaf.leaf);
  return out;
}

MatrixXd WeakLearner::learn_sets(const MatrixXd& costs, Rng& rng, Monitor& monitor) {
  const VectorXd answer = learn(costs, rng, monitor);
  if (answer.size() != costs.cols())
    throw InputError(
        message("the learner must answer for every row, ", costs.cols(), ", but it answered for ", answer.size(), "."));
  MatrixXd out = MatrixXd::Zero(costs.rows(), costs.cols());
  for (Index i = 0; i < answer.size(); ++i) {
    if (!(answer[i] >= 0 && answer[i] < static_cast<double>(costs.rows()) && answer[i] == std::floor(answer[i])))
      throw InputError(message("the learner must answer with classes, but it said ", answer[i], " for row ", i + 1, "."));
    out(static_cast<Index>(answer[i]), i) = 1;
  }
  return out;
}

VectorXd PoolLearner::learn(const MatrixXd& costs, Rng&, Monitor& monitor) {
  Index best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (Index j = 0; j < answers_.cols(); ++j) {
    monitor.check();
    double cost = 0;
    for (Index i = 0; i < answers_.rows(); ++i) cost += costs(static_cast<Index>(answers_(i, j)), i);
    if (cost < least) {
      least = cost;
      best = j;
    }
  }
  picks_.push_back(static_cast<int>(best));
  return answers_.col(best);
}

}  // namespace granary::ensemble
