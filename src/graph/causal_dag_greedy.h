// Searches without a guarantee, for graphs too wide for the exact ones, and the orders that need equal (or known) error
// variances.
//
//   order_search    hill climbing over orders: a node is taken out and put elsewhere; given an order the best parents of each
//   node are
//                   looked up (Teyssier, Koller 2005). Steps that do not gain are allowed for a while, away from orders just
//                   left.
//   greedy_search   hill climbing over DAGs: add, delete or reverse one arc, with a tabu list
//   top_down        repeatedly the node with the smallest residual variance given those chosen before, relative to its weight
//                   (Chen, Drton, Wang 2019); with the true weights exact on the population covariance
//   bottom_up       repeatedly the node with the smallest weighted diagonal entry of the inverse covariance of those left, as the
//   last
//                   (Ghoshal, Honorio 2018)
#pragma once

#include <vector>

#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/base/types.h"
#include "graph/causal_dag_search.h"

namespace granary::graph {

// Improve `chosen`, which has to be acyclic; return the score reached.
double order_search(const ScoreTable& table, const std::vector<int>& nodes, const DagSearchOptions& options, Choice& chosen,
                    Monitor& monitor, Rng& rng);
double greedy_search(const ScoreTable& table, const std::vector<int>& nodes, const DagSearchOptions& options, Choice& chosen,
                     Monitor& monitor, Rng& rng);

struct VariableOrder {
  std::vector<int> order;  // causes first
  VectorXd residual;       // variance given the nodes before, divided by the weight
};
VariableOrder top_down(ConstMatrixRef g, ConstVectorRef weights, const SearchSpace& space, Monitor& monitor);
VariableOrder bottom_up(ConstMatrixRef g, ConstVectorRef weights, const SearchSpace& space, Monitor& monitor);

// Parents among the predecessors by forward and backward steps on the penalised score; no table, so any number of candidates.
std::vector<std::vector<int>> parents_given_order(ConstMatrixRef g, const std::vector<int>& order, const SearchSpace& space,
                                                  const ScoreOptions& options, Monitor& monitor);

}  // namespace granary::graph
