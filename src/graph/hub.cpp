#include "graph/hub.h"

#include <algorithm>
#include <cmath>

#include "core/graph/components.h"
#include "core/base/parallel.h"
#include "core/prox/proximal.h"
#include "core/linalg/submatrix.h"
#include "graph/glasso.h"
#include "graph/hub_frobenius.h"
#include "graph/hub_log_det.h"
#include "graph/hub_newton.h"

namespace granary::graph {

namespace {

// The graphical lasso as V and Z: all in Z where no hub can be, all in V where l2 + l3 is cheaper.
HubResult by_glasso(const MatrixXd& s, const HubPenalty& penalty, double lambda, const HubOptions& options, const HubState* start,
                    Monitor& monitor) {
  GlassoOptions glasso_options;
  glasso_options.tol = std::min(options.tol, 1e-6);
  glasso_options.covariance = glasso_options.warm = false;
  glasso_options.max_iter = options.max_iter;
  const Penalty l1 = Penalty::scalar(lambda, false);
  GlassoState from;
  if (start) from = make_state(start->theta.sparseView());
  GlassoResult end = glasso(s, l1, glasso_options, monitor, start ? &from : nullptr);
  HubResult out;
  out.state.theta = symmetric_from_upper(end.state.upper);
  out.state.z = out.state.theta;
  out.state.v = MatrixXd::Zero(s.rows(), s.cols());
  if (hub_regime(penalty, s.rows()) == HubRegime::hubs_only) {
    out.state.v = 0.5 * out.state.theta;
    out.state.v.diagonal().setZero();
    out.state.z = out.state.theta.diagonal().asDiagonal();
  }
  out.convergence = end.convergence;
  out.convergence.gap = certify_log_det(s, penalty, out);
  out.trace.push_back({end.convergence.iterations, out.objective, out.convergence.gap});
  return out;
}

// The answer is diagonal if and only if S is in the dual set (up to the sign, which does not matter there).
bool is_empty(const MatrixXd& s, const HubPenalty& penalty) { return dual_violation(penalty, s) <= 0; }

using ComponentSolver = std::function<HubResult(const MatrixXd& s, const HubState* start, Monitor& monitor)>;

// Splits, solves, and puts together; loss, objective, gap and log det add up over components.
HubResult by_components(const MatrixXd& s, const HubPenalty& penalty, const HubOptions& options, const ComponentSolver& solve,
                        const HubState* start, Monitor& monitor) {
  const Stopwatch clock;
  const Index p = s.rows();
  HubResult out;
  out.components =
      options.screen ? screen_components(s, Penalty::scalar(std::min(penalty.l1, penalty.l2 / 2))) : one_component(p);
  std::vector<HubResult> parts(out.components.size());
  const std::vector<Index> order = largest_first(out.components);
  parallel_for(static_cast<Index>(parts.size()), options.threads, monitor, [&](Index k) {
    const Index c = order[k];
    const std::vector<int>& members = out.components[c];
    HubState from;
    if (start) {
      from = {principal_submatrix(start->theta, members), principal_submatrix(start->v, members),
              principal_submatrix(start->z, members), principal_submatrix(start->l, members), start->step};
    }
    parts[c] = solve(principal_submatrix(s, members), start ? &from : nullptr, monitor);
  });

  HubState& state = out.state;
  state.theta = state.v = state.z = state.l = MatrixXd::Zero(p, p);
  out.inverse = MatrixXd::Zero(p, p);
  out.log_det = 0;
  WholeConvergence whole(out.convergence);
  for (std::size_t c = 0; c < parts.size(); ++c) {
    HubResult& part = parts[c];
    const std::vector<int>& members = out.components[c];
    put_back(state.theta, part.state.theta, members);
    put_back(state.v, part.state.v, members);
    put_back(state.z, part.state.z, members);
    put_back(state.l, part.state.l, members);
    if (part.inverse.size() > 0) put_back(out.inverse, part.inverse, members);
    out.log_det += part.log_det;
    out.loss += part.loss;
    out.objective += part.objective;
    out.violation = std::max(out.violation, part.violation);
    whole.add(part.convergence);
  }
  out.convergence.residual = Convergence::unknown;
  HubResult& largest = parts[order[0]];
  state.step = largest.state.step;
  for (HubStep& t : largest.trace) t.objective += out.objective - largest.objective;  // the other components where they end
  out.trace = std::move(largest.trace);
  // Across blocks minus the gradient of either loss is -S (precision) or S (covariance) itself.
  const std::vector<int> label = ComponentIndex(out.components, p).label;
  const double sign = parts[0].inverse.size() > 0 ? -1 : 1;
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < p; ++i) {
      if (label[i] != label[j]) state.l(i, j) = sign * s(i, j);
    }
  }
  out.convergence.seconds = clock.seconds();
  return out;
}

// Units out: S and the penalties in units of the mean variance; `power` is that of the estimate, -1 for a precision matrix.
double unit_of(ConstMatrixRef s) {
  const double unit = s.diagonal().mean();
  return unit > 0 ? unit : 1;
}

HubState in_units(HubState state, double estimate, double gradient) {
  state.theta *= estimate;
  state.v *= estimate;
  state.z *= estimate;
  state.l *= gradient;
  return state;
}

void require_square(ConstMatrixRef s) {
  if (s.rows() != s.cols() || s.rows() == 0) throw InputError("the covariance must be square with at least one variable.");
}

}  // namespace

