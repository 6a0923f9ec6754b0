#include "process/gplvm.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include "core/base/parallel.h"
#include "process/gplvm_sparse_likelihood.h"

namespace granary::process {

namespace {

void require_fit(const NoisyTargets& targets, ConstMatrixRef start, const Kernel& kernel) {
  if (start.rows() != targets.y.rows())
    throw InputError(message("the start has ", start.rows(), " rows, the data ", targets.y.rows(), "."));
  if (!kernel.differentiable_in_inputs())
    throw InputError("the kernel has no derivative in its inputs, so latent positions cannot be optimised with it.");
}

// GplvmLikelihood or GplvmSparseLikelihood.
using Likelihood = std::function<double(const Kernel&, ConstMatrixRef, VectorXd*, MatrixXd*, Monitor&)>;

double prior_term(const MatrixXd& x, bool prior) { return prior ? -0.5 * x.squaredNorm() : 0; }

// X times `by`, with the parameters that set the scale of the latent space. Where these are learnt L does not change, and true is
// returned; otherwise nothing is done.
bool stretch(const Likelihood& likelihood, double by, MatrixXd& x, Kernel& kernel, Monitor& monitor) {
  if (!(by > 0) || !std::isfinite(by)) return false;
  Kernel stretched = kernel;
  VectorXd parameters = kernel.parameters();
  const std::vector<std::string> names = kernel.parameter_names();
  const auto has = [](const std::string& name, const char* part) { return name.find(part) != std::string::npos; };
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (has(names[k], ".lengthscale")) parameters[static_cast<Index>(k)] += std::log(by);
    if (has(names[k], "linear.") || has(names[k], "mlp.weight")) parameters[static_cast<Index>(k)] -= 2 * std::log(by);
  }
  stretched.set_parameters(parameters);
  const double before = likelihood(kernel, x, nullptr, nullptr, monitor),
               after = likelihood(stretched, by * x, nullptr, nullptr, monitor);
  if (!std::isfinite(before) || !(std::abs(after - before) <= 1e-8 * (1 + std::abs(before)))) return false;
  x *= by;
  kernel = stretched;
  return true;
}

double unit_stretch(const MatrixXd& x) { return std::sqrt(static_cast<double>(x.size()) / x.squaredNorm()); }

struct Climb {
  bool free_scale = false;
  Convergence convergence;
  std::vector<double> trace;
};

// L-BFGS on (X, log theta), or on log theta alone; both are replaced by where it ends. X then has the mean square it had before,
// if that is free.
Climb climb(const Likelihood& likelihood, MatrixXd& x, Kernel& kernel, bool move_x, const GplvmOptions& options, Monitor& monitor,
            double share_from, double share_to) {
  const Index places = move_x ? x.size() : 0, count = kernel.n_parameters();
  const double size = x.squaredNorm();
  const Eigen::RowVectorXd mean = x.colwise().mean();
  VectorXd start(places + count);
  if (move_x) start.head(places) = Eigen::Map<const VectorXd>(x.data(), places);
  start.tail(count) = kernel.parameters();
  Climb result;
  Kernel trial = kernel;
  MatrixXd at = x, dx;
  // Where the scale of X is free the prior would shrink X, and the lengthscales with it, for ever: its supremum over the scale is
  // L.
  result.free_scale = options.prior && move_x && stretch(likelihood, 1.25, at, trial, monitor);
  const bool prior = options.prior && !result.free_scale;
  VectorXd dp;
  int calls = 0;
  const auto negative = [&](const VectorXd& v, VectorXd& gradient) {
    if (move_x) at = Eigen::Map<const MatrixXd>(v.data(), x.rows(), x.cols());
    if (count > 0 && v.tail(count).cwiseAbs().maxCoeff() > 100) return std::numeric_limits<double>::infinity();
    trial.set_parameters(v.tail(count));
    const double value = likelihood(trial, at, &dp, move_x ? &dx : nullptr, monitor) + prior_term(at, prior);
    if (!std::isfinite(value)) return std::numeric_limits<double>::infinity();
    if (move_x) {
      if (prior) dx -= at;
      gradient.head(places) = -Eigen::Map<const VectorXd>(dx.data(), places);
    }
    gradient.tail(count) = -dp;
    if (result.trace.empty() || value > result.trace.back()) result.trace.push_back(value);
    ++calls;
    monitor.progress(share_from + (share_to - share_from) * std::min(1.0, calls / (1.1 * options.max_iter)));
    return -value;
  };
  LbfgsOptions solver;
  solver.max_iter = options.max_iter;
  solver.value_tol = options.tol;
  const LbfgsResult best = lbfgs(negative, start, solver, monitor);
  if (move_x) x = Eigen::Map<const MatrixXd>(best.x.data(), x.rows(), x.cols());
  kernel.set_parameters(best.x.tail(count));
  if (result.free_scale) {
    if (kernel.stationary()) x.rowwise() -= (x.colwise().mean() - mean).eval();
    stretch(likelihood, std::sqrt(size / x.squaredNorm()), x, kernel, monitor);
  }
  result.convergence = best.convergence;
  return result;
}

// Of the rows of `active`, the one nearest to row j in the cells both have.
Index nearest_active(const NoisyTargets& targets, const std::vector<Index>& active, Index j) {
  Index best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < active.size(); ++k) {
    double sum = 0, count = 0;
    for (Index i = 0; i < targets.y.cols(); ++i) {
      if (!targets.observed(j, i) || !targets.observed(active[k], i)) continue;
      const double gap = targets.y(j, i) - targets.y(active[k], i);
      sum += gap * gap;
      count += 1;
    }
    if (count > 0 && sum / count < least) {
      least = sum / count;
      best = static_cast<Index>(k);
    }
  }
  return best;
}

