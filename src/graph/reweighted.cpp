#include "graph/reweighted.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/parallel.h"
#include "core/linalg/dense.h"

namespace granary::graph {

namespace {

// sum_k |X_k,ij| at the dense start.
MatrixXd start_sizes(const MultiProblem& problem, double ridge) {
  const Index p = problem.variables();
  MatrixXd sum = MatrixXd::Zero(p, p);
  for (const MatrixView& s : problem.s) {
    MatrixXd shifted = s;
    shifted.diagonal().array() += ridge * s.diagonal().mean();
    const Llt llt(shifted);
    if (llt.info() != Eigen::Success) {
      throw NumericalError("a covariance is not positive semi-definite, so the hierarchical penalty has no start; repair it");
    }
    sum += llt.solve(MatrixXd::Identity(p, p)).cwiseAbs();
  }
  return sum;
}

// Weights of task k from the sizes; pairs that vanished stay out.
MatrixXd task_weights(const MatrixXd& size, double lambda, double t) {
  MatrixXd weights(size.rows(), size.cols());
  const double floor = 1e-10 * size.diagonal().mean();
  for (Index j = 0; j < size.cols(); ++j) {
    for (Index i = 0; i < size.rows(); ++i) {
      const double both = 0.5 * (size(i, j) + size(j, i));  // rounding must not leave the weights unsymmetric
      weights(i, j) = i == j ? 0 : both > floor ? lambda / (2 * t * std::sqrt(both)) : Penalty::forbidden;
    }
  }
  return weights;
}

double hierarchical_objective(const MultiProblem& problem, double lambda, const std::vector<GlassoResult>& fits,
                              const MatrixXd& size) {
  double value = lambda * (size.cwiseSqrt().sum() - size.diagonal().cwiseSqrt().sum());
  for (int k = 0; k < problem.tasks(); ++k) {
    const GlassoState& state = fits[k].state;
    double linear = 0;
    for (Index j = 0; j < state.upper.cols(); ++j) {
      for (SparseMatrix::InnerIterator it(state.upper, j); it; ++it) {
        linear += (it.row() == j ? 1 : 2) * problem.s[k](it.row(), j) * it.value();
      }
    }
    value += problem.weight[k] * (linear - state.log_det);
  }
  return value;
}

void add_size(const SparseMatrix& upper, MatrixXd& size) {
  for (Index j = 0; j < upper.cols(); ++j) {
    for (SparseMatrix::InnerIterator it(upper, j); it; ++it) {
      size(it.row(), j) += std::abs(it.value());
      if (it.row() != j) size(j, it.row()) += std::abs(it.value());
    }
  }
}

bool settled(double before, double now, double scale, double tol) { return before - now <= tol * std::max(std::abs(now), scale); }

}  // namespace

MultiResult hierarchical(const MultiProblem& problem, double lambda, const ReweightedOptions& options, Monitor& monitor) {
  const Stopwatch clock;
  check_problem(problem);
  const Index p = problem.variables();
  const int tasks = problem.tasks();
  const double scale = static_cast<double>(p) * problem.weight.sum();
  MatrixXd size = start_sizes(problem, options.start_ridge);
  std::vector<GlassoResult> fits(tasks);
  GlassoOptions inner;
  inner.tol = options.tol;
  inner.covariance = false;
  Convergence end;
  double value = std::numeric_limits<double>::infinity();
  while (end.iterations < options.max_iter && !end.converged) {
    monitor.check();
    ++end.iterations;
    parallel_for(tasks, options.threads, monitor, [&](Index k) {
      const MatrixXd weights = task_weights(size, lambda, problem.weight[k]);
      const GlassoState* from = end.iterations > 1 ? &fits[k].state : nullptr;
      fits[k] = glasso(problem.s[k], Penalty::matrix(weights, false), inner, monitor, from);
    });
    size.setZero();
    for (const GlassoResult& fit : fits) add_size(fit.state.upper, size);
    const double now = hierarchical_objective(problem, lambda, fits, size);
    end.residual = (value - now) / std::max(std::abs(now), scale);
    end.converged = settled(value, now, scale, options.tol);
    value = now;
  }
  if (!end.converged) end.message = message("stopped after ", end.iterations, " reweighted steps");
  std::vector<SparseMatrix> precision;
  for (const GlassoResult& fit : fits) {
    precision.push_back(symmetric_from_upper(fit.state.upper));
    if (fit.convergence.converged) continue;
    end.converged = false;
    end.message = fit.convergence.message;
  }
  MultiResult result = multi_certificate(problem, precision, monitor);
  result.components = pattern_components(result.state.pattern);
  result.objective = value;
  end.gap = Convergence::unknown;
  end.seconds = clock.seconds();
  result.convergence = end;
  return result;
}

double hierarchical_top(const MultiProblem& problem, const ReweightedOptions& options) {
  const MatrixXd size = start_sizes(problem, options.start_ridge);
  double top = 0;
  for (int k = 0; k < problem.tasks(); ++k) {
    for (Index j = 0; j < size.cols(); ++j) {
      for (Index i = 0; i < j; ++i) {
        top = std::max(top, 2 * std::sqrt(size(i, j)) * problem.weight[k] * std::abs(problem.s[k](i, j)));
      }
    }
  }
  return top;
}

GlassoResult scale_free(const ConstMatrixRef& s, double alpha, const ReweightedOptions& options, Monitor& monitor) {
  const Stopwatch clock;
  const Index p = s.rows();
  for (Index i = 0; i < p; ++i) {
    if (!(s(i, i) > 0)) throw InputError(message("variable ", i + 1, " has variance ", s(i, i), ": drop it."));
  }
  const VectorXd floor = s.diagonal().cwiseInverse();
  VectorXd row = VectorXd::Zero(p);
  GlassoOptions inner;
  inner.tol = options.tol;
  inner.threads = options.threads;
  GlassoResult fit;
  Convergence end;
  double value = std::numeric_limits<double>::infinity();
  while (end.iterations < options.max_iter && !end.converged) {
    monitor.check();
    ++end.iterations;
    const VectorXd slope = (row + floor).cwiseInverse();
    MatrixXd weights(p, p);
    for (Index j = 0; j < p; ++j) {
      for (Index i = 0; i < p; ++i) weights(i, j) = i == j ? alpha / floor[i] : alpha / 2 * (slope[i] + slope[j]);
    }
    const GlassoState from = fit.state;
    fit = glasso(s, Penalty::matrix(weights), inner, monitor, end.iterations > 1 ? &from : nullptr);
    row.setZero();
    double now = -fit.state.log_det;
    const SparseMatrix& upper = fit.state.upper;
    for (Index j = 0; j < p; ++j) {
      for (SparseMatrix::InnerIterator it(upper, j); it; ++it) {
        if (it.row() == j) {
          now += (s(j, j) + alpha / floor[j]) * it.value();
          continue;
        }
        now += 2 * s(it.row(), j) * it.value();
        row[j] += std::abs(it.value());
        row[it.row()] += std::abs(it.value());
      }
    }
    now += alpha * (row + floor).array().log().sum();
    const double scale = static_cast<double>(p);
    end.residual = (value - now) / std::max(std::abs(now), scale);
    end.converged = settled(value, now, scale, options.tol);
    value = now;
  }
  if (!end.converged) end.message = message("stopped after ", end.iterations, " reweighted steps");
  if (!fit.convergence.converged) {
    end.converged = false;
    end.message = fit.convergence.message;
  }
  end.seconds = clock.seconds();
  fit.objective = value;
  fit.convergence = end;
  return fit;
}

std::vector<GlassoResult> scale_free_path(const ConstMatrixRef& s, const std::vector<double>& alpha, const ReweightedOptions& options,
                                          Monitor& monitor) {
  std::vector<GlassoResult> path;
  for (const double each : alpha) {
    path.push_back(scale_free(s, each, options, monitor));
    if (!options.covariance && alpha.size() > 1) path.back().state.w.resize(0, 0);
    monitor.progress(static_cast<double>(path.size()) / static_cast<double>(alpha.size()));
  }
  return path;
}

}  // namespace granary::graph
