#include "core/optim/multistart.h"

#include <cmath>
#include <limits>

#include "core/base/parallel.h"

namespace granary {

MultistartResult multistart_box(const Objective& f, ConstMatrixRef starts, ConstVectorRef lower, ConstVectorRef upper,
                                const LbfgsOptions& options, int threads, Monitor& monitor) {
  const Index count = starts.rows();
  if (count == 0) throw InputError("at least one start is needed.");
  if (starts.cols() != lower.size() || lower.size() != upper.size()) {
    throw InputError(message("the starts have ", starts.cols(), " columns, but there are ", lower.size(), " lower and ",
                             upper.size(), " upper bounds."));
  }
  const Stopwatch clock;
  MultistartResult result;
  result.starts.resize(count);
  std::vector<Convergence> ends(count);
  parallel_for(count, threads, monitor, [&](Index s) {
    StartRecord& record = result.starts[s];
    record.from = starts.row(s).transpose().cwiseMax(lower).cwiseMin(upper);
    VectorXd gradient(record.from.size());
    record.to = record.from;
    record.value = f(record.from, gradient);
    record.evaluations = 1;
    if (!std::isfinite(record.value) || !gradient.allFinite()) {
      record.value = std::numeric_limits<double>::infinity();
      return;
    }
    const LbfgsResult end = lbfgs_box(f, record.from, lower, upper, options, monitor);
    record.to = end.x;
    record.value = end.value;
    record.converged = end.convergence.converged;
    record.evaluations += end.evaluations;
    ends[s] = end.convergence;
  });
  Index best = 0;
  for (Index s = 1; s < count; ++s) {
    if (result.starts[s].value < result.starts[best].value) best = s;
  }
  if (!std::isfinite(result.starts[best].value)) throw NumericalError("the objective is not finite at any start.");
  result.x = result.starts[best].to;
  result.value = result.starts[best].value;
  result.convergence = ends[best];
  result.convergence.seconds = clock.seconds();
  return result;
}

std::vector<Index> on_bound(ConstVectorRef x, ConstVectorRef lower, ConstVectorRef upper) {
  std::vector<Index> result;
  for (Index i = 0; i < x.size(); ++i) {
    const double width = upper[i] - lower[i], near = std::isfinite(width) ? 1e-6 * width : 0;
    if (width > 0 && (x[i] <= lower[i] + near || x[i] >= upper[i] - near)) result.push_back(i);
  }
  return result;
}

}  // namespace granary
