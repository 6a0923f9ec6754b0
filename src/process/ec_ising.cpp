#include "process/ec_ising.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/errors.h"
#include "core/linalg/spd.h"
#include "process/ec_loops.h"
#include "process/ec_wide.h"

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
  const bool tree = options.method == EcMethod::tree, wide = tree && options.width > 1;
  const bool automatic = options.algorithm == EcAlgorithm::automatic && !wide;
  if (wide && (options.algorithm == EcAlgorithm::greedy || options.algorithm == EcAlgorithm::double_loop)) {
    throw InputError("the greedy and double loops are for trees of width 1.");
  }
  const EcForest forest = !tree                ? EcForest(theta.size(), {})
                          : options.own_forest ? EcForest(theta.size(), options.forest)
                          : wide               ? wide_forest(j, options.width)
                                               : maximum_spanning_forest(j);
  EcState state(j, theta, forest, options.start);
  if (!state.refresh()) throw NumericalError("the couplings are too large to compute with.");

  EcResult result;
  EcTrace trace;
  EcLoop loop;
  loop.tol = options.tol;
  loop.max_iter = options.max_iter;
  loop.patience = automatic || wide ? 60 : options.max_iter;
  const double damping = options.damping;
  bool done = false;
  EcParameters best = state.r;
  // A loop that fails leaves the next one a fresh start: a stuck state is rarely a good one. Without any that converged, the
  // answer is that of the last, the double loop, whose free energy has fallen all the way.
  const EcParameters fresh = state.r;
  const auto attempt = [&](const char* name, double share, const EcParameters& from, const auto& run) {
    if (done) return;
    state.r = from;
    state.refresh();
    loop.damping = share;
    std::vector<double> before = std::move(trace.free_energy);
    trace.free_energy.clear();
    done = run(state, loop, trace, monitor);
    const bool keep = done || !automatic || std::string(name) == "double";
    if (keep) {
      best = state.r;
      result.algorithm = name;
    } else {
      trace.free_energy = std::move(before);
    }
  };
  const auto single = [&](const EcParameters& from) {
    if (tree) {
      attempt("single", damping > 0 ? damping : 0.5, from, ec_parallel);
      if (damping <= 0) attempt("single", 0.1, from, ec_parallel);
    } else {
      if (automatic && theta.size() > 200) attempt("single", damping > 0 ? damping : 0.5, from, ec_parallel);
      attempt("single", damping > 0 ? damping : 1, from, ec_sequential);
      if (damping <= 0) attempt("single", 0.3, from, ec_sequential);
    }
  };
  if (automatic || wide || options.algorithm == EcAlgorithm::single) single(fresh);
  if (automatic || options.algorithm == EcAlgorithm::greedy) attempt("greedy", 1, fresh, ec_greedy);
  if (options.algorithm == EcAlgorithm::double_loop) attempt("double", 1, fresh, ec_double);
  if (automatic && !done) {
    // The double loop finds the valley and creeps along it; from there single loops usually settle.
    loop.max_iter = std::min(options.max_iter, 100);
    attempt("double", 1, fresh, ec_double);
    loop.max_iter = options.max_iter;
    single(EcParameters(best));
    if (!done && options.max_iter > 100) {
      loop.max_iter = options.max_iter - 100;
      attempt("double", 1, EcParameters(best), ec_double);
    }
  }

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
