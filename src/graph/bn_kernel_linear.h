// Linear classifiers on sparse features, and the logistic autoregressive network made of them.
//
//   minimise over b, w:   1/n sum_i loss(y_i (b + phi_i'w)) + lambda (1/2 ||w||_2^2  or  ||w||_1),     y_i in {-1, 1}
//   loss(m) = log(1 + exp(-m))  or  max(0, 1 - m)^2
//
// Sigmoid belief network (Nakamura et al. 2005, Definition 4; Neal 1992):  P(x_i = 1 | x_1 .. x_{i-1}) = expit(b_i + sum_{j<i}
// w_ij x_j): one such logistic regression per node, fitted independently.
#pragma once

#include "core/linalg/design.h"

#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/base/types.h"

namespace granary::graph {

enum class LinearLoss { logistic, squared_hinge };
inline Names<LinearLoss> names(LinearLoss) { return {{LinearLoss::logistic, "logistic"}, {LinearLoss::squared_hinge, "svm"}}; }

struct LinearOptions {
  LinearLoss loss = LinearLoss::logistic;
  double lambda = 0;
  bool l1 = false;
  bool intercept = true;
  double tol = 1e-8;  // on the largest entry of the gradient, relative to the one at w = 0
  int max_iter = 2000;
};
template <class V>
void fields(V& v, LinearOptions& t) {
  v("loss", t.loss);
  v("lambda", t.lambda);
  v("l1", t.l1);
  v("intercept", t.intercept);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
}

struct LinearFit {
  double intercept = 0;
  VectorXd weights;
  double loss = 0;  // without the penalty
  double objective = 0;
  Convergence convergence;
};
template <class V>
void fields(V& v, LinearFit& t) {
  v("intercept", t.intercept);
  v("weights", t.weights);
  v("loss", t.loss);
  v("objective", t.objective);
  v("convergence", t.convergence);
}

// `start` is empty, or (b, w).
LinearFit fit_linear(const ConstSparseRef& phi, ConstVectorRef y, const LinearOptions& options, ConstVectorRef start,
                     Monitor& monitor);

struct SigmoidNetwork {
  std::vector<int> order;  // order[t] is the column that comes t-th
  VectorXd bias;           // by column
  MatrixXd weights;        // weights(i, j): from column j to column i; zero unless j comes before i
};
template <class V>
void fields(V& v, SigmoidNetwork& t) {
  v("order", positions(t.order));
  v("bias", t.bias);
  v("weights", t.weights);
}
void check(const SigmoidNetwork& network);

struct SigmoidFit {
  SigmoidNetwork network;
  double log_likelihood = 0;  // of the data, summed over rows
  Convergence convergence;    // iterations of all nodes; converged: every node
};
template <class V>
void fields(V& v, SigmoidFit& t) {
  fields(v, t.network);
  v("log_likelihood", t.log_likelihood);
  v("convergence", t.convergence);
}

enum class SigmoidOrder { given, score };
inline Names<SigmoidOrder> names(SigmoidOrder) { return {{SigmoidOrder::given, "given"}, {SigmoidOrder::score, "score"}}; }

// `score`: the last node is the one its complement explains best, then the same among the rest; then neighbours in the order are
// swapped as long as that raises the penalised log-likelihood.
SigmoidFit fit_sigmoid_network(ConstMatrixRef x, const std::vector<int>& order, SigmoidOrder rule, const LinearOptions& options,
                               int threads, Monitor& monitor);
VectorXd sigmoid_log_density(const SigmoidNetwork& network, ConstMatrixRef x);
MatrixXd sigmoid_sample(const SigmoidNetwork& network, Index n, Rng& rng, Monitor& monitor);

// Definition 23: nodes 0 .. n + 1, p_i = expit(sum_{j<i} w_ij x_j) for i <= n, and the last node sees the sigmoids of all others:
// p_{n+1} = expit(sum_{i<=n} top_i expit(sum_{j<i} w_ij x_j)).
struct ModifiedNetwork {
  MatrixXd weights;  // (n + 1) x (n + 1), strictly lower triangular
  VectorXd top;      // n + 1
};
template <class V>
void fields(V& v, ModifiedNetwork& t) {
  v("weights", t.weights);
  v("top", t.top);
}
inline void check(const ModifiedNetwork& t) {
  require(t.weights.rows() == t.weights.cols() && t.top.size() == t.weights.rows(), "`weights` and `top` do not fit each other.");
}
VectorXd modified_log_density(const ModifiedNetwork& network, ConstMatrixRef x);  // x has n + 2 columns

// Theorem 25: sign(log P/Q) = (-1)^{a'x} at (1, x, 1, .., 1); Q has -top for top. a of length n / 2.
ModifiedNetwork parity_network(const std::vector<int>& a);

}  // namespace granary::graph
