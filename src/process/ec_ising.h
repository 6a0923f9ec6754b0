// Expectation consistent inference for Ising models.
//
//   p(x) ~ exp(x'Jx / 2 + theta'x),  x in {-1, +1}^N,  J symmetric with zero diagonal
//
//   q(x) ~ exp(gamma_q'x - x'Lambda_q x / 2)  on spins,   r = N with precision Lambda_r - J and shift gamma_r + theta,
//   s the Gaussian with Lambda_s = Lambda_q + Lambda_r, gamma_s = gamma_q + gamma_r;     <g>_q = <g>_r = <g>_s   (14), (15)
//   log Z = log Z_q + log Z_r - log Z_s                                                                            (19)
//
//   restricted   g = (x_i, -sum_i x_i^2 / 2)          O(N^2) per step after one eigendecomposition
//   factorized   g = (x_i, -x_i^2 / 2)                O(N^3) per sweep
//   tree         also -x_i x_j on a spanning forest   O(N^3) per sweep; exact when J is a forest. Wider trees: ec_wide.h
//
// single loop   messages from r to q and back (5.1, Appendix D): in turn for each spin, or for all at once with damping
// double loop   inner: maximise -log Z_q - log Z_r over lambda_q at fixed lambda_s, one spin or one edge of the tree at a time;
//               outer: lambda_s from the moments. F = max -log Z never rises (the text of 5.3 says nondecreasing; its own chain
//               of inequalities shows the opposite).
// greedy        the outer update after every inner one.
//
// Opper and Winther (JMLR 6, 2005), 2177-2204; equation numbers are theirs.
#pragma once

#include <string>
#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "process/ec_tree.h"

namespace granary::process {

enum class EcMethod { restricted, factorized, tree };
enum class EcAlgorithm { automatic, single, greedy, double_loop };
inline Names<EcMethod> names(EcMethod) {
  return {{EcMethod::tree, "tree"}, {EcMethod::factorized, "factorized"}, {EcMethod::restricted, "restricted"}};
}
inline Names<EcAlgorithm> names(EcAlgorithm) {
  return {{EcAlgorithm::automatic, "auto"}, {EcAlgorithm::single, "single"}, {EcAlgorithm::greedy, "greedy"}, {EcAlgorithm::double_loop, "double"}};
}

struct EcOptions {
  EcMethod method = EcMethod::tree;
  EcAlgorithm algorithm = EcAlgorithm::automatic;
  double damping = 0;  // share of the step taken; 0: 1 for sweeps over the spins, 0.5 for parallel steps, 0.1 where that fails
  double tol = 1e-12;  // on ||<g>_q - <g>_r||^2
  int max_iter = 1000;
  VectorXd start;                           // gamma_r; empty: zero
  std::vector<std::pair<int, int>> forest;  // for tree; used if `own_forest`
  bool own_forest = false;
  int width = 1;  // of the tree; wider ones have the single loop only
  int n_starts = 1;
};
template <class V>
void fields(V& v, EcOptions& t) {
  Eigen::MatrixXi tree(0, 0);
  v("method", t.method);
  v("algorithm", t.algorithm);
  v("damping", t.damping);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("tree", positions(tree));  // two columns; without any: the heaviest
  v("width", t.width);
  v("n_starts", t.n_starts);
  if (tree.cols() != 2) return;
  t.own_forest = true;
  t.forest.clear();
  for (Index e = 0; e < tree.rows(); ++e) t.forest.push_back({tree(e, 0), tree(e, 1)});
}

struct EcResult {
  VectorXd mean;        // of q
  MatrixXd covariance;  // of r, (25)
  double log_z = 0;
  EcParameters q, r;  // restricted: Lambda repeated
  std::vector<std::pair<int, int>> edges;
  std::vector<double> residual, free_energy;  // per sweep: ||<g>_q - <g>_r||^2 and -log Z_EC (double loop: F per outer step)
  std::string algorithm;                      // the one that gave the answer
  Convergence convergence;                    // residual = ||<g>_q - <g>_r||^2
};
inline Eigen::MatrixXi edge_matrix(const std::vector<std::pair<int, int>>& edges) {
  Eigen::MatrixXi out(static_cast<Index>(edges.size()), 2);
  for (std::size_t e = 0; e < edges.size(); ++e) out.row(static_cast<Index>(e)) << edges[e].first, edges[e].second;
  return out;
}
template <class V>
void fields(V& v, EcResult& t) {
  Eigen::MatrixXi tree = edge_matrix(t.edges);
  v("mean", t.mean);
  v("cov", t.covariance);
  v("log_z", t.log_z);
  v("q", t.q);
  v("r", t.r);
  v("edges", positions(tree));
  v("residual", t.residual);
  v("free_energy", t.free_energy);
  v("algorithm", t.algorithm);
  v("convergence", t.convergence);
}

// InputError unless J is square, finite, symmetric with a zero diagonal, and fits theta.
EcResult ec_ising(ConstMatrixRef j, ConstVectorRef theta, const EcOptions& options, Monitor& monitor);

}  // namespace granary::process
