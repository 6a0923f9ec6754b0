// The generalized lasso by alternating linearization.
//
//   minimise over lower <= b <= upper:   L(b) = f(b) + h(b),   f(b) = sum_i phi(y_i, (X b)_i),   h(b) = lambda sum_k ||(R
//   b)_k||_2
//
// Lin, Pham and Ruszczynski (JMLR 2014), Algorithm 1, with D = diag(X'X). Every round solves two problems about the centre c:
//
//   h-step   b_h = argmin h(b) + 1/2 ||b - z_f||_D^2,   z_f = c - D^-1 s_f,   s_h = D (z_f - b_h)
//   f-step   b_f = argmin f(b) + 1/2 ||b - z_h||_D^2,   z_h = c - D^-1 s_h,   s_f = D (z_h - b_f)
//
// and moves the centre where the objective falls by a share gamma of what the linear model promised (8). h is linearised as
// s_h'b, which is below h for every feasible mu, so an h-step that is not solved to the end does no harm.
//
// Beyond the paper: (i) where rows of R are differences, the least-squares problem on the groups and signs of the current point
// is solved exactly from time to time, and its solution taken as the centre if it is better; (ii) a round ends with a duality
// gap, not only with the paper's test (7): theta = -grad phi, made orthogonal to X null(R), X'theta = R'mu, both scaled until mu
// is feasible.
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "regress/gen_lasso_model.h"
#include "regress/gen_lasso_penalty.h"

namespace granary::regress {

enum class GenMethod { alin, fista, admm, sparsa, tikhonov };
inline Names<GenMethod> names(GenMethod) {
  return {{GenMethod::alin, "alin"}, {GenMethod::fista, "fista"}, {GenMethod::admm, "admm"}, {GenMethod::sparsa, "sparsa"}, {GenMethod::tikhonov, "tikhonov"}};
}
enum class GenUpdate { test, peaceman_rachford, douglas_rachford_h, douglas_rachford_f };
inline Names<GenUpdate> names(GenUpdate) {
  return {{GenUpdate::test, "test"}, {GenUpdate::peaceman_rachford, "pr"}, {GenUpdate::douglas_rachford_h, "dr_h"}, {GenUpdate::douglas_rachford_f, "dr_f"}};
}

struct GenLassoOptions {
  GenMethod method = GenMethod::alin;
  GenUpdate update = GenUpdate::test;
  double gamma = 0.2;
  double tol = 1e-8;  // on the duality gap, or on the promised decrease (7) where there is none, relative to the objective reached
  int max_iter = 5000;
  bool polish = true;
  VectorXd lower, upper;  // empty: none
  VectorXd start;
};
template <class V>
void fields(V& v, GenLassoOptions& t) {
  v("method", t.method);
  v("update", t.update);
  v("gamma", t.gamma);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("polish", t.polish);
  v("lower", t.lower);
  v("upper", t.upper);
  v("start", t.start);
}

struct GenLassoFit {
  VectorXd b, mu;
  double lambda = 0, objective = 0, df = 0;
  double stationarity = 0;  // ||X'theta - R'mu||_inf relative to the largest |X'y| seen
  double feasibility = 0;   // max(0, ||mu||_* / lambda - 1)
  double slackness = 0;     // (lambda ||R b|| - mu'R b) relative to L(0)
  int serious = 0, null_steps = 0;
  bool settled = false;     // exact by settle()
  std::vector<double> trace;
  Convergence convergence;
};
template <class V>
void fields(V& v, GenLassoFit& t) {
  v("b", t.b);
  v("mu", t.mu);
  v("objective", t.objective);
  v("df", t.df);
  v("stationarity", t.stationarity);
  v("feasibility", t.feasibility);
  v("slackness", t.slackness);
  v("n_serious", t.serious);
  v("n_null", t.null_steps);
  v("trace", t.trace);
  v("convergence", t.convergence);
}

struct GenLassoPath {
  std::vector<GenLassoFit> fits;
  double lambda_max = 0;
  bool lambda_max_exact = true;
  bool unique = true;  // false: null(X) and null(R) meet, so b is one of several minimisers
};

// The smallest lambda with R b = 0 (or an upper bound of it), and whether the minimiser of a small lambda is unique.
GenLassoPath gen_lasso_limits(const GenDesign& x, const GenLoss& loss, GenPenalty& penalty, Monitor& monitor);
GenLassoPath gen_lasso_path(const GenDesign& x, const GenLoss& loss, GenPenalty& penalty, const std::vector<double>& lambda,
                            const GenLassoOptions& options, Monitor& monitor);

}  // namespace granary::regress