HubResult hub_precision(ConstMatrixRef s, const HubPenalty& penalty, const HubOptions& options, Monitor& monitor,
                        const HubState* start) {
  require_square(s);
  // Only with K = {0}, nothing off the diagonal penalised, must S itself be positive definite.
  const bool free = penalty.l1 == 0 || penalty.l2 + penalty.l3 == 0;
  check_problem(s, Penalty::scalar(free ? 0 : 1, false));
  const double unit = unit_of(s);
  const HubPenalty own = penalty.scaled(1 / unit);
  const ComponentSolver solve = [&](const MatrixXd& part, const HubState* from, Monitor& watch) {
    const Index p = part.rows();
    const double lambda = options.reduce ? equivalent_l1(own, p) : -1;
    if (p == 1 || (options.reduce && is_empty(part, own))) {
      HubResult diagonal;
      diagonal.state.theta = diagonal.state.z = part.diagonal().cwiseInverse().asDiagonal();
      diagonal.state.v = MatrixXd::Zero(p, p);
      diagonal.convergence.gap = certify_log_det(part, own, diagonal);
      diagonal.convergence.converged = true;
      return diagonal;
    }
    if (lambda >= 0) return by_glasso(part, own, std::max(lambda, 0.0), options, from, watch);
    const MatrixXd diagonal = part.diagonal().cwiseInverse().asDiagonal();
    if (options.reduce && own.q == HubNorm::l2) {
      LogDetModel model(part, own);
      return hub_newton(model, own, diagonal, options.tol * static_cast<double>(p), options, from, watch);
    }
    HubLoss loss;
    loss.prox = [&part](const MatrixXd& v, double rho) { return prox_log_det(part, v, rho).x; };
    loss.certify = [&](HubResult& candidate, const MatrixXd&) { return certify_log_det(part, own, candidate); };
    return hub_admm(loss, own, diagonal, options.tol * static_cast<double>(p), options, from, watch);
  };
  HubState from;
  if (start) from = in_units(*start, unit, 1 / unit);
  HubResult out = by_components(s / unit, own, options, solve, start ? &from : nullptr, monitor);
  const double shift = static_cast<double>(s.rows()) * std::log(unit);
  out.state = in_units(std::move(out.state), 1 / unit, unit);
  out.inverse *= unit;
  out.log_det -= shift;
  out.loss += shift;
  out.objective += shift;
  out.violation *= unit;
  for (HubStep& t : out.trace) t.objective += shift;
  return out;
}

HubResult hub_covariance(ConstMatrixRef s, const HubPenalty& penalty, const HubOptions& options, Monitor& monitor,
                         const HubState* start) {
  require_square(s);
  const double unit = unit_of(s), eps = options.eps / unit;
  const HubPenalty own = penalty.scaled(1 / unit);
  const ComponentSolver solve = [&](const MatrixXd& part, const HubState* from, Monitor& watch) {
    HubLoss loss;
    loss.prox = [&part, eps](const MatrixXd& v, double rho) { return nearest_psd((part + rho * v) / (1 + rho), eps); };
    loss.certify = [&](HubResult& candidate, const MatrixXd& multiplier) {
      return certify_frobenius(part, own, eps, candidate, multiplier);
    };
    const MatrixXd diagonal = part.diagonal().cwiseMax(eps).asDiagonal();
    if (part.rows() == 1 || (options.reduce && is_empty(part, own))) {
      HubResult single;
      single.state.theta = single.state.z = diagonal;
      single.state.v = MatrixXd::Zero(part.rows(), part.cols());
      single.convergence.gap = certify_frobenius(part, own, eps, single, part);  // S itself is the multiplier
      single.convergence.converged = true;
      return single;
    }
    const double gap_tol = options.tol * static_cast<double>(part.rows());
    HubState free;
    if (options.reduce && own.q != HubNorm::linf) {
      // Without the constraint first: where that answer satisfies it, as it mostly does, no eigenvalue is needed. With q = 1 the
      // norm of a column is one more l1 penalty.
      const HubPenalty flat = own.q == HubNorm::l1 ? HubPenalty{own.l1, own.l2 + own.l3, 0, HubNorm::l2} : own;
      FrobeniusModel model(part, flat);
      HubResult unconstrained = hub_newton(model, flat, part.diagonal().asDiagonal(), gap_tol, options, from, watch);
      unconstrained.log_det = log_det_above(unconstrained.state.theta, eps);
      if (!std::isnan(unconstrained.log_det)) return unconstrained;
      free = std::move(unconstrained.state);
      if (!from) from = &free;
    }
    return hub_admm(loss, own, diagonal, gap_tol, options, from, watch);
  };
  HubState from;
  if (start) from = in_units(*start, 1 / unit, 1 / unit);
  HubResult out = by_components(s / unit, own, options, solve, start ? &from : nullptr, monitor);
  out.state = in_units(std::move(out.state), unit, unit);
  out.inverse.resize(0, 0);
  out.log_det += static_cast<double>(s.rows()) * std::log(unit);
  // Pairs across blocks are no part of any block's loss.
  double across = 0;
  for (std::size_t c = 0; c < out.components.size(); ++c) across -= principal_submatrix(s, out.components[c]).squaredNorm();
  across = std::max(0.0, 0.5 * (s.squaredNorm() + across));
  out.loss = out.loss * unit * unit + across;
  out.objective = out.objective * unit * unit + across;
  out.violation *= unit;
  out.convergence.gap *= unit * unit;
  for (HubStep& t : out.trace) {
    t.objective = t.objective * unit * unit + across;
    t.gap *= unit * unit;
  }
  return out;
}

HubResult certify_precision(ConstMatrixRef s, const HubPenalty& penalty, ConstMatrixRef v, ConstMatrixRef z) {
  require_square(s);
  HubResult out;
  out.state.v = v;
  out.state.v.diagonal().setZero();
  out.state.z = z;
  out.state.theta = out.state.v + out.state.v.transpose() + out.state.z;
  out.convergence.gap = certify_log_det(s, penalty, out);
  return out;
}

}  // namespace granary::graph
