// Random linear Gaussian networks as in Kalisch, Buehlmann (2007) and Colombo, Maathuis (2014), section 5.1:
//
//   A lower triangular, A_jk = Bernoulli(d / (p - 1)) U[low, high],    x = A x + e,  e ~ N(0, 1)
//
// so that the expected number of neighbours of a node is d. Optionally the nodes are relabelled at random and signs are drawn.
#pragma once

#include <vector>

#include "core/base/fields.h"
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
  bool latent = false;   // choose_latents()
};

template <class V>
void fields(V& v, SimDagOptions& t) {
  v("nodes", t.nodes);
  v("neighbours", t.neighbours);
  v("low", t.low);
  v("high", t.high);
  v("signs", t.signs);
  v("shuffle", t.shuffle);
  v("latent", t.latent);
}

struct WeightedArrow {
  int from, to;
  double weight;
};
template <class V>
void fields(V& v, WeightedArrow& t) {
  v("from", positions(t.from));
  v("to", positions(t.to));
  v("weight", t.weight);
}
struct WeightedDag {
  MixedGraph graph;
  std::vector<WeightedArrow> arrows;  // sorted by `from`, then `to`
  std::vector<int> latent;            // where asked for
};
template <class V>
void fields(V& v, WeightedDag& t) {
  v("edges", t.graph);
  v("arrows", columns(t.arrows));
  v("latent", positions(t.latent));
}

// Arrows as they come back from R, to draw rows from.
struct ArrowTable {
  int nodes = 0;
  std::vector<int> from, to;
  std::vector<double> weight;
};
template <class V>
void fields(V& v, ArrowTable& t) {
  v("nodes", t.nodes);
  v("from", positions(t.from));
  v("to", positions(t.to));
  v("weight", t.weight);
}
WeightedDag weighted_dag(const ArrowTable& arrows);

WeightedDag simulate_dag(const SimDagOptions& options, Rng& rng);

// n rows of x = A x + e with independent errors of the given standard deviations.
MatrixXd simulate_rows(const WeightedDag& dag, int n, const VectorXd& sd, Rng& rng);

// A random half (rounded up) of the nodes without parents and with at least two children, increasing.
std::vector<int> choose_latents(const MixedGraph& dag, Rng& rng);

}  // namespace granary::graph
