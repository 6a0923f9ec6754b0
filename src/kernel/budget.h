// Kernel perceptrons that keep few examples.
//
//   w = sum_{i in C} tau_i phi(x_i);   score s(x) = sum_{i in C} tau_i k(x_i, x);   C the cache
//   margin of (x, y):  y s for two classes (tau a number),  s_y - max_{r != y} s_r for more (tau a vector over the classes)
//   on a margin error, margin <= beta: insert (x, y), with
//     perceptron   tau = y;  for more classes tau_y = 1 and tau_r = -1 for the best wrong class r
//     mira         see mira.h
//
// Crammer, Kandola, Singer (NIPS 16, 2003): Figures 1 and 2 (variable cache: after an insertion, while some example has a margin
// without itself of at least beta, remove it) and Figure 3 (fixed cache: when it is full, remove the example whose margin without
// itself is largest, then insert). The order of removal in Figure 2 is left open there, and the printed condition lost its
// trailing x_i. The newest example is never removed: at beta = 0 the first one would vanish at once.
//
// Scores of cached examples and their kernel matrix are maintained, so that an insertion costs one kernel row and a few passes
// over C, and a removal a few passes. Two rules are quadratic in |C|: `tightest` (for every candidate, the number of margin
// errors left in the cache) and `projection` (which maintains the inverse of the kernel matrix).
#pragma once

#include <cstdint>
#include <deque>
#include <limits>

#include "kernel/online.h"
#include "kernel/point_cache.h"

namespace granary::kernel {

enum class Removal { none, distill, max_margin, oldest, random, smallest, tightest, projection };
enum class DistillOrder { largest, oldest, random };
enum class Step { perceptron, mira };

struct BudgetOptions {
  Index classes = 2;
  bool prototypes = false;  // a score per class even for two classes
  Index budget = std::numeric_limits<Index>::max();
  double beta = 0.01;
  Removal removal = Removal::distill;
  DistillOrder order = DistillOrder::largest;
  Step step = Step::perceptron;
  bool normalise = false;
  bool average = false;    // keep what an average over time needs: examples removed lately
  std::uint64_t seed = 0;  // of random removal
};

// What an example needs to be remembered; one column or entry per example.
struct Examples {
  MatrixXd coefficients;  // tau: one row for two classes, else one per class
  VectorXd label;         // class, from 0
  VectorXd id;            // number in the stream
  VectorXd born;          // trial of insertion
  VectorXd died;          // trial of removal, for retired ones
};

// Everything that decides how learning goes on, but for the points, which the caches have.
struct BudgetState {
  Examples current, retired;
  MatrixXd scores;   // s(x_i), where the removal rule looks at them
  MatrixXd gram;     // k(x_i, x_j), likewise
  MatrixXd inverse;  // of gram, for projection
  VectorXd changes;  // trials of the last changes, for averages
  double trials = 0, margin_errors = 0, removed = 0, largest = 0;
  double max_self = 0;  // R^2
};

class BudgetPerceptron {
 public:
  BudgetPerceptron(const KernelSpec& kernel, Index dimension, bool sparse, const BudgetOptions& options);

  // Goes on from a state; Rows: ConstMatrixRef or SparseRows.
  template <class Rows>
  void restore(const BudgetState& state, const Rows& points, const Rows& retired, ConstVectorRef centre) {
    cache_.set_centre(centre);
    retired_cache_.set_centre(centre);
    for (Index i = 0; i < state.current.id.size(); ++i) {
      cache_.load(points, i);
      cache_.push();
    }
    for (Index i = 0; i < state.retired.id.size(); ++i) {
      retired_cache_.load(retired, i);
      retired_cache_.push();
    }
    restore_rest(state);
  }

  template <class Rows>
  Trial learn(const Rows& x, Index row, int label, double id) {
    cache_.load(x, row);
    return learn_point(label, id);
  }

  // What examples count in predictions: tau, or its average over time. Averages run over all trials where nothing was removed,
  // else over those since the |C|-th last change.
  MatrixXd weights(bool average) const;
  MatrixXd retired_weights() const;

  // Scores of one row under such weights; `retired` without columns where it is not wanted.
  template <class Rows>
  VectorXd score(const Rows& x, Index row, const MatrixXd& weights, const MatrixXd& retired) {
    cache_.load(x, row);
    VectorXd s = VectorXd::Zero(outputs_);
    if (size_ > 0) s.noalias() += weights * cache_.row().head(size_);
    if (retired.cols() > 0) {
      retired_cache_.load(x, row);
      s.noalias() += retired * retired_cache_.row().head(retired.cols());
    }
    return s;
  }

  // Votes: the classes (two: +-1) that each hypothesis of the past gives, weighted by the trials it lived. Without removals only.
  template <class Rows>
  VectorXd vote(const Rows& x, Index row) {
    cache_.load(x, row);
    return count_votes();
  }

  Index support() const { return size_; }
  BudgetState state() const;
  const PointCache& cache() const { return cache_; }
  const PointCache& retired_cache() const { return retired_cache_; }

 private:
  Trial learn_point(int label, double id);
  VectorXd step(const VectorXd& score, int label, double self) const;
  void insert(const VectorXd& tau, const VectorXd& k, double self, int label, double id);
  void remove(Index slot);  // the last example takes its place
  void retire(Index slot);
  void distill();
  Index victim() const;
  Index tightest() const;
  void append_inverse(const VectorXd& k, double self);
  void project_out(Index slot);
  bool projected(const VectorXd& tau, const VectorXd& k, double self);
  void note_change();
  void refresh();
  void reserve();
  void restore_rest(const BudgetState& state);
  VectorXd count_votes();

  double margin(ConstVectorRef score, int label) const;
  double margin_without(Index i) const;
  double window_start() const;
  bool keeps_gram() const { return keeps_scores() || options_.removal == Removal::projection; }
  bool keeps_scores() const {
    return options_.removal == Removal::distill || options_.removal == Removal::max_margin ||
           options_.removal == Removal::tightest;
  }

  BudgetOptions options_;
  Index outputs_;
  PointCache cache_, retired_cache_;
  Index size_ = 0;  // |C|; the matrices below have room for more
  MatrixXd coefficients_, scores_, gram_, inverse_;
  VectorXd self_, label_, id_, born_;
  Examples retired_;
  std::deque<double> changes_;
  double trials_ = 0, margin_errors_ = 0, removed_ = 0, largest_ = 0, max_self_ = 0;
  VectorXd score_, row_;
};

}  // namespace granary::kernel
