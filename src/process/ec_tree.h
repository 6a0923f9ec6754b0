// Binary and Gaussian laws on a forest: what the three distributions of the expectation consistent approximation share.
//
//   statistics  g(x) = (x_i, -x_i^2 / 2, -x_i x_j on the edges of the forest),  conjugate parameters (gamma_i, Lambda_ii,
//   Lambda_ij)
//
// With n_i edges at node i, everything on a forest adds up over edges and nodes:
//   log Z = sum_edges log Z_ij + sum_i (1 - n_i) log Z_i,    parameters = sum_edges lambda^(ij) + sum_i (1 - n_i) lambda^(i)
//
// Opper and Winther (JMLR 6, 2005), Appendix C. Two slips there: the second sum of the parameters carries a plus as the free
// energy does, and the message over an edge is atanh(tanh(-Lambda_ij) tanh(field)).
#pragma once

#include <utility>
#include <vector>

#include "core/base/types.h"

namespace granary::process {

constexpr double smallest_spin_variance = 1e-12;  // of a spin that hardly ever turns

struct EcParameters {
  VectorXd gamma, lambda, edge;
};
template <class V>
void fields(V& v, EcParameters& t) {
  v("gamma", t.gamma);
  v("lambda", t.lambda);
  v("edge", t.edge);
}

struct EcMoments {
  VectorXd mean, variance, edge;  // edge: covariances
};

// Of a tree that is wider than its edges (ec_wide.h). The last member joined with the clique; the others are what it shares with
// its parent.
struct EcClique {
  std::vector<int> members;
  std::vector<int> in_parent;  // positions of those others
  std::vector<int> edges;      // the number of the edge between members a < b at b (b - 1) / 2 + a
  int parent = -1;

  Index size() const { return static_cast<Index>(members.size()); }
  int edge(Index a, Index b) const { return edges[b * (b - 1) / 2 + a]; }
};

class EcForest {
 public:
  // Edges as pairs i < j without a cycle; InputError otherwise.
  EcForest(Index n, std::vector<std::pair<int, int>> edges);

  Index size() const { return static_cast<Index>(parent.size()); }
  std::vector<std::pair<int, int>> edges;
  std::vector<int> parent, parent_edge;  // -1 at roots
  std::vector<int> order;                // parents before children
  VectorXd degree;
  std::vector<EcClique> cliques;  // parents before children; empty: the edges are a forest
};

// The heaviest forest by |J_ij| (Kruskal); pairs with J_ij = 0 are never joined.
EcForest maximum_spanning_forest(ConstMatrixRef j);

// The Gaussian with these moments on the forest ("Lagrange_Gauss_tree"), and its log Z without the factor (2 pi)^(n / 2).
EcParameters gaussian_parameters(const EcMoments& moments, const EcForest& forest);
double gaussian_log_z(const EcMoments& moments, const EcForest& forest);

struct BinaryForest {
  EcMoments moments;
  VectorXd up, down;  // for each node but the roots: the message to its parent, and the one from it
  VectorXd field;     // atanh of the means
  double log_z = 0;
};
// x in {-1, +1}^n with density ~ exp(gamma'x - x'Lambda x / 2): one sweep to the roots and one back.
BinaryForest binary_inference(const EcParameters& parameters, const EcForest& forest);

// The binary law on the forest with these moments; its Lambda_ii, of no effect, are zero.
EcParameters binary_parameters(const EcMoments& moments, const EcForest& forest);

double log_two_cosh(double x);

// 2 x 2 covariance held away from singularity: the covariance is shrunk until 1 - correlation^2 >= 1e-12.
double proper_covariance(double variance_i, double variance_j, double covariance);

}  // namespace granary::process
