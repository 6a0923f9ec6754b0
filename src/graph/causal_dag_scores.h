// Scores of parent sets, the raw material of every DAG search.
//
//   f_v(S) = (G_vv - G_vS G_SS^-1 G_Sv) / s_v^2 + penalty |S|      squared error (Loh, Buehlmann, JMLR 15, 2014, equation 32)
//   f_v(S) = log(G_vv - G_vS G_SS^-1 G_Sv) + penalty |S|           Gaussian likelihood, 2/n of its negative logarithm
//
// and score(DAG) = sum_v f_v(parents of v). All subsets of the candidates are scored by a walk that keeps the Schur complement
// of the members chosen so far on the candidates still to come; as half of all sets end with the last candidate, a quarter with
// the one before, ..., the cost per set is a few operations whatever the number of candidates.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/fields.h"
#include "core/graph/bitset.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::graph {

// The sets worth considering as parents of one node. A set is left out when one of its subsets scores no worse: exchanging them
// keeps a DAG a DAG, so no optimum is lost.
struct ParentSets {
  std::vector<int> candidates;      // increasing; bit i of a set stands for candidates[i]
  std::vector<std::uint64_t> sets;  // by increasing score; ties by size, then as numbers
  std::vector<double> scores;

  int position(int node) const;  // bit of a node, -1 if it is no candidate
  // The lowest score among subsets of `allowed` and the index of the set; infinity and -1 if there is none.
  int best_within(std::uint64_t allowed) const;
  std::vector<int> members(std::uint64_t set) const;
};
using ScoreTable = std::vector<ParentSets>;

// Scores made elsewhere: sets[v] the parent sets of node v, scores[v] what they score. Dominated sets stay where they are wanted.
struct ScoreSpec {
  std::vector<std::vector<std::vector<int>>> sets;
  std::vector<std::vector<double>> scores;
};
template <class V>
void fields(V& v, ScoreSpec& t) {
  v("sets", positions(t.sets));
  v("scores", t.scores);
}
ScoreTable make_table(const ScoreSpec& spec, bool dominated);

// What the DAG may look like: row v of `may` are the nodes allowed as parents of v, row v of `must` those that have to be.
struct SearchSpace {
  std::vector<Bitset> may, must;
  // Families {v} + parents(v) have to be cliques of these rows; empty: no such condition.
  std::vector<Bitset> moral;

  int nodes() const { return static_cast<int>(may.size()); }
};

struct ScoreOptions {
  VectorXd weights;  // s_v^2, up to a common factor
  double penalty = 0;
  bool likelihood = false;
  int max_parents = 8;
  double max_sets = 2e6;   // per node: `max_parents` is lowered for nodes with more
  bool dominated = false;  // keep sets that one of their subsets beats; no optimum needs them, but the second best DAG may
  int threads = 1;
};

struct ScoreResult {
  ScoreTable table;
  std::vector<int> limited;  // nodes whose largest parent set had to be smaller than max_parents, and that size
  std::vector<int> limits;
  std::vector<int> singular;  // nodes for which some sets were skipped because G_SS is singular or a residual not positive
};

ScoreResult score_parent_sets(ConstMatrixRef g, const SearchSpace& space, const ScoreOptions& options, Monitor& monitor);
ParentSets score_node(ConstMatrixRef g, const SearchSpace& space, int node, const ScoreOptions& options, int* limit,
                      bool* singular);

// Removes sets with a subset that scores no worse than `tol` above, candidates no set uses, and sorts. For scores made elsewhere.
// With tol = -infinity only sets listed twice are removed.
void drop_dominated(ParentSets& sets, double tol);

// Keeps the sets for which `wanted` holds, and the candidates that some of these use.
ParentSets keep_sets(const ParentSets& sets, const std::function<bool(std::uint64_t)>& wanted);

// Keeps the sets of `node` that hold (or, with keep = false, do not hold) `parent`.
ParentSets filter_sets(const ParentSets& sets, int parent, bool keep);

// score(DAG) from a covariance; parents[v] increasing. A singular G_SS is an InputError naming the node.
double residual_variance(ConstMatrixRef g, int node, const std::vector<int>& parents);
VectorXd regression(ConstMatrixRef g, int node, const std::vector<int>& parents);

}  // namespace granary::graph
