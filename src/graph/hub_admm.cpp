#include "graph/hub_admm.h"

#include <algorithm>
#include <cmath>

#include "core/optim/admm.h"
#include "core/prox/proximal.h"

namespace granary::graph {

namespace {

// T, V and Z lie side by side in one p x 3p matrix.
auto block(MatrixXd& b, int k) { return b.middleCols(k * b.rows(), b.rows()); }
auto block(const MatrixXd& b, int k) { return b.middleCols(k * b.rows(), b.rows()); }

MatrixXd prox_parts(const HubLoss& loss, const HubPenalty& penalty, HubRegime regime, const MatrixXd& at, double rho) {
  const Index p = at.rows();
  MatrixXd out(p, 3 * p);
  block(out, 0) = loss.prox(block(at, 0), rho);
  auto v = block(out, 1);
  auto z = block(out, 2);
  for (Index j = 0; j < p; ++j) {
    if (regime == HubRegime::no_hubs) {
      v.col(j).setZero();
    } else {
      VectorXd column = block(at, 1).col(j);
      column[j] = 0;
      v.col(j) = prox_hub_column(penalty, column, rho);
    }
    if (regime == HubRegime::hubs_only) {
      z.col(j).setZero();
    } else {
      z.col(j) = soft_threshold(block(at, 2).col(j), penalty.l1 / rho);
    }
    z(j, j) = block(at, 2)(j, j);
  }
  return out;
}

// Onto T = V + V' + Z: with residual R = T - V - V' - Z, T - R/6, V + R/3, Z + R/6; on the diagonal, where V is zero, T and Z
// meet half-way.
MatrixXd project_parts(const MatrixXd& at) {
  const Index p = at.rows();
  MatrixXd out = at;
  auto t = block(out, 0);
  auto v = block(out, 1);
  auto z = block(out, 2);
  MatrixXd r = t - z;
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < p; ++i) r(i, j) = (r(i, j) - (v(i, j) + v(j, i))) / 6;
  }
  r.diagonal() = 0.5 * (t.diagonal() - z.diagonal());
  t -= r;
  z += r;
  r.diagonal().setZero();
  v += 2 * r;
  v.diagonal().setZero();
  return out;
}

}  // namespace

HubResult hub_admm(const HubLoss& loss, const HubPenalty& penalty, const MatrixXd& diagonal_start, double gap_tol,
                   const HubOptions& options, const HubState* start, Monitor& monitor) {
  const Index p = diagonal_start.rows();
  const HubRegime regime = options.reduce ? hub_regime(penalty, p) : HubRegime::mixed;
  HubResult best;
  bool found = false;
  std::vector<HubStep> trace;

  AdmmProblem problem;
  problem.f = [&](const MatrixXd& at, double rho) { return prox_parts(loss, penalty, regime, at, rho); };
  problem.g.push_back([](const MatrixXd& at, double) { return project_parts(at); });
  int checks = 0;
  const int every = 10;
  problem.gap = [&](const AdmmState& now) {
    HubResult candidate;
    candidate.state.v = block(now.x, 1);
    candidate.state.z = block(now.x, 2);
    candidate.state.step = now.rho;
    candidate.state.z.diagonal() = block(now.x, 0).diagonal();
    candidate.state.theta = candidate.state.v + candidate.state.v.transpose() + candidate.state.z;
    // The multiplier of B = B~ is normal to the constraint: (L, -2 L, -L) / rho.
    const MatrixXd multiplier = now.rho * block(now.u[0], 0);
    const double gap = loss.certify(candidate, multiplier);
    trace.push_back({every * ++checks, candidate.objective, gap});
    if (std::isnan(gap)) return Convergence::unknown;
    candidate.convergence.gap = gap;
    if (!found || gap <= best.convergence.gap) best = std::move(candidate);
    found = true;
    return gap;
  };
  AdmmOptions driver;
  driver.tol = 0;  // the gap decides
  driver.gap_tol = gap_tol;
  driver.gap_every = every;
  driver.max_iter = options.max_iter;
  driver.rho = options.step;

  AdmmState from;
  from.rho = start && start->step > 0 ? start->step : options.step;
  MatrixXd b(p, 3 * p), u = MatrixXd::Zero(p, 3 * p);
  if (start) {
    b << start->theta, start->v, start->z;
    u << start->l, -2 * start->l, -start->l;
    u /= from.rho;
    for (int k = 0; k < 3; ++k) block(u, k).diagonal().setZero();
  } else {
    b << diagonal_start, MatrixXd::Zero(p, p), diagonal_start;
  }
  from.z.push_back(std::move(b));
  from.u.push_back(std::move(u));
  const AdmmResult end = admm(problem, std::move(from), driver, monitor);

  if (!found) {
    throw NumericalError(message("no feasible estimate was reached in ", end.convergence.iterations,
                                 " iterations; raise max_iter, or use larger penalties"));
  }
  const double gap = best.convergence.gap;
  best.convergence = end.convergence;
  best.convergence.gap = gap;
  best.convergence.converged = gap <= gap_tol;
  best.convergence.message = best.convergence.converged ? "" : "the iteration limit was reached";
  // The driver asks once more after its last iteration, which may be one that was looked at already.
  if (trace.size() > 1 && end.convergence.iterations % every == 0) trace.pop_back();
  trace.back().iteration = std::min(trace.back().iteration, end.convergence.iterations);
  best.trace = std::move(trace);
  return best;
}

}  // namespace granary::graph
