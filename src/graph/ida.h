// Effects of an intervention when only the CPDAG is known: Maathuis, Kalisch, Buehlmann (Annals of Statistics 2009), local
// version.
//
// The graph leaves open which undirected neighbours of x are its parents. Every set S of them that, directed into x with the
// others directed away, makes no new v-structure at x (its members are adjacent to each other and to the parents of x) is
// possible; each gives the effect of x on y as the coefficient of x in the regression of y on x, pa(x) and S, or 0 if y is among
// those.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/graph/graph.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::graph {

struct PossibleEffects {
  std::vector<std::vector<int>> parents;  // pa(x) and S for each possible S, sizes of S increasing, then lexicographic
  MatrixXd effects;                       // one row per set, one column per target
};
template <class V>
void fields(V& v, PossibleEffects& t) {
  v("parents", positions(t.parents));
  v("effects", t.effects);
}
struct EffectQuestion {
  int cause = 0;
  std::vector<int> targets;
};
template <class V>
void fields(V& v, EffectQuestion& t) {
  v("cause", positions(t.cause));
  v("targets", positions(t.targets));
}

// `pdag` has directed, undirected and perhaps bidirected edges; the latter (conflicts) are read as neither parent nor child.
PossibleEffects possible_effects(const MixedGraph& pdag, ConstMatrixRef covariance, const EffectQuestion& question, Monitor& monitor);

}  // namespace granary::graph
