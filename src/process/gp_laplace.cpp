#include "process/gp_laplace.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"

namespace granary::process {

namespace {

struct Point {
  VectorXd a, f;
  double psi = 0;
};

Point point_at(ConstMatrixRef k, ConstVectorRef mu, ConstVectorRef y, Link link, VectorXd a) {
  Point p;
  p.a = std::move(a);
  const VectorXd g = k.selfadjointView<Eigen::Lower>() * p.a;
  p.f = mu + g;
  p.psi = class_log_likelihood(link, y, p.f) - 0.5 * p.a.dot(g);
  return p;
}

}  // namespace

LaplaceResult laplace_approximation(ConstMatrixRef k, ConstVectorRef mu, ConstVectorRef y, Link link,
                                    const LaplaceOptions& options, Monitor& monitor, const VectorXd& start) {
  const Index n = k.rows();
  if (n == 0 || k.cols() != n || mu.size() != n || y.size() != n || (start.size() > 0 && start.size() != n)) {
    throw InputError("the covariance, the mean, the labels and the start have to be of one size, at least 1.");
  }
  if (!k.allFinite() || !mu.allFinite()) throw InputError("the prior holds a value that is missing or not finite.");
  const Stopwatch clock;
  Point now = point_at(k, mu, y, link, VectorXd::Zero(n));
  if (start.size() > 0) {
    Point warm = point_at(k, mu, y, link, start);
    if (warm.psi > now.psi) now = std::move(warm);
  }
  VectorXd first(n), curvature(n), slope(n);
  const auto derivatives = [&] {
    for (Index i = 0; i < n; ++i) {
      const LikelihoodAt at = class_likelihood(link, y[i], now.f[i]);
      first[i] = at.first;
      curvature[i] = at.curvature;
      slope[i] = at.slope;
    }
  };
  Convergence end;
  for (end.iterations = 1; end.iterations <= options.max_iter; ++end.iterations) {
    monitor.check();
    derivatives();
    const VectorXd newton = EpSolver(k, curvature, &monitor).weight(curvature.cwiseProduct(now.f - mu) + first) - now.a;
    double step = 1;
    Point next = point_at(k, mu, y, link, now.a + newton);
    while (!(next.psi >= now.psi) && step > 1e-6) {
      step *= 0.5;
      next = point_at(k, mu, y, link, now.a + step * newton);
    }
    if (!(next.psi >= now.psi)) {  // no step of Newton's helps: rounding is all that is left
      end.converged = true;
      break;
    }
    const double gain = next.psi - now.psi;
    now = std::move(next);
    if (gain <= options.tol * (1 + std::abs(now.psi)) && step == 1) {
      end.converged = true;
      break;
    }
  }
  if (!end.converged) end.message = "the Newton steps were used up before the mode was found";
  end.iterations = std::min(end.iterations, options.max_iter);
  derivatives();
  EpSolver solver(k, curvature, &monitor);
  const double evidence = now.psi - 0.5 * solver.log_determinant();
  end.residual = (now.a - first).cwiseAbs().maxCoeff();
  end.seconds = clock.seconds();
  return {std::move(now.a), std::move(now.f), std::move(curvature), std::move(first),
          std::move(slope), evidence,         std::move(solver),    end};
}

}  // namespace granary::process
