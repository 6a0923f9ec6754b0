// From scores to probabilities, with case weights.
//
//   sigmoid    p(f) = 1 / (1 + exp(a f + b)) by Newton's method on the regularised targets of Lin, Lin and Weng (Machine Learning
//              2007), A note on Platt's probabilistic outputs for support vector machines
//   isotonic   the nondecreasing step function closest to the labels in weighted squares, by pooling adjacent violators
//   beta       logit p(s) = a log s - b log(1 - s) + c, a, b >= 0, for scores s in [0, 1]: Kull, Silva Filho and Flach (AISTATS
//              2017). The targets are those of the sigmoid, so that separable scores have a finite answer too. a = b = 1, c = 0
//              leaves s as it is
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/types.h"

namespace granary {

struct Sigmoid {
  double slope = 0, intercept = 0;  // a, b
  Convergence convergence;
};
template <class V>
void fields(V& v, Sigmoid& t) {
  v("slope", t.slope);
  v("intercept", t.intercept);
  v("convergence", t.convergence);
}

// `label` is -1 or 1. Targets are (N+ + 1) / (N+ + 2) and 1 / (N- + 2), N the weights' sums scaled to the number of rows.
Sigmoid fit_sigmoid(ConstVectorRef decision, ConstVectorRef label, ConstVectorRef weight);
VectorXd sigmoid_values(const Sigmoid& sigmoid, ConstVectorRef decision);

// The steps' values (labels as 0 and 1) at the first and last f of each step. Rows of equal f are one point.
struct Steps {
  std::vector<double> at, value;
};
template <class V>
void fields(V& v, Steps& t) {
  v("at", t.at);
  v("value", t.value);
}
Steps fit_isotonic(ConstVectorRef decision, ConstVectorRef label, ConstVectorRef weight);
// Between two steps the straight line; beyond the ends the first and the last value.
VectorXd step_values(const Steps& steps, ConstVectorRef decision);

struct BetaCurve {
  double log_slope = 1, complement_slope = 1, intercept = 0;  // a, b, c
  Convergence convergence;
};
template <class V>
void fields(V& v, BetaCurve& t) {
  v("log_slope", t.log_slope);
  v("complement_slope", t.complement_slope);
  v("intercept", t.intercept);
  v("convergence", t.convergence);
}
// InputError for scores outside [0, 1]; those within 1e-9 of an end stand there.
BetaCurve fit_beta(ConstVectorRef score, ConstVectorRef label, ConstVectorRef weight);
VectorXd beta_values(const BetaCurve& curve, ConstVectorRef score);

}  // namespace granary
