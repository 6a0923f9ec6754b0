// The largest margin by which a vector of unit length separates labelled points in the feature space of a kernel, without bias:
//
//   gamma = max_{|u| = 1} min_i y_i <u, phi(x_i)>  =  min_{a in the simplex} | sum_i a_i y_i phi(x_i) |
//
// (the right-hand side where gamma >= 0). Pairwise steps on the right-hand side, exact along the line between the farthest point
// that carries weight and the nearest one (Gilbert 1966; Wolfe's away steps). Each a brackets gamma, and the bracket is the
// certificate:
//   min_i y_i <w, phi(x_i)> / |w|  <=  gamma  <=  |w|,   w = sum_i a_i y_i phi(x_i)
#pragma once

#include "core/base/convergence.h"
#include "core/kernel/kernel_rows.h"
#include "core/base/monitor.h"

namespace granary::kernel {

struct HardMarginOptions {
  double tol = 1e-4;  // on upper - lower, relative to the radius
  double max_iter = 1e6;
};
template <class V>
void fields(V& v, HardMarginOptions& t) {
  v("tol", t.tol);
  v("max_iter", t.max_iter);
}

struct HardMarginResult {
  double radius = 0;  // max_i |phi(x_i)|
  double lower = 0, upper = 0;
  VectorXd weights;         // a
  Convergence convergence;  // gap: (upper - lower) / radius
};
template <class V>
void fields(V& v, HardMarginResult& t) {
  v("radius", t.radius);
  v("lower", t.lower);
  v("upper", t.upper);
  v("weights", t.weights);
  v("convergence", t.convergence);
}

HardMarginResult hard_margin(KernelRows& rows, ConstVectorRef y, const HardMarginOptions& options, Monitor& monitor);

}  // namespace granary::kernel
