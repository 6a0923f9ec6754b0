// The PC algorithm and its order-independent versions: Colombo, Maathuis, "Order-Independent Constraint-Based Causal Structure
// Learning", JMLR 15 (2014). Skeleton (skeleton.h), colliders (colliders.h), orientation (pdag_rules.h).
//
//   stable search                                   skeleton free of order            PC-stable
//   + conservative or majority colliders            v-structures too                  CPC-stable, MPC-stable
//   + lists                                         everything                        LCPC-stable, LMPC-stable
#pragma once

#include "graph/colliders.h"
#include "graph/pdag_rules.h"

namespace granary::graph {

struct PcOptions {
  SearchOptions search;
  ColliderOptions colliders;
  ConflictRule conflicts = ConflictRule::lists;
};

// What pc, fci and rfci have in common.
struct ConstraintResult {
  MixedGraph graph;
  Skeleton skeleton;  // as the search left it; for fci and rfci without the edges removed since
  std::vector<Triple> ambiguous;
  std::vector<std::pair<int, int>> conflicts;
  bool capped = false;  // the collider rules left out sets larger than allowed
  std::int64_t collider_tests = 0;
  LevelCount later;  // tests and removals after the search: Possible-D-SEP, RFCI
};

ConstraintResult pc(const IndependenceTest& test, const Knowledge& knowledge, const PcOptions& options, Monitor& monitor);

}  // namespace granary::graph
