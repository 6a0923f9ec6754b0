// The loops of ec_ising(): each starts from a state, stops at the tolerance, after max_iter sweeps or when it makes no headway,
// and leaves the best state it saw. See ec_ising.h.
#pragma once

#include "process/ec_ising.h"
#include "process/ec_state.h"

namespace granary::process {

struct EcTrace {
  std::vector<double> residual, free_energy;
};

struct EcLoop {
  double damping = 1, tol = 1e-12;
  int max_iter = 1000;
  int patience = 1000;  // sweeps without a residual below 0.9 of the best
};

bool ec_parallel(EcState& state, const EcLoop& loop, EcTrace& trace, Monitor& monitor);
bool ec_sequential(EcState& state, const EcLoop& loop, EcTrace& trace, Monitor& monitor);  // spins alone, no edges
bool ec_greedy(EcState& state, const EcLoop& loop, EcTrace& trace, Monitor& monitor);
bool ec_double(EcState& state, const EcLoop& loop, EcTrace& trace, Monitor& monitor);

// The restricted approximation has loops of its own, on the eigenvectors of J.
EcResult ec_restricted(ConstMatrixRef j, ConstVectorRef theta, const EcOptions& options, Monitor& monitor);

}  // namespace granary::process
