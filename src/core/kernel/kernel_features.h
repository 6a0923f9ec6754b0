// A kernel matrix as features: K ~ Z Z' by pivoted incomplete Cholesky (greedy_variance.h), and centred, H K H ~ (H Z)(H Z)' with
// H = I - 11'/n, which is never formed.
//
// With P the picked points and L L' = K_PP, the feature map is phi(x) = L^-1 k(x_P, x): row i of Z is phi(x_i), and a linear
// function w'(phi(x) - mean) of the centred features is sum_P alpha_p k(x_p, x) - w'mean with alpha = L^-T w.
//
// Fine and Scheinberg (JMLR 2001); Bach and Jordan (JMLR 2002), section 4.2. O(n d^2) for rank d.
#pragma once

#include <vector>

#include "core/linalg/greedy_variance.h"
#include "core/kernel/kernel.h"
#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

struct KernelFeatures {
  MatrixXd values;  // n x d: H Z, or Z where `centred` was false
  bool centred = true;
  VectorXd mean;              // of the columns of Z
  std::vector<Index> pivots;  // P, in the order picked
  MatrixXd root;              // L, lower triangular
  VectorXd left;              // k(x_i, x_i) - |z_i|^2
  double trace = 0;           // of K
  double residual = 0;        // tr(K - Z Z'), the nuclear norm of the error

  VectorXd coefficients(ConstVectorRef weights) const;  // alpha
};
template <class V>
void fields(V& v, KernelFeatures& t) {
  v("values", t.values);
  v("pivots", positions(t.pivots));
  v("root", t.root);
  v("mean", t.mean);
  v("trace", t.trace);
  v("residual", t.residual);
}

struct KernelFeaturesOptions {
  double tol = 1e-5;   // stop once the residual is at most tol times the trace
  Index max_rank = 0;  // 0: no bound
  bool centred = true;
};
template <class V>
void fields(V& v, KernelFeaturesOptions& t) {
  v("rank_tol", t.tol);
  v("max_rank", t.max_rank);
}

// InputError where the kernel turns out not to be positive semi-definite. Noise on the diagonal (white) is left out.
KernelFeatures kernel_features(const Kernel& kernel, ConstMatrixRef x, const KernelFeaturesOptions& options, Monitor& monitor);
// The same from a kernel matrix.
KernelFeatures kernel_features(ConstMatrixRef gram, const KernelFeaturesOptions& options, Monitor& monitor);

// min_j sum_i k(x_i, x_j), exactly: the features bound every row sum, and only those that may be the smallest are summed.
// `features` are those of this kernel and these points.
double smallest_row_sum(const KernelFeatures& features, const KernelColumn& column, Monitor& monitor);
double smallest_row_sum(const KernelFeatures& features, const Kernel& kernel, ConstMatrixRef x, Monitor& monitor);

}  // namespace granary
