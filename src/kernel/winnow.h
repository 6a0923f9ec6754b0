// Winnow: a linear threshold over 0/1 attributes whose weights are multiplied, not added to.
//
//   predict 1  iff  sum_i w_i x_i [+ sum_i v_i (1 - x_i)]  >  theta          (the bracket in the balanced version)
//   on a mistake, multiply the weights of the active attributes by alpha where the label is 1, divide where it is 0
//
// Littlestone (Machine Learning 2, 1988), Winnow2; the balanced version gives every attribute a complement. A weight is alpha^e
// with a whole number e, and e is what is kept: weights below the smallest double come back. Missing attributes are inactive, and
// so are their complements.
#pragma once

#include "kernel/online.h"
#include "kernel/sparse_rows.h"

namespace granary::kernel {

struct WinnowOptions {
  double promotion = 2;  // alpha
  double threshold = 1;  // theta
  bool balanced = false;
};
template <class V>
void fields(V& v, WinnowOptions& t) {
  v("promotion", t.promotion);
  v("threshold", t.threshold);
  v("balanced", t.balanced);
}

struct WinnowState {
  VectorXd exponent;    // e of w
  VectorXd complement;  // e of v; empty unless balanced
  double updates = 0;
};
template <class V>
void fields(V& v, WinnowState& t) {
  v("exponent", t.exponent);
  v("complement", t.complement);
  v("updates", t.updates);
}
inline void check(const WinnowState& s) {
  require(s.complement.size() == 0 || s.complement.size() == s.exponent.size(), "`complement` has the wrong length.");
}

class Winnow {
 public:
  // `rows` must outlive the learner and be binary.
  Winnow(const SparseRows& rows, const WinnowOptions& options, WinnowState state);

  double score(Index row) const;  // sum - theta
  Trial learn(Index row, int label, double id);
  Index support() const { return static_cast<Index>(state_.updates); }
  const WinnowState& state() const { return state_; }
  VectorXd weights() const { return weight_; }

 private:
  void shift(VectorXd& exponent, VectorXd& weight, Index i, double by);

  const SparseRows& rows_;
  WinnowOptions options_;
  WinnowState state_;
  VectorXd weight_, complement_weight_;
  double complement_total_ = 0;
};

}  // namespace granary::kernel
