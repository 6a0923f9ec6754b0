// Draws from the Ising model  p(x) ~ exp(sum_j t_jj x_j + sum_{j<k} t_jk x_j x_k),  x in {0, 1}.
#pragma once

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/base/types.h"

namespace granary::graph {

// n rows of the model with parameters T (intercepts on the diagonal), by a Gibbs sampler with systematic scans: `burn_in` scans,
// then one row every `thin` scans.
MatrixXd ising_gibbs(ConstMatrixRef theta, Index n, int burn_in, int thin, Rng& rng, Monitor& monitor);

struct IsingSampleOptions {
  Index n = 1;
  int burn_in = 1000, thin = 100;
  bool exact = false;  // draw from the table of all states instead
};
template <class V>
void fields(V& v, IsingSampleOptions& t) {
  v("n", t.n);
  v("burn_in", t.burn_in);
  v("thin", t.thin);
  v("exact", t.exact);
}
MatrixXd ising_sample(ConstMatrixRef theta, const IsingSampleOptions& options, Rng& rng, Monitor& monitor);

// Probabilities of all 2^p states, state s having x_j = bit j of s; p at most 20.
VectorXd ising_probabilities(ConstMatrixRef theta);
MatrixXd ising_exact(ConstMatrixRef theta, Index n, Rng& rng);

}  // namespace granary::graph
