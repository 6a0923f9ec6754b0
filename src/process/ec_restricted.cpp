// Consistency on all means and on sum_i <x_i^2> alone: with J = U D U', r has covariance U (Lambda - D)^-1 U', and a step costs
// two products with U.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/optim/lbfgs.h"
#include "process/ec_loops.h"
#include "core/linalg/dense.h"

namespace granary::process {

namespace {

class Restricted {
 public:
  Restricted(ConstMatrixRef j, ConstVectorRef theta, const VectorXd& start) : theta_(theta), n_(theta.size()) {
    const SymmetricEigen eigen(j);
    u_ = eigen.eigenvectors();
    d_ = eigen.eigenvalues();
    gamma = start.size() == n_ ? start : VectorXd::Zero(n_);
    lambda = std::max(1.0, d_.maxCoeff() + 1 + 1e-10 * d_.cwiseAbs().maxCoeff());
    refresh();
  }

  VectorXd gamma;     // of r
  double lambda = 0;  // of r
  VectorXd mean;
  double variance = 0, log_zr = 0;  // mean variance

  bool refresh() {
    const VectorXd gap = (lambda - d_.array()).matrix();
    if (!(gap.minCoeff() > 0) || !gamma.allFinite() || !std::isfinite(lambda)) return false;
    const VectorXd b = u_.transpose() * (gamma + theta_), scaled = b.cwiseQuotient(gap);
    mean.noalias() = u_ * scaled;
    variance = gap.cwiseInverse().mean();
    log_zr = -0.5 * gap.array().log().sum() + 0.5 * b.dot(scaled);
    return true;
  }
  MatrixXd covariance() const { return u_ * (lambda - d_.array()).inverse().matrix().asDiagonal() * u_.transpose(); }
  double log_zs(double v) const { return 0.5 * n_ * std::log(v) + 0.5 * mean.squaredNorm() / v; }

  const Eigen::Ref<const VectorXd> theta_;
  double n_;

