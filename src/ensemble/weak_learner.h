// What boosting asks at each round: an answer for every row that costs little, sum_i C(i, h(x_i)).
//
//   TreeLearner     a tree of at most `max_leaves` leaves, grown best first by the cost it saves; with two leaves the cheapest of all stumps for two classes
//   PoolLearner     the cheapest of given answers
//   CustomLearner   a function of the costs
//
// Where an answer is a set of classes, its cost is that of all of them: leaves of trees answer so when asked to, other learners
// with one class.
#pragma once

#include <functional>
#include <memory>

#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/tree/grow.h"
#include "core/tree/scores.h"

namespace granary::ensemble {

enum class LearnerKind { tree, pool, custom };
inline Names<LearnerKind> names(LearnerKind) { return {{LearnerKind::tree, "tree"}, {LearnerKind::pool, "pool"}, {LearnerKind::custom, "custom"}}; }

// costs (classes x rows) -> for every row a class from 0, or a number in [-1, 1] where boosting is by margins.
using CustomAnswer = std::function<VectorXd(const MatrixXd&)>;

class WeakLearner {
 public:
  virtual ~WeakLearner() = default;
  virtual VectorXd learn(const MatrixXd& costs, Rng& rng, Monitor& monitor) = 0;
  virtual void forget_last() {}  // the last answer is not used
  // 1 for the classes of the answer, classes x rows.
  virtual MatrixXd learn_sets(const MatrixXd& costs, Rng& rng, Monitor& monitor);
};

class TreeLearner : public WeakLearner {
 public:
  TreeLearner(const Design& x, const VectorXi& levels, int max_leaves, int min_leaf, int threads);
  VectorXd learn(const MatrixXd& costs, Rng& rng, Monitor& monitor) override;
  MatrixXd learn_sets(const MatrixXd& costs, Rng& rng, Monitor& monitor) override;
  void forget_last() override { parts_.pop_back(); }
  void forget_before_last() { parts_.erase(parts_.end() - 2); }
  void keep_last() { parts_.erase(parts_.begin(), parts_.end() - 1); }
  void clear() { parts_.clear(); }
  const std::vector<Trees>& trees() const { return parts_; }

 private:
  TreeColumns columns_;
  TreeOrders orders_;
  TreeGrower<CostScore> many_;
  TreeGrower<PairScore> two_;
  TreeGrower<SetScore> sets_;
  std::vector<std::uint32_t> rows_;
  std::vector<Trees> parts_;
  VectorXd more_;
};

class PoolLearner : public WeakLearner {
 public:
  explicit PoolLearner(ConstMatrixRef answers) : answers_(answers) {}
  VectorXd learn(const MatrixXd& costs, Rng& rng, Monitor& monitor) override;
  void forget_last() override { picks_.pop_back(); }
  const std::vector<int>& picks() const { return picks_; }

 private:
  ConstMatrixRef answers_;  // rows x members, classes from 0
  std::vector<int> picks_;
};

class CustomLearner : public WeakLearner {
 public:
  explicit CustomLearner(CustomAnswer answer) : answer_(std::move(answer)) {}
  VectorXd learn(const MatrixXd& costs, Rng&, Monitor& monitor) override {
    monitor.check();
    return answer_(costs);
  }

 private:
  CustomAnswer answer_;
};

}  // namespace granary::ensemble
