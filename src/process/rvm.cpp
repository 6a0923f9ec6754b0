#include "process/rvm.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "process/rvm_model.h"

namespace granary::process {

RvmModel rvm_fixed_point(const RvmScaled& data, const RvmOptions& options, RvmModel model, Monitor& monitor, std::vector<double>& trace,
                         Convergence& convergence, double gain, int patience) {
  MatrixXd phi(data.y.size(), model.size());
  for (Index k = 0; k < model.size(); ++k) phi.col(k) = data.phi.col(model.active[k]);
  MatrixXd gram = phi.transpose() * phi;
  VectorXd projection = phi.transpose() * data.y;
  refresh(model, gram, projection, data);
  trace.push_back(model.evidence);
  // `share` of the way to the new precisions and noise, columns beyond `prune` (and, if `drop`, those the data say nothing of) left out.
  const auto moved = [&](const VectorXd& alpha, double noise, double share, bool drop, const VectorXd& gamma, MatrixXd& inner, VectorXd& projected) {
    RvmModel next;
    next.noise = model.noise * std::pow(noise / model.noise, share);
    std::vector<Index> keep;
    std::vector<double> values;
    for (Index k = 0; k < model.size(); ++k) {
      const double a = model.alpha[k] * std::pow(alpha[k] / model.alpha[k], share);
      if (!(a <= options.prune) || (drop && gamma[k] < 1e-4)) continue;
      keep.push_back(k);
      values.push_back(a);
    }
    const Index count = static_cast<Index>(keep.size());
    next.alpha = Eigen::Map<const VectorXd>(values.data(), count);
    inner.resize(count, count);
    projected.resize(count);
    for (Index k = 0; k < count; ++k) {
      next.active.push_back(model.active[keep[k]]);
      projected[k] = projection[keep[k]];
      for (Index j = 0; j < count; ++j) inner(j, k) = gram(keep[j], keep[k]);
    }
    refresh(next, inner, projected, data);
    return next;
  };
  int quiet = 0;
  for (int iteration = 1; iteration <= options.max_iter; ++iteration) {
    monitor.check();
    convergence.iterations = iteration;
    const double before = model.evidence;
    const VectorXd gamma = gammas(model);
    const double noise_to = options.noise > 0 ? model.noise : residual_noise(model, data);
    double change = std::abs(std::log(noise_to / model.noise));
    VectorXd alpha(model.size());
    for (Index k = 0; k < model.size(); ++k) {
      alpha[k] = std::max(gamma[k], 1e-300) / std::max(model.mean[k] * model.mean[k], 1e-300);
      change = std::max(change, gamma[k] * std::abs(std::log(alpha[k] / model.alpha[k])));
    }
    // Precisions on their way to infinity get there slowly: once nothing else moves, weights the data do not determine are out.
    const bool still = change < options.tol;
    MatrixXd inner;
    VectorXd projected;
    bool taken = false;
    for (double share = 1; share > 1e-3 && !taken; share *= 0.5) {
      RvmModel next = moved(alpha, noise_to, share, still, gamma, inner, projected);
      if (!no_less(next.evidence, model.evidence)) continue;
      taken = true;
      const bool dropped = next.size() < model.size();
      model = std::move(next);
      gram = std::move(inner);
      projection = std::move(projected);
      trace.push_back(model.evidence);
      if (!dropped && still) convergence.converged = true;
    }
    if (!taken && still) convergence.converged = true;
    if (convergence.converged) break;
    quiet = model.evidence - before < gain * (1 + std::abs(before)) ? quiet + 1 : 0;
    if (taken && quiet < patience) continue;
    convergence.message = "the evidence no longer rises, though some precisions still move";
    convergence.reason = Stop::stalled;
    break;
  }
  return model;
}

RvmResult rvm(ConstMatrixRef phi, ConstVectorRef y, const RvmOptions& options, Monitor& monitor) {
  if (phi.rows() != y.size()) throw InputError("the basis must have one row per value of the response.");
  if (y.size() < 1 || phi.cols() < 1) throw InputError("at least one row and one basis function are needed.");
  if (!phi.allFinite() || !y.allFinite()) throw InputError("the basis and the response must be finite.");
  const Stopwatch clock;
  const RvmScaled data(phi, y);
  const double noise = options.noise > 0 ? options.noise / (data.y_scale * data.y_scale) : 0.1;
  RvmResult result;
  std::vector<double> trace;
  RvmModel model;
  if (options.algorithm == RvmAlgorithm::fast) {
    model = rvm_fast(data, options, noise, monitor, trace, result.convergence);
  } else {
    RvmModel start;
    start.noise = noise;
    for (Index k = 0; k < phi.cols(); ++k)
      if (data.phi.col(k).squaredNorm() > 0) start.active.push_back(k);
    start.alpha = VectorXd::Constant(start.size(), static_cast<double>(start.size()));
    model = rvm_fixed_point(data, options, std::move(start), monitor, trace, result.convergence);
  }
  // Either can end in a poor valley, or be lost among nearly equal columns. Equal precisions of all columns are the least that an answer
  // must beat: where it does not, an active set goes on from there.
  if (static_cast<double>(phi.rows()) * static_cast<double>(phi.cols()) <= 4e6) {
    const RvmModel equal = equal_precisions(data, options, noise, monitor);
    const bool poor = equal.size() > 0 && equal.evidence > model.evidence + 1e-6 * (1 + std::abs(model.evidence));
    if (poor || rvm_residual(model) > 1e-4) {
      Convergence convergence;
      std::vector<double> again;
      RvmModel start = model;
      if (poor) {  // a few rounds over all columns show where the precisions go
        RvmOptions few = options;
        few.max_iter = 15;
        Convergence rounds;
        start = rvm_fixed_point(data, few, equal, monitor, again, rounds);
      }
      RvmModel other = rvm_active(data, options, start, monitor, again, convergence);
      if (no_less(other.evidence, model.evidence)) {
        model = std::move(other);
        convergence.iterations += result.convergence.iterations;
        result.convergence = convergence;
        for (const double value : again)  // the course of the best model so far
          if (trace.empty() || value > trace.back()) trace.push_back(value);
      }
    }
  }
  const Index m = model.size();
  const VectorXd gamma = gammas(model);
  std::vector<Index> order(static_cast<std::size_t>(m));
  for (Index k = 0; k < m; ++k) order[k] = k;
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return model.active[a] < model.active[b]; });
  result.precision.resize(m);
  result.mean.resize(m);
  result.gamma.resize(m);
  result.covariance.resize(m, m);
  double residual = 0;
  for (Index k = 0; k < m; ++k) {
    const Index from = order[k];
    const double unit = data.y_scale / data.column_scale[model.active[from]];
    result.relevant.push_back(model.active[from]);
    result.precision[k] = model.alpha[from] / (unit * unit);
    result.mean[k] = model.mean[from] * unit;
    result.gamma[k] = gamma[from];
    residual = std::max(residual, std::abs(model.alpha[from] * model.mean[from] * model.mean[from] - gamma[from]));
    for (Index j = 0; j < m; ++j)
      result.covariance(j, k) =
          model.covariance(order[j], from) * unit * data.y_scale / data.column_scale[model.active[order[j]]];
  }
  const double shift = -static_cast<double>(y.size()) * std::log(data.y_scale);
  result.noise = model.noise * data.y_scale * data.y_scale;
  result.log_evidence = model.evidence + shift;
  result.trace = Eigen::Map<const VectorXd>(trace.data(), static_cast<Index>(trace.size())).array() + shift;
  result.convergence.residual = residual;  // of a_k mu_k^2 = gamma_k
  // Nothing to gain, and stationary: that is the answer.
  if (!result.convergence.converged && result.convergence.reason == Stop::stalled && residual <= 1e-4) {
    result.convergence.converged = true;
    result.convergence.reason = Stop::solved;
    result.convergence.message.clear();
  }
  if (result.convergence.converged && residual > 1e-4) {  // said of the answer, not of the loop
    result.convergence.converged = false;
    result.convergence.reason = Stop::stalled;
    if (result.convergence.message.empty()) result.convergence.message = "no step raises the evidence, but the precisions are not stationary";
  }
  result.convergence.seconds = clock.seconds();
  return result;
}

}  // namespace granary::process
