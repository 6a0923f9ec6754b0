// Penalised Ising likelihood by forward-backward splitting and proximal gradient steps with approximate moments.
//
// Honorio (PhD thesis, Stony Brook 2012), Algorithm 5.1, for the objective of ising_likelihood.h. From W = 0, b = 0,
//
//   W <- soft(W - eta_k (E_k xx' - I - S), eta_{k+1} rho),   b <- b - eta_k (E_k x - m),   eta_k = beta / (G k^r),
//
// E_k an estimate from samples_k draws. r = 1/2 is forward-backward splitting (FBS), r = 0 the basic proximal gradient (PG); the
// accelerated one takes its gradient at Y_k = W_k + (k - 1)/(k + 2) (W_k - W_{k-1}) and likewise for b. G is that of Lemma 5.3.
//
// The step 1/G is not below 1/L for the accelerated method (L can be of order n^2): with exact moments `accelerated` therefore
// uses backtracking and restarts (core/fista.h), and the printed rule only with estimates, where nothing ensures convergence.
#pragma once

#include <vector>

#include "graph/ising_likelihood.h"
#include "core/infer/spin_moments.h"

namespace granary::graph {

enum class SplittingOutput { last, average, robust, random };
inline Names<SplittingOutput> names(SplittingOutput) {
  return {{SplittingOutput::last, "last"}, {SplittingOutput::average, "average"}, {SplittingOutput::robust, "robust"}, {SplittingOutput::random, "random"}};
}

struct SplittingOptions {
  MomentMethod sampler = MomentMethod::gibbs;
  std::vector<int> samples;  // S_k, one for each step
  int sweeps = 5;
  double beta = 1, r = 0.5;
  bool accelerated = false;
  SplittingOutput output = SplittingOutput::last;
  double tol = 1e-6;      // exact moments only: stop when the residual is at most this
  bool trace = true;      // record the exact objective of the chosen output, where it can be had
  int trace_points = 50;  // spread evenly in log k
};

struct SplittingResult {
  IsingFit fit;    // the chosen output; certified when components can be enumerated
  SpinModel last;  // the last iterate, whose zeros are exact
  std::vector<int>
      step;  // trace: step, objective of last / average / robust iterates (NaN where not enumerable), size of the move
  std::vector<double> objective_last, objective_average, objective_robust, move;
  int beliefs_unsettled = 0;  // steps in which belief propagation did not settle
  double smallest_effective = Convergence::unknown;
};

template <class V>
void fields(V& v, SplittingResult& t) {
  v("last", t.last);
  v("step", t.step);
  v("objective_last", any_number(t.objective_last));
  v("objective_average", any_number(t.objective_average));
  v("objective_robust", any_number(t.objective_robust));
  v("move", t.move);
  v("unsettled", t.beliefs_unsettled);
  v("effective", any_number(t.smallest_effective));
}

SplittingResult ising_splitting(const IsingData& data, const IsingObjective& objective, const SplittingOptions& options, Rng& rng,
                                Monitor& monitor);

}  // namespace granary::graph
