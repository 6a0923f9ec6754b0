#include "graph/ising_likelihood.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/base/errors.h"
#include "core/optim/lbfgs.h"

namespace granary::graph {

IsingData ising_data(ConstMatrixRef x) {
  IsingData data;
  data.rows = x.rows();
  data.mean = x.colwise().mean().transpose();
  data.second = x.transpose() * x / static_cast<double>(x.rows());
  data.second.diagonal().setZero();
  std::vector<std::string> rows(x.rows(), std::string(x.cols(), '-'));
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      if (x(i, j) > 0) rows[i][j] = '+';
    }
  }
  std::sort(rows.begin(), rows.end());
  for (std::size_t first = 0, last = 0; first < rows.size(); first = last) {
    while (last < rows.size() && rows[last] == rows[first]) ++last;
    const double share = static_cast<double>(last - first) / rows.size();
    data.entropy -= share * std::log(share);
  }
  return data;
}

std::vector<std::pair<int, int>> ising_pairs(Index n, const MatrixXd& mask) {
  if (mask.size() > 0 && (mask.rows() != n || mask.cols() != n))
    throw InputError("`mask` must have one row and column per variable.");
  std::vector<std::pair<int, int>> pairs;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < j; ++i) {
      if (mask.size() == 0 || mask(i, j) != 0) pairs.emplace_back(i, j);
    }
  }
  return pairs;
}

double ising_penalty_value(const IsingObjective& objective, const SpinModel& model) {
  if (objective.rho == 0) return 0;
  double value = objective.penalty == IsingPenalty::l1 ? model.w.cwiseAbs().sum() : model.w.squaredNorm();
  if (objective.field_penalty) value += objective.penalty == IsingPenalty::l1 ? model.b.cwiseAbs().sum() : model.b.squaredNorm();
  return objective.rho * value;
}

IsingResidual ising_residual(const IsingObjective& objective, const SpinModel& model, const MatrixXd& gradient_w,
                             const VectorXd& gradient_b) {
  IsingResidual result;
  const auto violation = [&](double value, double slope, bool penalised) {
    if (!penalised) return std::abs(slope);
    if (objective.penalty == IsingPenalty::ridge) return std::abs(slope + 2 * objective.rho * value);
    if (value != 0) return std::abs(slope + (value > 0 ? objective.rho : -objective.rho));
    return std::max(0.0, std::abs(slope) - objective.rho);
  };
  for (const auto& [i, j] : ising_pairs(model.b.size(), objective.mask)) {
    result.couplings = std::max(result.couplings, violation(model.w(i, j), gradient_w(i, j), true));
  }
  for (Index i = 0; i < model.b.size(); ++i) {
    result.fields = std::max(result.fields, violation(model.b[i], gradient_b[i], objective.field_penalty));
  }
  return result;
}

IsingBounds ising_bounds(const IsingData& data, double rho, bool field_penalty) {
  const double n = static_cast<double>(data.mean.size());
  const double s = data.second.size() > 0 ? data.second.cwiseAbs().maxCoeff() : 0, m = data.mean.cwiseAbs().maxCoeff();
  IsingBounds bounds;
  bounds.couplings = n * std::log(2.0) / rho;
  bounds.fields = field_penalty ? bounds.couplings : bounds.couplings * (rho + 1 + s) / (1 - m);
  // With penalised fields |W|_1 + |b|_1 obeys one bound, and so does the 2-norm.
  bounds.diameter = field_penalty ? bounds.couplings : std::hypot(bounds.couplings, bounds.fields);
  bounds.lipschitz = std::sqrt(std::max(n * n * (1 + s) * (1 + s) + n * (1 + m) * (1 + m), n * n * rho * rho));
  return bounds;
}

double ising_dual_value(const IsingData& data, const IsingObjective& objective, const SpinModel& model,
                        const SpinMoments& moments) {
  if (!(objective.rho > 0)) return -std::numeric_limits<double>::infinity();
  const Index n = data.mean.size();
  double entropy = moments.log_partition - moments.second.cwiseProduct(model.w).sum() - moments.mean.dot(model.b);
  MatrixXd second = moments.second;
  double outside = 0;  // largest distance of a bounded moment from that of the data
  if (objective.field_penalty) {
    outside = (moments.mean - data.mean).cwiseAbs().maxCoeff();
  } else {
    // The means have to be met exactly: mix in as much of a product law as takes them there.
    const VectorXd off = moments.mean - data.mean;
    double share = 0;
    for (Index i = 0; i < n; ++i) {
      if (off[i] != 0) share = std::max(share, std::abs(off[i]) / (std::abs(off[i]) + 1 - std::abs(data.mean[i])));
    }
    if (share > 0) {
      share = std::min(1.0, 2 * share);  // twice as much as needed leaves the product law some entropy
      const VectorXd mean = data.mean - (1 - share) / share * off;
      double product = 0;
      for (Index i = 0; i < n; ++i) {
        for (const double q : {(1 + mean[i]) / 2, (1 - mean[i]) / 2}) product -= q > 0 ? q * std::log(q) : 0;
      }
      entropy = (1 - share) * entropy + share * product;
      second = (1 - share) * second + share * mean * mean.transpose();
    }
  }
  double squares = 0;
  for (const auto& [i, j] : ising_pairs(n, objective.mask)) {
    const double distance = std::abs(second(i, j) - data.second(i, j));
    outside = std::max(outside, distance);
    squares += 2 * distance * distance;
  }
  if (objective.penalty == IsingPenalty::ridge) {
    if (objective.field_penalty) squares += (moments.mean - data.mean).squaredNorm();
    return entropy - squares / (4 * objective.rho);
  }
  const double share = outside > objective.rho ? 1 - objective.rho / outside : 0;
  return (1 - share) * entropy + share * data.entropy;
}

