#include "ensemble/weak_learner.h"

#include <limits>
#include <numeric>


namespace granary::ensemble {

TreeLearner::TreeLearner(const Design& x, const VectorXi& levels, int max_leaves, int min_leaf, int threads)
    : columns_(x, levels, threads), orders_(columns_), many_(columns_, &orders_, {max_leaves, 0, 2, min_leaf, 0, 0}),
      two_(columns_, &orders_, {max_leaves, 0, 2, min_leaf, 0, 0}), rows_(x.rows()) {
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
