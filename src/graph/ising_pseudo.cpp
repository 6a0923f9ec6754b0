#include "graph/ising_pseudo.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/errors.h"
#include "core/optim/lbfgs.h"
#include "core/math/logspace.h"
#include "core/base/parallel.h"

namespace granary::graph {

namespace {

// Fields eta_ti = b_i + 2 sum_j w_ij x_tj, using only the couplings that are not zero.
void fields(ConstMatrixRef x, const SpinModel& model, MatrixXd& eta) {
  const Index n = x.cols();
  eta.resize(x.rows(), n);
  Index nonzero = 0;
  for (Index j = 0; j < n; ++j) nonzero += (model.w.col(j).array() != 0).count();
  if (nonzero > n * n / 6) {  // a product of dense matrices runs some times faster than its sparse pieces
    eta.noalias() = 2 * x * model.w;
    eta.rowwise() += model.b.transpose();
    return;
  }
  for (Index i = 0; i < n; ++i) {
    eta.col(i).setConstant(model.b[i]);
    for (Index j = 0; j < n; ++j) {
      if (model.w(j, i) != 0) eta.col(i) += (2 * model.w(j, i)) * x.col(j);
    }
  }
}

// Returns sum log(1 + exp(-2 x eta)) and turns eta into v = x u, u = 1 / (1 + exp(2 x eta)).
double losses_and_residuals(ConstMatrixRef x, MatrixXd& eta) {
  double loss = 0;
  Eigen::ArrayXd z(x.rows()), e(x.rows());
  for (Index i = 0; i < x.cols(); ++i) {
    z = 2 * x.col(i).array() * eta.col(i).array();
    e = (-z.abs()).exp();
    // log(1 + e) for e in (0, 1]: plain log loses at most 1e-16 here, and vectorises where log1p does not.
    loss += (1 + e).log().sum() - z.min(0.0).sum();
    eta.col(i).array() = x.col(i).array() * (z >= 0).select(e, 1.0) / (1 + e);
  }
  return loss;
}

// max over pairs |(2/T) (v_i'x_j + v_j'x_i)| and the matrix itself.
MatrixXd pair_gradient(ConstMatrixRef x, const MatrixXd& v) {
  const double scale = -2.0 / static_cast<double>(x.rows());
  const MatrixXd cross = v.transpose() * x;
  MatrixXd gradient = scale * (cross + cross.transpose());
  gradient.diagonal().setZero();
  return gradient;
}

double coin_entropy(const Eigen::Ref<const Eigen::ArrayXd>& u) {
  double sum = 0;
  for (Index t = 0; t < u.size(); ++t) {
    const double p = u[t];
    if (p > 0 && p < 1) sum -= p * std::log(p) + (1 - p) * std::log1p(-p);
  }
  return sum;
}

// The dual value of the point made from v (see header). v is changed.
double dual_value(ConstMatrixRef x, const IsingObjective& objective, MatrixXd& v) {
  const double rows = static_cast<double>(x.rows());
  if (!objective.field_penalty) {
    for (Index i = 0; i < v.cols(); ++i) {
      double plus = 0, minus = 0;
      for (Index t = 0; t < v.rows(); ++t) (v(t, i) > 0 ? plus : minus) += std::abs(v(t, i));
      if (plus == 0 || minus == 0) {
        v.col(i).setZero();
        continue;
      }
      const double keep_plus = std::min(1.0, minus / plus), keep_minus = std::min(1.0, plus / minus);
      for (Index t = 0; t < v.rows(); ++t) v(t, i) *= v(t, i) > 0 ? keep_plus : keep_minus;
    }
  }
  const MatrixXd gradient = pair_gradient(x, v);
  double largest = 0, ridge = 0;
  for (const auto& [i, j] : ising_pairs(x.cols(), objective.mask)) {
    largest = std::max(largest, std::abs(gradient(i, j)));
    ridge += 2 * gradient(i, j) * gradient(i, j);
  }
  if (objective.field_penalty) {
    for (Index i = 0; i < v.cols(); ++i) {
      const double slope = 2 * v.col(i).sum() / rows;
      largest = std::max(largest, std::abs(slope));
      ridge += slope * slope;
    }
  }
  double shrink = 1;
  if (objective.penalty == IsingPenalty::l1) {
    if (largest > objective.rho) shrink = objective.rho / largest;
    ridge = 0;
  } else {
    ridge /= 4 * objective.rho;
  }
  double entropy = 0;
  for (Index i = 0; i < v.cols(); ++i) entropy += coin_entropy((shrink * v.col(i).array()).abs());
  return entropy / rows - ridge;
}

}  // namespace

double pseudo_loss(ConstMatrixRef x, const SpinModel& model) {
  MatrixXd eta;
  fields(x, model, eta);
  return losses_and_residuals(x, eta) / static_cast<double>(x.rows());
}

MatrixXd conditional_probabilities(ConstMatrixRef x, const SpinModel& model) {
  MatrixXd eta;
  fields(x, model, eta);
  return eta.unaryExpr([](double field) { return expit(2 * field); });
}

IsingFit ising_pseudo(ConstMatrixRef x, const IsingObjective& objective, const SpinModel& start,
                      const IsingPseudoOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  const Index n = x.cols();
  const double rows = static_cast<double>(x.rows());
  const bool ridge = objective.penalty == IsingPenalty::ridge;
  const auto all = ising_pairs(n, objective.mask);
  IsingFit fit;
  if (start.b.size() == n) {
    fit.model = start;
  } else {
    fit.model.w = MatrixXd::Zero(n, n);
    fit.model.b = VectorXd::Zero(n);
    const VectorXd mean = x.colwise().mean().transpose();
    if (!objective.field_penalty) {
      for (Index i = 0; i < n; ++i) fit.model.b[i] = std::atanh(mean[i]);
    }
  }

  MatrixXd eta;
  std::vector<char> in_set(all.size(), 0);
  std::vector<std::pair<int, int>> set;
  IsingResidual residual;
  for (int round = 0; round < 100; ++round) {
    // All pairs: gradient, residual, and which pairs join the smaller problem.
    monitor.check();
    fields(x, fit.model, eta);
    fit.loss = losses_and_residuals(x, eta) / rows;
    const MatrixXd gradient = pair_gradient(x, eta);
    const VectorXd gradient_b = -2 * eta.colwise().sum().transpose() / rows;
    residual = ising_residual(objective, fit.model, gradient, gradient_b);
    fit.convergence.residual = residual.largest();
    fit.convergence.converged = fit.convergence.residual <= options.tol;
    if (fit.convergence.converged || fit.convergence.iterations >= options.max_iter) break;
    const std::size_t before = set.size();
    for (std::size_t e = 0; e < all.size(); ++e) {
      const auto [i, j] = all[e];
      const bool joins = ridge || fit.model.w(i, j) != 0 || std::abs(gradient(i, j)) > objective.rho;
      if (joins && !in_set[e]) {
        in_set[e] = 1;
        set.push_back(all[e]);
      }
    }
    if (round > 0 && set.size() == before && !fit.convergence.message.empty()) break;  // the inner solver cannot do better

    const Index edges = static_cast<Index>(set.size());
    SpinModel trial = fit.model;
    const bool dense = 2 * edges > n * n / 4;
    MatrixXd v;
    const Objective smooth = [&](const VectorXd& parameters, VectorXd& slope) {
      if (!(parameters.cwiseAbs().maxCoeff() < 1e100)) return std::numeric_limits<double>::infinity();
      for (Index e = 0; e < edges; ++e)
        trial.w(set[e].first, set[e].second) = trial.w(set[e].second, set[e].first) = parameters[e];
      trial.b = parameters.tail(n);
      fields(x, trial, v);
      double value = losses_and_residuals(x, v) / rows;
      if (dense) {
        const MatrixXd g = pair_gradient(x, v);
        for (Index e = 0; e < edges; ++e) slope[e] = 2 * g(set[e].first, set[e].second);
      } else {
        for (Index e = 0; e < edges; ++e) {
          const auto [i, j] = set[e];
          slope[e] = -4 / rows * (v.col(i).dot(x.col(j)) + v.col(j).dot(x.col(i)));
        }
      }
      slope.tail(n) = -2 * v.colwise().sum().transpose() / rows;
      if (ridge) {
        value += ising_penalty_value(objective, trial);
        slope.head(edges) += 4 * objective.rho * parameters.head(edges);
        if (objective.field_penalty) slope.tail(n) += 2 * objective.rho * trial.b;
      }
      return value;
    };
    VectorXd parameters(edges + n), weights = VectorXd::Zero(edges + n);
    for (Index e = 0; e < edges; ++e) parameters[e] = fit.model.w(set[e].first, set[e].second);
    parameters.tail(n) = fit.model.b;
    if (!ridge) {
      weights.head(edges).setConstant(2 * objective.rho);
      if (objective.field_penalty) weights.tail(n).setConstant(objective.rho);
    }
    LbfgsOptions inner;
    inner.memory = 10;
    inner.value_tol = 0;
    // In the units of the solver an edge's slope is twice ours.
    inner.tol = std::min(0.5, 0.5 * options.tol / fit.convergence.residual);
    inner.max_iter = options.max_iter - fit.convergence.iterations;
    const LbfgsResult end = lbfgs_l1(smooth, parameters, weights, inner, monitor);
    fit.convergence.iterations += std::max(1, end.convergence.iterations);
    fit.convergence.message = end.convergence.converged ? "" : end.convergence.message;
    for (Index e = 0; e < edges; ++e)
      fit.model.w(set[e].first, set[e].second) = fit.model.w(set[e].second, set[e].first) = end.x[e];
    fit.model.b = end.x.tail(n);
  }
  fit.objective = fit.loss + ising_penalty_value(objective, fit.model);
  if (objective.rho > 0) fit.convergence.gap = std::max(0.0, fit.objective - dual_value(x, objective, eta));
  if (fit.convergence.converged) fit.convergence.message.clear();
  fit.convergence.seconds = watch.seconds();
  return fit;
}

namespace {

// The regression of variable i on the others: eta = b + 2 w'x is half the logit, so its coefficients are 4 w and 2 b.
LassoPath node_path(ConstMatrixRef x, Index i, const VectorXd& lambda, int n_lambda, double tol, Monitor& monitor) {
  LassoOptions options;
  options.standardize = lambda.size() == 0;  // a grid of its own is comparable between variables only on one scale
  options.lambda = lambda;
  options.n_lambda = n_lambda;
  options.tol = tol;
  options.penalty_factor = VectorXd::Ones(x.cols());
  options.penalty_factor[i] = std::numeric_limits<double>::infinity();
  const VectorXd y = 0.5 * (x.col(i).array() + 1);
  return lasso_logistic(x, y, options, monitor);
}

NodewiseResult nodewise_each(ConstMatrixRef x, int threads, Monitor& monitor, const std::function<LassoPath(Index)>& path,
                             const std::function<Index(Index, const LassoPath&)>& choose) {
  const Stopwatch watch;
  const Index n = x.cols();
  NodewiseResult result;
  result.coefficients = MatrixXd::Zero(n, n);
  result.intercept.resize(n);
  result.rho.resize(n);
  VectorXd loss(n), residual(n);
  std::vector<char> ok(n, 0);
  parallel_for(n, threads, monitor, [&](Index i) {
    const LassoPath fits = path(i);
    const Index k = choose(i, fits);
    result.intercept[i] = 0.5 * fits.intercept[k];
    for (SparseMatrix::InnerIterator it(fits.coefficients, k); it; ++it) result.coefficients(i, it.index()) = 0.25 * it.value();
    result.rho[i] = 4 * fits.lambda[k];
    loss[i] = 0.5 * fits.null_deviance * (1 - fits.dev_ratio[k]) / static_cast<double>(x.rows());
    residual[i] = fits.residual[k];
    ok[i] = fits.convergence.converged ? 1 : 0;
  });
  result.loss = loss.sum();
  result.convergence.converged = std::count(ok.begin(), ok.end(), 0) == 0;
  result.convergence.residual = residual.maxCoeff();
  result.convergence.iterations = static_cast<int>(n);
  result.convergence.seconds = watch.seconds();
  if (!result.convergence.converged) result.convergence.message = "a logistic regression stopped early";
  return result;
}

}  // namespace

NodewiseResult nodewise(ConstMatrixRef x, double rho, int threads, double tol, Monitor& monitor) {
  // rho |w| with w = coefficient / 4. Zero has no path of its own.
  const VectorXd lambda = VectorXd::Constant(1, rho / 4);
  return nodewise_each(
      x, threads, monitor, [&](Index i) { return node_path(x, i, lambda, 1, tol, monitor); },
      [](Index, const LassoPath&) { return Index{0}; });
}

NodewiseResult nodewise_ebic(ConstMatrixRef x, double gamma, int n_rho, int threads, double tol, Monitor& monitor) {
  const double rows = static_cast<double>(x.rows()), others = static_cast<double>(std::max<Index>(1, x.cols() - 1));
  return nodewise_each(
      x, threads, monitor, [&](Index i) { return node_path(x, i, VectorXd(), n_rho, tol, monitor); },
      [&](Index, const LassoPath& fits) {
        Index best = 0;
        double lowest = std::numeric_limits<double>::infinity();
        for (Index k = 0; k < fits.lambda.size(); ++k) {
          const double df = fits.df[k];
          const double ebic = fits.null_deviance * (1 - fits.dev_ratio[k]) + df * (std::log(rows) + 2 * gamma * std::log(others));
          if (ebic < lowest) {
            lowest = ebic;
            best = k;
          }
        }
        return best;
      });
}

SpinModel join_nodewise(const NodewiseResult& result, bool both) {
  const Index n = result.intercept.size();
  SpinModel model{MatrixXd::Zero(n, n), result.intercept};
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < j; ++i) {
      const double a = result.coefficients(i, j), b = result.coefficients(j, i);
      const bool keep = both ? a != 0 && b != 0 : a != 0 || b != 0;
      if (keep) model.w(i, j) = model.w(j, i) = 0.5 * (a + b);
    }
  }
  return model;
}

}  // namespace granary::graph