// Where the prior can have its mean square of one for nothing, X starts with it, about the origin where that is free too.
void begin(const Likelihood& likelihood, const GplvmOptions& options, MatrixXd& x, Kernel& kernel, Monitor& monitor) {
  if (!options.prior) return;
  if (kernel.stationary()) x.rowwise() -= x.colwise().mean().eval();
  stretch(likelihood, unit_stretch(x), x, kernel, monitor);
}

std::vector<Index> all_rows(Index n) {
  std::vector<Index> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), Index(0));
  return rows;
}

IvmOptions selection_options(const GplvmOptions& options) {
  IvmOptions ivm;
  ivm.size = options.active;
  ivm.noise = options.noise;
  ivm.nugget = options.nugget;
  ivm.offset = options.offset;
  return ivm;
}

// What has been seen so far, and which of it was best.
class Best {
 public:
  // True when the objective has settled.
  bool offer(GplvmResult&& now, double tol) {
    trace_.push_back(now.objective);
    const double change = std::abs(now.objective - last_);
    settled_ = change <= tol * std::max(std::abs(now.objective), 1.0) ? settled_ + 1 : 0;
    last_ = now.objective;
    improved_ = trace_.size() == 1 || now.objective > best_.objective;
    if (improved_) best_ = std::move(now);
    return settled_ >= 2;
  }
  bool improved() const { return improved_; }
  const GplvmResult& so_far() const { return best_; }
  GplvmResult take(const Stopwatch& clock, bool settled, int rounds) {
    best_.trace = Eigen::Map<const VectorXd>(trace_.data(), static_cast<Index>(trace_.size()));
    best_.convergence.converged = settled;
    best_.convergence.iterations = rounds;
    best_.convergence.residual = Convergence::unknown;
    best_.convergence.message =
        settled ? "the objective no longer changes from round to round" : "all rounds were made and the objective still changes";
    best_.convergence.seconds = clock.seconds();
    return std::move(best_);
  }

 private:
  GplvmResult best_;
  std::vector<double> trace_;
  double last_ = std::numeric_limits<double>::infinity();
  int settled_ = 0;
  bool improved_ = false;
};

GplvmResult filtered(const NoisyTargets& targets, const MatrixXd& x, const Kernel& kernel, const GplvmOptions& options,
                     Monitor& monitor) {
  AdfResult pass = adf_pass(kernel, x, targets, selection_options(options), options.threads, monitor);
  GplvmResult now;
  now.latent = x;
  now.parameters = kernel.parameters();
  now.log_likelihood = pass.log_evidence;
  now.objective = pass.log_evidence + prior_term(x, options.prior);
  now.active = all_rows(x.rows());
  now.targets = std::move(pass.sites);
  return now;
}

