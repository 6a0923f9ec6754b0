// The heaviest cut of a graph:  maximise  sum_uv w_uv (1 - s_u s_v) / 2   over signs s of the nodes.
//
//   local        1-flip moves with a tabu list from random starts
//   relaxation   Goemans and Williamson (1995): unit vectors v_i instead of signs, by the mixing method v_i <- -normalise(sum_j w_ij v_j) of rank
//                ceil(sqrt(2 n)) + 1 (Wang, Chang and Kolter 2017), rounded by random hyperplanes; upper bound from the dual,
//                sum_i y_i + n max(0, lambda_max(L / 4 - diag y)) for any y, taken at y_i = (L V / 4)_i ' v_i
//   improve      Makarychev and Makarychev (ch. 13 of Perturbations, Optimization, and Statistics), Theorem 13.7: with cut edges as capacities and uncut ones as
//                demands, a set A of smaller capacity than demand improves the cut by dem(A) - cap(A) when its nodes change sides. Exact over all A for few
//                nodes, by sweeps over generalised eigenvectors of (L_cap, L_dem) beyond. (The triangle-inequality programme of the theorem has n^3
//                constraints and is not built.)
//   exact        branch and bound from the best of the others
#pragma once

#include "cluster/weighted_edges.h"
#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"

namespace granary::cluster {

enum class MaxCutMethod { automatic, relaxation, local, improve, exact };
inline Names<MaxCutMethod> names(MaxCutMethod) {
  return {{MaxCutMethod::automatic, "auto"}, {MaxCutMethod::relaxation, "relaxation"}, {MaxCutMethod::local, "local"}, {MaxCutMethod::improve, "improve"}, {MaxCutMethod::exact, "exact"}};
}

struct MaxCutOptions {
  MaxCutMethod method = MaxCutMethod::automatic;  // exact for up to 24 nodes, otherwise relaxation and improvement
  int n_starts = 20;
  int n_rep = 100;     // hyperplanes
  double tol = 1e-7;   // of the mixing method, relative to its value
  int max_iter = 2000; // sweeps of it
  double max_nodes = 1e7;
  VectorXi start;      // sides 0 and 1 to start from, or empty
};
template <class V>
void fields(V& v, MaxCutOptions& t) {
  v("method", t.method);
  v("n_starts", t.n_starts);
  v("n_rep", t.n_rep);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("max_nodes", t.max_nodes);
  v("start", t.start);
}

struct MaxCutResult {
  VectorXi part;           // 0 or 1, node 0 in part 0
  double objective = 0;    // weight of the cut
  double upper_bound = 0;  // of every cut; the sum of positive weights where nothing better is known
  bool optimal = false;
  double relaxation = 0;   // value of the vectors; 0 where they were not computed
  Convergence convergence; // gap: upper_bound - objective, relative to the objective
};
template <class V>
void fields(V& v, MaxCutResult& t) {
  v("part", positions(t.part));
  v("objective", t.objective);
  v("upper_bound", t.upper_bound);
  v("optimal", t.optimal);
  v("relaxation", t.relaxation);
  v("convergence", t.convergence);
}
MaxCutResult max_cut(const WeightedEdges& g, const MaxCutOptions& options, Rng& rng, Monitor& monitor);

// One step of `improve`: the set A found and its gain dem(A) - cap(A); empty if no set gains.
struct CutImprovement {
  std::vector<char> flip;
  double gain = 0;
};
CutImprovement improve_cut(const WeightedEdges& g, const VectorXi& part, Monitor& monitor);

}  // namespace granary::cluster
