// Limited-memory quasi-Newton minimisation of a smooth f, free, in a box, or with an l1 penalty.
//
//   lbfgs       minimise f(x): two-loop recursion with a strong Wolfe line search (Nocedal and Wright, 7.4, 3.5-3.6)
//   lbfgs_box   ... subject to lower <= x <= upper: the two-metric projection of Bertsekas (SIAM J. Control Optim. 1982), whose
//               quasi-Newton metric acts on the variables that are not about to rest on a bound
//   lbfgs_l1    minimise f(x) + sum_i weight_i |x_i|: orthant-wise (Andrew and Gao, ICML 2007)
//
// f may return NaN or infinity outside its domain: the step is then shortened. All tolerances are free of the units of x and f.
#pragma once

#include <functional>

#include "core/base/convergence.h"
#include "core/base/errors.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

using Objective = std::function<double(const VectorXd& x, VectorXd& gradient)>;  // f(x), and its gradient into an argument

struct LbfgsOptions {
  int memory = 10;
  double tol = 1e-6;         // on the largest entry of the (projected) gradient, relative to the largest one met
  double value_tol = 1e-14;  // also stop when f changes relatively by less than this five times in a row
  int max_iter = 1000;
  int max_evaluations_per_line = 60;
};

struct LbfgsResult {
  VectorXd x;
  double value = 0;   // f(x), for lbfgs_l1 with the penalty
  VectorXd gradient;  // of f at x
  int evaluations = 0;
  Convergence convergence;  // residual = the largest entry of the (projected) gradient relative to the first one
};

LbfgsResult lbfgs(const Objective& f, ConstVectorRef start, const LbfgsOptions& options, Monitor& monitor);

// Infinite bounds are allowed; a start outside the box is moved onto it.
LbfgsResult lbfgs_box(const Objective& f, ConstVectorRef start, ConstVectorRef lower, ConstVectorRef upper,
                      const LbfgsOptions& options, Monitor& monitor);

LbfgsResult lbfgs_l1(const Objective& f, ConstVectorRef start, ConstVectorRef weights, const LbfgsOptions& options,
                     Monitor& monitor);

}  // namespace granary
