// Gaussian process latent variable model: a map of N rows in q dimensions.
//
//   maximise  L(X, theta) - 1/2 sum_nk x_nk^2      (gplvm_likelihood.h; the last term is the prior x_n ~ N(0, I))
//
// Lawrence, Probabilistic non-linear principal component analysis with Gaussian process latent variable models, JMLR 6 (2005).
//
//   gplvm_full     over all X and theta at once, by L-BFGS in the place of the paper's scaled conjugate gradients; theta as
//   logarithms
//                  in the place of log(1 + exp). O(N^3) per step
//   gplvm_sparse   Algorithm 1: an active set I of d rows by the informative vector machine; L of (Y_I, X_I) in theta and X_I; a
//   new active
//                  set; the other rows one by one where log p(y_j | x_j, I) is largest. O(N d^2) per round. Departures: once
//                  active rows have moved, the others are placed before a set is chosen anew; and a round that lowers the
//                  objective is taken back and the next one makes half as many steps, as few rows with positions of their own
//                  overfit and lose the others. A third: at the end all positions climb at once (gplvm_sparse_likelihood.h)
//
// Binary columns (bernoulli): sites by assumed density filtering, gradients with the sites fixed, in rounds. The likelihood then
// is the product of the normalisers met while filtering. Whatever the method, the best round is returned.
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "process/gplvm_likelihood.h"
#include "process/gplvm_posterior.h"

namespace granary::process {

enum class GplvmMethod { full, sparse };
inline Names<GplvmMethod> names(GplvmMethod) { return {{GplvmMethod::full, "full"}, {GplvmMethod::sparse, "sparse"}}; }

struct GplvmOptions {
  GplvmMethod method = GplvmMethod::full;
  OutputNoise noise = OutputNoise::gaussian;
  VectorXd offset;       // of binary columns
  double nugget = 1e-6;  // floor under the noise, in units of the targets' variance
  bool prior = true;
  int max_iter = 1000;  // L-BFGS steps; of each round where there are rounds
  double tol = 1e-7;    // relative change of the objective, five times in a row
  int threads = 1;
  // Rounds: gplvm_sparse and binary columns.
  int rounds = 15;           // T
  Index active = 100;        // d
  bool move_active = true;   // optimise X_I too, not theta alone
  int max_iter_point = 100;  // L-BFGS steps for a row outside the active set
  bool turn = false;         // the map to its principal axes
};
template <class V>
void fields(V& v, GplvmOptions& t) {
  v("method", t.method);
  v("noise", t.noise);
  v("offset", t.offset);
  v("nugget", t.nugget);
  v("prior", t.prior);
  v("max_iter", t.max_iter);
  v("tol", t.tol);
  v("n_rounds", t.rounds);
  v("active", t.active);
  v("move_active", t.move_active);
  v("turn", t.turn);
  v("threads", t.threads);
}

struct GplvmResult {
  MatrixXd latent;            // X
  VectorXd parameters;        // log theta
  double log_likelihood = 0;  // L, without the prior
  double objective = 0;       // with it
  VectorXd trace;             // objective after each round, or at each evaluation that improved on the last
  std::vector<Index> active;  // all rows for gplvm_full
  NoisyTargets targets;       // of the active rows: sites for binary columns
  Convergence convergence;
};
template <class V>
void fields(V& v, GplvmResult& t) {
  v("latent", t.latent);
  v("log_parameters", t.parameters);
  v("loglik", t.log_likelihood);
  v("objective", t.objective);
  v("trace", t.trace);
  v("active", positions(t.active));
  v("sites", t.targets.y);
  v("site_noise", t.targets.noise);
  v("convergence", t.convergence);
}

GplvmResult gplvm_full(const NoisyTargets& targets, ConstMatrixRef start, const Kernel& kernel, const GplvmOptions& options,
                       Monitor& monitor);
GplvmResult gplvm_sparse(const NoisyTargets& targets, ConstMatrixRef start, const Kernel& kernel, const GplvmOptions& options,
                         Monitor& monitor);

}  // namespace granary::process
