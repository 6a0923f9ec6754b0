#include "graph/hub_log_det.h"

#include <algorithm>
#include <cmath>

#include "core/linalg/spd_inverse.h"
#include "core/linalg/dense.h"

namespace granary::graph {

namespace {

// log det of a symmetric positive definite matrix by its Cholesky factor, left in `a`; NaN when it is none.
double factor_in_place(MatrixXd& a) {
  const LltInPlace llt(a);
  if (llt.info() != Eigen::Success) return Convergence::unknown;
  const double log_det = 2 * a.diagonal().array().log().sum();
  return std::isfinite(log_det) ? log_det : Convergence::unknown;
}

// The certificate once log det T and W are known.
double certify_with(const MatrixXd& s, const HubPenalty& penalty, const MatrixXd& w, HubResult& candidate) {
  const Index p = s.rows();
  HubState& state = candidate.state;
  state.l = w - s;
  candidate.loss = -candidate.log_det + s.cwiseProduct(state.theta).sum();
  candidate.objective = candidate.loss + hub_cost(penalty, state.v, state.z);
  candidate.violation = std::max(dual_violation(penalty, state.l), state.l.diagonal().cwiseAbs().maxCoeff());
  candidate.inverse = w;
  const MatrixXd dual = into_dual_set(penalty, state.l);
  // A point outside the set is moved by little near the solution; far from it S + L may lose definiteness. Then it is drawn
  // towards L = -t S_off, which is in the set, and S + L = (1 - t) S + t diag(S) is definite whenever S is semi-definite with
  // variances.
  MatrixXd anchor;
  for (const double share : {0.0, 1e-3, 1e-2, 0.1, 0.3, 0.6, 1.0}) {
    MatrixXd v = s + (1 - share) * dual;
    if (share > 0) {
      if (anchor.size() == 0) {
        anchor = -dual_scale(penalty, s) * s;
        anchor.diagonal().setZero();
      }
      v += share * anchor;
    }
    const double log_det = factor_in_place(v);
    if (!std::isnan(log_det)) return candidate.objective - (log_det + static_cast<double>(p));
  }
  return Convergence::unknown;
}

void invert_factor(MatrixXd& a) {
  inverse_from_cholesky(a);
  a.triangularView<Eigen::StrictlyUpper>() = a.transpose();
}

}  // namespace

double certify_log_det(const MatrixXd& s, const HubPenalty& penalty, HubResult& candidate) {
  MatrixXd w = candidate.state.theta;
  candidate.log_det = factor_in_place(w);
  if (std::isnan(candidate.log_det)) return Convergence::unknown;
  invert_factor(w);
  return certify_with(s, penalty, w, candidate);
}

double LogDetModel::evaluate(const MatrixXd& theta) {
  factor_ = theta;
  candidate_log_det_ = factor_in_place(factor_);
  return std::isnan(candidate_log_det_) ? Convergence::unknown : s_.cwiseProduct(theta).sum() - candidate_log_det_;
}

void LogDetModel::accept() {
  invert_factor(factor_);
  std::swap(w_, factor_);
  log_det_ = candidate_log_det_;
  g_ = s_ - w_;
}

double LogDetModel::certify(HubResult& candidate) {
  candidate.log_det = log_det_;
  return certify_with(s_, penalty_, w_, candidate);
}

void LogDetModel::begin_direction(const HubPattern& pattern) {
  pattern_ = &pattern;
  u_.resize(s_.rows());
}

void LogDetModel::begin_column(Index j, const VectorXd& d) {
  const std::vector<int>&start = pattern_->start, &row = pattern_->row;
  const Index m = start[j + 1] - start[j];
  const double* w_j = w_.col(j).data();
  for (Index k = 0; k < s_.rows(); ++k) {
    double sum = 0;
    for (int at = start[k]; at < start[k + 1]; ++at) sum += d[at] * w_j[row[at]];
    u_[k] = sum;
  }
  a_.resize(m);
  b_.resize(m);
  w_j_.resize(m);
  w_local_.resize(m, m);
  for (Index k = 0; k < m; ++k) {
    const int i = row[start[j] + k];
    if (i == j) own_ = k;
    w_j_[k] = w_j[i];
    a_[k] = i == j ? w_j[j] * w_j[j] : w_j[i] * w_j[i] + w_(i, i) * w_j[j];
    b_[k] = g_(i, j) + w_.col(i).dot(u_);
    const double* w_i = w_.col(i).data();
    for (Index l = 0; l < m; ++l) w_local_(l, k) = w_i[row[start[j] + l]];
  }
}

void LogDetModel::move(Index k, double by) {
  const double w_jj = w_j_[own_];
  if (k == own_) {
    b_ += (by * w_jj) * w_j_;
  } else {
    b_ += (by * w_jj) * w_local_.col(k) + (by * w_j_[k]) * w_j_;
  }
}

}  // namespace granary::graph
