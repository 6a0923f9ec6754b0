// Orienting a skeleton without hidden variables: v-structures, then Meek's rules (Meek 1995), in the versions of Colombo and
// Maathuis (JMLR 2014, sections 3.1 and 4.3).
//
//   R1  c -> a - b,  c and b not adjacent, triple (c, a, b) not ambiguous                            =>  a -> b
//   R2  a -> c -> b, a - b                                                                           =>  a -> b
//   R3  a - c -> b,  a - d -> b, a - b, c and d not adjacent, triple (c, a, d) not ambiguous          =>  a -> b
//   R4  a - c -> d -> b, a - b, a and d adjacent, c and b not, (c, a, b) not ambiguous                =>  a -> b  (background
//   knowledge only)
//
// When v-structures or rules disagree about an edge:
//   overwrite  the last v-structure wins            first  the first one wins
//   lists      all v-structures, then all edges to which a rule applies, are oriented at once; where they disagree the edge
//   becomes
//              a <-> b, which has no causal reading and is not used by later rules. The result does not depend on any order.
#pragma once

#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "graph/colliders.h"
#include "graph/knowledge.h"

namespace granary::graph {

enum class ConflictRule { lists, overwrite, first };
inline Names<ConflictRule> names(ConflictRule) {
  return {{ConflictRule::lists, "lists"}, {ConflictRule::overwrite, "overwrite"}, {ConflictRule::first, "first"}};
}

struct PdagOrientation {
  MixedGraph graph;
  std::vector<std::pair<int, int>> conflicts;  // edges about which there was disagreement, i < j, sorted
};

PdagOrientation orient_pdag(const std::vector<Bitset>& adjacent, const std::vector<Triple>& colliders, const TripleSet& ambiguous,
                            const Knowledge& knowledge, ConflictRule rule, Monitor& monitor);

}  // namespace granary::graph
