// Matrix completion with the trace norm: the problem, its certificate, and what a solver returns.
//
//   minimise  sum_S w_ij (X_ij - W_ij)^2 + lambda ||W||_tr                                        (4)
//   =  min over U, V of  sum_S w_ij (X_ij - U_i'V_j)^2 + lambda/2 (||U||_F^2 + ||V||_F^2)         (5), when U and V have enough
//   rows minimise  sum_S w_ij (X_ij - W_ij)^2   subject to  ||W||_tr <= t                              (the same W for suitable
//   t)
//
// Shamir and Shalev-Shwartz (JMLR 15, 2014); equation numbers are theirs. Solvers:
//
//   complete_als         default: alternating ridge regressions on factors whose rank grows until the certificate holds
//   complete_softimpute  proximal gradient on W with FISTA's momentum and restarts; a truncated SVD of sparse + low rank per step
//   complete_sgd         the paper's stochastic gradient on factors
//   complete_frank_wolfe the constrained form
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "regress/completion_cells.h"

namespace granary::regress {

struct CompletionOptions {
  double tol = 1e-6;  // on the duality gap relative to the objective
  int max_iter = 2000;
  Index rank = 0;  // largest rank allowed; 0: no limit
  int threads = 1;
  int anderson = 5;  // complete_als: depth of the acceleration, 0 for plain alternation
  // complete_frank_wolfe
  bool corrective = true;  // re-optimise within the span of all atoms after each step
  // complete_sgd
  double step = 0;  // eta_0; 0: 0.1 over the root mean square of X
  int epochs = 100;
};
template <class V>
void fields(V& v, CompletionOptions& t) {
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("rank", t.rank);
  v("threads", t.threads);
  v("anderson", t.anderson);
  v("corrective", t.corrective);
  v("step", t.step);
  v("epochs", t.epochs);
}

struct CompletionResult {
  ThinSvd w;
  double objective = 0;      // of (4), or the loss of the constrained form; without the constant of repeated cells
  double loss = 0;           // sum_S w (X - W)^2
  double gradient_norm = 0;  // ||G||_sp, an upper bound up to the accuracy of Lanczos; the lambda of a constrained solution
  bool certified = false;  // the gap is within the tolerance: a global minimum, though the factors are fewer than min(rows, cols)
  std::vector<double> trace;  // objective after each iteration
  Convergence convergence;    // gap absolute; residual relative to the objective
};
template <class V>
void fields(V& v, CompletionResult& t) {
  fields(v, t.w);
  v("objective", t.objective);
  v("loss", t.loss);
  v("gradient_norm", t.gradient_norm);
  v("certified", t.certified);
  v("trace", t.trace);
  v("convergence", t.convergence);
}

// What weak duality says about W. With G = 2 w (X - W) on S, Z = s G is dual feasible when s ||G||_sp <= lambda, and
//   P(W) - D(Z),   D(Z) = <Z, X> - sum z^2 / (4 w)
// bounds the distance to the minimum; s is the best feasible scale. ||G||_sp is found in blocks: with P, Q the singular vectors
// of W, G = [P P~][G11 G12; G21 H][Q Q~]', its norm is at most that of the 2 x 2 matrix of the blocks' norms, and near the
// solution G12 and G21 vanish, so that Lanczos need only look at H, orthogonal to what is already there.
struct Certificate {
  double loss = 0;
  double objective = 0;
  double norm = 0;  // bound of ||G||_sp
  double gap = 0;
  double inner_gap = 0;  // the gap if H were zero: what is left to do at this rank
  double outside = 0;    // ||H||
  MatrixXd p, q;         // leading singular vectors of H, for as many values as were asked for
  VectorXd values;
};
struct CertificateOptions {
  Index candidates = 1;
  double tol = 1e-6;  // of Lanczos
  int threads = 1;
};
Certificate certify(const ObservedCells& cells, const ThinSvd& w, double lambda, const CertificateOptions& options,
                    Monitor& monitor);

// The floor keeps an interpolating fit, whose objective goes to zero with lambda, from asking for the impossible.
inline double gap_scale(const ObservedCells& cells, double objective) { return std::max(objective, 1e-6 * cells.total); }

// What a certificate says of an answer, as its result; certified when the gap is at most `tol` of that scale.
void take_certificate(const Certificate& seen, const ObservedCells& cells, double tol, CompletionResult& result);

// `start` may be empty (rank 0). All throw InputError for lambda <= 0.
CompletionResult complete_als(const ObservedCells& cells, double lambda, const Factors& start, const CompletionOptions& options,
                              Monitor& monitor);
CompletionResult complete_softimpute(const ObservedCells& cells, double lambda, const Factors& start,
                                     const CompletionOptions& options, Monitor& monitor);
CompletionResult complete_sgd(const ObservedCells& cells, double lambda, const Factors& start, const CompletionOptions& options,
                              Rng& rng, Monitor& monitor);

// ||W||_tr <= t by Frank-Wolfe: the linear minimiser is t p q' with the top singular pair of G, the gap t ||G||_sp - <G, W>.
CompletionResult complete_frank_wolfe(const ObservedCells& cells, double t, const Factors& start,
                                      const CompletionOptions& options, Monitor& monitor);
// The same problem by complete_als and a search for the lambda with ||W||_tr = t.
CompletionResult complete_constrained(const ObservedCells& cells, double t, const Factors& start,
                                      const CompletionOptions& options, Monitor& monitor);

// Rank-r SVD iteration without shrinkage: W <- rank-r part of P_S(X) + P_Sc(W); a stationary point of the least-squares problem.
CompletionResult hard_impute(const ObservedCells& cells, Index rank, const CompletionOptions& options, Monitor& monitor);

}  // namespace granary::regress
