// From decision values to probabilities.
//
// Platt's sigmoid p(f) = 1 / (1 + exp(a f + b)) by Newton's method on the regularised targets of Lin, Lin and Weng (2007), A note
// on Platt's probabilistic outputs for support vector machines, Machine Learning 68; isotonic regression by pooling adjacent
// violators; and classes from pairs by the second method of Wu, Lin and Weng (2004), Probability estimates for multi-class
// classification by pairwise coupling, JMLR 5.
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/types.h"

namespace granary::kernel {

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

// The nondecreasing step function of f closest to the labels (as 0 and 1) in weighted squares: its value at the first and last
// f of each step. Rows of equal f are one point.
struct Steps {
  std::vector<double> at, value;
};
template <class V>
void fields(V& v, Steps& t) {
  v("at", t.at);
  v("value", t.value);
}
Steps fit_isotonic(ConstVectorRef decision, ConstVectorRef label, ConstVectorRef weight);

// Row i of `pairs` has P(b | a or b) for the pairs a < b of k classes, (0,1), (0,2), ..., (k-2,k-1). The probabilities p of the
// classes minimise sum_{a < b} (r_ba p_a - r_ab p_b)^2 over the simplex, a linear system (their equation 21).
MatrixXd couple_pairs(ConstMatrixRef pairs, Index classes);

}  // namespace granary::kernel
