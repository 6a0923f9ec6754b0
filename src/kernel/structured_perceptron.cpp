#include "kernel/structured_perceptron.h"

#include <numeric>
#include <utility>

#include "core/base/errors.h"

namespace granary::kernel {

PerceptronResult structured_perceptron(const Output& output, Space& space, const PerceptronOptions& options, Rng& rng,
                                       Monitor& monitor) {
  if (options.max_epochs < 1) throw InputError("at least one epoch is needed.");
  Stopwatch watch;
  const Index n = output.size();
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index(0));
  PerceptronResult result;
  // mean of w over visits = w - (sum over updates of update * visits before it) / visits
  VectorXd late = VectorXd::Zero(output.features());
  double visits = 0;
  Convergence& c = result.convergence;
  while (c.iterations < options.max_epochs && !c.converged) {
    ++c.iterations;
    if (options.shuffle) {
      for (std::size_t j = order.size(); j > 1; --j) {
        std::swap(order[j - 1], order[static_cast<std::size_t>(rng.uniform() * static_cast<double>(j))]);
      }
    }
    int wrong = 0;
    for (Index i : order) {
      monitor.check();
      const Label y = output.predict(i, space.view());
      if (!y.empty() && !output.correct(i, y)) {
        ++wrong;
        const SparseVector d = output.difference(i, y);
        space.add(1, d);
        for (std::size_t k = 0; k < d.index.size(); ++k) late[d.index[k]] += visits * d.value[k];
      }
      ++visits;
    }
    result.mistakes.push_back(wrong);
    c.converged = wrong == 0;
    monitor.progress(static_cast<double>(c.iterations) / options.max_epochs);
  }
  result.weights = space.weights();
  if (options.averaged) result.weights -= late / visits;
  c.seconds = watch.seconds();
  return result;
}

}  // namespace granary::kernel
