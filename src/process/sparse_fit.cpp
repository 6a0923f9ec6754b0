#include "process/sparse_fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/optim/lbfgs.h"

namespace granary::process {

namespace {

// The free variables as one vector: kernel, noise, inducing inputs in units of the box.
class Layout {
 public:
  Layout(const SparseFitOptions& options, Index m) : options_(options), m_(m), d_(options.box.cols()) {
    const Index p = options.starts.rows() - 1;
    for (Index k = 0; k < p; ++k)
      if (options.learn_kernel) free_.push_back(k);
    if (options.learn_noise) free_.push_back(p);
  }
  Index size() const { return static_cast<Index>(free_.size()) + (options_.learn_inducing ? m_ * d_ : 0); }

  VectorXd pack(const VectorXd& parameters, const MatrixXd& inducing) const {
    VectorXd z(size());
    for (std::size_t k = 0; k < free_.size(); ++k) z[static_cast<Index>(k)] = parameters[free_[k]];
    if (options_.learn_inducing)
      for (Index j = 0; j < d_; ++j) z.segment(at(j), m_) = (inducing.col(j).array() - options_.box(0, j)) / width(j);
    return z;
  }
  void unpack(const VectorXd& z, VectorXd& parameters, MatrixXd& inducing) const {
    for (std::size_t k = 0; k < free_.size(); ++k) parameters[free_[k]] = z[static_cast<Index>(k)];
    if (options_.learn_inducing)
      for (Index j = 0; j < d_; ++j) inducing.col(j) = options_.box(0, j) + width(j) * z.segment(at(j), m_).array();
  }
  VectorXd gradient(const SparseGradient& g) const {
    VectorXd all(g.parameters.size() + 1), out(size());
    all << g.parameters, g.log_noise;
    for (std::size_t k = 0; k < free_.size(); ++k) out[static_cast<Index>(k)] = all[free_[k]];
    if (options_.learn_inducing)
      for (Index j = 0; j < d_; ++j) out.segment(at(j), m_) = width(j) * g.inducing.col(j);
    return out;
  }
  VectorXd bound(const VectorXd& parameters, double inside) const {
    VectorXd z = VectorXd::Constant(size(), inside);
    for (std::size_t k = 0; k < free_.size(); ++k) z[static_cast<Index>(k)] = parameters[free_[k]];
    return z;
  }

 private:
  Index at(Index j) const { return static_cast<Index>(free_.size()) + j * m_; }
  double width(Index j) const {
    const double w = options_.box(1, j) - options_.box(0, j);
    return w > 0 ? w : 1;
  }

