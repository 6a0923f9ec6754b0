// The k best DAGs, by repeated search (Lawler 1972; Murty 1968).
//
// With the best DAG of a set of DAGs at hand, the others fall into disjoint parts: part v agrees with it on the parents of the
// nodes before v and differs in those of v. Each part is a search of its own over a smaller table, so every exact search of
// causal_dag_search.h gives an exact ranking, with as many searches per DAG as there are nodes. Connected components are ranked
// by themselves and their lists merged. The table must hold dominated sets too: the second best DAG may need one.
#pragma once

#include <vector>

#include "graph/causal_dag_search.h"

namespace granary::graph {

struct RankedDag {
  double score = 0;
  std::vector<std::vector<int>> parents;  // increasing
};

struct DagRanking {
  std::vector<RankedDag> dags;  // by score, ties by parents; fewer than asked for if there are no more
  bool exact = true;
};

template <class V>
void fields(V& v, DagRanking& t) {  // for writing
  std::vector<std::vector<std::vector<int>>> parents;
  std::vector<double> scores;
  for (const RankedDag& dag : t.dags) {
    parents.push_back(dag.parents);
    scores.push_back(dag.score);
  }
  v("parents", positions(parents));
  v("scores", scores);
  v("exact", t.exact);
}

DagRanking rank_dags(const ScoreTable& table, int k, const DagSearchOptions& options, Monitor& monitor, Rng& rng);

}  // namespace granary::graph
