// How safely a DAG is told from the others.
//
//   xi = min over DAGs without some arc of G0 of score(G) - score(G0)                     (Loh, Buehlmann 2014, equations 11 and
//   22)
//
// A DAG that does not contain G0 lacks one of its arcs, so xi is the smallest, over the arcs of G0, of the optimum with that arc
// forbidden: one exact search per arc instead of a walk over all DAGs. The same search with an arc reversed gives the price of an
// alternative.
//
//   gamma = min_{G without some arc of G0} max_{G1 containing G0} (score(G) - score(G1)) / #{nodes whose parents differ}     (28)
//
// has no such shortcut and is enumerated, for at most five nodes.
#pragma once

#include <functional>
#include <vector>

#include "graph/causal_dag_search.h"

namespace granary::graph {

struct ArcAlternative {
  int from, to;
  double without;   // best score of a DAG without from -> to: reversed or absent
  double reversed;  // with to -> from; infinity where that is not allowed
  double absent;    // with neither
};
template <class V>
void fields(V& v, ArcAlternative& t) {
  v("from", positions(t.from));
  v("to", positions(t.to));
  v("without", t.without);
  v("reversed", t.reversed);
  v("absent", t.absent);
}
std::vector<ArcAlternative> arc_alternatives(ConstMatrixRef g, const SearchSpace& space, const ScoreTable& table,
                                             const std::vector<std::vector<int>>& parents, const ScoreOptions& scores,
                                             const DagSearchOptions& options, Monitor& monitor, Rng& rng);
double best_without(const ScoreTable& table, int from, int to, const DagSearchOptions& options, Monitor& monitor, Rng& rng);

// All DAGs on p <= 5 nodes as parent sets (bit masks): 1, 3, 25, 543, 29281.
std::vector<std::vector<unsigned>> all_dags(int p);

// score(G) = sum of local(v, parents as a mask).
double rescaled_gap(int p, const std::vector<unsigned>& truth, const std::function<double(int, unsigned)>& local,
                    const std::vector<Bitset>& allowed, Monitor& monitor);

// Everything about a linear DAG with known parents and error variances, on its covariance G.
struct GapOptions {
  VectorXd variance;  // error variances: with these as weights the score of the truth is p
  VectorXd weights;   // those of the search that is asked about
  std::vector<std::vector<int>> parents;
};
template <class V>
void fields(V& v, GapOptions& t) {
  v("variance", t.variance);
  v("weights", t.weights);
  v("parents", positions(t.parents));
}
struct DagGap {
  double xi = 0, score = 0;
  double gamma = Convergence::unknown;  // up to five nodes
  bool found = false;                   // the search with `weights` finds a DAG that contains the true one
  std::vector<ArcAlternative> arcs;
};
template <class V>
void fields(V& v, DagGap& t) {
  v("xi", t.xi);
  v("score", t.score);
  v("gamma", t.gamma);
  v("found", t.found);
  v("arcs", columns(t.arcs));
}
DagGap dag_gap(ConstMatrixRef g, const SearchSpace& space, const GapOptions& options, Monitor& monitor);

}  // namespace granary::graph
