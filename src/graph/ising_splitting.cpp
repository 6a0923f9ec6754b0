#include "graph/ising_splitting.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/optim/fista.h"
#include "core/prox/proximal.h"

namespace granary::graph {

namespace {

bool allowed(const IsingObjective& objective, Index i, Index j) {
  return i != j && (objective.mask.size() == 0 || objective.mask(i, j) != 0);
}

// The proximal step of the penalty: soft threshold, or the shrinkage 1 / (1 + 2 step rho) of the ridge.
void proximal_step(const IsingObjective& objective, double step, MatrixXd& w, VectorXd& b) {
  const double amount = step * objective.rho;
  const bool ridge = objective.penalty == IsingPenalty::ridge;
  for (Index j = 0; j < w.cols(); ++j) {
    for (Index i = 0; i < w.rows(); ++i) {
      if (!allowed(objective, i, j)) {
        w(i, j) = 0;
      } else {
        w(i, j) = ridge ? w(i, j) / (1 + 2 * amount) : soft_threshold(w(i, j), amount);
      }
    }
  }
  if (objective.field_penalty) b = ridge ? VectorXd(b / (1 + 2 * amount)) : VectorXd(soft_threshold(b, amount));
}

double exact_objective(const IsingData& data, const IsingObjective& objective, const SpinModel& model, Monitor& monitor) {
  if (!model.w.allFinite() || !model.b.allFinite() || model.w.cwiseAbs().maxCoeff() > 1e100) return Convergence::unknown;
  const double log_z = exact_log_partition(model.w, model.b, monitor);
  return log_z - data.second.cwiseProduct(model.w).sum() - data.mean.dot(model.b) + ising_penalty_value(objective, model);
}

// Steps to record: about `points` of them, evenly spread in log k, the last one included.
std::vector<char> recorded_steps(int steps, int points) {
  std::vector<char> record(steps + 1, 0);
  for (int p = 0; p < points; ++p) {
    const double k = std::exp(std::log(static_cast<double>(steps)) * p / std::max(1, points - 1));
    record[std::min(steps, std::max(1, static_cast<int>(std::lround(k))))] = 1;
  }
  return record;
}

SplittingResult exact_accelerated(const IsingData& data, const IsingObjective& objective, const SplittingOptions& options,
                                  Monitor& monitor) {
  const Stopwatch watch;
  const Index n = data.mean.size();
  const auto split = [&](const MatrixXd& point, SpinModel& model) {
    model.w = point.leftCols(n);
    model.b = point.col(n);
  };
  SplittingResult result;
  SpinModel trial;
  CompositeProblem<MatrixXd> problem;
  problem.smooth = [&](const MatrixXd& point, MatrixXd& gradient) {
    if (!(point.cwiseAbs().maxCoeff() < 1e100)) return std::numeric_limits<double>::infinity();
    split(point, trial);
    const SpinMoments moments = exact_moments(trial.w, trial.b, monitor);
    gradient.leftCols(n) = moments.second - data.second;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        if (!allowed(objective, i, j)) gradient(i, j) = 0;
      }
    }
    gradient.col(n) = moments.mean - data.mean;
    return moments.log_partition - data.second.cwiseProduct(trial.w).sum() - data.mean.dot(trial.b);
  };
  problem.prox = [&](const MatrixXd& point, double step) -> MatrixXd {
    MatrixXd w = point.leftCols(n), out(n, n + 1);
    VectorXd b = point.col(n);
    proximal_step(objective, step, w, b);
    out << w, b;
    return out;
  };
  problem.penalty = [&](const MatrixXd& point) {
    SpinModel model;
    split(point, model);
    return ising_penalty_value(objective, model);
  };
  FistaOptions fista_options;
  fista_options.max_iter = static_cast<int>(options.samples.size());
  fista_options.tol = std::max(1e-13, 1e-3 * options.tol);
  FistaResult<MatrixXd> end = fista<MatrixXd>(problem, MatrixXd::Zero(n, n + 1), fista_options, monitor);
  split(end.x, result.last);
  result.fit.model = result.last;
  result.fit.convergence = end.convergence;
  certify_likelihood(data, objective, result.fit, monitor);
  result.fit.convergence.converged = result.fit.convergence.residual <= options.tol;
  if (result.fit.convergence.converged) result.fit.convergence.message.clear();
  result.fit.convergence.seconds = watch.seconds();
  return result;
}

}  // namespace

