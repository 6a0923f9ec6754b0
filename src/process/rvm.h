// The relevance vector machine: y = Phi w + e, e ~ N(0, s2), w_k ~ N(0, 1 / a_k), with the precisions a_k and s2 by maximum
// evidence
//
//   log p(y) = -1/2 (n log 2 pi + log|C| + y'C^-1 y),  C = s2 I + Phi A^-1 Phi'.
//
// Many a_k go to infinity, which removes their columns. A degenerate Gaussian process with kernel sum_k phi_k(x) phi_k(z) / a_k
// (Quinonero-Candela and Rasmussen, JMLR 6, 2005, Section 10.2; their (33) prints p(w|A) = N(0, A) for what is N(0, A^-1)).
//
//   fast         adds, removes or re-estimates the column that raises the evidence most (Tipping and Faul, AISTATS 2003): O(n M)
//                for a column that enters, O(M m) for every step with M columns of which m are in use
//   fixed_point  a_k = gamma_k / mu_k^2, gamma_k = 1 - a_k S_kk, for all columns at once (Tipping, JMLR 1, 2001): O(M^3) a round
//
// Both take s2 = |y - Phi mu|^2 / (n - sum gamma), the first only where that raises the evidence, which therefore never falls.
// Columns and y are scaled inside; results are in the units given.
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::process {

enum class RvmAlgorithm { fast, fixed_point };

struct RvmOptions {
  RvmAlgorithm algorithm = RvmAlgorithm::fast;
  double noise = 0;    // s2; 0: learn it
  double prune = 1e9;  // a_k beyond it, for columns of unit mean square and y likewise, are infinite
  double tol = 1e-6;   // on the change of every log a_k and log s2
  int max_iter = 10000;
};

struct RvmResult {
  std::vector<Index> relevant;  // columns in use, ascending
  VectorXd precision;           // a_k
  VectorXd mean;                // mu
  VectorXd gamma;               // how well each weight is determined by the data
  MatrixXd covariance;          // S
  double noise = 0;
  double log_evidence = 0;
  VectorXd trace;  // evidence after every step
  Convergence convergence;
};

RvmResult rvm(ConstMatrixRef phi, ConstVectorRef y, const RvmOptions& options, Monitor& monitor);

}  // namespace granary::process