// Filter, climb with the sites fixed, filter again.
GplvmResult full_bernoulli(const NoisyTargets& targets, MatrixXd x, Kernel kernel, const GplvmOptions& options,
                           Monitor& monitor) {
  const Stopwatch clock;
  Best best;
  begin(GplvmLikelihood(targets, options.nugget), options, x, kernel, monitor);
  GplvmResult now = filtered(targets, x, kernel, options, monitor);
  NoisyTargets sites = now.targets;
  bool settled = best.offer(std::move(now), options.tol);
  int round = 0;
  GplvmOptions steps = options;
  const double tol = std::max(options.tol, 1e-5);  // filtering again moves the evidence by more than the steps' tolerance
  for (; round < options.rounds && !settled; ++round) {
    const GplvmLikelihood likelihood(sites, options.nugget, options.threads);
    climb(likelihood, x, kernel, true, steps, monitor, static_cast<double>(round) / options.rounds,
          static_cast<double>(round + 1) / options.rounds);
    now = filtered(targets, x, kernel, options, monitor);
    sites = now.targets;
    settled = best.offer(std::move(now), tol);
    // The sites hold near where they were found only: back, and in smaller steps.
    if (!best.improved()) {
      x = best.so_far().latent;
      kernel.set_parameters(best.so_far().parameters);
      sites = best.so_far().targets;
      settled = steps.max_iter == 1;
      steps.max_iter = std::max(1, steps.max_iter / 4);
    }
  }
  return best.take(clock, settled, round);
}

}  // namespace

GplvmResult gplvm_full(const NoisyTargets& targets, ConstMatrixRef start, const Kernel& kernel, const GplvmOptions& options,
                       Monitor& monitor) {
  require_fit(targets, start, kernel);
  if (options.noise == OutputNoise::bernoulli) return full_bernoulli(targets, start, kernel, options, monitor);
  const Stopwatch clock;
  const GplvmLikelihood likelihood(targets, options.nugget, options.threads);
  GplvmResult result;
  result.latent = start;
  Kernel learnt = kernel;
  begin(likelihood, options, result.latent, learnt, monitor);
  Climb climbed = climb(likelihood, result.latent, learnt, true, options, monitor, 0, 1);
  result.parameters = learnt.parameters();
  result.log_likelihood = likelihood(learnt, result.latent, nullptr, nullptr, monitor);
  result.objective = result.log_likelihood + prior_term(result.latent, options.prior);
  result.trace = Eigen::Map<const VectorXd>(climbed.trace.data(), static_cast<Index>(climbed.trace.size()));
  result.active = all_rows(start.rows());
  result.targets = targets;
  result.convergence = climbed.convergence;
  result.convergence.seconds = clock.seconds();
  return result;
}

