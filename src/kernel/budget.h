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
inline Names<Removal> names(Removal) {
  return {{Removal::none, "none"},     {Removal::distill, "distill"},   {Removal::max_margin, "max_margin"}, {Removal::oldest, "oldest"},
          {Removal::random, "random"}, {Removal::smallest, "smallest"}, {Removal::tightest, "tightest"},     {Removal::projection, "projection"}};
}
enum class DistillOrder { largest, oldest, random };
inline Names<DistillOrder> names(DistillOrder) {
  return {{DistillOrder::largest, "largest"}, {DistillOrder::oldest, "oldest"}, {DistillOrder::random, "random"}};
}
enum class Step { perceptron, mira };
inline Names<Step> names(Step) { return {{Step::perceptron, "perceptron"}, {Step::mira, "mira"}}; }
enum class Hypothesis { last, averaged, voted };  // that predicts
inline Names<Hypothesis> names(Hypothesis) {
  return {{Hypothesis::last, "last"}, {Hypothesis::averaged, "averaged"}, {Hypothesis::voted, "voted"}};
}

struct BudgetOptions {
  Index classes = 2;
  bool prototypes = false;  // a score per class even for two classes
  double budget = std::numeric_limits<double>::infinity();
  double beta = 0.01;
  Removal removal = Removal::distill;
  DistillOrder order = DistillOrder::largest;
  Step step = Step::perceptron;
  bool normalise = false;
  bool average = false;    // keep what an average over time needs: examples removed lately
  std::uint64_t seed = 0;  // of random removal
};
template <class V>
void fields(V& v, BudgetOptions& t) {
  v("classes", t.classes);
  v("budget", t.budget);
  v("beta", t.beta);
  v("removal", t.removal);
  v("order", t.order);
  v("update", t.step);
  v("normalize", t.normalise);
  v("average", t.average);
}

// What an example needs to be remembered; one column or entry per example.
struct Examples {
  MatrixXd coefficients;  // tau: one row for two classes, else one per class
  VectorXd label;         // class, from 0
  VectorXd id;            // number in the stream
  VectorXd born;          // trial of insertion
  VectorXd died;          // trial of removal, for retired ones
};
template <class V>
void fields(V& v, Examples& t) {
  v("coefficients", t.coefficients);
  v("label", t.label);
  v("id", t.id);
  v("born", t.born);
  v("died", t.died);
}
inline void check(const Examples& e) {
  const Index n = e.coefficients.cols();
  require(e.label.size() == n && e.id.size() == n && e.born.size() == n && (e.died.size() == 0 || e.died.size() == n),
          "the examples of the cache differ in number.");
}

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
template <class V>
void fields(V& v, BudgetState& t) {
  v("current", t.current);
  v("retired", t.retired);
  v("scores", t.scores);
  v("gram", t.gram);
  v("inverse", t.inverse);
  v("changes", t.changes);
  v("trials", t.trials);
  v("margin_errors", t.margin_errors);
  v("removed", t.removed);
  v("largest", t.largest);
  v("max_self", t.max_self);
}

class BudgetPerceptron {
 public:
  BudgetPerceptron(const KernelSpec& kernel, Index dimension, bool sparse, const BudgetOptions& options);

  // Goes on from a state; Rows: ConstMatrixRef or SparseRows.
  template <class Rows>
  void restore(const BudgetState& state, const Rows& points, const Rows& retired, ConstVectorRef centre) {
    if (points.rows() != state.current.id.size() || retired.rows() != state.retired.id.size())
      throw InputError("The state of the fit has examples without points.");
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

  // Scores of all rows, a column for two classes and one per class for more.
  template <class Rows>
  MatrixXd scores(const Rows& x, Hypothesis hypothesis, Monitor& monitor) {
    const bool average = hypothesis == Hypothesis::averaged;
    const MatrixXd now = weights(average), old = average ? retired_weights() : MatrixXd(outputs_, 0);
    MatrixXd out(x.rows(), outputs_);
    for (Index i = 0; i < x.rows(); ++i) {
      out.row(i) = (hypothesis == Hypothesis::voted ? vote(x, i) : score(x, i, now, old)).transpose();
      if (i % 64 == 0) monitor.check();
    }
    return out;
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

// Learns from the rows of a piece.
template <class Rows>
OnlineRun run_budget(BudgetPerceptron& learner, const Rows& rows, const OnlinePiece& piece, Monitor& monitor) {
  struct OnRows {
    BudgetPerceptron& learner;
    const Rows& rows;
    Trial learn(Index row, int label, double id) { return learner.learn(rows, row, label, id); }
    Index support() const { return learner.support(); }
  } on_rows{learner, rows};
  return run_online(on_rows, rows.rows(), piece, monitor);
}

}  // namespace granary::kernel
