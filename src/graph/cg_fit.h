// Parameters of a conditional Gaussian network from data.
//
// Complete data: relative frequencies (plus `pseudo_count` per cell) and, in each configuration of the discrete parents, least
// squares. `shrink` = s > 0 adds to each configuration s pseudo-observations with the moments of all configurations together, so
// that an empty one gets the pooled regression. Missing cells: EM (Dempster, Laird, Rubin 1977), the expected moments of each
// family from exact inference given the observed cells of its row.
//
// Everything is computed with columns scaled to mean 0 and variance 1, so that tolerances have no units.
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "graph/cg_network.h"

namespace granary::graph {

struct CgFitOptions {
  double pseudo_count = 0;
  double shrink = 0;
  bool pooled = false;    // one variance per node, over the configurations of its parents
  bool unbiased = false;  // divide by observations less coefficients
  double tol = 1e-8;      // EM: gain in log-likelihood, relative to its size
  int max_iter = 1000;
  int threads = 1;
};
template <class V>
void fields(V& v, CgFitOptions& t) {
  v("pseudo_count", t.pseudo_count);
  v("shrink", t.shrink);
  v("pooled", t.pooled);
  v("unbiased", t.unbiased);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("threads", t.threads);
}

struct CgFitResult {
  CgNetwork network;
  double log_likelihood = 0;            // of the observed cells, at the estimate
  int parameters = 0;                   // free ones
  std::vector<std::string> degenerate;  // "Y in the configuration A = a": variance zero
  Convergence convergence;
};
template <class V>
void fields(V& v, CgFitResult& t) {
  v("tables", t.network.table);
  v("regressions", t.network.regression);
  v("log_likelihood", t.log_likelihood);
  v("parameters", t.parameters);
  v("degenerate", t.degenerate);
  v("convergence", t.convergence);
}

// `network` has names, states and parents; its tables and regressions are filled in. Rows: discrete columns as states 0, 1, ...;
// NaN is missing. InputError names the configuration that has too few observations.
CgFitResult fit_network(CgNetwork network, ConstMatrixRef rows, const CgFitOptions& options, Monitor& monitor);

}  // namespace granary::graph
