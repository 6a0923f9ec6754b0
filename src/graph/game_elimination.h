// Counting and listing equilibria by variable elimination.
//
// The indicator of an equilibrium is a product with one factor per player, which looks at the player and at those who influence
// it. Summing out one action after another costs tables of 2^width entries (Dechter 1999, bucket elimination); walking the tables
// back, last eliminated first, lists the equilibria without a dead end.
#pragma once

#include "core/graph/graph.h"
#include "graph/game_equilibria.h"

namespace granary::graph {

// Joins player i and all j with w_ij != 0 into a clique, for every i.
MixedGraph game_graph(ConstMatrixRef w);

// Fills count, log_count, states and width. InputError when the order found is wider than options.max_width.
void eliminate(const Game& game, const VectorXd& slack, const EquilibriumOptions& options, Equilibria& result, Monitor& monitor);

}  // namespace granary::graph
