// Probabilities of boxes under a normal law by randomised quasi-Monte Carlo, to state the error of the EP value.
//
//   P(lower < X < upper),  X ~ N(mean, Sigma)
//
// Separation of variables (Genz, J. Comput. Graph. Stat. 1992): with Sigma = C C' and X = mean + C y the box becomes a product of
// intervals for y_1, y_2 given y_1, ...; the variables are put in the order of growing conditional probability (Gibson, Glasbey
// and Elston 1994). y_k is drawn from N(mu_k, 1) within its interval and weighted by exp(mu_k^2 / 2 - mu_k y_k); the shifts mu
// are those of minimax tilting (Botev, J. R. Statist. Soc. B 2017), the saddle point of the logarithm of the weight,
//
//   mu = C' psi,   y = mu + psi,   psi_k = mean of N(0, 1) between lower_k - t_k and upper_k - t_k,   t = C y + mu     (tilt)
//
// with C below its diagonal in units of the diagonal, which keeps the relative error small in the tails. Points: Sobol's
// sequence, scrambled independently `shifts` times; the spread of the results gives the standard error. What underflows is
// summed in logarithms, so that a probability of 1e-400 is no zero.
#pragma once

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/base/types.h"

namespace granary::process {

struct BoxEstimate {
  double log_probability = 0;
  double standard_error = 0;  // of the log
};
template <class V>
void fields(V& v, BoxEstimate& t) {
  v("log_probability", t.log_probability);
  v("standard_error", t.standard_error);
}

// Either bound may be infinite; Sigma may be singular. `samples` in all, spread over `shifts`, each rounded up to a power of two.
BoxEstimate box_monte_carlo(ConstVectorRef lower, ConstVectorRef upper, ConstVectorRef mean, ConstMatrixRef sigma, int samples,
                            int shifts, int threads, Rng& rng, Monitor& monitor);

}  // namespace granary::process