 private:
  MatrixXd u_;
  VectorXd d_;
};

struct RestrictedView {
  VectorXd gamma_q, mean;
  double lambda_q = 0, variance = 0, log_zq = 0, residual = 0, log_z = 0;
};

double spins(const VectorXd& gamma, double lambda, VectorXd& mean, double& variance) {
  mean = gamma.array().tanh();
  double log_z = -0.5 * lambda * static_cast<double>(gamma.size()), sum = 0;
  for (Index i = 0; i < gamma.size(); ++i) {
    const double log_cosh = log_two_cosh(gamma[i]);
    log_z += log_cosh;
    sum += 4 * std::exp(-2 * log_cosh);
  }
  variance = std::max(smallest_spin_variance, sum / static_cast<double>(gamma.size()));
  return log_z;
}

RestrictedView look(const Restricted& state) {
  RestrictedView v;
  v.gamma_q = state.mean / state.variance - state.gamma;
  v.lambda_q = 1 / state.variance - state.lambda;
  v.log_zq = spins(v.gamma_q, v.lambda_q, v.mean, v.variance);
  const double second = 0.5 * (state.n_ * (v.variance - state.variance) + v.mean.squaredNorm() - state.mean.squaredNorm());
  v.residual = (v.mean - state.mean).squaredNorm() + second * second;
  v.log_z = v.log_zq + state.log_zr - state.log_zs(state.variance);
  return v;
}

// max over lambda_q of -log Z_q - log Z_r at fixed lambda_s: concave, so that a quasi-Newton method finds it.
double inner_maximum(Restricted& state, const VectorXd& gamma_s, double lambda_s, int steps, Monitor& monitor) {
  const Index n = state.gamma.size();
  VectorXd mean(n);
  const Objective f = [&](const VectorXd& at, VectorXd& gradient) {
    state.gamma = gamma_s - at.head(n);
    state.lambda = lambda_s - at[n];
    if (!state.refresh()) return std::numeric_limits<double>::infinity();
    double variance = 0;
    const double log_zq = spins(at.head(n), at[n], mean, variance);
    gradient.resize(n + 1);
    gradient.head(n) = mean - state.mean;
    gradient[n] = 0.5 * (state.n_ * (state.variance - variance) + state.mean.squaredNorm() - mean.squaredNorm());
    return log_zq + state.log_zr;
  };
  VectorXd start(n + 1);
  start.head(n) = gamma_s - state.gamma;
  start[n] = lambda_s - state.lambda;
  LbfgsOptions options;
  options.tol = 1e-10;
  options.value_tol = 1e-17;
  options.max_iter = steps;
  const LbfgsResult found = lbfgs(f, start, options, monitor);
  state.gamma = gamma_s - found.x.head(n);
  state.lambda = lambda_s - found.x[n];
  state.refresh();
  return -found.value;
}

}  // namespace

EcResult ec_restricted(ConstMatrixRef j, ConstVectorRef theta, const EcOptions& options, Monitor& monitor) {
  const Stopwatch clock;
  EcResult result;
  Restricted state(j, theta, options.start);
  VectorXd best_gamma = state.gamma;
  double best_lambda = state.lambda, best = std::numeric_limits<double>::infinity();
  int since = 0;
  const auto note = [&](const RestrictedView& now) {
    result.residual.push_back(now.residual);
    since = now.residual < 0.9 * best ? 0 : since + 1;
    if (now.residual < best) {
      best = now.residual;
      best_gamma = state.gamma;
      best_lambda = state.lambda;
    }
    return best <= options.tol;
  };
  const auto single = [&](double damping, int patience) {
    for (int k = 0; k < options.max_iter; ++k) {
      monitor.progress(static_cast<double>(k) / options.max_iter);
      const RestrictedView now = look(state);
      result.free_energy.push_back(-now.log_z);
      if (note(now) || since >= patience || !std::isfinite(now.residual)) return;
      const VectorXd old = state.gamma, to = now.mean / now.variance - now.gamma_q;
      const double old_lambda = state.lambda, to_lambda = 1 / now.variance - now.lambda_q;
      bool proper = false;
      for (int half = 0; half < 40 && !proper; ++half, damping *= proper ? 1 : 0.5) {
        state.gamma = old + damping * (to - old);
        state.lambda = old_lambda + damping * (to_lambda - old_lambda);
        proper = state.refresh();
      }
      if (!proper) return;
    }
  };
  const auto outer_loop = [&](int steps, int patience) {
    for (int k = 0; k < options.max_iter; ++k) {
      monitor.progress(static_cast<double>(k) / options.max_iter);
      const RestrictedView now = look(state);
      if (note(now) || since >= patience || !std::isfinite(now.residual)) return;
      const double log_zs = state.log_zs(state.variance);
      result.free_energy.push_back(inner_maximum(state, state.mean / state.variance, 1 / state.variance, steps, monitor) +
                                   log_zs);
    }
  };
  const auto restart = [&] {
    state.gamma = best_gamma;
    state.lambda = best_lambda;
    state.refresh();
    since = 0;
  };
  const bool automatic = options.algorithm == EcAlgorithm::automatic;
  const int patience = automatic ? 100 : options.max_iter;
  if (automatic || options.algorithm == EcAlgorithm::single) {
    result.algorithm = "single";
    single(options.damping > 0 ? options.damping : 0.5, patience);
    if (automatic && best > options.tol) {
      restart();
      single(0.1, patience);
    }
  }
  if (best > options.tol && (automatic || options.algorithm == EcAlgorithm::greedy)) {
    result.algorithm = "greedy";
    restart();
    outer_loop(3, patience);
  }
  if (best > options.tol && (automatic || options.algorithm == EcAlgorithm::double_loop)) {
    result.algorithm = "double";
    result.free_energy.clear();
    restart();
    outer_loop(200, patience);
  }
  restart();
  const RestrictedView now = look(state);
  result.mean = now.mean;
  result.covariance = state.covariance();
  result.log_z = now.log_z;
  result.q = {now.gamma_q, VectorXd::Constant(now.mean.size(), now.lambda_q), VectorXd()};
  result.r = {state.gamma, VectorXd::Constant(now.mean.size(), state.lambda), VectorXd()};
  result.convergence.converged = best <= options.tol;
  result.convergence.iterations = static_cast<int>(result.residual.size());
  result.convergence.residual = best;
  result.convergence.seconds = clock.seconds();
  return result;
}

}  // namespace granary::process
