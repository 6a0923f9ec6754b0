#include "kernel/structured_crf.h"

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace granary::kernel {

CrfResult structured_crf(const ChainOutput& output, const CrfOptions& options, Monitor& monitor) {
  if (!(options.cost > 0)) throw InputError("the cost must be positive.");
  const Index n = output.size(), p = output.features();
  const double share = options.cost / static_cast<double>(n);
  VectorXd truth = VectorXd::Zero(p);  // sum_i Psi(x_i, y_i)
  for (Index i = 0; i < n; ++i) {
    const SparseVector psi = output.psi(i, output.truth(i));
    for (std::size_t k = 0; k < psi.index.size(); ++k) truth[psi.index[k]] += psi.value[k];
  }
  CrfResult result;
  result.log_likelihood = VectorXd::Zero(n);
  // A fixed number of parts, each summed in order, so that the sum does not depend on the number of threads.
  const Index parts = std::min<Index>(n, 16);
  std::vector<VectorXd> expected(static_cast<std::size_t>(parts));
  const auto objective = [&](const VectorXd& w, VectorXd& gradient) {
    parallel_for(parts, options.threads, monitor, [&](Index part) {
      VectorXd& mine = expected[static_cast<std::size_t>(part)];
      mine = VectorXd::Zero(p);
      for (Index i = part * n / parts; i < (part + 1) * n / parts; ++i) {
        if (part == 0) monitor.check();
        const ChainScores scores = output.scores(i, w);
        const ChainMarginals m = forward_backward(scores);
        output.add_expected_psi(i, m, 1, mine);
        result.log_likelihood[i] = chain_score(scores, output.truth(i)) - m.log_partition;
      }
    });
    gradient = -truth;
    for (const VectorXd& part : expected) gradient += part;
    gradient = w + share * gradient;
    return 0.5 * w.squaredNorm() - share * result.log_likelihood.sum();
  };
  LbfgsOptions lbfgs_options;
  lbfgs_options.tol = options.tol;
  lbfgs_options.max_iter = options.max_iter;
  const LbfgsResult fit = lbfgs(objective, VectorXd::Zero(p), lbfgs_options, monitor);
  VectorXd gradient(p);
  result.objective = objective(fit.x, gradient);  // also the likelihoods at the end
  result.weights = fit.x;
  result.convergence = fit.convergence;
  return result;
}

CrfResult structured_crf(const Output& output, const CrfOptions& options, Monitor& monitor) {
  const auto* chains = dynamic_cast<const ChainOutput*>(&output);
  if (chains == nullptr) throw InputError("a conditional random field is of label sequences.");
  return structured_crf(*chains, options, monitor);
}

}  // namespace granary::kernel
