// The perceptron with explicit weights, for columns that may be many and sparse: score = b + w'x, and on a mistake, y score <= 0,
// w += y x, b += y (Rosenblatt 1958). The average of the weights over the states after each trial is had from sums of t y x over
// updates.
#pragma once

#include "kernel/online.h"
#include "kernel/sparse_rows.h"

namespace granary::kernel {

struct PerceptronState {
  VectorXd weight;  // b first
  VectorXd timed;   // sum over updates at trial t of t y (1, x)
  double trials = 0, updates = 0;
};
template <class V>
void fields(V& v, PerceptronState& t) {
  v("weight", t.weight);
  v("timed", t.timed);
  v("trials", t.trials);
  v("updates", t.updates);
}
inline void check(const PerceptronState& s) {
  require(s.timed.size() == s.weight.size(), "`timed` has the wrong length.");
}

class Perceptron {
 public:
  Perceptron(const SparseRows& rows, bool bias, PerceptronState state)
      : rows_(rows), bias_(bias ? 1 : 0), state_(std::move(state)) {
    if (state_.weight.size() == 0) state_.weight = state_.timed = VectorXd::Zero(rows.cols() + 1);
    if (state_.weight.size() != rows.cols() + 1) throw InputError("The rows do not have the columns of the state.");
  }

  double score(Index row, const VectorXd& weight) const {
    const SparseRows::Row r = rows_.row(row);
    double sum = weight[0];
    for (Index k = 0; k < r.size; ++k) sum += weight[r.index[k] + 1] * r.value[k];
    return sum;
  }

  Trial learn(Index row, int label, double /* id */) {
    state_.trials += 1;
    const double y = label == 1 ? 1 : -1;
    if (y * score(row, state_.weight) > 0) return {};
    const SparseRows::Row r = rows_.row(row);
    add(0, y * bias_);
    for (Index k = 0; k < r.size; ++k) add(r.index[k] + 1, y * r.value[k]);
    state_.updates += 1;
    return {true, true};
  }

  VectorXd averaged() const {
    if (state_.trials == 0) return state_.weight;
    return ((state_.trials + 1) * state_.weight - state_.timed) / state_.trials;
  }
  Index support() const { return static_cast<Index>(state_.updates); }
  const PerceptronState& state() const { return state_; }

 private:
  void add(Index i, double by) {
    state_.weight[i] += by;
    state_.timed[i] += state_.trials * by;
  }

  const SparseRows& rows_;
  double bias_;
  PerceptronState state_;
};

}  // namespace granary::kernel
