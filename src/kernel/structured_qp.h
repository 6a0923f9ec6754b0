// The quadratic program over the working set of a structured support vector machine.
//
// Every formulation of the paper is one program. Divide the dual variables of slack rescaling by the (root of the) loss, b = a /
// D, and the constraint by it too: cut r of example i then has a height h_r and a direction d_r with H_r(w) = h_r - <w, d_r>,
//
//   none          h = 1           d = dPsi           SVM0, SVM1, SVM2
//   margin        h = D or D^1/2  d = dPsi           SVM1m, SVM2m
//   slack         h = D or D^1/2  d = D dPsi ...     SVM1s, SVM2s
//
//   maximise  Theta(b) = sum_r h_r b_r - 1/2 ||sum_r b_r d_r||^2 - [squared] (n / 2C) sum_i (sum_(r in i) b_r)^2
//   over b >= 0,  [linear] sum_(r in i) b_r <= C / n for every example i.
//
// Propositions 4 to 9 in these variables. It is solved by ascent over blocks (examples): a visit takes the slopes H_r of the
// block (one sparse product each), solves the small program on the block's own Gram matrix, and moves w once. Between looks at all
// cuts those without weight whose slope points down are left aside, which are most of them late in a run. A block of the
// linear penalty is solved by steps on the pair that violates optimality most, where the unused part of C / n is one more
// variable with slope 0; without such a budget by greedy single steps.
#pragma once

#include <functional>
#include <vector>

#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "kernel/structured_space.h"

namespace granary::kernel {

enum class SlackPenalty { linear, squared, none };  // SVM1*, SVM2*, SVM0
inline Names<SlackPenalty> names(SlackPenalty) {
  return {{SlackPenalty::squared, "squared"}, {SlackPenalty::linear, "linear"}, {SlackPenalty::none, "hard"}};
}

struct Cut {
  Label label;
  double loss = 0;
  double factor = 1;  // d = factor dPsi: the dual variable of the paper is a = factor b
  double height = 0;  // h
  SparseVector direction;
  double b = 0;
  int idle = 0;        // sweeps since b was positive
  bool rests = false;  // b = 0 and the slope pointed down when all cuts were looked at last
};

// H_r = h_r - <w, d_r> of the cuts of one example: with few outputs the scores of all of them, one pass over the example's own
// features with the weights of a feature side by side, cost less than a product with each d_r.
class CutValues {
 public:
  CutValues(const Output& output, const VectorXd& v, Index i, std::size_t cuts) : v_(v) {
    if (output.outputs() == 0 || output.outputs() > 32 * static_cast<Index>(cuts)) return;
    scores_ = output.all_scores(i, v);
    truth_ = scores_[output.truth(i)[0]];
  }
  double operator()(const Cut& cut) const {
    if (scores_.size() == 0) return cut.height - cut.direction.dot(v_);
    return cut.height - cut.factor * (truth_ - scores_[cut.label[0]]);
  }
  const VectorXd& scores() const { return scores_; }  // F(x_i, y) of all outputs, or nothing
  double ahead(const Label& label) const { return scores_[label[0]] - truth_; }

 private:
  const VectorXd& v_;
  VectorXd scores_;
  double truth_ = 0;
};

// Looks for a violated output of an example whose scores are all at hand, and adds it: whether it did.
using Enlarge = std::function<bool(Index, const CutValues&)>;

class CutSet {
 public:
  CutSet(const Output& output, Space& space, SlackPenalty penalty, double cost);

  const std::vector<Cut>& cuts(Index i) const { return blocks_[static_cast<std::size_t>(i)].cuts; }
  std::vector<Cut> release(Index i) { return std::move(blocks_[static_cast<std::size_t>(i)].cuts); }  // at the end
  Index size() const { return size_; }
  CutValues values(Index i) const { return CutValues(output_, space_.view(), i, cuts(i).size()); }
  double highest(Index i, const CutValues& value) const;  // max_r H_r; the slack of example i is the positive part
  void add(Index i, Cut cut);

  // Solves block i to `tol` in the units of H; returns the violation of optimality found on arrival.
  double optimise(Index i, double tol) { return optimise(i, tol, true, {}); }
  // Visits blocks until none violates optimality by more than tol; false if `max_passes` were not enough. What `enlarge` finds
  // on a visit takes part at once.
  bool optimise_all(double tol, int max_passes, Monitor& monitor, const Enlarge& enlarge = {});
  double dual() const;
  // Ages cuts that carry no weight, and drops those that have not for more than `age` sweeps.
  void prune(int age);

 private:
  struct Block {
    std::vector<Cut> cuts;
    MatrixXd gram;  // <d_r, d_s>, of at least as many rows as there are cuts
    double total = 0;
  };
  double optimise(Index i, double tol, bool all_cuts, const Enlarge& enlarge);
  double solve_with_budget(Block& block, const std::vector<Index>& at, VectorXd& slope, VectorXd& b, double tol) const;
  double solve_free(Block& block, const std::vector<Index>& at, VectorXd& slope, VectorXd& b, double tol) const;
  void require_separable() const;
  void stretch(const VectorXd& before);
  VectorXd all_weights() const;

  const Output& output_;
  Space& space_;
  SlackPenalty penalty_;
  double budget_, ridge_;  // C / n and n / C, where the penalty has them
  std::vector<Block> blocks_;
  Index size_ = 0;
  double largest_norm2_ = 0;
  Rng order_;
  std::vector<Index> at_;  // the cuts of a block that are looked at
};

}  // namespace granary::kernel
