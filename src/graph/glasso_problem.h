// The graphical lasso problem: objective, optimality, certificate and screening, shared by every solver of it.
//
//   minimise  f(X) = -log det X + tr(S X) + sum_ij Lambda_ij |X_ij|   over X > 0          (primal)
//   maximise  log det V + p   subject to  |V_ij - S_ij| <= Lambda_ij                      (dual)
//
// Hsieh, Sustik, Dhillon, Ravikumar (JMLR 2014), equations (3) and (4); the sum runs over all ordered pairs, so that an edge is
// charged twice. At the optimum V = X^-1.
#pragma once

#include <vector>

#include "core/base/monitor.h"
#include "core/base/types.h"
#include "graph/penalty.h"

namespace granary::graph {

// tr(S X) + ||X||_{1,Lambda}, X given by its upper triangle.
double linear_and_penalty(const ConstMatrixRef& s, const Penalty& lambda, const SparseMatrix& upper);

// Sum over all ordered pairs of |minimum-norm subgradient| (Definition 6) and of |X|: the stopping rule compares them. The first is in
// units of S, the second in their inverse, so the paper's rule subgradient <= tol size is read with S in units of its mean variance.
struct Optimality {
  double subgradient = 0;
  double size = 0;
  double largest = 0;  // the largest single violation, in units of S
  double unit = 1;     // the mean variance
  double relative() const { return subgradient / unit / (size * unit); }
};
double variance_unit(const ConstMatrixRef& s, const Penalty& lambda);  // mean of S_ii, of Lambda_ii where that is zero
Optimality optimality(const ConstMatrixRef& s, const Penalty& lambda, const SparseMatrix& upper, const MatrixXd& w);

// f(X) minus the dual value of a feasible V built from W = X^-1: W clipped into the dual box, and where that is not positive
// definite moved towards S + diag(Lambda). Never negative but for rounding; NaN when no positive definite V was found.
double duality_gap(const ConstMatrixRef& s, const Penalty& lambda, double objective, const MatrixXd& w);

// What X proves about itself, given some W near its inverse. V is W brought to satisfy every optimality condition but V = X^-1:
//
//   V_ij = S_ij + Lambda_ij sign(X_ij)  where X_ij != 0,    V_ij = S_ij + clip(W_ij - S_ij, +-Lambda_ij)  elsewhere.
//
// Then tr(S X) + ||X||_{1,Lambda} = tr(V X), and with r the eigenvalues of V X - I (real, as X > 0) the duality gap of X and V is
//
//   sum_i r_i - log(1 + r_i) <= t / (2 (1 - sqrt t)),    t = sum_i r_i^2 = tr((V X - I)^2) < 1,
//
// so that a sparse product replaces the Cholesky factor of V, and no digits are lost to the difference of two objectives. t < 1 also
// shows that V is positive definite. Costs p times the number of nonzeros of X.
struct Certificate {
  double gap = 0;       // an upper bound; NaN when t >= 1
  double residual = 0;  // sqrt(t / p), the root mean square of the eigenvalues of V X - I
  double largest = 0;   // the largest entry of |V X - I|, variables in units of their standard deviations
};
// On return `w` is V; `product` is room to work in.
Certificate certify(const ConstMatrixRef& s, const Penalty& lambda, const SparseMatrix& upper, MatrixXd& w, MatrixXd& product);

// Throws InputError naming the variable when the problem has no solution for a reason that shows on the diagonal or in Lambda, and
// NumericalError when nothing off the diagonal is penalised and S + diag(Lambda) is singular.
void check_problem(const ConstMatrixRef& s, const Penalty& lambda);

// Connected components of {|S_ij| > Lambda_ij}: the solution is block diagonal over them (Mazumder and Hastie 2012; Witten et al.
// 2011), so they can be solved one by one. Members ascend; components are ordered by their first member.
std::vector<std::vector<int>> screen_components(const ConstMatrixRef& s, const Penalty& lambda);

// Connected components of a pattern, whole or its upper triangle.
std::vector<std::vector<int>> pattern_components(const SparseMatrix& pattern);

// The symmetric matrix of which `upper` is the upper triangle; exact zeros are dropped.
SparseMatrix symmetric_from_upper(const SparseMatrix& upper);

// Lemma 2: every iterate of a descent method started at X0 has its eigenvalues in [m, M]. m underflows quickly, hence its log.
struct EigenvalueBounds {
  double log_lower, upper;
};
template <class V>
void fields(V& v, EigenvalueBounds& t) {
  v("log_lower", t.log_lower);
  v("upper", t.upper);
}
EigenvalueBounds level_set_bounds(const ConstMatrixRef& s, const Penalty& lambda, double objective_at_start);

}  // namespace granary::graph
