// Multi-task averaging: the means of T groups ("tasks") estimated together.
//
//   minimise  (1/T) sum_t sum_i (y_ti - m_t)^2 / sigma_t^2  +  gamma / (2 T^2) sum_{r,s} A_rs (m_r - m_s)^2
//   solution  m = W ybar,   W = (I + (gamma / T) Sigma L)^-1,   Sigma = diag(s),  s_t = sigma_t^2 / N_t,   L = diag(A 1) - A (9)
//
// Feldman, Gupta and Frigyik (JMLR 2014); equation numbers are theirs. Their objective (4) lacks the factor 1/2 and would give
// 2 gamma in (9), which is what they use. W is right-stochastic: every estimate is a convex combination of the sample means.
//
// For A = a 11' the solution needs O(T) operations: with tau^2 = 1 / (gamma a), w_t = tau^2 / (tau^2 + s_t) and
// xi = sum w_t ybar_t / sum w_t it is m_t = w_t ybar_t + (1 - w_t) xi, the best linear unbiased prediction of a random-effects
// model with between-task variance tau^2. MTA Constant has tau^2 = var(ybar), MTA Minimax tau^2 = range(ybar)^2 / 2.
#pragma once

#include <vector>

#include "core/base/monitor.h"
#include "core/base/fields.h"
#include "core/base/types.h"
#include "core/linalg/design.h"

namespace granary::regress {

using ConstCodesRef = Eigen::Ref<const VectorXi>;

// Number, mean and sum of squares about the mean of every task, in one pass; `task` is 0-based.
struct TaskMoments {
  VectorXd n, mean, ss;
};
template <class V>
void fields(V& v, TaskMoments& t) {
  v("n", t.n);
  v("mean", t.mean);
  v("ss", t.ss);
}
TaskMoments task_moments(ConstVectorRef y, ConstCodesRef task, Index tasks);

struct MeansResult {
  VectorXd estimate;   // W ybar
  VectorXd variance;   // diag(W Sigma W'), as if A were known; empty where not asked for
  VectorXd posterior;  // diag(W Sigma): posterior variance under the Gaussian prior with precision (gamma / T) L; empty likewise
  VectorXd weight;     // A = a 11' only: w
  double target = 0;   // A = a 11' only: xi
};
template <class V>
void fields(V& v, MeansResult& t) {
  v("estimate", t.estimate);
  v("variance", t.variance);
  v("posterior", t.posterior);
  v("weight", t.weight);
  v("target", t.target);
}

// A = a 11' given through tau2 = 1 / (gamma a), which may be zero (all means are equal) or infinite (gamma = 0).
MeansResult shrink_to_common(ConstVectorRef mean, ConstVectorRef s, double tau2);
MatrixXd common_weights(ConstVectorRef s, double tau2);  // its W

// X with (I + diag(g) L(A)) X = b for a full matrix A >= 0 that need not be symmetric, g >= 0. Elimination without subtractions
// (Grassmann, Taksar and Heyman 1985): entries of A that differ by many orders of magnitude cost no accuracy, and X is
// non-negative where b is.
MatrixXd laplacian_solve(ConstMatrixRef a, ConstVectorRef g, ConstMatrixRef b, Monitor& monitor);

// Equation (9) for a symmetric A, full or sparse. `with_variance`: T more right-hand sides for `variance` and `posterior`.
MeansResult shrink_along(ConstMatrixRef a, ConstVectorRef mean, ConstVectorRef s, double gamma, bool with_variance,
                         Monitor& monitor);
MeansResult shrink_along(const ConstSparseMap& a, ConstVectorRef mean, ConstVectorRef s, double gamma, bool with_variance,
                         Monitor& monitor);
MeansResult shrink_along(const Design& a, ConstVectorRef mean, ConstVectorRef s, double gamma, bool with_variance, Monitor& monitor);
MatrixXd along_weights(ConstMatrixRef a, ConstVectorRef s, double gamma, Monitor& monitor);

// A_rs = 2 / (c_r - c_s)^2 for centres c: the sample means, or the true ones (22). Equal centres are infinitely similar: their
// tasks are merged, and get one estimate.
struct PairwiseSystem {
  std::vector<int> cluster;  // of each task
  VectorXd s;                // of each cluster's precision-weighted mean
  MatrixXd a;                // between clusters: sum over pairs of tasks
  MatrixXd share;            // tasks x clusters: weight of each task in its cluster's mean
};
PairwiseSystem pairwise_system(ConstVectorRef centres, ConstVectorRef s);
MatrixXd pairwise_weights(ConstVectorRef centres, ConstVectorRef s, double gamma, Monitor& monitor);  // W

// tr(W Sigma W') + |(I - W) mu|^2, one term per task                                                                        (16)
VectorXd linear_risk(ConstVectorRef mu, ConstVectorRef s, ConstMatrixRef w);
VectorXd common_risk(ConstVectorRef mu, ConstVectorRef s, double tau2);  // the same for A = a 11', O(T)

}  // namespace granary::regress
