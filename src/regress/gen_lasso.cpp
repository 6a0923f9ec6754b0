#include "regress/gen_lasso.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "regress/gen_lasso_solver.h"

namespace granary::regress {

// X = I: the first h-step from c = y is the whole solution.
GenLassoFit GenSolver::identity(double lambda, const VectorXd& mu) {
  const Stopwatch clock;
  GenLassoFit fit;
  fit.mu = mu;
  const VectorXd ones = VectorXd::Ones(loss_.y.size());
  // From the largest penalty on the answer is known: the fit in null(R), and the one mu that goes with it.
  const VectorXd smooth_fit = penalty_.null_known() ? null_fit() : VectorXd();
  const VectorXd whole = smooth_fit.size() > 0 ? penalty_.substituted(loss_.y - smooth_fit) : VectorXd();
  const double tol = options_.tol * scale_;  // half the squares of the signal: no design, so nothing near enough to zero to judge by
  double gap = 0;
  if (whole.size() > 0 && penalty_.dual_norm(whole) <= lambda) {
    fit.b = smooth_fit;
    fit.mu = whole;
    fit.settled = true;
  } else {
    if (fit.mu.size() != penalty_.rows()) fit.mu = VectorXd::Zero(penalty_.rows());
    fit.settled = penalty_.settle(loss_.y, lambda, false, monitor_, fit.b, fit.mu);
    if (!fit.settled) {
      gap = penalty_.prox(loss_.y, ones, lambda, tol, true, monitor_, fit.b, fit.mu);
      fit.settled = penalty_.settle(loss_.y, lambda, true, monitor_, fit.b, fit.mu);
    }
  }
  // Of a settled fit the rows of R b without a kink are zero; what rounding of b makes of them counts for nothing, though lambda may be large.
  const VectorXd bend = (penalty_.matrix() * fit.b).cwiseAbs();
  const double bent = fit.settled ? (fit.mu.array().abs() >= lambda).select(bend, 0).sum() : penalty_.value(fit.b);
  fit.objective = loss_.value(fit.b) + lambda * bent;
  // Of a settled fit mu is the solution of R'mu = y - b; to multiply it out again would lose the digits that differences of high order cost.
  const VectorXd pull = fit.settled ? VectorXd(loss_.y - fit.b) : penalty_.transpose(fit.mu);
  fit.stationarity = (loss_.y - fit.b - pull).cwiseAbs().maxCoeff() / std::max(gradient_scale_, 1e-300);
  fit.feasibility = lambda > 0 ? std::max(0.0, penalty_.dual_norm(fit.mu) / lambda - 1) : 0;
  fit.slackness = std::abs(lambda * bent - (fit.settled ? pull.dot(fit.b) : fit.mu.dot(penalty_.matrix() * fit.b))) / scale_;
  // At a feasible mu the dual is 1/2 ||y||^2 - 1/2 ||y - R'mu||^2.
  fit.convergence.gap = std::max(0.0, fit.objective - (loss_.y.dot(pull) - 0.5 * pull.squaredNorm()));
  fit.convergence.residual = std::max(std::max(fit.stationarity, fit.feasibility), fit.slackness);
  fit.convergence.converged = (fit.settled ? fit.convergence.gap : gap) <= tol;
  if (!fit.convergence.converged) fit.convergence.message = "the dual of the penalty was not solved to the tolerance; loosen tol";
  fit.convergence.iterations = 1;
  fit.serious = 1;
  fit.trace.push_back(fit.objective);
  close(fit, lambda);
  fit.convergence.seconds = clock.seconds();
  return fit;
}

// lambda = 0: least squares by conjugate gradients, which stay in the row space of X beyond the start.
GenLassoFit GenSolver::unpenalised(const VectorXd& start) {
  const Stopwatch clock;
  GenLassoFit fit;
  fit.mu = VectorXd::Zero(penalty_.rows());
  VectorXd eta, inner;
  const LinearOperator apply = [&](ConstVectorRef v, VectorRef out) {
    x_.apply(v, eta);
    x_.transpose(eta, inner);
    out = inner;
  };
  const LinearOperator precondition = [&](ConstVectorRef v, VectorRef out) { out = v.cwiseQuotient(d_); };
  CgOptions cg;
  cg.tol = 1e-12;
  const CgResult solved = conjugate_gradient(apply, xty_, cg, monitor_, precondition, start);
  fit.b = solved.x;
  fit.convergence = solved.convergence;
  fit.convergence.converged = solved.convergence.residual <= 1e-8;
  fit.objective = smooth(fit.b);
  fit.stationarity = fit.convergence.residual;
  fit.trace.push_back(fit.objective);
  close(fit, 0);
  fit.convergence.seconds = clock.seconds();
  return fit;
}

GenLassoFit GenSolver::alin(double lambda, const VectorXd& start, const VectorXd& mu_start) {
  const Stopwatch clock;
  GenLassoFit fit;
  fit.mu = mu_start;
  Convergence& end = fit.convergence;
  const GenUpdate mode = options_.update;
  double eps = options_.tol * scale_;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  VectorXd c = start, b_h, s_f, s_h, mu = mu_start;
  if (boxed()) c = c.cwiseMax(options_.lower).cwiseMin(options_.upper);
  double f_c = smooth(c, s_f), objective = f_c + lambda * penalty_.value(c), f_bf = f_c, promise = scale_;
  VectorXd b_f = c, best = c;
  double best_objective = objective;
  fit.trace.push_back(objective);

  // Test (8), or the rule of an operator splitting.
  const auto update = [&](const VectorXd& b, double value, bool after_h) {
    bool take = value <= objective - options_.gamma * promise && std::isfinite(value);
    if (mode == GenUpdate::peaceman_rachford) take = true;
    if (mode == GenUpdate::douglas_rachford_h) take = after_h;
    if (mode == GenUpdate::douglas_rachford_f) take = !after_h;
    ++(take ? fit.serious : fit.null_steps);
    if (value < best_objective && inside(b)) {
      best = b;
      best_objective = value;
    }
    if (!take) return;
    c = b;
    objective = value;
  };
  const auto finished = [&](double promised) {
    if (polish(best, lambda, best_objective) && mode == GenUpdate::test) {
      c = b_f = best;
      objective = best_objective;
      f_bf = smooth(b_f, s_f);
    }
    fit.b = best;
    fit.mu = mu;
    certify(fit, lambda);
    if (fit.objective < best_objective) {
      best = fit.b;
      best_objective = fit.objective;
    }
    eps = options_.tol * judged(best_objective);
    const bool small = promised <= eps;
    return std::isnan(end.gap) ? small : end.gap <= eps || promised <= 1e-7 * eps;
  };

  end.converged = finished(infinity);
  int wait = 5;
  for (int next_check = wait; !end.converged && end.iterations < options_.max_iter;) {
    monitor_.check();
    ++end.iterations;
    const VectorXd z_f = c - s_f.cwiseQuotient(d_);
    const double accuracy = std::max(0.1 * std::min(promise, scale_), 1e-6 * eps);
    penalty_.prox(z_f, d_, lambda, accuracy, boxed(), monitor_, b_h, mu);
    s_h = d_.cwiseProduct(z_f - b_h);
    const double h_bh = lambda * penalty_.value(b_h);
    promise = objective - (f_bf + s_f.dot(b_h - b_f) + h_bh);
    const double after_h = promise;
    update(b_h, inside(b_h) ? smooth(b_h) + h_bh : infinity, true);

    const VectorXd z_h = c - s_h.cwiseQuotient(d_);
    b_f = f_step(z_h, b_f);
    if (direct_ || boxed()) {
      f_bf = smooth(b_f);
      s_f = d_.cwiseProduct(z_h - b_f);
    } else {
      f_bf = smooth(b_f, s_f);
    }
    promise = objective - (f_bf + s_h.dot(b_f));
    update(b_f, f_bf + lambda * penalty_.value(b_f), false);
    fit.trace.push_back(objective);
    // The splittings promise nothing: their objective may rise.
    double promised =
        mode == GenUpdate::test ? std::max(0.0, std::min(promise, after_h)) : std::abs(promise) + (b_f - b_h).norm() * d_.norm();
    if (accuracy > eps) promised = infinity;  // after a rough step little promise, or a negative one, says nothing
    if (end.iterations >= next_check || promised <= eps) {
      if (mode == GenUpdate::test && objective <= best_objective) {
        // The proximal point has the exact groups that the polish needs.
        const double value = inside(b_h) ? smooth(b_h) + h_bh : infinity;
        double trial_value = value;
        VectorXd trial = b_h;
        if (std::isfinite(value) && polish(trial, lambda, trial_value) && trial_value < best_objective) {
          best = trial;
          best_objective = trial_value;
        }
        if (best_objective < objective) {
          c = b_f = best;
          objective = best_objective;
          f_bf = smooth(b_f, s_f);
        }
      }
      end.converged = finished(promised);
      wait = std::min(50, wait + wait / 2);
      next_check = end.iterations + wait;
    }
  }
  if (!end.converged) {
    finished(infinity);
    end.message = "the iteration limit was reached; raise max_iter or loosen tol";
  } else if (end.gap > eps) {
    end.message = "the duality gap stays above the tolerance, as rounding spoils the dual point, but no decrease is in sight";
  }
  close(fit, lambda);
  end.seconds = clock.seconds();
  return fit;
}

GenLassoPath gen_lasso_limits(const GenDesign& x, const GenLoss& loss, GenPenalty& penalty, Monitor& monitor) {
  GenLassoPath path;
  GenLassoOptions options;
  GenSolver solver(x, loss, penalty, options, monitor);
  path.unique = solver.unique();
  VectorXd eta, v;
  x.apply(solver.null_fit(), eta);
  x.transpose(solver.project_null(-loss.gradient(eta)), v);
  path.lambda_max = penalty.largest(v, monitor, path.lambda_max_exact);
  path.lambda_max_exact = path.lambda_max_exact && penalty.null_known();
  return path;
}

GenLassoPath gen_lasso_path(const GenDesign& x, const GenLoss& loss, GenPenalty& penalty, const std::vector<double>& lambda,
                            const GenLassoOptions& options, Monitor& monitor) {
  GenSolver solver(x, loss, penalty, options, monitor);
  GenLassoPath path;
  path.unique = solver.unique();
  VectorXd b = options.start.size() == x.cols() ? options.start : solver.null_fit(), mu = VectorXd::Zero(penalty.rows());
  const bool plain =
      x.identity() && loss.family == LossFamily::gaussian && options.lower.size() == 0 && options.method == GenMethod::alin;
  double before = 0;
  for (std::size_t k = 0; k < lambda.size(); ++k) {
    monitor.progress(static_cast<double>(k) / static_cast<double>(lambda.size()));
    if (before > 0) mu *= std::min(1.0, lambda[k] / before);
    before = lambda[k];
    GenLassoFit fit;
    if (options.method == GenMethod::tikhonov) {
      fit = solver.tikhonov(lambda[k]);
    } else if (plain) {
      fit = solver.identity(lambda[k], mu);
    } else if (lambda[k] == 0 && loss.family == LossFamily::gaussian && options.lower.size() == 0) {
      fit = solver.unpenalised(b);
    } else if (options.method == GenMethod::fista) {
      fit = solver.fista(lambda[k], b);
    } else if (options.method == GenMethod::admm) {
      fit = solver.admm(lambda[k], b);
    } else if (options.method == GenMethod::sparsa) {
      fit = solver.sparsa(lambda[k], b);
    } else {
      fit = solver.alin(lambda[k], b, mu);
    }
    b = fit.b;
    mu = fit.mu;
    path.fits.push_back(std::move(fit));
  }
  return path;
}

}  // namespace granary::regress
