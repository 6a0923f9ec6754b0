// Minimises a function in a box from several starts and keeps the best end; the starts are tasks of a parallel loop.
#pragma once

#include <vector>

#include "core/optim/lbfgs.h"
#include "core/base/types.h"

namespace granary {

struct StartRecord {
  VectorXd from, to;
  double value = 0;  // at `to`; infinite where f is not finite at the start
  bool converged = false;
  int evaluations = 0;
};

struct MultistartResult {
  VectorXd x;
  double value = 0;
  std::vector<StartRecord> starts;
  Convergence convergence;  // of the best start; seconds of all
};

// One start per row. `f` may be called by several threads at once. NumericalError when f is finite at no start.
MultistartResult multistart_box(const Objective& f, ConstMatrixRef starts, ConstVectorRef lower, ConstVectorRef upper,
                                const LbfgsOptions& options, int threads, Monitor& monitor);

// The indices of the entries of x that rest on a bound, for a warning; an infinite bound is never rested on.
std::vector<Index> on_bound(ConstVectorRef x, ConstVectorRef lower, ConstVectorRef upper);

}  // namespace granary
