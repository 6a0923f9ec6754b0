// d-separation in DAGs, m-separation in mixed graphs and plain separation in undirected ones: they are one reachability.
//
// A walk connects given Z when every collider on it (an arrow at the node on both sides) is in Z and every other inner node is
// not. This is the same as asking for a path whose colliders are ancestors of Z, since a walk may go down to Z and come back.
// Nodes are visited at most twice, once per kind of mark they were entered by (Bayes-ball; Shachter 1998, Richardson 2003), 64
// edges at a time.
#pragma once

#include "core/graph/graph.h"

namespace granary {

// The nodes outside `given` that some node of `from` is connected to; includes `from`. InputError on circle marks, whose
// meaning is open, and when `from` meets `given`.
Bitset m_connected(const MixedGraph& graph, const Bitset& from, const Bitset& given);

bool m_separated(const MixedGraph& graph, const Bitset& x, const Bitset& y, const Bitset& given);
bool m_separated(const MixedGraph& graph, int x, int y, const Bitset& given);

// As m_separated, for graphs whose edges are all directed (InputError otherwise).
bool d_separated(const MixedGraph& dag, const Bitset& x, const Bitset& y, const Bitset& given);
bool d_separated(const MixedGraph& dag, int x, int y, const Bitset& given);

}  // namespace granary
