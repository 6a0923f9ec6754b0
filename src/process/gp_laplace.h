// Laplace's approximation of the posterior of a Gaussian process classifier.
//
//   mode of psi(f) = sum_i log p(y_i | f_i) - 1/2 (f - mu)'K^-1 (f - mu), f = mu + K a, by Newton steps in a:
//   B = I + W^1/2 K W^1/2,  b = W (f - mu) + g,  a <- b - W^1/2 B^-1 W^1/2 K b,   halved until psi grows
//   log evidence = psi - 1/2 log|B|,   A = (K^-1 + W)^-1
//
// Kuss and Rasmussen (JMLR 2005), section 3 and appendix A; the last line of their Algorithm 1 has to read A = (K^-1 + W)^-1.
// K is never factored.
#pragma once

#include "core/base/convergence.h"
#include "core/infer/ep.h"
#include "core/base/monitor.h"
#include "process/gp_classify_likelihood.h"

namespace granary::process {

struct LaplaceOptions {
  double tol = 1e-10;  // on the change of psi, relative to 1 + |psi|
  int max_iter = 100;
};

struct LaplaceResult {
  VectorXd weight;     // a = K^-1 (f - mu)
  VectorXd mode;       // f
  VectorXd curvature;  // W
  VectorXd first, slope;
  double log_evidence = 0;
  EpSolver solver;          // of K and W
  Convergence convergence;  // residual = largest |a - g|, the gradient of psi in K's metric
};

// `start`: a of a similar problem, or empty.
LaplaceResult laplace_approximation(ConstMatrixRef k, ConstVectorRef mu, ConstVectorRef y, Link link,
                                    const LaplaceOptions& options, Monitor& monitor, const VectorXd& start = {});

}  // namespace granary::process
