// Several kernels learnt by boosting: which mixture of them makes the support vector machine of two classes hardest to beat.
//
//   min_{beta in the simplex}  max_{a in A}  sum_j beta_j S_j(a),     A = {0 <= a <= C, y'a = 0}
//   S_j(a) = sum_n a_n - 1/2 sum_{r,s} a_r a_s y_r y_s k_j(x_r, x_s)
//
// Raetsch and Warmuth (JMLR 2005), Appendix B: kernels play the examples, machines the answers. Each round solves the machine of
// the kernel sum_j beta_j K_j, its a_t is the answer of the largest edge, and AdaBoost*_nu moves beta to kernels with small
// S_j(a_t). What is in [-1, 1] there is S_j / R here, R the largest |S_j| met. In units of the objective, whatever R was,
//   lower = min_j sum_t alpha_t S_j(a_t) / sum_t alpha_t  <=  value  <=  upper = min_t sum_j beta_tj S_j(a_t) + its gap.
//
//   star   AdaBoost*
//   lp     beta by linear programming over all a_t so far (column generation): fewer machines
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::ensemble {

enum class KernelBoost { lp, star };
inline Names<KernelBoost> names(KernelBoost) { return {{KernelBoost::lp, "lp"}, {KernelBoost::star, "star"}}; }

struct KernelBoostOptions {
  KernelBoost method = KernelBoost::lp;
  double cost = 1;
  double nu = 0.01;   // star: precision, as a share of R
  double tol = 1e-3;  // on the gap, relative to the objective
  int max_iter = 1000;
};
template <class V>
void fields(V& v, KernelBoostOptions& t) {
  v("method", t.method);
  v("cost", t.cost);
  v("nu", t.nu);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
}

struct KernelBoostRound {
  double edge = 0, lower = 0, upper = 0;  // in units of the objective
};
template <class V>
void fields(V& v, KernelBoostRound& t) {
  v("edge", t.edge);
  v("lower", t.lower);
  v("upper", t.upper);
}

struct KernelBoostResult {
  VectorXd beta;          // weights of the kernels
  VectorXd coefficients;  // y_t a_t of the machine of that mixture
  double intercept = 0;
  VectorXd decision;     // of the rows
  double objective = 0;  // sum_j beta_j S_j(a)
  double lower = 0, upper = 0;
  VectorXd single;  // objective of each kernel alone
  std::vector<KernelBoostRound> path;
  Convergence convergence;  // gap: upper - lower
};
template <class V>
void fields(V& v, KernelBoostResult& t) {
  v("beta", t.beta);
  v("coefficients", t.coefficients);
  v("intercept", t.intercept);
  v("decision", t.decision);
  v("objective", t.objective);
  v("lower", t.lower);
  v("upper", t.upper);
  v("single", t.single);
  v("path", columns(t.path));
  v("convergence", t.convergence);
}

// kernels: side by side, rows x (rows * number). y: -1 and 1.
KernelBoostResult boost_kernels(ConstMatrixRef kernels, ConstVectorRef y, const KernelBoostOptions& options, Monitor& monitor);

// Smallest eigenvalue of a symmetric matrix over its largest in size.
double smallest_share(ConstMatrixRef k);

}  // namespace granary::ensemble
