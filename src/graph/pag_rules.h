// Orienting a PAG: the ten rules of Zhang (Artificial Intelligence 2008), complete for ancestral graphs. * stands for any mark.
//
//   R1   a *-> b o-* c, a and c not adjacent                                            =>  b -> c
//   R2   a -> b *-> c or a *-> b -> c, and a *-o c                                      =>  a *-> c
//   R3   a *-> b <-* c, a *-o d o-* c, a and c not adjacent, d *-o b                    =>  d *-> b
//   R4   a discriminating path <d, .., a, b, c> for b, b o-* c: b in the set that separated d and c  =>  b -> c,  else a <-> b
//   <-> c R5   a o-o b and an uncovered circle path <a, c, .., d, b>, a, d and b, c not adjacent           =>  all its edges and
//   a - b undirected R6   a - b o-* c                                                                    =>  b -* c R7   a -o b
//   o-* c, a and c not adjacent                                             =>  b -* c R8   a -> b -> c or a -o b -> c, and a o->
//   c                                        =>  a -> c R9   a o-> c and an uncovered p.d. path <a, b, .., c>, b and c not
//   adjacent         =>  a -> c R10  a o-> c, b -> c <- d, uncovered p.d. paths a .. b and a .. d whose second nodes differ and
//   are not adjacent =>  a -> c
//
// R5 to R7 apply under selection only. An uncovered path has no consecutive triple with adjacent ends; p.d. (potentially
// directed): no arrow at the near and no tail at the far end of any edge. Triples on the list of ambiguous ones support no rule.
// With lists every rule first collects all marks it asks for and then sets them; where a tail and an arrow are asked for, the
// arrow is set.
#pragma once

#include <functional>
#include <vector>

#include "core/graph/graph.h"
#include "graph/colliders.h"

namespace granary::graph {

struct PagRuleOptions {
  bool lists = true;
  bool selection = false;
};

// Is b in the sets that separate d and c (not_collider), out of them (collider), or is that not clear?
using Discriminator = std::function<Verdict(int d, int b, int c)>;
// RFCI looks at a discriminating path before it is used: true if an edge of it had to go, so that the rules start again.
using PathCheck = std::function<bool(const std::vector<int>& path)>;

// Applies the rules until nothing changes. `check` may be empty.
void orient_pag(MixedGraph& pag, const TripleSet& ambiguous, const Discriminator& discriminate, const PathCheck& check,
                const PagRuleOptions& options, Monitor& monitor);

// A path <first, second, .., last> that is uncovered, leaves out `avoid`, and whose every step (from, to) is `allowed`; empty if
// there is none. The edge from first to second is not checked.
std::vector<int> uncovered_path(const MixedGraph& graph, int first, int second, int last, const TripleSet& ambiguous,
                                const std::function<bool(int from, int to)>& allowed, Monitor& monitor);

}  // namespace granary::graph
