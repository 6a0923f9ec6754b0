// Alternating structure optimisation: linear predictors of many tasks that share a low-dimensional subspace.
//
//   minimise  sum_l [ 1/n_l sum_i L(u_l'x_i + b_l, y_i) + sum_t lambda_lt |u_lt - Theta_t'v_lt|^2 ]   s.t. Theta_t Theta_t' = I
//   (h_t x p_t)
//
// over u_l = w_l + Theta'v_l, v_l, b_l and Theta; t runs over groups of columns. Given u, v_l = Theta u_l, and Theta_t holds the
// leading left singular vectors of U_t = [sqrt(lambda_lt) u_lt]. So after eliminating v the penalty is lambda (|u|^2 - |Theta
// u|^2), and after eliminating Theta it is the sum of the squared singular values of U beyond the h-th.
//
// Ando and Zhang (JMLR 6, 2005), (5)-(8) and Figure 2. The paper holds v_l = Theta u_l fixed while u_l moves (`fixed_v`); moving
// both at once (`joint`, which they mention) has the same fixed points and needs far fewer rounds.
#pragma once

#include "core/base/convergence.h"
#include "regress/aso_task.h"

namespace granary::regress {

enum class AsoVariant { joint, fixed_v };
inline Names<AsoVariant> names(AsoVariant) { return {{AsoVariant::joint, "joint"}, {AsoVariant::fixed_v, "fixed_v"}}; }

// Tasks and the designs they point to; none of the matrices is copied.
struct AsoData {
  std::vector<Design> designs;
  std::vector<Task> tasks;
};
template <class V>
void fields(V& v, AsoData& t) {
  v("designs", t.designs);
  v("tasks", t.tasks);
}

struct AsoOptions {
  TaskOptions task;
  std::vector<Index> h;  // per group; cut to min(p_t, number of tasks)
  AsoVariant variant = AsoVariant::joint;
  bool positive = false;  // only positive weights enter the decomposition, the others are shrunk to zero; implies fixed_v
  int n_iter = 100;
  double tol = 1e-6;  // on the relative change of the objective
  int threads = 1;
};
template <class V>
void fields(V& v, AsoOptions& t) {
  fields(v, t.task);
  v("h", t.h);
  v("variant", t.variant);
  v("positive", t.positive);
  v("n_iter", t.n_iter);
  v("tol", t.tol);
  v("threads", t.threads);
}

struct AsoResult {
  Structure structure;
  MatrixXd u;  // p x m
  VectorXd intercepts;
  std::vector<VectorXd> d;     // singular values of U_t, some more than h_t
  std::vector<double> path;    // objective after each round
  std::vector<double> losses;  // mean loss of every task
  int unfinished = 0;          // tasks whose solver stopped early in the last round
  Convergence convergence;     // residual = relative change of the objective in the last round
};
template <class V>
void fields(V& v, AsoResult& t) {
  v("theta", t.structure.theta);
  v("u", t.u);
  v("intercepts", t.intercepts);
  v("d", t.d);
  v("path", t.path);
  v("losses", t.losses);
  v("unfinished", t.unfinished);
  v("convergence", t.convergence);
}

AsoResult aso(const std::vector<Design>& designs, const std::vector<Task>& tasks, const std::vector<std::vector<int>>& groups,
              const AsoOptions& options, Monitor& monitor);

// The tasks alone, at a structure that is given.
AsoResult aso_target(const std::vector<Design>& designs, const std::vector<Task>& tasks, const Structure& structure,
                     const TaskOptions& options, int threads, Monitor& monitor);

// A structure from unlabelled rows alone: the h leading right singular vectors of the design, as rows.
MatrixXd spectral_structure(const Design& x, Index h, Monitor& monitor);

}  // namespace granary::regress
