// A signal on a chain or a graph, made sparse and either piecewise constant or smooth:
//
//   minimise  1/2 ||x - y||^2 + rho ||x||_1 + tau sum_(a,b) |x_a - x_b|        exact, by GraphTv
//   minimise  1/2 ||x - y||^2 + rho ||x||_1 + tau sum_(a,b) (x_a - x_b)^2      a primal-dual active set on (I + 2 tau L), L the
//   Laplacian
//
// Honorio (PhD thesis, Stony Brook 2012), appendix A: why absolute differences give constant pieces with sharp ends that keep
// their zeros, and squared ones do not.
#pragma once

#include "core/base/convergence.h"
#include "core/prox/graph_tv.h"
#include "core/base/monitor.h"

namespace granary::graph {

enum class Smoothness { absolute, squared };
inline Names<Smoothness> names(Smoothness) { return {{Smoothness::absolute, "l1"}, {Smoothness::squared, "l2"}}; }

struct FusedSignalOptions {
  double rho = 0, tau = 1;
  Smoothness penalty = Smoothness::absolute;
};
template <class V>
void fields(V& v, FusedSignalOptions& t) {
  v("rho", t.rho);
  v("tau", t.tau);
  v("penalty", t.penalty);
}

struct FusedSignalResult {
  VectorXd x;
  std::vector<int> block;  // joined nodes of equal value
  double objective = 0;
  Convergence convergence;  // gap for absolute differences, residual (largest violation of optimality) for squared ones
};

template <class V>
void fields(V& v, FusedSignalResult& t) {
  v("x", t.x);
  v("block", positions(t.block));
  v("objective", t.objective);
  v("convergence", t.convergence);
}

FusedSignalResult fused_signal(ConstVectorRef y, const EdgeList& edges, const FusedSignalOptions& options, Monitor& monitor);

}  // namespace granary::graph
