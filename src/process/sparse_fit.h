// Hyperparameters, noise and inducing inputs of a sparse Gaussian process by maximum evidence, all at once (Section 9: there is
// no need to take turns): L-BFGS in the logarithms of the positive parameters and in the inducing inputs, inside a box.
#pragma once

#include "core/base/convergence.h"
#include "core/kernel/kernel.h"
#include "core/base/monitor.h"
#include "process/gp_parameters.h"
#include "process/sparse_system.h"

namespace granary::process {

struct SparseFitOptions {
  bool learn_kernel = true, learn_noise = true, learn_inducing = false;
  MatrixXd starts;        // log parameters of the kernel, then log noise: one start per column
  VectorXd lower, upper;  // bounds of the same
  LogPrior prior;         // of the same: then the posterior mode is found
  MatrixXd box;           // 2 x columns of x: where inducing inputs may go
  int n_starts = 1;       // so many of the starts, those of the largest evidence, are followed
  int max_iter = 200;
  double tol = 1e-5;  // on the gradient, relative to the first
};

struct SparseFitResult {
  VectorXd parameters;  // log kernel parameters, log noise
  MatrixXd inducing;
  SparseState state;
  VectorXd trace;  // evidence at each evaluation of the best run
  Convergence convergence;
};

SparseFitResult sparse_fit(const SparseProblem& problem, const Kernel& kernel, const MatrixXd& inducing,
                           const SparseFitOptions& options, Monitor& monitor);

}  // namespace granary::process