void certify_likelihood(const IsingData& data, const IsingObjective& objective, IsingFit& fit, Monitor& monitor) {
  const SpinMoments moments = exact_moments(fit.model.w, fit.model.b, monitor);
  fit.loss = moments.log_partition - data.second.cwiseProduct(fit.model.w).sum() - data.mean.dot(fit.model.b);
  fit.objective = fit.loss + ising_penalty_value(objective, fit.model);
  MatrixXd gradient = moments.second - data.second;
  gradient.diagonal().setZero();
  const IsingResidual residual = ising_residual(objective, fit.model, gradient, moments.mean - data.mean);
  fit.convergence.residual = residual.largest();
  const double gap = fit.objective - ising_dual_value(data, objective, fit.model, moments);
  fit.convergence.gap = std::isfinite(gap) ? std::max(gap, 0.0) : Convergence::unknown;
  fit.theorem_bound = Convergence::unknown;
  if (objective.penalty == IsingPenalty::l1 && objective.rho > 0 && objective.mask.size() == 0) {
    // Theorem 5.2 with F at hand in place of F(0) = N log 2, which only bounds it.
    const IsingBounds bounds = ising_bounds(data, objective.rho, objective.field_penalty);
    const double share = fit.objective / (static_cast<double>(data.mean.size()) * std::log(2.0));
    const double bound = residual.couplings * (fit.model.w.cwiseAbs().sum() + share * bounds.couplings) +
                         residual.fields * (fit.model.b.cwiseAbs().sum() + share * bounds.fields);
    if (std::isfinite(bound)) fit.theorem_bound = bound;
  }
}

IsingFit ising_likelihood(const IsingData& data, const IsingObjective& objective, const SpinModel& start,
                          const IsingLikelihoodOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  const Index n = data.mean.size();
  const auto pairs = ising_pairs(n, objective.mask);
  const Index edges = static_cast<Index>(pairs.size());
  const bool ridge = objective.penalty == IsingPenalty::ridge;

  IsingFit fit;
  fit.model.w = MatrixXd::Zero(n, n);
  fit.model.b = VectorXd::Zero(n);
  const auto unpack = [&](const VectorXd& v, SpinModel& model) {
    for (Index e = 0; e < edges; ++e) {
      const auto [i, j] = pairs[e];
      model.w(i, j) = model.w(j, i) = v[e];
    }
    model.b = v.tail(n);
  };
  SpinModel trial = fit.model;
  const Objective smooth = [&](const VectorXd& v, VectorXd& gradient) {
    unpack(v, trial);
    // Far from the optimum a line search may try couplings whose energies overflow; it then shortens the step.
    if (!(v.cwiseAbs().maxCoeff() < 1e100)) return std::numeric_limits<double>::infinity();
    const SpinMoments moments = exact_moments(trial.w, trial.b, monitor);
    double value = moments.log_partition - data.second.cwiseProduct(trial.w).sum() - data.mean.dot(trial.b);
    for (Index e = 0; e < edges; ++e) {
      const auto [i, j] = pairs[e];
      gradient[e] = 2 * (moments.second(i, j) - data.second(i, j));
      if (ridge) gradient[e] += 4 * objective.rho * v[e];
    }
    gradient.tail(n) = moments.mean - data.mean;
    if (ridge) {
      value += ising_penalty_value(objective, trial);
      if (objective.field_penalty) gradient.tail(n) += 2 * objective.rho * trial.b;
    }
    return value;
  };

  VectorXd v = VectorXd::Zero(edges + n), weights = VectorXd::Zero(edges + n);
  if (start.b.size() == n) {
    for (Index e = 0; e < edges; ++e) v[e] = start.w(pairs[e].first, pairs[e].second);
    v.tail(n) = start.b;
  } else if (!objective.field_penalty) {
    for (Index i = 0; i < n; ++i) v[edges + i] = std::atanh(data.mean[i]);
  }
  if (!ridge) {
    weights.head(edges).setConstant(2 * objective.rho);
    if (objective.field_penalty) weights.tail(n).setConstant(objective.rho);
  }

  LbfgsOptions inner;
  inner.memory = 20;
  inner.max_iter = options.max_iter;
  inner.value_tol = 0;  // the residual decides
  for (int round = 0; round < 4; ++round) {
    const VectorXd now = [&] {
      VectorXd g(edges + n);
      smooth(v, g);
      return g;
    }();
    // The solver's tolerance is relative to its first gradient, ours is absolute.
    double largest = 0;
    for (Index e = 0; e < v.size(); ++e) {
      const double excess = v[e] != 0 ? std::abs(now[e] + (v[e] > 0 ? weights[e] : -weights[e])) : std::abs(now[e]) - weights[e];
      largest = std::max(largest, excess);
    }
    if (largest <= options.tol) break;
    inner.tol = std::min(0.5, 0.9 * options.tol / largest);
    inner.max_iter = options.max_iter - fit.convergence.iterations;
    if (inner.max_iter <= 0) break;
    const LbfgsResult end = lbfgs_l1(smooth, v, weights, inner, monitor);
    v = end.x;
    fit.convergence.iterations += end.convergence.iterations;
    fit.convergence.message = end.convergence.converged ? "" : end.convergence.message;
  }
  unpack(v, fit.model);
  certify_likelihood(data, objective, fit, monitor);
  fit.convergence.converged = fit.convergence.residual <= options.tol;
  if (fit.convergence.converged) fit.convergence.message.clear();
  fit.convergence.seconds = watch.seconds();
  return fit;
}

}  // namespace granary::graph
