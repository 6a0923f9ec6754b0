// Mutual information of two discrete variables from a table of counts, I = H(X) + H(Y) - H(X, Y), each entropy by any method of latent/entropy.h.
//
// The standard deviation is that of the delta method, sqrt(Var(log p_xy / (p_x p_y)) / N): the entropies are estimated from the same draws, so their own standard
// deviations cannot be added up.
#pragma once

#include "latent/entropy.h"

namespace granary::latent {

struct InformationResult {
  double estimate = 0, sd = 0, lower = 0, upper = 0;
  double entropy_x = 0, entropy_y = 0, entropy_joint = 0;
  double total = 0;
  Convergence convergence;
};
template <class V>
void fields(V& v, InformationResult& t) {
  v("estimate", any_number(t.estimate));
  v("sd", any_number(t.sd));
  v("lower", any_number(t.lower));
  v("upper", any_number(t.upper));
  v("entropy_x", any_number(t.entropy_x));
  v("entropy_y", any_number(t.entropy_y));
  v("entropy_joint", any_number(t.entropy_joint));
  v("total", t.total);
  v("convergence", t.convergence);
}

// Methods with a known alphabet take the numbers of rows, of columns, and of cells.
InformationResult mutual_information(ConstMatrixRef counts, const EntropyOptions& options, Monitor& monitor);

// Counts of `size` draws taken from the sample without putting back.
VectorXd rarefied(ConstVectorRef counts, double size, Rng& rng);

}  // namespace granary::latent
