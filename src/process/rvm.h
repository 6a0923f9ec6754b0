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
// Both take s2 = |y - Phi mu|^2 / (n - sum gamma) where that raises the evidence, and shorten steps that lower it: half of the way of
// the second, in logarithms, is the minorisation step of Wipf and Nagarajan (NIPS 2007), which cannot lower it. Where either ends below
// equal precisions of all columns, or not at a stationary point, an active set goes on (rvm_active.cpp). "Converged" says that
// |a_k mu_k^2 - gamma_k| <= 1e-4 for every column in use.
// Columns and y are scaled inside; results are in the units given.
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/fields.h"
#include "core/base/types.h"
#include "core/kernel/kernel.h"

namespace granary::process {

enum class RvmAlgorithm { fast, fixed_point };
inline Names<RvmAlgorithm> names(RvmAlgorithm) { return {{RvmAlgorithm::fast, "fast"}, {RvmAlgorithm::fixed_point, "fixed_point"}}; }

struct RvmOptions {
  RvmAlgorithm algorithm = RvmAlgorithm::fast;
  double noise = 0;    // s2; 0: learn it
  double prune = 1e9;  // a_k beyond it, for columns of unit mean square and y likewise, are infinite
  double tol = 1e-6;   // on the change of every log a_k and log s2
  int max_iter = 10000;
};
template <class V>
void fields(V& v, RvmOptions& t) {
  v("algorithm", t.algorithm);
  v("noise_var", t.noise);
  v("prune", t.prune);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
}

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
template <class V>
void fields(V& v, RvmResult& t) {
  v("relevant", positions(t.relevant));
  v("precision", t.precision);
  v("mean", t.mean);
  v("gamma", t.gamma);
  v("covariance", t.covariance);
  v("noise", t.noise);
  v("log_evidence", t.log_evidence);
  v("trace", t.trace);
  v("convergence", t.convergence);
}

RvmResult rvm(ConstMatrixRef phi, ConstVectorRef y, const RvmOptions& options, Monitor& monitor);

// With kernels at centres for the columns, after a column of ones where there is a bias.
struct RvmData {
  MatrixView x{nullptr, 0, 0}, centers{nullptr, 0, 0};
  VectorView y{nullptr, 0};
  KernelSpec kernel;
  bool bias = true;
};
template <class V>
void fields(V& v, RvmData& t) {
  v("x", t.x);
  v("centers", t.centers);
  v("y", t.y);
  v("kernel", t.kernel);
  v("bias", t.bias);
}
MatrixXd rvm_basis(const Kernel& kernel, ConstMatrixRef x, ConstMatrixRef centers, bool bias);
RvmResult rvm_fit(const RvmData& data, const RvmOptions& options, Monitor& monitor);

// A fit that was kept: weights ~ N(coefficients, covariance) of the basis functions in use, the bias first where `relevant` has 0.
struct RvmState {
  MatrixView x{nullptr, 0, 0}, vectors{nullptr, 0, 0};
  VectorView y{nullptr, 0};
  KernelSpec kernel;
  VectorXd coefficients, precision;
  MatrixXd covariance;
  std::vector<int> relevant;
  double noise_var = 1;
};
template <class V>
void fields(V& v, RvmState& t) {
  v("x", t.x);
  v("vectors", t.vectors);
  v("y", t.y);
  v("kernel", t.kernel);
  v("coefficients", t.coefficients);
  v("precision", t.precision);
  v("covariance", t.covariance);
  v("relevant", t.relevant);
  v("noise_var", t.noise_var);
}
void check(const RvmState& t);

struct RvmPredictOptions {
  bool variance = false;
  bool augment = false;  // a basis function centred on each new row, given all others (Rasmussen and Quinonero-Candela 2005)
};
template <class V>
void fields(V& v, RvmPredictOptions& t) {
  v("variance", t.variance);
  v("augment", t.augment);
}
struct RvmPrediction {
  VectorXd mean, variance;  // of the function, without noise; the latter where asked for
};
template <class V>
void fields(V& v, RvmPrediction& t) {
  v("mean", t.mean);
  v("variance", t.variance);
}
RvmPrediction rvm_predict(const RvmState& state, ConstMatrixRef newx, const RvmPredictOptions& options, Monitor& monitor);

}  // namespace granary::process
