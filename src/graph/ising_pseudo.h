// Sparse Ising models by penalised pseudo-likelihood, and one logistic regression per variable.
//
//   minimise  -(1/T) sum_t sum_i log P(x_ti | x_t,-i) + rho sum_{i != j} |w_ij|,
//   P(x_i | rest) = 1 / (1 + exp(-2 x_i (b_i + 2 sum_j w_ij x_j))),   W symmetric with zero diagonal
//
// Besag (The Statistician 1975); Hoefling and Tibshirani (JMLR 2009). Nodewise: the same terms, each minimised alone over its own
// row of W (Ravikumar, Wainwright and Lafferty, Annals of Statistics 2010), after which two rows meet by the rule "and" or "or".
//
// With u_ti = 1 - P(x_ti | rest) the gradient of a coupling is -(2/T) sum_t (u_ti + u_tj) x_ti x_tj. A dual point is any u in
// [0, 1] with sum_t u_ti x_ti = 0 and |that gradient| <= rho, and its value is (1/T) sum H(u_ti), H the entropy of a coin: the
// fitted u, balanced and shrunk until it is one, gives the duality gap.
//
// The solver works on the pairs that are not zero or want to leave zero, where a gradient costs T times their number instead of
// T n^2; all pairs are looked at when that smaller problem is solved.
#pragma once

#include "core/optim/lasso.h"
#include "graph/ising_likelihood.h"

namespace granary::graph {

struct IsingPseudoOptions {
  double tol = 1e-6;  // on the residual, which is that of ising_likelihood.h with this gradient
  int max_iter = 2000;
};

IsingFit ising_pseudo(ConstMatrixRef x, const IsingObjective& objective, const SpinModel& start,
                      const IsingPseudoOptions& options, Monitor& monitor);

// Negative mean log pseudo-likelihood of rows x.
double pseudo_loss(ConstMatrixRef x, const SpinModel& model);

// P(x_i = +1 | rest) for every entry.
MatrixXd conditional_probabilities(ConstMatrixRef x, const SpinModel& model);

struct NodewiseResult {
  MatrixXd coefficients;  // row i: w_i. of the regression of variable i, in the units of W (not symmetric)
  VectorXd intercept;     // b
  VectorXd rho;           // the penalty of each regression
  double loss = 0;        // sum of the regressions' losses
  Convergence convergence;
};
// One penalty for all; or, with an empty objective.rho path, each regression's own penalty by EBIC(gamma) along a path of
// `n_rho`.
NodewiseResult nodewise(ConstMatrixRef x, double rho, int threads, double tol, Monitor& monitor);
NodewiseResult nodewise_ebic(ConstMatrixRef x, double gamma, int n_rho, int threads, double tol, Monitor& monitor);

// Averages the two values of each edge; "and" keeps an edge only if both are not zero.
SpinModel join_nodewise(const NodewiseResult& result, bool both);

}  // namespace granary::graph
