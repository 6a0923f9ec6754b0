// Concave penalties on whole groups of entries, by graphical lassos whose weights follow the estimate.
//
//   hierarchical  sum_k T_k ( -log det X_k + tr(S_k X_k) ) + lambda sum_{i != j} sqrt( sum_k |X_k,ij| )
//   scale free    -log det X + tr(S X) + alpha sum_i { log( ||X_{i,-i}||_1 + e_i ) + X_ii / e_i },   e_i = 1 / S_ii
//
// Both are concave in |X|, so the tangent at the current estimate lies above them, and the graphical lasso with the weights
//
//   lambda / (2 T_k sqrt(sum_k |X_k,ij|))     and     alpha/2 (1 / (||X_i||_1 + e_i) + 1 / (||X_j||_1 + e_j))
//
// decreases the objective. There is no dual, hence no gap: a stationary point is all that is promised.
//
// Guo, Levina, Michailidis and Zhu (Biometrika 2011) for the first, which starts at (S_k + nu I)^-1; a pair that is zero in all
// tasks stays so. Liu and Ihler (AISTATS 2011) for the second, whose e_i, there the current X_ii, is kept fixed here: then the
// objective is one and the same in all steps. The sums run over ordered pairs; their alpha is half of ours.
#pragma once

#include "graph/glasso.h"
#include "graph/multi.h"

namespace granary::graph {

struct ReweightedOptions {
  double tol = 1e-6;  // on the relative decrease of the objective in a step, and of the graphical lassos
  int max_iter = 50;  // steps
  int threads = 1;
  double start_ridge = 0.01;  // nu, in units of the mean variance
  bool covariance = true;     // scale free: keep W along a path; a single fit has it anyway
};
template <class V>
void fields(V& v, ReweightedOptions& t) {
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("threads", t.threads);
  v("start_ridge", t.start_ridge);
  v("covariance", t.covariance);
}

MultiResult hierarchical(const MultiProblem& problem, double lambda, const ReweightedOptions& options, Monitor& monitor);

// The smallest lambda whose first step leaves no edge.
double hierarchical_top(const MultiProblem& problem, const ReweightedOptions& options);

GlassoResult scale_free(const ConstMatrixRef& s, double alpha, const ReweightedOptions& options, Monitor& monitor);
std::vector<GlassoResult> scale_free_path(const ConstMatrixRef& s, const std::vector<double>& alpha, const ReweightedOptions& options,
                                          Monitor& monitor);

}  // namespace granary::graph
