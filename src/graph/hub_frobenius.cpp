#include "graph/hub_frobenius.h"
#include "core/linalg/dense.h"

#include <algorithm>
#include <cmath>

namespace granary::graph {

double certify_frobenius(const MatrixXd& s, const HubPenalty& penalty, double eps, HubResult& candidate,
                         const MatrixXd& multiplier) {
  HubState& state = candidate.state;
  // The diagonal is free, so a smallest eigenvalue just below eps is lifted at the price of the loss alone.
  const SymmetricEigen own(state.theta, EigenParts::values);
  const double lift = eps - own.eigenvalues()[0];
  if (lift > 0) {
    state.theta.diagonal().array() += lift;
    state.z.diagonal().array() += lift;
  }
  candidate.log_det = (own.eigenvalues().array() + std::max(lift, 0.0)).max(eps).log().sum();
  candidate.loss = 0.5 * (state.theta - s).squaredNorm();
  candidate.objective = candidate.loss + hub_cost(penalty, state.v, state.z);
  state.l = multiplier;
  state.l.diagonal().setZero();
  candidate.violation = dual_violation(penalty, state.l);
  const MatrixXd m = s - into_dual_set(penalty, state.l);
  const SymmetricEigen eigen(m, EigenParts::values);
  double dual = 0.5 * s.squaredNorm();
  for (const double e : std::vector<double>(eigen.eigenvalues().data(), eigen.eigenvalues().data() + m.rows())) {
    const double kept = std::max(e, eps);
    dual += -0.5 * kept * kept + eps * std::max(eps - e, 0.0);
  }
  return candidate.objective - dual;
}

double log_det_above(const MatrixXd& theta, double eps) {
  MatrixXd shifted = theta;
  shifted.diagonal().array() -= eps;
  if (LltInPlace(shifted).info() != Eigen::Success) return Convergence::unknown;
  const Llt whole(theta);
  if (whole.info() != Eigen::Success) return Convergence::unknown;
  return 2 * whole.matrixLLT().diagonal().array().log().sum();
}

double FrobeniusModel::evaluate(const MatrixXd& theta) {
  candidate_ = theta - s_;
  return 0.5 * candidate_.squaredNorm();
}

double FrobeniusModel::certify(HubResult& candidate) {
  HubState& state = candidate.state;
  candidate.loss = 0.5 * g_.squaredNorm();
  candidate.objective = candidate.loss + hub_cost(penalty_, state.v, state.z);
  state.l = -g_;
  candidate.violation = std::max(dual_violation(penalty_, state.l), state.l.diagonal().cwiseAbs().maxCoeff());
  // <S, L> - 1/2 ||L||^2, which does not cancel where S is large.
  const MatrixXd dual = into_dual_set(penalty_, state.l);
  return candidate.objective - (s_.cwiseProduct(dual).sum() - 0.5 * dual.squaredNorm());
}

void FrobeniusModel::begin_column(Index j, const VectorXd& d) {
  const int first = pattern_->start[j], m = pattern_->start[j + 1] - first;
  b_.resize(m);
  for (int k = 0; k < m; ++k) b_[k] = g_(pattern_->row[first + k], j) + d[first + k];
}

}  // namespace granary::graph
