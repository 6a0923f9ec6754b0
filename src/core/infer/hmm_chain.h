// The hidden chain of one sequence: states z_1..z_T with law pi of the first and transitions A_jk = P(z_t+1 = k | z_t = j), and
// densities f_t(k) of what is seen.
//
//   forward    a_t(k) = P(z_t = k | y_1..y_t), its divisors give log p(y)
//   backward   gamma_t(k) = P(z_t = k | y), xi_t(j, k) = P(z_t = j, z_t+1 = k | y)
//
// Rabiner (Proc. IEEE 1989), with the densities of a row relative to its largest and both recursions brought to sum or maximum
// one at every step. Where a path that the densities contradict by more than a double can hold is the only one allowed, the
// sequence is done again in logarithms (core/sequence/chain.h). -infinity forbids.
#pragma once

#include <vector>

#include "core/base/types.h"

namespace granary {

// Room that is used again from sequence to sequence.
struct HmmWork {
  MatrixXd density, alpha;
  VectorXd beta, later;
};

// log_density: T x k. -infinity where no path is possible.
double hmm_loglik(ConstVectorRef initial, ConstMatrixRef transition, ConstMatrixRef log_density, HmmWork& work);
double hmm_loglik(ConstVectorRef initial, ConstMatrixRef transition, ConstMatrixRef log_density);

// gamma into `states` (T x k), weight times the expected number of transitions added to `transitions`; the log-likelihood.
// NumericalError where no path is possible.
double hmm_smooth(ConstVectorRef initial, ConstMatrixRef transition, ConstMatrixRef log_density, double weight, HmmWork& work,
                  MatrixRef states, MatrixRef transitions);

struct HmmPosterior {
  MatrixXd states;       // T x k: P(state of row t | y)
  MatrixXd transitions;  // k x k: expected numbers
  double loglik = 0;
};
HmmPosterior hmm_posterior(ConstVectorRef initial, ConstMatrixRef transition, ConstMatrixRef log_density);

// The likeliest path (Viterbi); of paths as likely the one with the lower state at the last place where they differ.
std::vector<int> hmm_path(ConstVectorRef initial, ConstMatrixRef transition, ConstMatrixRef log_density, double& log_joint);

}  // namespace granary
