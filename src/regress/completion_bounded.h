// Completion with predictions inside a known range: a sigmoid link, or a constraint on every entry.
//
//   bounded   minimise  sum_S w (X - phi(U'V))^2 + lambda/2 (||U||^2 + ||V||^2),   phi(z) = lo + (hi - lo) / (1 + exp(-z)) (6)
//   max-abs   minimise  sum_S w (X - W)^2 + lambda ||W||_tr   subject to  lo <= W <= hi   (or ||W||_tr <= t): the class of
//   Theorem 4 dual      max <G, W> over ||W||_tr <= t, |W_ij| <= b   =   min over Y + Z = G of  b ||Y||_1 + t ||Z||_sp Lemma 12
//
// The first is not convex; it is solved by L-BFGS on factors whose rank grows until the gradient with respect to W = U'V has no
// singular value above lambda outside W: a stationary point of the problem in W. The other two are convex and dense, by ADMM,
// each with a duality gap.
#pragma once

#include "regress/completion.h"

namespace granary::regress {

double sigmoid_link(double z, double lo, double hi);

// f and its gradient with respect to both factors; for tests and the solver. `factors` is U then V, column by column.
double bounded_objective(const ObservedCells& cells, double lo, double hi, double lambda, Index rank, const VectorXd& factors,
                         VectorXd& gradient, int threads, Monitor& monitor);
double bounded_lambda_max(const ObservedCells& cells, double lo, double hi,
                          Monitor& monitor);  // U = V = 0 is stationary from there on

// w holds W = U'V; predictions are phi(W). residual: distance of the gradient from lambda times a subgradient of the trace norm.
CompletionResult complete_bounded(const ObservedCells& cells, double lo, double hi, double lambda, const Factors& start,
                                  const CompletionOptions& options, Monitor& monitor);

// `t` > 0: ||W||_tr <= t instead of the penalty.
CompletionResult complete_maxabs(const ObservedCells& cells, double lo, double hi, double lambda, double t,
                                 const CompletionOptions& options, Monitor& monitor);

struct MixedDualNorm {
  double value = 0;  // an upper bound, within `convergence.gap` of the norm
  MatrixXd z;        // the spectral part; Y = G - Z
  MatrixXd w;        // a maximiser up to the gap, with ||W||_tr <= t and |W_ij| <= b
  Convergence convergence;
};
template <class V>
void fields(V& v, MixedDualNorm& t) {
  v("value", t.value);
  v("Z", t.z);
  v("W", t.w);
  v("convergence", t.convergence);
}
MixedDualNorm mixed_dual_norm(ConstMatrixRef g, double t, double b, double tol, int max_iter, Monitor& monitor);

}  // namespace granary::regress
