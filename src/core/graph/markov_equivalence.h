// DAGs that no test of independence can tell apart: same skeleton, same v-structures (Verma, Pearl 1990). A CPDAG stands for such
// a class: a directed edge is shared by all members, an undirected one points both ways among them.
#pragma once

#include <optional>
#include <vector>

#include "core/graph/graph.h"

namespace granary {

struct Collider {
  int left, middle, right;  // left *-> middle <-* right, left < right, not adjacent
  friend bool operator==(const Collider& a, const Collider& b) {
    return a.left == b.left && a.middle == b.middle && a.right == b.right;
  }
};
std::vector<Collider> v_structures(const MixedGraph& graph);  // ordered by middle, left, right

// The CPDAG of a DAG by Chickering's labelling (1995); InputError if `dag` is not one.
MixedGraph dag_to_cpdag(const MixedGraph& dag);

// A DAG that keeps skeleton, directed edges and v-structures of a graph with directed and undirected edges (Dor, Tarsi 1992);
// nothing if there is none.
std::optional<MixedGraph> consistent_extension(const MixedGraph& pdag);

// Orients what follows from the directed edges present (Meek 1995, rules 1 to 4; the fourth only matters with background
// knowledge). Returns the number of edges oriented. No rule undoes an orientation, so contradictory input stays contradictory.
int close_under_meek_rules(MixedGraph& pdag);

}  // namespace granary
