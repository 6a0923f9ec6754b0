// What graphs of several tasks at once have to beat (ggm_multi_baseline() in R). One fit per lambda.
//
//   separate      a graphical lasso per task: multi.h with l1 penalties alone
//   pooled        one graphical lasso for all, of the weighted mean covariance; objective and gap are those of the pooled problem, whose
//                 likelihood is the sum over tasks
//   ridge         X_k = (S_k + lambda / T_k I)^-1
//   irls          the l1,2 problem by reweighted ridges (multi_irls.h)
//   hierarchical  the concave penalty of Guo et al. (reweighted.h)
#pragma once

#include <vector>

#include "graph/multi.h"

namespace granary::graph {

enum class MultiBaseline { separate, pooled, ridge, irls, hierarchical };
inline Names<MultiBaseline> names(MultiBaseline) {
  return {{MultiBaseline::separate, "separate"}, {MultiBaseline::pooled, "pooled"}, {MultiBaseline::ridge, "ridge"},
          {MultiBaseline::irls, "irls"}, {MultiBaseline::hierarchical, "hierarchical"}};
}

struct MultiBaselineOptions {
  MultiBaseline method = MultiBaseline::separate;
  double tol = 1e-6;
  int max_iter = 100;
  int threads = 1;
};
template <class V>
void fields(V& v, MultiBaselineOptions& t) {
  v("method", t.method);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("threads", t.threads);
}

std::vector<MultiResult> multi_baseline(const MultiProblem& problem, const std::vector<double>& lambda, const MultiBaselineOptions& options,
                                        Monitor& monitor);

// `n` penalties from the smallest that leaves no edge (ridge: the largest weighted variance) down to `ratio` of it.
struct MultiBaselineGrid {
  MultiBaseline method = MultiBaseline::separate;
  int n = 20;
  double ratio = 0.05;
};
template <class V>
void fields(V& v, MultiBaselineGrid& t) {
  v("method", t.method);
  v("n", t.n);
  v("ratio", t.ratio);
}
std::vector<double> multi_baseline_path(const MultiProblem& problem, const MultiBaselineGrid& grid);

}  // namespace granary::graph
