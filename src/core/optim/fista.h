// Proximal gradient and FISTA for composite problems
//
//   minimise  f(x) + g(x),   f smooth and convex, g with a cheap proximal operator
//
// with backtracking, and the gradient test of O'Donoghue and Candes (Found. Comput. Math. 2015) to restart the momentum.
// Beck and Teboulle (SIAM J. Imaging Sci. 2009), sections 3 and 4. Point is VectorXd or MatrixXd.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/convergence.h"
#include "core/base/errors.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

// A lambda stored here names its return type (-> VectorXd) when it would otherwise return an Eigen expression.
template <class Point>
struct CompositeProblem {
  std::function<double(const Point& x, Point& gradient)> smooth;  // f(x), and its gradient into an argument shaped like x
  std::function<Point(const Point& v, double step)> prox;         // argmin_x 1/2 ||x - v||^2 + step g(x)
  std::function<double(const Point& x)> penalty;                  // g(x)
  std::function<double(const Point& x)> gap;                      // optional: a duality gap at x, for options.gap_tol
};

struct FistaOptions {
  double tol = 1e-8;   // on ||x - prox(x - t grad f(x))||, relative to ||x|| or, if larger, to the first such residual
  double gap_tol = 0;  // stop once the gap, if there is one, is at most this
  int gap_every = 10;
  int max_iter = 10000;
  double step = 0;         // first step tried; 0: from the change of the gradient along itself
  bool accelerate = true;  // false: plain proximal gradient
  bool restart = true;
};

template <class Point>
struct FistaResult {
  Point x;
  double objective = 0;  // f(x) + g(x)
  double step = 0;       // the last one, to start the next problem of a path
  Convergence convergence;
};

namespace detail {

template <class Point>
double inner(const Point& a, const Point& b) {
  return a.cwiseProduct(b).sum();
}

// 1/L along the gradient: ||d|| / ||grad f(x + d) - grad f(x)||, with d small beside x or the gradient.
template <class Point>
double first_step(const CompositeProblem<Point>& problem, const Point& x, const Point& gradient) {
  const double slope = gradient.norm();
  if (slope == 0) return 1;
  Point moved_gradient = gradient;
  for (double length = 1e-4 * (x.norm() > 0 ? x.norm() : 1.0), tries = 0; tries < 60; ++tries, length *= 0.1) {
    const Point moved = x - (length / slope) * gradient;
    const double value = problem.smooth(moved, moved_gradient);
    if (!std::isfinite(value) || !moved_gradient.allFinite()) continue;
    const double change = (moved_gradient - gradient).norm();
    return change > 0 ? length / change : length / slope;
  }
  return 1;
}

}  // namespace detail

template <class Point>
FistaResult<Point> fista(const CompositeProblem<Point>& problem, const Point& start, const FistaOptions& options,
                         Monitor& monitor) {
  const Stopwatch clock;
  FistaResult<Point> result;
  Convergence& end = result.convergence;
  Point x = start, y = start, next = start;
  Point gradient_y = Point::Zero(start.rows(), start.cols()), gradient_next = gradient_y;
  double f_y = problem.smooth(y, gradient_y);
  if (!std::isfinite(f_y) || !gradient_y.allFinite()) {
    throw NumericalError(
        "the objective or its gradient is not finite at the starting point; start elsewhere or rescale the data.");
  }
  double step = options.step > 0 ? options.step : detail::first_step(problem, y, gradient_y);
  double momentum = 1, first_residual = -1, f_x = f_y;
  const double too_small = 1e-40 * step;

  while (end.iterations < options.max_iter) {
    monitor.check();
    ++end.iterations;
    double f_next = 0;
    Point move;
    bool stuck = false;
    for (;; step *= 0.5) {
      next = problem.prox(y - step * gradient_y, step);
      move = next - y;
      f_next = problem.smooth(next, gradient_next);
      const double length2 = move.squaredNorm();
      if (std::isfinite(f_next) && gradient_next.allFinite()) {
        const double excess = f_next - f_y - detail::inner(gradient_y, move) - length2 / (2 * step);
        if (excess <= 0) break;
        // Close to the solution the values differ by rounding only; for convex f this stronger test on gradients still speaks.
        const bool only_rounding = excess <= 1e-12 * (std::abs(f_y) + std::abs(f_next));
        if (only_rounding && detail::inner<Point>(gradient_next - gradient_y, move) <= length2 / (2 * step)) break;
      }
      if (step < too_small || length2 == 0) {
        stuck = true;
        break;
      }
    }
    const double residual = move.norm();
    if (stuck && !(residual == 0)) {
      end.message = "no step decreases the objective; its gradient may be wrong or the problem not smooth";
      break;
    }
    if (first_residual < 0) first_residual = residual;
    const double scale = std::max(next.norm(), first_residual);
    end.residual = scale > 0 ? residual / scale : 0;

    const Point change = next - x;
    const bool overshot = options.restart && detail::inner<Point>(y - next, change) > 0;
    x = next;
    f_x = f_next;
    if (end.residual <= options.tol) {
      end.converged = true;
      break;
    }
    if (problem.gap && options.gap_tol > 0 && end.iterations % std::max(1, options.gap_every) == 0) {
      end.gap = problem.gap(x);
      if (end.gap <= options.gap_tol) {
        end.converged = true;
        break;
      }
    }
    if (!options.accelerate || overshot) {
      momentum = 1;
      y = x;
      f_y = f_next;
      gradient_y = gradient_next;
      step *= 1.5;  // the curvature met so far may have been the worst; backtracking takes it back if not
      continue;
    }
    const double next_momentum = 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
    y = x + ((momentum - 1) / next_momentum) * change;
    momentum = next_momentum;
    f_y = problem.smooth(y, gradient_y);
    if (!std::isfinite(f_y) || !gradient_y.allFinite()) {  // the extrapolated point left the domain; x is inside
      momentum = 1;
      y = x;
      f_y = f_next;
      gradient_y = gradient_next;
    }
  }
  if (!end.converged && end.message.empty()) end.message = "the iteration limit was reached; raise max_iter or loosen tol";
  if (problem.gap) end.gap = problem.gap(x);
  result.objective = f_x + (problem.penalty ? problem.penalty(x) : 0.0);
  result.x = std::move(x);
  result.step = step;
  end.seconds = clock.seconds();
  return result;
}

}  // namespace granary
