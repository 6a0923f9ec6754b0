#include "graph/hub_penalty.h"

#include <algorithm>
#include <cmath>

#include "core/prox/proximal.h"

namespace granary::graph {

namespace {

// ||soft(2 t L_.j, l2)||_s
double column_norm(const HubPenalty& penalty, const MatrixXd& l, Index j, double t) {
  double sum = 0, largest = 0, sum2 = 0;
  for (Index i = 0; i < l.rows(); ++i) {
    if (i == j) continue;
    const double excess = std::abs(soft_threshold(2 * t * l(i, j), penalty.l2));
    sum += excess;
    sum2 += excess * excess;
    largest = std::max(largest, excess);
  }
  return penalty.q == HubNorm::l1 ? largest : penalty.q == HubNorm::l2 ? std::sqrt(sum2) : sum;
}

// The largest t <= 1 that column j allows. The norm is convex and increasing in t, so Newton's steps from t = 1 come down to the
// root without passing it; rounding may leave it just outside, hence the last loop.
double column_scale(const HubPenalty& penalty, const MatrixXd& l, Index j) {
  double t = 1, norm = column_norm(penalty, l, j, t);
  if (norm <= penalty.l3) return 1;
  for (int k = 0; k < 60 && norm > penalty.l3; ++k) {
    double slope = 0, largest = 0;
    for (Index i = 0; i < l.rows(); ++i) {
      const double size = 2 * std::abs(l(i, j)), excess = t * size - penalty.l2;
      if (i == j || excess <= 0) continue;
      if (penalty.q == HubNorm::l2) {
        slope += size * excess / norm;
      } else if (penalty.q == HubNorm::linf) {
        slope += size;
      } else if (excess > largest) {
        largest = excess;
        slope = size;
      }
    }
    const double next = t - (norm - penalty.l3) / slope;
    if (!(next < t)) break;
    t = std::max(next, 0.0);
    norm = column_norm(penalty, l, j, t);
  }
  for (double shrink = 1e-16; norm > penalty.l3; shrink *= 2) {
    t *= 1 - shrink;
    norm = column_norm(penalty, l, j, t);
  }
  return t;
}

}  // namespace

HubRegime hub_regime(const HubPenalty& penalty, Index p) {
  const double others = static_cast<double>(std::max<Index>(p - 1, 1));
  const double root = penalty.q == HubNorm::l1 ? 1 : penalty.q == HubNorm::l2 ? std::sqrt(others) : others;  // (p - 1)^(1/s)
  if (2 * penalty.l1 < penalty.l2 + penalty.l3 / root) return HubRegime::no_hubs;
  if (2 * penalty.l1 > penalty.l2 + penalty.l3) return HubRegime::hubs_only;
  // On the boundary of an l1 penalty both parts cost the same, and Z may have it all.
  return penalty.q == HubNorm::l1 || penalty.l3 == 0 ? HubRegime::no_hubs : HubRegime::mixed;
}

double equivalent_l1(const HubPenalty& penalty, Index p) {
  if (hub_regime(penalty, p) == HubRegime::no_hubs) return penalty.l1;
  if (penalty.q == HubNorm::l1 || penalty.l3 == 0 || p == 2) return std::min(penalty.l1, (penalty.l2 + penalty.l3) / 2);
  return -1;
}

double hub_cost(const HubPenalty& penalty, const MatrixXd& v, const MatrixXd& z) {
  double cost = 0;
  for (Index j = 0; j < v.cols(); ++j) {
    double sum = 0, sum2 = 0, largest = 0, ordinary = 0;
    for (Index i = 0; i < v.rows(); ++i) {
      if (i == j) continue;
      const double size = std::abs(v(i, j));
      sum += size;
      sum2 += size * size;
      largest = std::max(largest, size);
      ordinary += std::abs(z(i, j));
    }
    const double norm = penalty.q == HubNorm::l1 ? sum : penalty.q == HubNorm::l2 ? std::sqrt(sum2) : largest;
    cost += penalty.l1 * ordinary + penalty.l2 * sum + penalty.l3 * norm;
  }
  return cost;
}

VectorXd prox_hub_column(const HubPenalty& penalty, ConstVectorRef c, double rho) {
  const VectorXd soft = soft_threshold(c, penalty.l2 / rho);
  if (penalty.q == HubNorm::l1) return soft_threshold(soft, penalty.l3 / rho);
  return penalty.q == HubNorm::l2 ? prox_group_l2(soft, penalty.l3 / rho) : prox_group_linf(soft, penalty.l3 / rho);
}

double dual_column_norm(const HubPenalty& penalty, const MatrixXd& l, Index j) { return column_norm(penalty, l, j, 1); }

double dual_violation(const HubPenalty& penalty, const MatrixXd& l) {
  double worst = 0;
  for (Index j = 0; j < l.cols(); ++j) {
    for (Index i = 0; i < l.rows(); ++i) {
      if (i != j) worst = std::max(worst, std::abs(l(i, j)) - penalty.l1);
    }
    worst = std::max(worst, (column_norm(penalty, l, j, 1) - penalty.l3) / 2);
  }
  return worst;
}

MatrixXd into_dual_set(const HubPenalty& penalty, const MatrixXd& l) {
  MatrixXd out = l.cwiseMax(-penalty.l1).cwiseMin(penalty.l1);
  out.diagonal().setZero();
  VectorXd factor(l.cols());
  for (Index j = 0; j < l.cols(); ++j) factor[j] = column_scale(penalty, out, j);
  for (Index j = 0; j < l.cols(); ++j) {
    for (Index i = 0; i < l.rows(); ++i) out(i, j) *= std::min(factor[i], factor[j]);
  }
  return out;
}

double dual_scale(const HubPenalty& penalty, const MatrixXd& l) {
  double largest = 0, scale = 1;
  for (Index j = 0; j < l.cols(); ++j) {
    for (Index i = 0; i < l.rows(); ++i) {
      if (i != j) largest = std::max(largest, std::abs(l(i, j)));
    }
  }
  if (largest > penalty.l1) scale = penalty.l1 / largest;
  for (Index j = 0; j < l.cols(); ++j) scale = std::min(scale, column_scale(penalty, l, j));
  return scale;
}

HubEmpty smallest_empty(ConstMatrixRef s, double l2, HubNorm q) {
  const HubPenalty penalty{0, l2, 0, q};
  const MatrixXd l = s;
  double l1 = 0, l3 = 0;
  for (Index j = 0; j < l.cols(); ++j) {
    for (Index i = 0; i < l.rows(); ++i) {
      if (i != j) l1 = std::max(l1, std::abs(l(i, j)));
    }
    l3 = std::max(l3, column_norm(penalty, l, j, 1));
  }
  return {l1, l3};
}

}  // namespace granary::graph
