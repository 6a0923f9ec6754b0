// The methods the paper compares itself with, on the same problem and with the same certificate.
#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/optim/fista.h"
#include "core/prox/proximal.h"
#include "regress/gen_lasso_solver.h"

namespace granary::regress {

GenLassoFit GenSolver::fista(double lambda, const VectorXd& start) {
  GenLassoFit fit;
  VectorXd mu = VectorXd::Zero(penalty_.rows()), point;
  const VectorXd ones = VectorXd::Ones(x_.cols());
  CompositeProblem<VectorXd> problem;
  problem.smooth = [&](const VectorXd& b, VectorXd& gradient) { return smooth(b, gradient); };
  problem.prox = [&](const VectorXd& v, double step) -> VectorXd {
    penalty_.prox(v, ones / step, lambda, 1e-3 * options_.tol * scale_, false, monitor_, point, mu);
    return point;
  };
  problem.penalty = [&](const VectorXd& b) { return lambda * penalty_.value(b); };
  problem.gap = [&](const VectorXd& b) {
    GenLassoFit trial;
    trial.b = b;
    trial.mu = mu;
    certify(trial, lambda);
    return std::isnan(trial.convergence.gap) ? scale_ : trial.convergence.gap * (scale_ / judged(trial.objective));
  };
  FistaOptions settings;
  settings.tol = 1e-13;
  settings.gap_tol = options_.tol * scale_;
  settings.gap_every = 50;
  settings.max_iter = options_.max_iter;
  const FistaResult<VectorXd> solved = granary::fista<VectorXd>(problem, start, settings, monitor_);
  fit.b = solved.x;
  fit.mu = mu;
  fit.convergence = solved.convergence;
  const Convergence kept = fit.convergence;
  certify(fit, lambda);
  fit.convergence.converged = fit.convergence.gap <= options_.tol * judged(fit.objective) || (std::isnan(fit.convergence.gap) && kept.converged);
  fit.trace.push_back(fit.objective);
  close(fit, lambda);
  return fit;
}

// min f(b) + lambda ||z||  with  R b = z, rho = lambda (Wahlberg, Boyd, Annergren and Wang, 2012).
GenLassoFit GenSolver::admm(double lambda, const VectorXd& start) {
  const Stopwatch clock;
  GenLassoFit fit;
  Convergence& end = fit.convergence;
  const double rho = lambda > 0 ? lambda : 1;
  const GenPenalty::Rows& r = penalty_.matrix();
  VectorXd b = start, z = r * b, u = VectorXd::Zero(r.rows()), eta, inner;
  const LinearOperator apply = [&](ConstVectorRef v, VectorRef out) {
    x_.apply(v, eta);
    x_.transpose(eta, inner);
    out = inner + rho * penalty_.transpose(r * v);
  };
  VectorXd diagonal = d_;
  for (Index j = 0; j < r.rows(); ++j) {
    for (GenPenalty::Rows::InnerIterator it(r, j); it; ++it) diagonal[it.col()] += rho * it.value() * it.value();
  }
  const LinearOperator precondition = [&](ConstVectorRef v, VectorRef out) { out = v.cwiseQuotient(diagonal); };
  CgOptions cg;
  cg.tol = 1e-11;
  while (!end.converged && end.iterations < options_.max_iter) {
    ++end.iterations;
    const VectorXd right = xty_ + rho * penalty_.transpose(z - u);
    b = conjugate_gradient(apply, right, cg, monitor_, precondition, b).x;
    const VectorXd image = r * b, v = image + u;
    for (std::size_t k = 0; k + 1 < penalty_.start().size(); ++k) {
      const int from = penalty_.start()[k], size = penalty_.start()[k + 1] - from;
      z.segment(from, size) = prox_group_l2(v.segment(from, size), lambda / rho);
    }
    u += image - z;
    fit.trace.push_back(smooth(b) + lambda * penalty_.value(b));
    if (end.iterations % 25 == 0) {
      fit.b = b;
      fit.mu = rho * u;
      certify(fit, lambda);
      end.converged = end.gap <= options_.tol * judged(fit.objective);
    }
  }
  if (!end.converged) {
    fit.b = b;
    fit.mu = rho * u;
    certify(fit, lambda);
    end.message = "the iteration limit was reached; raise max_iter or loosen tol";
  }
  close(fit, lambda);
  end.seconds = clock.seconds();
  return fit;
}

// Proximal gradients with the step of Barzilai and Borwein, lengthened until the objective falls (Wright, Nowak and Figueiredo,
// 2009).
GenLassoFit GenSolver::sparsa(double lambda, const VectorXd& start) {
  const Stopwatch clock;
  GenLassoFit fit;
  Convergence& end = fit.convergence;
  const VectorXd ones = VectorXd::Ones(x_.cols());
  VectorXd b = start, gradient, next, next_gradient, mu = VectorXd::Zero(penalty_.rows());
  double objective = smooth(b, gradient) + lambda * penalty_.value(b), alpha = d_.maxCoeff();
  while (!end.converged && end.iterations < options_.max_iter) {
    monitor_.check();
    ++end.iterations;
    double value = 0;
    bool stuck = false;
    for (;; alpha *= 2) {
      penalty_.prox(b - gradient / alpha, alpha * ones, lambda, 1e-3 * options_.tol * scale_, false, monitor_, next, mu);
      value = smooth(next, next_gradient) + lambda * penalty_.value(next);
      const double length = (next - b).squaredNorm();
      if (std::isfinite(value) && value <= objective - 0.005 * alpha * length) break;
      if (length <= 1e-30 * (1 + b.squaredNorm()) || alpha > 1e30) {
        stuck = true;
        break;
      }
    }
    const VectorXd step = next - b, change = next_gradient - gradient;
    if (!stuck) {
      b = next;
      gradient = next_gradient;
      objective = value;
      const double curvature = step.dot(change) / std::max(step.squaredNorm(), 1e-300);
      alpha = std::min(std::max(curvature, 1e-10 * d_.maxCoeff()), 1e10 * d_.maxCoeff());
    }
    fit.trace.push_back(objective);
    if (stuck || end.iterations % 25 == 0) {
      fit.b = b;
      fit.mu = mu;
      certify(fit, lambda);
      end.converged = end.gap <= options_.tol * judged(fit.objective);
      if (stuck) break;
    }
  }
  if (!end.converged) {
    fit.b = b;
    fit.mu = mu;
    certify(fit, lambda);
    end.message = "the iteration limit was reached; raise max_iter or loosen tol";
  }
  close(fit, lambda);
  end.seconds = clock.seconds();
  return fit;
}

// f(b) + lambda ||R b||_2^2: one linear system (their equation 23).
GenLassoFit GenSolver::tikhonov(double lambda) {
  const Stopwatch clock;
  GenLassoFit fit;
  const GenPenalty::Rows& r = penalty_.matrix();
  VectorXd eta, inner;
  const LinearOperator apply = [&](ConstVectorRef v, VectorRef out) {
    x_.apply(v, eta);
    x_.transpose(eta, inner);
    out = inner + 2 * lambda * penalty_.transpose(r * v);
  };
  VectorXd diagonal = d_;
  for (Index j = 0; j < r.rows(); ++j) {
    for (GenPenalty::Rows::InnerIterator it(r, j); it; ++it) diagonal[it.col()] += 2 * lambda * it.value() * it.value();
  }
  const LinearOperator precondition = [&](ConstVectorRef v, VectorRef out) { out = v.cwiseQuotient(diagonal); };
  CgOptions cg;
  cg.tol = std::min(1e-8, options_.tol);
  const CgResult solved = conjugate_gradient(apply, xty_, cg, monitor_, precondition);
  fit.b = solved.x;
  fit.convergence = solved.convergence;
  fit.mu = 2 * lambda * (r * fit.b);
  fit.stationarity = fit.convergence.residual;
  fit.objective = smooth(fit.b) + lambda * (r * fit.b).squaredNorm();
  fit.trace.push_back(fit.objective);
  close(fit, lambda);
  fit.df = static_cast<double>(x_.cols());
  fit.convergence.seconds = clock.seconds();
  return fit;
}

}  // namespace granary::regress
