// The largest margin of a linear rule over conjunctions (Khardon and Servedio, JMLR 2005, definition 2):
//
//   maximise  min_i b_i (W.phi(x_i) - theta) / |W|   over W and theta,   b_i = -1 or 1
//
// In signed coefficients beta_i = a_i b_i, a >= 0, 1'beta = 0, with f = K beta: sequential minimal optimisation on
// 1/2 beta'K beta - b'beta without an upper bound, second-order choice of the partner. Each beta brackets the margin:
//   (min_+ f - max_- f) / 2 |W|   <=   margin   <=   |W| / (2 sum_+ beta),   |W|^2 = beta'K beta,
// the right side being half the distance of two points of the hulls of the classes. The bracket is the certificate. Where the
// classes cannot be separated the right side falls to zero.
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/kernel/kernel_boolean.h"

namespace granary::kernel {

struct BooleanMarginOptions {
  BooleanSpec kernel;
  double tol = 1e-6;  // of the bracket, relative to its upper end
  double max_iter = 1e6;
};
template <class V>
void fields(V& v, BooleanMarginOptions& t) {
  v("kernel", t.kernel);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
}

struct BooleanMarginResult {
  VectorXd coefficients;        // beta, scaled so that the nearest rows are at -1 and 1
  double theta = 0;             // of the same scale
  double lower = 0, upper = 0;  // of the margin
  double norm = 0;              // |W|
  double radius = 0;            // max |phi(x_i)|
  VectorXd decision;            // W.phi(x_i) - theta
  double certificate = 0;       // the margin of the rule that adds up the positive rows: a lower bound without a solver
  double memorisation = 0;      // median log k(x, x) over median log max_z k(x, z): far above 1, rows are like no others
  double self_overlap = 0, cross_overlap = 0;  // medians of k(x, x) and of max_z k(x, z), as logarithms
  Convergence convergence;                     // gap: (upper - lower) / upper
};
template <class V>
void fields(V& v, BooleanMarginResult& t) {
  v("coefficients", t.coefficients);
  v("theta", t.theta);
  v("lower", t.lower);
  v("upper", t.upper);
  v("norm", t.norm);
  v("radius", t.radius);
  v("decision", t.decision);
  v("certificate", t.certificate);
  v("memorisation", any_number(t.memorisation));
  v("self_overlap", any_number(t.self_overlap));
  v("cross_overlap", any_number(t.cross_overlap));
  v("convergence", t.convergence);
}

BooleanMarginResult boolean_margin(const BitRows& x, ConstVectorRef label, const BooleanMarginOptions& options, Monitor& monitor);

// sum_i beta_i k(x_i, z) for each row of z; and sqrt(sum_i k(x_i, z)), which no |W.phi(z)| / |W| can exceed.
struct BooleanScores {
  VectorXd score, reach;
};
template <class V>
void fields(V& v, BooleanScores& t) {
  v("score", t.score);
  v("reach", t.reach);
}
BooleanScores boolean_scores(const BitRows& x, ConstVectorRef coefficients, const BooleanSpec& kernel, const BitRows& z,
                             Monitor& monitor);

}  // namespace granary::kernel
