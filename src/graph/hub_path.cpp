#include "graph/hub_path.h"

#include "core/linalg/dense.h"
#include "graph/hub_ising.h"

namespace granary::graph {

namespace {

// Minus a gradient of the loss at T; for an Ising model the solver finds its own.
MatrixXd multiplier(ConstMatrixRef data, HubModelKind model, const MatrixXd& theta) {
  const Index p = theta.cols();
  if (model == HubModelKind::ising) return MatrixXd::Zero(p, p);
  if (model == HubModelKind::covariance) return data - theta;
  return Llt(theta).solve(MatrixXd::Identity(p, p)) - data;
}

HubState start_state(ConstMatrixRef data, HubModelKind model, const HubStart& start) {
  const Index p = data.cols();
  for (const MatrixXd* part : {&start.theta, &start.v, &start.z}) {
    if (part->rows() != p || part->cols() != p) throw InputError(message("`start` must have ", p, " variables."));
  }
  return {start.theta, start.v, start.z, multiplier(data, model, start.theta), start.step};
}

// Minus twice the log-likelihood of one observation up to a constant; for an Ising model of all rows, by the pseudo-likelihood.
double deviance(ConstMatrixRef data, HubModelKind model, const HubResult& fit) {
  if (model == HubModelKind::ising) return 2 * fit.loss;
  if (model == HubModelKind::precision) return fit.loss;
  const Llt factor(fit.state.theta);
  return fit.log_det + factor.solve(MatrixXd(data)).trace();
}

}  // namespace

std::vector<HubResult> hub_path(ConstMatrixRef data, const HubPathOptions& options, Monitor& monitor, const std::optional<HubStart>& start) {
  const auto fit_one = options.model == HubModelKind::ising        ? hub_ising
                       : options.model == HubModelKind::covariance ? hub_covariance
                                                                   : hub_precision;
  std::vector<HubResult> path;
  path.reserve(options.lambda2.size());
  const HubState first = start ? start_state(data, options.model, *start) : HubState();
  for (std::size_t k = 0; k < options.lambda2.size(); ++k) {
    monitor.progress(static_cast<double>(k) / static_cast<double>(options.lambda2.size()));
    const HubState* from = k > 0 ? &path.back().state : start ? &first : nullptr;
    path.push_back(fit_one(data, {options.lambda1, options.lambda2[k], options.lambda3, options.q}, options.solver, monitor, from));
    path.back().deviance = deviance(data, options.model, path.back());
  }
  return path;
}

}  // namespace granary::graph
