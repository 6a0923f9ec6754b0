// Random linear Gaussian networks as in Kalisch, Buehlmann (2007) and Colombo, Maathuis (2014), section 5.1:
//
//   A lower triangular, A_jk = Bernoulli(d / (p - 1)) U[low, high],    x = A x + e,  e ~ N(0, 1)
//
// so that the expected number of neighbours of a node is d. Optionally the nodes are relabelled at random and signs are drawn.
#pragma once

#include <vector>

#include "core/graph/graph.h"
#include "core/random/rng.h"
#include "core/base/types.h"

namespace granary::graph {

struct SimDagOptions {
  int nodes = 50;
  double neighbours = 2;  // expected
  double low = 0.1, high = 1;
  bool signs = false;    // each weight negative with probability 1/2
  bool shuffle = false;  // relabel the nodes, so that their order says nothing
};

struct WeightedDag {
  MixedGraph graph;
  struct Arrow {
    int from, to;
    double weight;
  };
  std::vector<Arrow> arrows;  // sorted by `from`, then `to`
};

WeightedDag simulate_dag(const SimDagOptions& options, Rng& rng);

// n rows of x = A x + e with independent errors of the given standard deviations.
MatrixXd simulate_rows(const WeightedDag& dag, int n, const VectorXd& sd, Rng& rng);

// A random half (rounded up) of the nodes without parents and with at least two children, increasing.
std::vector<int> choose_latents(const MixedGraph& dag, Rng& rng);

}  // namespace granary::graph
