// How much the weights of a graph may change before another cut is best: Bilu and Linial's stability (Makarychev and Makarychev, ch. 13, Lemma 13.2 and its converse).
//
//   gamma* = min over other cuts E' of  w(E' - E*) / w(E* - E')   (multiway cut),      min of  w(E* - E') / w(E' - E*)   (max cut);
//
// the cut E* stays the only optimum for all weights w <= w' <= gamma w if and only if gamma < gamma*. Below 1, E* is not optimal to begin with.
//
//   exact   all cuts: 2^(n-1) sides by Gray code, or k^(n-k) parts
//   local   cuts that differ in one node or in two neighbours only: an upper bound of gamma*
//
// Weak stability leaves out cuts near E*: only those count that differ from E* (and from its mirror image) in more than `delta` n nodes.
#pragma once

#include "cluster/weighted_edges.h"
#include "core/base/monitor.h"

namespace granary::cluster {

enum class CutProblem { max_cut, multiway_cut };
inline Names<CutProblem> names(CutProblem) { return {{CutProblem::max_cut, "max_cut"}, {CutProblem::multiway_cut, "multiway_cut"}}; }

struct CutStabilityOptions {
  CutProblem problem = CutProblem::max_cut;
  bool exact = true;  // otherwise local
  double delta = 0;
};
template <class V>
void fields(V& v, CutStabilityOptions& t) {
  v("problem", t.problem);
  v("exact", t.exact);
  v("delta", t.delta);
}

struct CutStability {
  double gamma = 0;    // infinite where no other cut has anything that this one lacks
  bool exact = false;  // otherwise an upper bound
  VectorXi part;       // the cut that comes nearest; empty if gamma is infinite
  double lost = 0, won = 0;  // w(E* - E'), w(E' - E*) for it
};
template <class V>
void fields(V& v, CutStability& t) {
  v("gamma", any_number(t.gamma));
  v("exact", t.exact);
  v("part", positions(t.part));
  v("lost", t.lost);
  v("won", t.won);
}
// part: 0, 1 for a max cut; 0 .. k - 1 for a multiway cut, terminal i in part i.
CutStability cut_stability(const WeightedEdges& g, const VectorXi& part, const std::vector<Index>& terminals, const CutStabilityOptions& options, Monitor& monitor);

// How many cuts `exact` looks at.
double cut_count(Index nodes, Index terminals, CutProblem problem);

}  // namespace granary::cluster
