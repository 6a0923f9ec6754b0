// The linear causal DAG: penalty, search, error variances, pruning and least squares (Loh, Buehlmann, JMLR 15, 2014).
//
//   1. an order of the variables: the DAG with the lowest score of causal_dag_scores.h over a given space (causal_dag_search.h), or an
//      order read off the covariance (causal_dag_greedy.h)
//   2. superfluous parents dropped, coefficients and error variances by least squares (causal_dag_fit.h)
//
// The penalty per arc is (log n + 2 log p) / n (ebic) or log n / n (bic) in units of a, the common factor of the error variances: the mean
// residual variance along the top-down order, parents by a forward search with the smallest variance standing in for a.
// With weights "estimate" the error variances found become the weights of the next search until the DAG stays, at most 20 times; such a
// search tends to confirm the DAG it starts from.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "graph/causal_dag_fit.h"
#include "graph/causal_dag_gap.h"
#include "graph/causal_dag_greedy.h"
#include "graph/causal_dag_ranking.h"
#include "graph/causal_dag_search.h"

namespace granary::graph {

enum class DagWeights { given, estimate, likelihood };
inline Names<DagWeights> names(DagWeights) {
  return {{DagWeights::given, "given"}, {DagWeights::estimate, "estimate"}, {DagWeights::likelihood, "likelihood"}};
}
enum class DagPenalty { number, bic, ebic };
inline Names<DagPenalty> names(DagPenalty) { return {{DagPenalty::number, "number"}, {DagPenalty::bic, "bic"}, {DagPenalty::ebic, "ebic"}}; }

struct CausalDagOptions {
  int n = 0;  // observations behind the covariance; 0: not known
  DagWeights weighting = DagWeights::given;
  VectorXd weights;  // error variances, up to a common factor
  DagPenalty penalty_rule = DagPenalty::number;
  double penalty = 0;
  int max_parents = 8;
  DagSearch search = DagSearch::automatic;
  double max_records = 1e6;
  int restarts = 10;
  PruneRule prune = PruneRule::t_test;
  double alpha = 0.01;
  int threads = 1;
  int k = 10;  // of rankings
};
template <class V>
void fields(V& v, CausalDagOptions& t) {
  v("n", t.n);
  v("weighting", t.weighting);
  v("weights", t.weights);
  v("penalty_rule", t.penalty_rule);
  v("penalty", t.penalty);
  v("max_parents", t.max_parents);
  v("search", t.search);
  v("max_records", t.max_records);
  v("restarts", t.restarts);
  v("prune", t.prune);
  v("alpha", t.alpha);
  v("threads", t.threads);
  v("k", t.k);
}
ScoreOptions score_options(const CausalDagOptions& options);  // parents at most n - 2 where n is known
DagSearchOptions search_options(const CausalDagOptions& options);

// The space as matrices: entry (i, j) stands for i -> j.
struct SpaceSpec {
  Eigen::MatrixXi may, must, moral;  // moral empty: no condition
};
template <class V>
void fields(V& v, SpaceSpec& t) {
  v("may", t.may);
  v("must", t.must);
  v("moral", t.moral);
}
SearchSpace make_space(const SpaceSpec& spec);

struct CausalDagResult {
  DagSearchResult found;
  std::vector<std::vector<int>> parents;  // after pruning
  DagFit fit;
  double penalty = 0;  // as used
  VectorXd weights;
  int rounds = 0;  // of estimated weights
  bool settled = true;
  std::vector<int> limited, limits, singular;  // of ScoreResult
};
template <class V>
void fields(V& v, CausalDagResult& t) {
  v("found", t.found);
  v("parents", positions(t.parents));
  v("fit", t.fit);
  v("penalty", t.penalty);
  v("weights", t.weights);
  v("rounds", t.rounds);
  v("settled", t.settled);
  v("limited", positions(t.limited));
  v("limits", t.limits);
  v("singular", positions(t.singular));
}
CausalDagResult causal_dag(ConstMatrixRef g, const SearchSpace& space, const CausalDagOptions& options, Rng& rng, Monitor& monitor);

// arc_alternatives() and rank_dags() of a fit: with its penalty, weights and limits.
std::vector<ArcAlternative> arc_alternatives(ConstMatrixRef g, const SearchSpace& space, const std::vector<std::vector<int>>& parents,
                                             const CausalDagOptions& options, Monitor& monitor, Rng& rng);
DagRanking rank_dags(ConstMatrixRef g, const SearchSpace& space, const CausalDagOptions& options, Monitor& monitor, Rng& rng);

}  // namespace granary::graph
