// Linear-chain conditional random field with a ridge penalty, over the features of a ChainOutput.
//
//   minimise  1/2 ||w||^2 + (C/n) sum_i ( log sum_y exp <w, Psi(x_i, y)> - <w, Psi(x_i, y_i)> )
//
// Lafferty, McCallum, Pereira (ICML 2001), by L-BFGS with forward-backward. The scaling of C is that of the structured support
// vector machine. Sequences of length one make it multinomial logistic regression.
#pragma once

#include "core/optim/lbfgs.h"
#include "kernel/structured_chain.h"

namespace granary::kernel {

struct CrfOptions {
  double cost = 1;  // C
  double tol = 1e-6;
  int max_iter = 1000;
  int threads = 1;
};
template <class V>
void fields(V& v, CrfOptions& t) {
  v("cost", t.cost);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("threads", t.threads);
}

struct CrfResult {
  VectorXd weights;
  double objective = 0;
  VectorXd log_likelihood;  // log P(y_i | x_i)
  Convergence convergence;
};
template <class V>
void fields(V& v, CrfResult& t) {
  v("weights", t.weights);
  v("objective", t.objective);
  v("loglik", t.log_likelihood);
  v("convergence", t.convergence);
}

CrfResult structured_crf(const Output& output, const CrfOptions& options, Monitor& monitor);  // InputError unless of sequences
CrfResult structured_crf(const ChainOutput& output, const CrfOptions& options, Monitor& monitor);

}  // namespace granary::kernel
