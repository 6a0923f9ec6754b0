// The lightest set of edges that separates k terminals:  minimise the weight of the edges between parts, terminal i in part i.
//
// Calinescu, Karloff and Rabani's relaxation, as Makarychev and Makarychev use it (ch. 13 of Perturbations, Optimization, and Statistics, section 13.3):
//
//   minimise  1/2 sum_uv w_uv |x_u - x_v|_1,   x_v in the simplex of R^k,   x of terminal i = e_i.
//
// If the instance is 4-stable (the optimal cut stays the only one when weights grow by factors up to 4) the solution is 0/1 and is the optimum (Theorem 13.6); a
// fractional solution proves that it is not. Whatever is returned, `lower_bound` is the value of a dual point, so a cut of that weight is proven optimal.
//
//   k = 2       maximum flow, exact
//   relaxation  small: the simplex method, a vertex; large: the primal-dual method of Chambolle and Pock (2011) with restarts from averages, on
//               max over |y_uv,i| <= w_uv / 2 of  min over x  of  sum_uv y_uv'(x_u - x_v)
//   rounding    Kleinberg and Tardos (2002): thresholds r ~ U(0, 1), parts i ~ U{1..k}: whoever is free and has x_vi >= r goes to i; an edge of length d is cut with
//               probability at most 2 d / (1 + d). The best of `rounds`, then moves of single nodes
//   isolating   Dahlhaus et al. (1994): the cheapest cut around each terminal, all but the heaviest; factor 2 - 2/k
//   exact       branch and bound over the nodes
#pragma once

#include "cluster/weighted_edges.h"
#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"

namespace granary::cluster {

enum class MultiwayMethod { relaxation, isolating, exact };
inline Names<MultiwayMethod> names(MultiwayMethod) {
  return {{MultiwayMethod::relaxation, "relaxation"}, {MultiwayMethod::isolating, "isolating"}, {MultiwayMethod::exact, "exact"}};
}

struct MultiwayOptions {
  MultiwayMethod method = MultiwayMethod::relaxation;
  int n_rep = 100;         // rounds of rounding
  double tol = 1e-8;       // gap of the relaxation, relative to its value
  int max_iter = 20000;    // of the primal-dual method
  double max_nodes = 1e7;  // of the branch and bound
};
template <class V>
void fields(V& v, MultiwayOptions& t) {
  v("method", t.method);
  v("n_rep", t.n_rep);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("max_nodes", t.max_nodes);
}

struct MultiwayResult {
  VectorXi part;           // of every node, 0 .. k - 1
  double objective = 0;    // weight of the cut
  double lower_bound = 0;  // of every cut
  MatrixXd position;       // nodes x k: the solution of the relaxation, empty for the other methods
  double relaxation = 0;   // its value
  bool integral = false;   // it is 0/1 on all edges
  bool optimal = false;    // objective equals the lower bound
  Convergence convergence;  // gap: objective - lower_bound, relative to the objective
};
template <class V>
void fields(V& v, MultiwayResult& t) {
  v("part", positions(t.part));
  v("objective", t.objective);
  v("lower_bound", t.lower_bound);
  v("position", t.position);
  v("relaxation", t.relaxation);
  v("integral", t.integral);
  v("optimal", t.optimal);
  v("convergence", t.convergence);
}

// terminals: node numbers, at least two, distinct. Weights must be positive.
MultiwayResult multiway_cut(const WeightedEdges& g, const std::vector<Index>& terminals, const MultiwayOptions& options, Rng& rng, Monitor& monitor);

// The lightest cut between two sets of nodes, by maximum flow: side of every node, true with the sources.
std::vector<char> minimum_cut(const WeightedEdges& g, const std::vector<Index>& sources, const std::vector<Index>& sinks, double& weight, Monitor& monitor);

}  // namespace granary::cluster
