#include "graph/hub_prox.h"

#include <algorithm>

#include "core/prox/proximal.h"
#include "core/linalg/submatrix.h"
#include "graph/hub_frobenius.h"

namespace granary::graph {

MatrixXd HubProx::operator()(const MatrixXd& c, double g, Monitor& monitor) {
  const Index p = c.rows();
  const MatrixXd s = symmetrised(c);
  const HubPenalty own = penalty_.scaled(1 / g);
  const double lambda = equivalent_l1(own, p);
  if (lambda >= 0) {
    HubState now;
    now.theta = soft_threshold(s, lambda);
    now.theta.diagonal() = s.diagonal();
    now.z = now.theta;
    now.v = MatrixXd::Zero(p, p);
    if (lambda < own.l1) {  // V is the cheaper part
      now.v = 0.5 * now.theta;
      now.v.diagonal().setZero();
      now.z = now.theta.diagonal().asDiagonal();
    }
    last_ = std::move(now);
    return last_.theta;
  }
  FrobeniusModel model(s, own);
  HubOptions options;
  options.max_iter = own.q == HubNorm::l2 ? 200 : 5000;  // Newton steps, or cheap iterations
  const HubState* start = last_.theta.size() > 0 ? &last_ : nullptr;
  const MatrixXd diagonal = s.diagonal().asDiagonal();
  const double gap_tol = 1e-14 * s.squaredNorm();
  HubResult end;
  if (own.q == HubNorm::l2) {
    end = hub_newton(model, own, diagonal, gap_tol, options, start, monitor);
  } else {
    HubLoss loss;
    loss.prox = [&s](const MatrixXd& v, double rho) -> MatrixXd { return (s + rho * v) / (1 + rho); };
    loss.certify = [&](HubResult& candidate, const MatrixXd&) {
      candidate.state.theta.diagonal() = candidate.state.z.diagonal() = s.diagonal();
      model.evaluate(candidate.state.theta);
      model.accept();
      return model.certify(candidate);
    };
    options.step = 1;
    end = hub_admm(loss, own, diagonal, gap_tol, options, start, monitor);
  }
  last_ = std::move(end.state);
  return last_.theta;
}

double HubProx::value(const MatrixXd& x) const { return hub_cost(penalty_, last_.v, x - last_.v - last_.v.transpose()); }

}  // namespace granary::graph
