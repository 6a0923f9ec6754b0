// Causal search when there may be hidden common causes: FCI (Spirtes, Glymour, Scheines 2000; Zhang 2008) and RFCI (Colombo,
// Maathuis, Kalisch, Richardson, Annals of Statistics 2012), in the versions of Colombo and Maathuis (JMLR 2014, section 4.4).
// The result is a partial ancestral graph: a mark at the end of an edge is a tail, an arrow or a circle (not known).
//
// FCI:  skeleton; colliders; remove i - j if some subset of Possible-D-SEP(i) or (j) separates them; colliders anew; Zhang's
// rules.
//       k is in Possible-D-SEP(i) if a path i, .., k exists on which every inner node is a collider or lies in a triangle with
//       its two neighbours. All these sets are computed once and not updated. They are found by reachability along edges, which
//       also admits walks that meet a node twice: a superset, so that nothing that could separate is missed.
// RFCI: instead of Possible-D-SEP, an unshielded triple (i, j, k) is used only if both (i, j) and (j, k) are dependent given
//       sepset(i, k) \ j, and a discriminating path only if its edges stand similar tests; an edge that fails is removed.
//       (The paper prints sepset(i, j) for the former: a slip; an edge has no separating set.)
#pragma once

#include "graph/pag_rules.h"
#include "graph/pc.h"

namespace granary::graph {

struct FciOptions {
  SearchOptions search;
  ColliderOptions colliders;  // of the final orientation
  ColliderRule first_colliders =
      ColliderRule::conservative;  // FCI: before Possible-D-SEP; the stable version needs one free of order
  // FCI: whether an ambiguous triple may be a collider on the paths of Possible-D-SEP. The paper's text counts it as a non-collider
  // (false), which can leave out the very set that separates.
  bool possible_colliders = true;
  int max_possible_d_sep = std::numeric_limits<int>::max();  // FCI: largest subset that is tried
  PagRuleOptions rules;
};

ConstraintResult fci(const IndependenceTest& test, const Knowledge& knowledge, const FciOptions& options, Monitor& monitor);
ConstraintResult rfci(const IndependenceTest& test, const Knowledge& knowledge, const FciOptions& options, Monitor& monitor);

// Row i: Possible-D-SEP(i) in a graph whose colliders are oriented, without i.
std::vector<Bitset> possible_d_sep(const MixedGraph& graph, Monitor& monitor);

}  // namespace granary::graph
