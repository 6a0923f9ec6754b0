// Probabilities of boxes under a normal law by randomised quasi-Monte Carlo, to state the error of the EP value.
//
//   P(lower < X < upper),  X ~ N(mean, Sigma)
//
// Separation of variables (Genz, J. Comput. Graph. Stat. 1992): with Sigma = C C' and X = mean + C y the box becomes a product of
// intervals for y_1, y_2 given y_1, ...; the variables are put in the order of growing conditional probability (Gibson, Glasbey
// and Elston 1994). Points: the square roots of primes modulo one, folded, with `shifts` independent random shifts whose spread
// gives the standard error. All sums are of logarithms, so that a probability of 1e-400 is no zero.
#pragma once

#include "../core/monitor.h"
#include "../core/rng.h"
#include "../core/types.h"

namespace granary::process {

struct BoxEstimate {
  double log_probability = 0;
  double standard_error = 0;  // of the log
};

// Either bound may be infinite; Sigma may be singular. `samples` in all, spread over `shifts`.
BoxEstimate box_monte_carlo(ConstVectorRef lower, ConstVectorRef upper, ConstVectorRef mean, ConstMatrixRef sigma, int samples,
                            int shifts, int threads, Rng& rng, Monitor& monitor);

}  // namespace granary::process
