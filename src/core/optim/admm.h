// ADMM for one hard term and any number of simple ones on the same matrix:
//
//   minimise  f(X) + sum_k g_k(Z_k)   subject to  X = Z_k, k = 1..K
//
// Boyd, Parikh, Chu, Peleato, Eckstein (Found. Trends Mach. Learn. 2011): scaled form (3.5-3.7), over-relaxation and varying
// penalty (3.4), stopping by primal and dual residuals (3.3.1). Vectors are matrices with one column.
//
// Every term comes as its proximal operator  prox(V, rho) = argmin_X g(X) + rho/2 ||X - V||_F^2.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "core/base/convergence.h"
#include "core/base/errors.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

// A lambda stored here names its return type (-> MatrixXd) when it would otherwise return an Eigen expression.
using ProximalOperator = std::function<MatrixXd(const MatrixXd& v, double rho)>;

struct AdmmState {
  MatrixXd x;               // of f: positive definite for a log-determinant
  std::vector<MatrixXd> z;  // of g_k: exactly sparse, grouped, low rank, ...
  std::vector<MatrixXd> u;  // multipliers divided by rho; rho sum_k u_k is minus a gradient of f at x
  double rho = 1;
};

struct AdmmProblem {
  ProximalOperator f;
  std::vector<ProximalOperator> g;
  std::function<double(const AdmmState&)> gap;  // optional: a duality gap, for options.gap_tol
};

struct AdmmOptions {
  double tol = 1e-6;        // relative, for both residuals
  double tol_absolute = 0;  // per entry, added to the relative tolerance
  double gap_tol = 0;       // stop once the gap, if there is one, is at most this
  int gap_every = 10;
  int max_iter = 5000;
  double rho = 1;
  double relaxation = 1.6;   // in (0, 2)
  bool balance = true;       // change rho to keep both relative residuals alike
  int balance_until = 1000;  // a fixed rho from here on, which convergence needs
};

struct AdmmResult : AdmmState {
  Convergence convergence;  // residual = the larger of the two relative residuals
};

// Starts from `start.z`, `start.u` and `start.rho` when given (a neighbouring problem's result), else from Z_k = `x0`, U_k = 0.
inline AdmmResult admm(const AdmmProblem& problem, AdmmState start, const AdmmOptions& options, Monitor& monitor) {
  const Stopwatch clock;
  const std::size_t terms = problem.g.size();
  if (terms == 0) throw InputError("ADMM needs at least one term beside f.");
  if (!(options.relaxation > 0 && options.relaxation < 2)) {
    throw InputError(message("the relaxation must lie strictly between 0 and 2, got ", options.relaxation, "."));
  }
  if (start.z.size() != terms || start.u.size() != terms) throw InputError("the start must hold one z and one u per term.");
  if (!(start.rho > 0) || !std::isfinite(start.rho)) throw InputError(message("rho must be positive, got ", start.rho, "."));

  AdmmResult now;
  static_cast<AdmmState&>(now) = std::move(start);
  Convergence& end = now.convergence;
  const double count = static_cast<double>(terms), entries = static_cast<double>(now.z[0].size());
  while (end.iterations < options.max_iter) {
    monitor.check();
    ++end.iterations;
    MatrixXd mean = now.z[0] - now.u[0];
    for (std::size_t k = 1; k < terms; ++k) mean += now.z[k] - now.u[k];
    now.x = problem.f(mean / count, count * now.rho);

    double primal2 = 0, z2 = 0;
    MatrixXd moved = MatrixXd::Zero(now.x.rows(), now.x.cols()), multipliers = moved;
    for (std::size_t k = 0; k < terms; ++k) {
      const MatrixXd relaxed = options.relaxation * now.x + (1 - options.relaxation) * now.z[k];
      MatrixXd z = problem.g[k](relaxed + now.u[k], now.rho);
      now.u[k] += relaxed - z;
      moved += z - now.z[k];
      multipliers += now.u[k];
      primal2 += (now.x - z).squaredNorm();
      z2 += z.squaredNorm();
      now.z[k] = std::move(z);
    }
    const double size = std::sqrt(std::max(count * now.x.squaredNorm(), z2));
    const double primal = std::sqrt(primal2), dual = now.rho * moved.norm();
    if (!std::isfinite(primal) || !std::isfinite(dual)) {
      throw NumericalError("ADMM left the finite numbers; look for missing values, rescale the data or change rho.");
    }
    // Where no constraint pulls, the multipliers vanish and cannot serve as a scale: a thousandth of rho ||X|| then does.
    const double dual_size = std::max(now.rho * multipliers.norm(), 1e-3 * now.rho * size);
    const double primal_tol = std::sqrt(count * entries) * options.tol_absolute + options.tol * size;
    const double dual_tol = std::sqrt(entries) * options.tol_absolute + options.tol * dual_size;
    const double primal_relative = size > 0 ? primal / size : primal, dual_relative = dual_size > 0 ? dual / dual_size : dual;
    end.residual = std::max(primal_relative, dual_relative);
    if (primal <= primal_tol && dual <= dual_tol) {
      end.converged = true;
      break;
    }
    if (problem.gap && options.gap_tol > 0 && end.iterations % std::max(1, options.gap_every) == 0) {
      end.gap = problem.gap(now);
      if (end.gap <= options.gap_tol) {
        end.converged = true;
        break;
      }
    }
    // Relative residuals, so that units of the data do not steer rho; rarely enough for a change to show its effect.
    if (options.balance && end.iterations <= options.balance_until && end.iterations % 5 == 0) {
      double factor = 1;
      if (primal_relative > 5 * dual_relative) factor = 2;
      if (dual_relative > 5 * primal_relative) factor = 0.5;
      now.rho *= factor;
      if (factor != 1) {
        for (MatrixXd& u : now.u) u /= factor;
      }
    }
  }
  if (!end.converged) end.message = "the iteration limit was reached; raise max_iter, loosen tol or change rho";
  if (problem.gap) end.gap = problem.gap(now);
  end.seconds = clock.seconds();
  return now;
}

inline AdmmResult admm(const AdmmProblem& problem, ConstMatrixRef x0, const AdmmOptions& options, Monitor& monitor) {
  AdmmState start;
  start.z.assign(problem.g.size(), x0);
  start.u.assign(problem.g.size(), MatrixXd::Zero(x0.rows(), x0.cols()));
  start.rho = options.rho;
  return admm(problem, std::move(start), options, monitor);
}

}  // namespace granary