SplittingResult ising_splitting(const IsingData& data, const IsingObjective& objective, const SplittingOptions& options, Rng& rng,
                                Monitor& monitor) {
  const int steps = static_cast<int>(options.samples.size());
  if (steps < 1) throw InputError("forward-backward splitting needs at least one step.");
  if (options.sampler == MomentMethod::exact && options.accelerated) return exact_accelerated(data, objective, options, monitor);
  const Stopwatch watch;
  const Index n = data.mean.size();
  const double g = ising_bounds(data, std::max(objective.rho, 1e-300), objective.field_penalty).lipschitz;
  const auto eta = [&](int k) { return options.beta / (g * std::pow(static_cast<double>(k), options.r)); };
  const std::vector<char> record = recorded_steps(steps, options.trace_points);
  const int chosen = options.output == SplittingOutput::random ? 1 + static_cast<int>(rng.below(steps)) : steps;

  SpinModel now{MatrixXd::Zero(n, n), VectorXd::Zero(n)}, before = now, at = now;
  SpinModel sum = now, weighted = now, picked = now;
  double weight = 0, visited = 0;
  MatrixXd chains;
  SplittingResult result;
  Convergence& end = result.fit.convergence;
  MomentOptions moment_options;
  moment_options.sweeps = options.sweeps;
  if (options.sampler != MomentMethod::belief) moment_options.tol = 1e-6;  // mean field only proposes here

  for (int k = 1; k <= steps; ++k) {
    monitor.progress(static_cast<double>(k) / steps);
    // The averages are over the points at which gradients were taken, W_1 .. W_K, as printed.
    sum.w += now.w;
    sum.b += now.b;
    weighted.w += eta(k) * now.w;
    weighted.b += eta(k) * now.b;
    weight += eta(k);
    ++visited;
    if (k == chosen) picked = now;

    if (options.accelerated && k > 1) {
      const double momentum = (k - 1.0) / (k + 2.0);
      at.w = now.w + momentum * (now.w - before.w);
      at.b = now.b + momentum * (now.b - before.b);
    } else {
      at = now;
    }
    if (!at.w.allFinite() || at.w.cwiseAbs().maxCoeff() > 1e6) {
      end.message = "the couplings have grown beyond every bound: the gradients are too noisy for this method";
      break;
    }
    moment_options.samples = options.samples[k - 1];
    const MomentResult moments = spin_moments(at.w, at.b, options.sampler, moment_options, chains, rng, monitor);
    if (options.sampler == MomentMethod::belief && !moments.convergence.converged) ++result.beliefs_unsettled;
    if (options.sampler == MomentMethod::importance) {
      result.smallest_effective = std::isnan(result.smallest_effective)
                                      ? moments.effective_samples
                                      : std::min(result.smallest_effective, moments.effective_samples);
    }
    before = now;
    MatrixXd gradient = moments.second - data.second;
    gradient.diagonal().setZero();
    const VectorXd gradient_b = moments.mean - data.mean;
    if (options.sampler == MomentMethod::exact) {
      end.residual = ising_residual(objective, now, gradient, gradient_b).largest();
      if (end.residual <= options.tol && k > 1) {
        end.converged = true;
        end.iterations = k - 1;
        break;
      }
    }
    now.w = at.w - eta(k) * gradient;
    now.b = at.b - eta(k) * gradient_b;
    proximal_step(objective, eta(k + 1), now.w, now.b);
    end.iterations = k;

    if (options.trace && record[k]) {
      result.step.push_back(k);
      result.move.push_back(std::sqrt((now.w - before.w).squaredNorm() + (now.b - before.b).squaredNorm()));
      const bool countable = largest_component(sum.w) <= 20;
      const SpinModel average{sum.w / k, sum.b / k}, robust{weighted.w / weight, weighted.b / weight};
      result.objective_last.push_back(countable ? exact_objective(data, objective, now, monitor) : Convergence::unknown);
      result.objective_average.push_back(countable ? exact_objective(data, objective, average, monitor) : Convergence::unknown);
      result.objective_robust.push_back(countable ? exact_objective(data, objective, robust, monitor) : Convergence::unknown);
    }
  }
  result.last = now;
  switch (options.output) {
    case SplittingOutput::last:
      result.fit.model = now;
      break;
    case SplittingOutput::average:
      result.fit.model = {sum.w / visited, sum.b / visited};
      break;
    case SplittingOutput::robust:
      result.fit.model = {weighted.w / weight, weighted.b / weight};
      break;
    case SplittingOutput::random:
      result.fit.model = picked;
      break;
  }
  const bool finite = result.fit.model.w.allFinite() && result.fit.model.w.cwiseAbs().maxCoeff() < 1e100;
  if (finite && largest_component(result.fit.model.w) <= max_enumerated_spins) {
    const bool stopped_early = end.converged;
    certify_likelihood(data, objective, result.fit, monitor);
    end.converged = stopped_early || end.residual <= options.tol;
  }
  // A method with estimated moments has no stopping rule of its own: what it knows of its answer is the certificate, if that can be had.
  if (!end.converged && end.message.empty()) {
    end.message = "the steps asked for are done; raise max_iter for a smaller residual";
    if (options.sampler != MomentMethod::exact) {
      end.reason = Stop::approximate;
      end.message = "the steps asked for are done, with estimated moments";
    }
  }
  end.seconds = watch.seconds();
  return result;
}

}  // namespace granary::graph
