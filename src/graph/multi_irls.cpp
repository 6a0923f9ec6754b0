#include "graph/multi_irls.h"

#include <algorithm>
#include <cmath>

#include "core/base/parallel.h"
#include "core/linalg/dense.h"
#include "graph/glasso_problem.h"

namespace granary::graph {

namespace {

// (D -> W D W + C o D) D = R by conjugate gradients, preconditioned with the diagonal of the map.
MatrixXd newton_step(const MatrixXd& w, const MatrixXd& c, const MatrixXd& right, double tol, Monitor& monitor) {
  const VectorXd d = w.diagonal();
  const MatrixXd scale = (d * d.transpose() + w.cwiseAbs2() + c).cwiseInverse();
  MatrixXd x = MatrixXd::Zero(w.rows(), w.cols()), r = right, z = scale.cwiseProduct(r), direction = z, image;
  double rz = r.cwiseProduct(z).sum();
  const double target = tol * tol * rz;
  for (int k = 0; k < 200 && rz > target; ++k) {
    monitor.check();
    image = w * direction * w + c.cwiseProduct(direction);
    const double curvature = direction.cwiseProduct(image).sum();
    if (!(curvature > 0)) break;
    const double alpha = rz / curvature;
    x += alpha * direction;
    r -= alpha * image;
    z = scale.cwiseProduct(r);
    const double next = r.cwiseProduct(z).sum();
    direction = z + (next / rz) * direction;
    rz = next;
  }
  return 0.5 * (x + x.transpose());
}

}  // namespace

bool weighted_ridge(const ConstMatrixRef& s, const MatrixXd& c, double tol, int max_steps, Monitor& monitor, MatrixXd& x) {
  const Index p = s.rows();
  const auto rest = [&](const MatrixXd& m) { return s.cwiseProduct(m).sum() + 0.5 * c.cwiseProduct(m.cwiseAbs2()).sum(); };
  Llt llt(x);
  if (llt.info() != Eigen::Success)
    throw NumericalError("the ridge steps left the positive definite matrices; rescale the data.");
  double f = rest(x) - 2 * llt.matrixLLT().diagonal().array().log().sum();
  for (int step = 0; step < max_steps; ++step) {
    MatrixXd w = llt.solve(MatrixXd::Identity(p, p));
    w = 0.5 * (w + w.transpose()).eval();
    const MatrixXd minus_gradient = w - s - c.cwiseProduct(x);
    const MatrixXd d = newton_step(w, c, minus_gradient, 0.01, monitor);
    const double slope = minus_gradient.cwiseProduct(d).sum(), scale = std::max(std::abs(f), static_cast<double>(p));
    if (slope <= tol * scale) return true;  // twice the decrease that is left, to second order
    bool accepted = false;
    for (double alpha = 1; alpha > 1e-12 && !accepted; alpha /= 2) {
      const MatrixXd trial = x + alpha * d;
      const Llt factor(trial);
      if (factor.info() != Eigen::Success) continue;
      const double value = rest(trial) - 2 * factor.matrixLLT().diagonal().array().log().sum();
      if (!(value <= f - 1e-3 * alpha * slope + 1e-14 * scale)) continue;
      x = trial;
      f = value;
      llt = factor;
      accepted = true;
    }
    if (!accepted) return true;  // the rounding of f
  }
  return false;
}

MultiResult multi_irls(const MultiProblem& problem, const MultiIrlsOptions& options, Monitor& monitor) {
  const Stopwatch clock;
  check_problem(problem);
  if (problem.off.norm != MultiNorm::l2 || problem.off.l1 != 0 || !problem.diagonal.none()) {
    throw InputError("reweighted ridge penalties are for the l1,2 norm with a free diagonal and lambda1 = 0.");
  }
  const Index p = problem.variables();
  const int tasks = problem.tasks();
  std::vector<MatrixXd> x(tasks);
  for (int k = 0; k < tasks; ++k) {
    // A dense start: a diagonal one has h = 0, which no step leaves.
    MatrixXd shifted = problem.s[k];
    shifted.diagonal().array() += 0.1 * problem.s[k].diagonal().mean();
    const Llt llt(shifted);
    if (llt.info() != Eigen::Success) throw NumericalError("a covariance is not positive semi-definite; repair it");
    x[k] = llt.solve(MatrixXd::Identity(p, p));
    x[k] = 0.5 * (x[k] + x[k].transpose()).eval();
  }
  const double scale = static_cast<double>(p) * problem.weight.sum();
  const auto sizes = [&]() {  // h, and the unit of each entry on its diagonal
    MatrixXd sum = MatrixXd::Zero(p, p);
    for (const MatrixXd& m : x) sum += m.cwiseAbs2();
    return MatrixXd(sum.cwiseSqrt());
  };
  const auto value = [&](const MatrixXd& h) {
    double f = problem.off.l2 * (h.sum() - h.trace());
    for (int k = 0; k < tasks; ++k) {
      const Llt llt(x[k]);
      f += problem.weight[k] * (problem.s[k].cwiseProduct(x[k]).sum() - 2 * llt.matrixLLT().diagonal().array().log().sum());
    }
    return f;
  };
  Convergence end;
  MatrixXd h = sizes();
  double f = value(h);
  while (end.iterations < options.max_iter && !end.converged) {
    monitor.check();
    ++end.iterations;
    const VectorXd unit = h.diagonal().cwiseSqrt();
    const MatrixXd floor = 1e-10 * unit * unit.transpose();
    MatrixXd c = problem.off.l2 * h.cwiseMax(floor).cwiseInverse();
    c.diagonal().setZero();
    std::vector<char> good(tasks, 0);
    parallel_for(tasks, options.threads, monitor, [&](Index k) {
      good[k] = weighted_ridge(problem.s[k], c / problem.weight[k], 0.01 * options.tol, 50, monitor, x[k]);
    });
    h = sizes();
    const double now = value(h);
    end.residual = (f - now) / std::max(std::abs(now), scale);
    end.converged = end.residual <= options.tol && std::find(good.begin(), good.end(), 0) == good.end();
    f = now;
  }
  if (!end.converged) end.message = message("stopped after ", end.iterations, " reweighted steps");
  const VectorXd unit = h.diagonal().cwiseSqrt();
  std::vector<SparseMatrix> precision;
  for (MatrixXd& m : x) {
    for (Index j = 0; j < p; ++j) {
      for (Index i = 0; i < p; ++i) {
        if (i != j && h(i, j) <= options.zero * unit[i] * unit[j]) m(i, j) = 0;
      }
    }
    precision.push_back(m.sparseView());
  }
  MultiResult result = multi_certificate(problem, precision, monitor);
  result.components = pattern_components(result.state.pattern);
  end.gap = result.convergence.gap;
  end.seconds = clock.seconds();
  result.convergence = end;
  return result;
}

}  // namespace granary::graph