  const SparseFitOptions& options_;
  Index m_, d_;
  std::vector<Index> free_;
};

}  // namespace

SparseFitResult sparse_fit(const SparseProblem& problem, const Kernel& kernel_in, const MatrixXd& inducing_in,
                           const SparseFitOptions& options, Monitor& monitor) {
  const Stopwatch clock;
  const Index p = kernel_in.n_parameters();
  if (options.starts.rows() != p + 1 || options.starts.cols() < 1 || options.lower.size() != p + 1 ||
      options.upper.size() != p + 1)
    throw InputError("the starting values do not fit the kernel.");
  Kernel kernel = kernel_in;
  SparseJitter jitter;
  const double while_learning = 1e-10;  // gradients lose twice the digits that values lose
  const bool inputs = options.learn_inducing && problem.method != SparseMethod::exact;
  if (inputs && !kernel.differentiable_in_inputs())
    throw InputError("inducing inputs can only be optimised with a kernel that has derivatives in its inputs.");
  const double n = static_cast<double>(problem.x->rows());

  const auto evaluate = [&](const VectorXd& parameters, const MatrixXd& inducing, SparseGradient* gradient) {
    kernel.set_parameters(parameters.head(p));
    SparseState state = sparse_state(problem, kernel, std::exp(parameters[p]), inducing, jitter, monitor, gradient, inputs);
    jitter.first = std::max(jitter.first, state.jitter);  // once needed, kept: the objective stays smooth
    return state;
  };

  SparseFitResult best;
  best.inducing = inducing_in;
  best.parameters = options.starts.col(0);
  const Layout layout(options, inducing_in.rows());
  if (layout.size() == 0) {
    best.state = evaluate(best.parameters, best.inducing, nullptr);
    best.trace = VectorXd::Constant(1, best.state.log_evidence);
    best.convergence.converged = true;
    best.convergence.seconds = clock.seconds();
    return best;
  }

  jitter.first = while_learning;
  // The most promising starts. One that cannot be evaluated comes last.
  std::vector<Index> order(options.starts.cols());
  std::iota(order.begin(), order.end(), Index{0});
  if (order.size() > 1) {
    VectorXd value(options.starts.cols());
    for (Index s = 0; s < options.starts.cols(); ++s) {
      try {
        const VectorXd at = options.starts.col(s).cwiseMax(options.lower).cwiseMin(options.upper);
        value[s] = evaluate(at, inducing_in, nullptr).log_evidence + options.prior.add(at, nullptr);
      } catch (const NumericalError&) {
        value[s] = -std::numeric_limits<double>::infinity();
      }
    }
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return value[a] > value[b]; });
  }
  double most = -std::numeric_limits<double>::infinity();
  SparseJitter of_best = jitter;
  const std::size_t follow = std::min(order.size(), static_cast<std::size_t>(std::max(1, options.n_starts)));
  for (std::size_t s = 0; s < follow; ++s) {
    VectorXd parameters = options.starts.col(order[s]).cwiseMax(options.lower).cwiseMin(options.upper);
    MatrixXd inducing = inducing_in;
    std::vector<double> trace;
    jitter = SparseJitter();
    jitter.first = while_learning;
    const Objective objective = [&](const VectorXd& z, VectorXd& gradient) {
      layout.unpack(z, parameters, inducing);
      monitor.progress(std::min(1.0, static_cast<double>(trace.size()) / (1.5 * options.max_iter)));
      try {
        SparseGradient g;
        VectorXd on_parameters = VectorXd::Zero(p + 1);
        const double value = evaluate(parameters, inducing, &g).log_evidence + options.prior.add(parameters, &on_parameters);
        g.parameters += on_parameters.head(p);
        g.log_noise += on_parameters[p];
        gradient = -layout.gradient(g) / n;
        trace.push_back(value);
        return -value / n;
      } catch (const NumericalError&) {
        gradient = VectorXd::Zero(z.size());
        return std::numeric_limits<double>::infinity();
      }
    };
    LbfgsOptions settings;
    settings.max_iter = options.max_iter;
    settings.tol = options.tol;
    settings.value_tol = 1e-9;
    const LbfgsResult run = lbfgs_box(objective, layout.pack(parameters, inducing), layout.bound(options.lower, 0),
                                      layout.bound(options.upper, 1), settings, monitor);
    if (!std::isfinite(run.value) || -run.value * n <= most) continue;
    most = -run.value * n;
    of_best = jitter;
    layout.unpack(run.x, parameters, inducing);
    best.parameters = parameters;
    best.inducing = inducing;
    best.trace = Eigen::Map<const VectorXd>(trace.data(), static_cast<Index>(trace.size()));
    best.convergence = run.convergence;
    // Nearly redundant inducing inputs leave rounding errors in the evidence, below which no step can be told from another.
    if (!run.convergence.converged && run.convergence.iterations < options.max_iter && run.convergence.residual < 1e-2) {
      best.convergence.converged = true;
      best.convergence.message = "the evidence is flat to rounding";
      best.convergence.reason = Stop::solved;
    }
  }
  if (!std::isfinite(most)) throw NumericalError("the evidence could not be computed at any of the starting values.");
  jitter = of_best;
  best.state = evaluate(best.parameters, best.inducing, nullptr);
  best.convergence.seconds = clock.seconds();
  return best;
}

}  // namespace granary::process
