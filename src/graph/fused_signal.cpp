#include "graph/fused_signal.h"

#include "core/linalg/sparse_cholesky.h"
#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/prox/proximal.h"

namespace granary::graph {

namespace {

SparseMatrix smoother(Index n, const EdgeList& edges, double tau) {  // I + 2 tau L
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < n; ++i) entries.emplace_back(i, i, 1.0);
  for (const auto& edge : edges) {
    const int a = edge.first, b = edge.second;
    entries.emplace_back(a, a, 2 * tau);
    entries.emplace_back(b, b, 2 * tau);
    entries.emplace_back(a, b, -2 * tau);
    entries.emplace_back(b, a, -2 * tau);
  }
  SparseMatrix out(n, n);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

// The largest violation of  y - A x in rho sign(x).
double violation(const VectorXd& x, const VectorXd& rest, double rho) {
  double worst = 0;
  for (Index i = 0; i < x.size(); ++i) {
    worst = std::max(worst, x[i] != 0 ? std::abs(rest[i] - (x[i] > 0 ? rho : -rho)) : std::abs(rest[i]) - rho);
  }
  return worst;
}

// x on the support with given signs: A_ss x_s = y_s - rho sign_s.
VectorXd solve_on_support(const SparseMatrix& a, ConstVectorRef y, double rho, const std::vector<int>& sign) {
  const Index n = y.size();
  std::vector<int> place(n, -1);
  int count = 0;
  for (Index i = 0; i < n; ++i) {
    if (sign[i] != 0) place[i] = count++;
  }
  VectorXd x = VectorXd::Zero(n);
  if (count == 0) return x;
  std::vector<Eigen::Triplet<double>> entries;
  VectorXd right(count);
  for (Index j = 0; j < n; ++j) {
    if (place[j] < 0) continue;
    right[place[j]] = y[j] - rho * sign[j];
    for (SparseMatrix::InnerIterator it(a, j); it; ++it) {
      if (place[it.row()] >= 0) entries.emplace_back(place[it.row()], place[j], it.value());
    }
  }
  SparseMatrix part(count, count);
  part.setFromTriplets(entries.begin(), entries.end());
  const Eigen::SimplicialLDLT<SparseMatrix> factor(part);
  if (factor.info() != Eigen::Success) throw NumericalError("tau is too large for these data: the smoother cannot be factored.");
  const VectorXd values = factor.solve(right);
  for (Index i = 0; i < n; ++i) {
    if (place[i] >= 0) x[i] = values[place[i]];
  }
  return x;
}

FusedSignalResult smooth_signal(ConstVectorRef y, const EdgeList& edges, double rho, double tau, Monitor& monitor) {
  const Stopwatch clock;
  const Index n = y.size();
  const SparseMatrix a = smoother(n, edges, tau);
  const double scale = std::max(n > 0 ? y.cwiseAbs().maxCoeff() : 0.0, 1e-300);
  FusedSignalResult out;
  std::vector<int> sign(n, 1);
  if (rho > 0) {
    for (Index i = 0; i < n; ++i) sign[i] = y[i] > rho ? 1 : y[i] < -rho ? -1 : 0;
  }
  VectorXd rest;
  Convergence& end = out.convergence;
  for (; end.iterations < 100 && !end.converged; ++end.iterations) {
    monitor.check();
    out.x = solve_on_support(a, y, rho, sign);
    rest = y - a * out.x;
    if (rho == 0) {
      end.converged = true;
      continue;
    }
    bool changed = false;
    for (Index i = 0; i < n; ++i) {
      const double v = out.x[i] + rest[i];  // sign and size both: on the support rest is rho sign
      const int next = v > rho ? 1 : v < -rho ? -1 : 0;
      changed = changed || next != sign[i];
      sign[i] = next;
    }
    end.converged = !changed;
  }
  // The active set can cycle; coordinate descent cannot.
  for (int sweep = 0; !end.converged && sweep < 100000; ++sweep, ++end.iterations) {
    monitor.check();
    double moved = 0;
    for (Index i = 0; i < n; ++i) {
      double pull = y[i], diagonal = 1;
      for (SparseMatrix::InnerIterator it(a, i); it; ++it) {
        if (it.row() == i) {
          diagonal = it.value();
        } else {
          pull -= it.value() * out.x[it.row()];
        }
      }
      const double value = soft_threshold(pull, rho) / diagonal;
      moved = std::max(moved, std::abs(value - out.x[i]) * diagonal);
      out.x[i] = value;
    }
    end.converged = moved <= 1e-12 * scale;
  }
  rest = y - a * out.x;
  end.residual = n > 0 ? std::max(0.0, violation(out.x, rest, rho)) / scale : 0;
  out.objective = 0.5 * (out.x - y).squaredNorm() + rho * out.x.lpNorm<1>();
  for (const auto& edge : edges) out.objective += tau * std::pow(out.x[edge.first] - out.x[edge.second], 2);
  out.block.resize(n);
  for (Index i = 0; i < n; ++i) out.block[i] = static_cast<int>(i);
  end.seconds = clock.seconds();
  return out;
}

}  // namespace

FusedSignalResult fused_signal(ConstVectorRef y, const EdgeList& edges, const FusedSignalOptions& options, Monitor& monitor) {
  const double rho = options.rho, tau = options.tau;
  const Stopwatch clock;
  if (!(rho >= 0) || !(tau >= 0) || !std::isfinite(rho) || !std::isfinite(tau))
    throw InputError("rho and tau must not be negative.");
  if (!y.allFinite()) throw InputError("y holds a value that is missing or not finite.");
  GraphTv tv(static_cast<int>(y.size()), edges);
  if (options.penalty == Smoothness::squared) return smooth_signal(y, edges, rho, tau, monitor);
  GraphTvResult fit = tv.solve(y, VectorXd::Constant(1, tau), rho, monitor);
  FusedSignalResult out;
  out.x = std::move(fit.x);
  out.block = std::move(fit.block);
  out.objective = fit.objective;
  out.convergence.converged = true;
  out.convergence.iterations = 1;
  out.convergence.gap = fit.gap;
  out.convergence.seconds = clock.seconds();
  return out;
}

}  // namespace granary::graph
