// The DAG with the lowest sum of local scores.
//
//   minimise  sum_v f_v(parents of v)   over acyclic choices, the parent set of v taken from table[v]
//
// Exact searches (the problem is split into connected components first):
//   subset   best(U) = min_{v in U} best(U - v) + min_{S in U - v} f_v(S) over all subsets U of the component: p 2^p steps,
//            up to 25 nodes (Silander, Myllymaki 2006);
//   tree     dynamic programming along a tree decomposition of the graph of possible arcs, linear in p when its width and the
//            degrees are bounded (Ordyniak, Szeider, JAIR 2013; Loh, Buehlmann, JMLR 15, 2014, section 6.2);
//   family   the same along a decomposition in which every family {v} + parents lies in one bag: far fewer states per bag, wider
//            bags (Korhonen, Parviainen 2013).
// Others: order and greedy (see causal_dag_greedy.h). Acyclicity dropped, sum_v min f_v is a lower bound: for the inexact
// searches it certifies how far the answer can be from the optimum.
#pragma once

#include <string>
#include <vector>

#include "core/base/convergence.h"
#include "core/base/fields.h"
#include "core/graph/graph.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "graph/causal_dag_scores.h"

namespace granary::graph {

// The last two are orders read off the covariance: causal_dag.h knows them, search_dag() does not.
enum class DagSearch { automatic, subset, tree, family, order, greedy, top_down, bottom_up };
inline Names<DagSearch> names(DagSearch) {
  return {{DagSearch::automatic, "auto"}, {DagSearch::subset, "subset"}, {DagSearch::tree, "tree"}, {DagSearch::family, "family"},
          {DagSearch::order, "order"}, {DagSearch::greedy, "greedy"}, {DagSearch::top_down, "topdown"}, {DagSearch::bottom_up, "bottomup"}};
}

struct DagSearchOptions {
  DagSearch method = DagSearch::automatic;
  int subset_limit = 22;     // automatic: up to this size subsets, beyond the tree
  double max_memory = 4e9;   // bytes, for the subset search
  double max_records = 1e6;  // per bag, for the tree searches
  double max_kept = 4e7;     // over all bags
  int restarts = 10;         // order and greedy
  int max_iter = 10000;      // moves per restart
  int tabu = 10;             // moves without progress before a restart
};

struct ComponentSearch {
  std::vector<int> nodes;
  DagSearch method;
  bool exact;
  int width;       // of the decomposition used or tried; -1 when none was needed
  double records;  // states visited: subsets or records
  double orders;   // orders of the nodes that reach the optimum, where the search over subsets counts them; else NaN
};

template <class V>
void fields(V& v, ComponentSearch& t) {  // a line of a table
  int nodes = static_cast<int>(t.nodes.size());
  v("nodes", nodes);
  v("search", t.method);
  v("exact", t.exact);
  v("width", t.width);
  v("states", t.records);
  v("orders", t.orders);
}

struct DagSearchResult {
  std::vector<std::vector<int>> parents;  // increasing
  double score = 0;
  double lower_bound = 0;
  bool exact = true;
  std::vector<ComponentSearch> components;
  double seconds = 0;
};

template <class V>
void fields(V& v, DagSearchResult& t) {
  v("parents", positions(t.parents));
  v("score", t.score);
  v("lower_bound", t.lower_bound);
  v("exact", t.exact);
  v("components", columns(t.components));
  v("seconds", t.seconds);
}

DagSearchResult search_dag(const ScoreTable& table, const DagSearchOptions& options, Monitor& monitor, Rng& rng);

// The pieces, each on one connected component of the possible arcs. `chosen[v]` receives the parent set (bits of table[v]).
using Choice = std::vector<std::uint64_t>;
double subset_bytes(const ScoreTable& table, const std::vector<int>& nodes);
// Returns the number of orders of the nodes along which the optimum is reached, up to rounding; NaN beyond 20 nodes, where
// counting would take as much memory again.
double subset_search(const ScoreTable& table, const std::vector<int>& nodes, Choice& chosen, Monitor& monitor);

struct TreeStats {
  int width = -1;
  double records = 0;
  double largest = 0;  // records of the largest bag
  bool finished = false;
};
// Gives up (finished = false) once the limits on records are passed, or if a bag has more than eight nodes.
TreeStats tree_search(const ScoreTable& table, const std::vector<int>& nodes, const DagSearchOptions& options, Choice& chosen,
                      Monitor& monitor);
TreeStats family_search(const ScoreTable& table, const std::vector<int>& nodes, const DagSearchOptions& options, Choice& chosen,
                        Monitor& monitor);

MixedGraph possible_arcs(const ScoreTable& table);      // i -- j if either may be a parent of the other
MixedGraph possible_families(const ScoreTable& table);  // all families made cliques

double score_of(const ScoreTable& table, const std::vector<int>& nodes, const Choice& chosen);

}  // namespace granary::graph
