// Power of the two-sided test of one coefficient by the debiased lasso, and the power no test can exceed.
//
//   G(alpha, u) = 2 - Phi(z + u) - Phi(z - u),  z = Phi^-1(1 - alpha / 2)
//
// The test has asymptotic power G(alpha, sqrt(n) gamma / (sigma sqrt(Omega_ii))) against a coefficient gamma. For Gaussian designs no
// test exceeds  min_xi G(alpha, gamma sqrt(Sigma_i|A) (sqrt(n - s0 + 1) + xi) / sigma) + exp(-xi^2 / 8),  xi in [0, 3/2 sqrt(n - s0 + 1)].
//
// Javanmard and Montanari (JMLR 2014), Theorems 8 and 17.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary::regress {

double two_sided_power(double alpha, double u);
double needed_shift(double alpha, double power);  // u with G(alpha, u) = power, for power in (alpha, 1)

// One of n, gamma and power is empty, and is computed from the other two, which have one element per case.
struct PowerOptions {
  std::vector<double> n, gamma, power;
  double sigma = 1, omega = 1, alpha = 0.05, conditional = 1;
  int s0 = 0;
};
template <class V>
void fields(V& v, PowerOptions& t) {
  v("n", t.n);
  v("gamma", t.gamma);
  v("power", t.power);
  v("sigma", t.sigma);
  v("omega", t.omega);
  v("alpha", t.alpha);
  v("conditional", t.conditional);
  v("s0", t.s0);
}

struct PowerTable {
  std::vector<double> n, gamma, power, upper;
};
template <class V>
void fields(V& v, PowerTable& t) {
  v("n", t.n);
  v("gamma", t.gamma);
  v("power", t.power);
  v("upper", t.upper);
}

PowerTable debiased_power(const PowerOptions& options);

}  // namespace granary::regress
