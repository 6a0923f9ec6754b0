#include "ec_ising.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "../core/errors.h"
#include "../core/spd.h"
#include "ec_loops.h"

namespace granary::process {

namespace {

void require_model(ConstMatrixRef j, ConstVectorRef theta, const EcOptions& options) {
  const Index n = theta.size();
  if (n == 0 || j.rows() != n || j.cols() != n) {
    throw InputError(
        message("the couplings are ", j.rows(), " x ", j.cols(), " and there are ", n, " fields: sizes must agree."));
  }
  if (!theta.allFinite() || !is_symmetric(j) || (j.diagonal().array() != 0).any()) {
    throw InputError("the couplings must be finite and symmetric with a zero diagonal, the fields finite.");
  }
  if (options.start.size() > 0 && (options.start.size() != n || !options.start.allFinite())) {
    throw InputError("the start must have one finite number per spin.");
  }
}

}  // namespace

EcResult ec_ising(ConstMatrixRef j, ConstVectorRef theta, const EcOptions& options, Monitor& monitor) {
  require_model(j, theta, options);
  if (options.method == EcMethod::restricted) return ec_restricted(j, theta, options, monitor);
  const Stopwatch clock;
  const bool tree = options.method == EcMethod::tree, automatic = options.algorithm == EcAlgorithm::automatic;
  const EcForest forest = !tree                ? EcForest(theta.size(), {})
                          : options.own_forest ? EcForest(theta.size(), options.forest)
                                               : maximum_spanning_forest(j);
  EcState state(j, theta, forest, options.start);
  if (!state.refresh()) throw NumericalError("the couplings are too large to compute with.");

  EcResult result;
  EcTrace trace;
  EcLoop loop;
  loop.tol = options.tol;
  loop.max_iter = options.max_iter;
  loop.patience = automatic ? 60 : options.max_iter;
  const double damping = options.damping;
  bool done = false;
  EcParameters best = state.r;
  double best_residual = view(state).residual;
  // Where a loop fails the next one starts afresh: a stuck state is rarely a good start.
  const EcParameters fresh = state.r;
  const auto attempt = [&](const char* name, double share, const auto& run) {
    if (done) return;
    state.r = fresh;
    state.refresh();
    loop.damping = share;
    trace.free_energy.clear();
    done = run(state, loop, trace, monitor);
    const double reached = view(state).residual;
    if (done || reached < best_residual) {
      best = state.r;
      best_residual = reached;
      result.algorithm = name;
    }
  };
  result.algorithm = "single";
  if (automatic || options.algorithm == EcAlgorithm::single) {
    if (tree) {
      attempt("single", damping > 0 ? damping : 0.5, ec_parallel);
      if (damping <= 0) attempt("single", 0.1, ec_parallel);
    } else {
      if (automatic && theta.size() > 200) attempt("single", damping > 0 ? damping : 0.5, ec_parallel);
      attempt("single", damping > 0 ? damping : 1, ec_sequential);
      if (damping <= 0) attempt("single", 0.3, ec_sequential);
    }
  }
  if (automatic || options.algorithm == EcAlgorithm::greedy) attempt("greedy", 1, ec_greedy);
  if (automatic || options.algorithm == EcAlgorithm::double_loop) attempt("double", 1, ec_double);

  state.r = best;
  state.refresh();
  const EcView now = view(state);
  result.mean = now.spins.moments.mean;
  result.covariance = state.chi;
  result.log_z = now.log_z;
  result.q = now.q;
  result.r = state.r;
  result.edges = forest.edges;
  result.residual = trace.residual;
  result.free_energy = trace.free_energy;
  result.convergence.converged = done;
  result.convergence.iterations = static_cast<int>(trace.residual.size());
  result.convergence.residual = now.residual;
  result.convergence.seconds = clock.seconds();
  return result;
}

}  // namespace granary::process
