// Proximal operators and projections, all exact (closed form, sorting, or one sweep) unless said otherwise.
//
//   prox_g(v) = argmin_x 1/2 ||x - v||^2 + g(x)
//
// Parikh and Boyd (Found. Trends Optim. 2014) for the closed forms; Johnson (JCGS 2013) for total variation; Held, Wolfe, Crowder
// (Math. Program. 1974) for the simplex; Brucker (Oper. Res. Lett. 1984) for the knapsack; More and Sorensen (1983) for the trust
// region.
#pragma once

#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/spd.h"
#include "core/base/types.h"

namespace granary {

// ---- norms -----------------------------------------------------------------------------------------------------------

inline double soft_threshold(double x, double lambda) {
  if (x > lambda) return x - lambda;
  if (x < -lambda) return x + lambda;
  return std::isnan(x) ? x : 0.0;
}

template <class X>  // lambda ||x||_1, for vectors and matrices
typename X::PlainObject soft_threshold(const Eigen::MatrixBase<X>& x, double lambda) {
  return x.unaryExpr([lambda](double value) { return soft_threshold(value, lambda); });
}

template <class X, class L>  // sum lambda_i |x_i|
typename X::PlainObject soft_threshold(const Eigen::MatrixBase<X>& x, const Eigen::MatrixBase<L>& lambda) {
  if (x.rows() != lambda.rows() || x.cols() != lambda.cols()) throw InputError("thresholds and values differ in shape.");
  return x.binaryExpr(lambda, [](double value, double threshold) { return soft_threshold(value, threshold); });
}

template <class X>  // l1 ||x||_1 + l2/2 ||x||^2
typename X::PlainObject prox_elastic_net(const Eigen::MatrixBase<X>& x, double l1, double l2) {
  return soft_threshold(x, l1) / (1 + l2);
}

VectorXd prox_group_l2(ConstVectorRef v, double lambda);             // lambda ||x||_2
VectorXd prox_group_linf(ConstVectorRef v, double lambda);           // lambda ||x||_inf
VectorXd prox_sparse_group(ConstVectorRef v, double l1, double l2);  // l1 ||x||_1 + l2 ||x||_2

struct NuclearProx {
  MatrixXd x;
  VectorXd values;  // the singular values of x that are not zero, descending
};
NuclearProx prox_nuclear(ConstMatrixRef v, double lambda);  // lambda ||X||_*

// ---- chains ----------------------------------------------------------------------------------------------------------

// argmin 1/2 sum_i w_i (x_i - y_i)^2 + sum_i lambda_i |x_{i+1} - x_i|, in linear time. `lambda` has one entry per difference;
// empty `weights` are ones.
VectorXd prox_total_variation(ConstVectorRef y, ConstVectorRef lambda, ConstVectorRef weights = VectorXd());
VectorXd prox_total_variation(ConstVectorRef y, double lambda);

// argmin 1/2 ||x - y||^2 + l1 ||x||_1 + tv sum |x_{i+1} - x_i|: the soft threshold of the total-variation solution.
VectorXd prox_fused_lasso(ConstVectorRef y, double l1, double tv);

// ---- log-determinant --------------------------------------------------------------------------------------------------

struct LogDetProx {
  MatrixXd x;
  double log_determinant;  // log det x
};
// argmin_{X > 0} -log det X + tr(S X) + rho/2 ||X - Z||_F^2
LogDetProx prox_log_det(ConstMatrixRef s, ConstMatrixRef z, double rho);

// ---- projections -----------------------------------------------------------------------------------------------------

VectorXd project_simplex(ConstVectorRef v, double total = 1);  // x >= 0, sum x = total > 0
VectorXd project_l1_ball(ConstVectorRef v, double radius);
VectorXd project_l2_ball(ConstVectorRef v, double radius);
VectorXd project_linf_ball(ConstVectorRef v, double radius);
VectorXd project_box(ConstVectorRef v, ConstVectorRef lower, ConstVectorRef upper);
MatrixXd project_nuclear_ball(ConstMatrixRef v, double radius);  // ||X||_* <= radius
inline MatrixXd project_psd(ConstMatrixRef a) { return nearest_psd(a); }

// ---- separable quadratics with one coupling constraint ----------------------------------------------------------------

struct KnapsackResult {
  VectorXd x;
  double multiplier;  // mu in d_i (x_i - a_i) = mu b_i for every x_i strictly inside its bounds
};
// argmin sum_i 1/2 d_i (x_i - a_i)^2  subject to  b'x = r,  lower <= x <= upper (infinite bounds allowed), d > 0.
// InputError when no x satisfies the constraints.
KnapsackResult quadratic_knapsack(ConstVectorRef d, ConstVectorRef a, ConstVectorRef b, double r, ConstVectorRef lower,
                                  ConstVectorRef upper);

VectorXd project_weighted_simplex(ConstVectorRef v, ConstVectorRef weights, double total = 1);  // x >= 0, weights'x = total

struct TrustRegionResult {
  VectorXd x;
  double multiplier;  // lambda >= 0 with (D + lambda I) x = -g and D + lambda I >= 0; zero inside the ball
};
// argmin 1/2 x' diag(d) x + g'x  subject to  ||x|| <= radius; d of any sign, the global solution also in the hard case.
TrustRegionResult separable_trust_region(ConstVectorRef d, ConstVectorRef g, double radius);

}  // namespace granary
