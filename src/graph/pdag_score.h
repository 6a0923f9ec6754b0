// The Gaussian BIC of a CPDAG: that of any DAG in its class.
//
//   -2 l + log(n) k,     l = -n/2 (sum_j log v_j + p log 2 pi + p)
//
// with v_j the residual variance of the regression of j on its parents (divisor n): the fitted covariance has S as its own regressions, so
// the quadratic part of the likelihood is n p. Edges i <-> j, about which v-structures disagreed, count as undirected. A graph that no DAG
// extends has no score.
#pragma once

#include "core/base/fields.h"
#include "core/base/types.h"
#include "core/graph/graph.h"

namespace granary::graph {

// k: edges, means and variances; or means and the entries of the fitted covariance that are not zero.
enum class ParameterCount { edges, covariance };
inline Names<ParameterCount> names(ParameterCount) { return {{ParameterCount::edges, "edges"}, {ParameterCount::covariance, "covariance"}}; }

struct PdagScoreOptions {
  double n = 0;
  ParameterCount penalty = ParameterCount::edges;
};
template <class V>
void fields(V& v, PdagScoreOptions& t) {
  v("n", t.n);
  v("penalty", t.penalty);
}

struct PdagScore {
  bool extendable = false;
  double loglik = 0, parameters = 0, score = 0;  // NaN where not extendable
};
template <class V>
void fields(V& v, PdagScore& t) {
  v("loglik", t.loglik);
  v("parameters", t.parameters);
  v("score", t.score);
  v("extendable", t.extendable);
}
PdagScore score_pdag(const MixedGraph& pdag, ConstMatrixRef s, const PdagScoreOptions& options);

}  // namespace granary::graph
