// Maps whose distances follow given ones: what latent variable models are compared with. With d_ij given, e_ij = |x_i - x_j| on
// the map, and sums over pairs,
//
//   sammon      minimise  sum (d - e)^2 / d / sum d: near pairs count most
//   nonmetric   minimise  sum (e - h)^2 / sum e^2,  h = increasing fit of e in the order of d: only the order counts. The root is
//               Kruskal's stress; equal d may have different h
//
// by L-BFGS from a start. The derivative in e takes h as fixed: h minimises the same sum of squares. Local minima only. O(n^2 q)
// per step. Sammon (IEEE Trans. Computers 1969), Kruskal (Psychometrika 1964).
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::process {

enum class MdsMethod { sammon, nonmetric, classical };
inline Names<MdsMethod> names(MdsMethod) {
  return {{MdsMethod::sammon, "sammon"}, {MdsMethod::nonmetric, "nonmetric"}, {MdsMethod::classical, "classical"}};
}

struct MdsOptions {
  bool nonmetric = false;
  int max_iter = 500;
  double tol = 1e-10;  // relative change of the objective
};

// From data to the map: the start is that of classical scaling unless one is given, and classical scaling stops there.
struct MdsFitOptions {
  MdsMethod method = MdsMethod::sammon;
  Index q = 2;
  int max_iter = 500;
  double tol = 1e-10;
};
template <class V>
void fields(V& v, MdsFitOptions& t) {
  v("method", t.method);
  v("k", t.q);
  v("max_iter", t.max_iter);
  v("tol", t.tol);
}

struct MdsResult {
  MatrixXd x;         // nonmetric: in the scale that makes e nearest to d, as the objective has none
  double stress = 0;  // the objective; nonmetric: its root
  Convergence convergence;
};
template <class V>
void fields(V& v, MdsResult& t) {
  v("latent", t.x);
  v("stress", t.stress);
  v("convergence", t.convergence);
}

// `distance` is symmetric; a pair at distance zero has, in Sammon's sum, the weight of the nearest pair that is not.
MdsResult mds(ConstMatrixRef distance, ConstMatrixRef start, const MdsOptions& options, Monitor& monitor);

// `start` without rows: none.
MdsResult mds_fit(ConstMatrixRef distance, ConstMatrixRef start, const MdsFitOptions& options, Monitor& monitor);

}  // namespace granary::process