GplvmResult gplvm_sparse(const NoisyTargets& targets, ConstMatrixRef start, const Kernel& kernel, const GplvmOptions& options,
                         Monitor& monitor) {
  require_fit(targets, start, kernel);
  const Stopwatch clock;
  const IvmOptions selection = selection_options(options);
  const bool probit = options.noise == OutputNoise::bernoulli;
  MatrixXd x = start;
  Kernel learnt = kernel;
  {
    const std::vector<Index> some = ivm_select(learnt, x, targets, selection, monitor).active;
    MatrixXd part = take_rows(x, some);
    const double by = unit_stretch(x);
    if (options.prior && stretch(GplvmLikelihood(targets.rows(some), options.nugget), by, part, learnt, monitor)) x *= by;
  }
  LbfgsOptions point;
  point.max_iter = options.max_iter_point;
  point.value_tol = options.tol;
  Best best;
  bool settled = false;
  int round = 0;
  GplvmOptions steps = options;
  for (; round < options.rounds && !settled; ++round) {
    const double share = static_cast<double>(round) / options.rounds, half = 0.5 / options.rounds;
    IvmResult chosen = ivm_select(learnt, x, targets, selection, monitor);
    MatrixXd active = take_rows(x, chosen.active);
    const GplvmLikelihood likelihood(chosen.sites, options.nugget, options.threads);
    climb(likelihood, active, learnt, options.move_active, steps, monitor, share, share + half);
    // Once the active rows have moved, the others are stale: a new selection would pick just those that are far off.
    if (options.move_active)
      for (std::size_t k = 0; k < chosen.active.size(); ++k) x.row(chosen.active[k]) = active.row(static_cast<Index>(k));
    else
      chosen = ivm_select(learnt, x, targets, selection, monitor);
    std::vector<bool> inside(static_cast<std::size_t>(x.rows()), false);
    for (Index k : chosen.active) inside[static_cast<std::size_t>(k)] = true;
    std::vector<Index> others;
    for (Index j = 0; j < x.rows(); ++j)
      if (!inside[static_cast<std::size_t>(j)]) others.push_back(j);

    GplvmModel model{learnt,       take_rows(x, chosen.active), chosen.sites, options.nugget, options.noise, options.offset,
                     options.prior};
    const GplvmPosterior posterior(model);
    VectorXd values(static_cast<Index>(others.size()));
    MatrixXd moved = x;
    parallel_for(values.size(), options.threads, monitor, [&](Index k) {
      const Index j = others[static_cast<std::size_t>(k)];
      VectorXd y = targets.y.row(j).transpose(), noise, at = x.row(j).transpose();
      if (!targets.plain()) noise = targets.noise.row(j).transpose();
      const GplvmPosterior::Row row = posterior.prepare(y, noise);
      VectorXd other = model.latent.row(nearest_active(targets, chosen.active, j)).transpose();
      const double here = posterior.place(row, at, point, monitor), there = posterior.place(row, other, point, monitor);
      if (there > here) at = other;
      values[k] = std::max(here, there) + (options.prior ? 0.5 * at.squaredNorm() : 0);
      moved.row(j) = at.transpose();
      monitor.progress(share + half * (1 + static_cast<double>(k) / static_cast<double>(others.size())));
    });
    x = moved;

    GplvmResult now;
    now.latent = x;
    now.parameters = learnt.parameters();
    // Sites are not data: the evidence of binary rows is what the filter met.
    now.log_likelihood =
        values.sum() + (probit ? chosen.log_evidence
                               : GplvmLikelihood(chosen.sites, options.nugget)(learnt, model.latent, nullptr, nullptr, monitor));
    now.objective = now.log_likelihood + prior_term(x, options.prior);
    now.active = std::move(chosen.active);
    now.targets = std::move(chosen.sites);
    settled = best.offer(std::move(now), options.tol);
    // Active rows that climb too far fit themselves at the cost of the others: back, and in smaller steps.
    if (!best.improved() && options.move_active) {
      x = best.so_far().latent;
      learnt.set_parameters(best.so_far().parameters);
      settled = steps.max_iter == 1;
      steps.max_iter = std::max(1, steps.max_iter / 2);
    }
  }
  GplvmResult result = best.take(clock, settled, round);
  if (probit || !options.move_active) return result;
  // Rounds climb the two parts of the objective in turns and stop where one takes what the other gave: now both at once.
  const GplvmSparseLikelihood both(targets, result.active, options.nugget);
  steps.max_iter = 50 * options.max_iter;
  learnt.set_parameters(result.parameters);
  const Climb end = climb(both, result.latent, learnt, true, steps, monitor, 0.9, 1);
  if (end.free_scale) begin(both, options, result.latent, learnt, monitor);  // rounds may have changed the size of the map
  result.parameters = learnt.parameters();
  result.log_likelihood = both(learnt, result.latent, nullptr, nullptr, monitor);
  result.objective = result.log_likelihood + prior_term(result.latent, options.prior);
  result.trace.conservativeResize(result.trace.size() + 1);
  result.trace[result.trace.size() - 1] = result.objective;
  const int rounds = result.convergence.iterations;
  result.convergence = end.convergence;
  result.convergence.iterations += rounds;
  result.convergence.seconds = clock.seconds();
  return result;
}

}  // namespace granary::process
