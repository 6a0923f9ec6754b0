// Limit laws of empirical risk minimisers with thresholds: Mohammadi and van de Geer (JMLR 6, 2005), Sections 3 and 4.
//
//   smooth   n^(1/3) (a_k - a*_k) -> (f^2 g)^(-1/3) C, f the slope of P(Y = 1 | x) and g the density of x at the cut, C of
//            Chernoff;
//            n^(2/3) (L(a) - L(a*)) -> sum_k (g_k / |f_k|)^(1/3) C_k^2, coordinates independent
//   margin   |1 - 2 F| g >= c |x - a*|^eps: a at rate n^(-1/(1 + 2 eps)), risk at n^(-(1 + eps)/(1 + 2 eps))
//   jump     n (L_n(a* + t/n) - L_n(a*)): two Poisson processes on each side; D = n (L_n(a*) - min L_n) has
//            P(D >= m) = 1 - (1 - r1^m)(1 - r2^m), r1 = (1 - F(a+))/F(a+), r2 = F(a-)/(1 - F(a-))
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"
#include "core/random/rng.h"

namespace granary::ensemble {

struct SmoothLimit {
  VectorXd scale;          // of each cut: (f^2 g)^(-1/3)
  VectorXd excess_scale;   // (g/|f|)^(1/3)
  double excess_mean = 0, excess_sd = 0;  // of n^(2/3) times the excess risk
};
template <class V>
void fields(V& v, SmoothLimit& t) {
  v("scale", any_number(t.scale));
  v("excess_scale", any_number(t.excess_scale));
  v("excess_mean", any_number(t.excess_mean));
  v("excess_sd", any_number(t.excess_sd));
}
SmoothLimit smooth_limit(ConstVectorRef slope, ConstVectorRef density);

// Draws of n^(2/3) times the excess risk.
VectorXd excess_draws(const SmoothLimit& limit, Index count, Rng& rng);

// P(D >= m), and the smallest d with P(D > d) <= 1 - level.
double jump_tail(double m, double left, double right);
double jump_quantile(double level, double left, double right);

// The set of minimisers of the limit process, t = n (a - a*): from, to and the least value, one row per draw.
MatrixXd poisson_argmin(double left, double right, double density, Index count, Rng& rng);

// r solves r^2 = psi(w(r)) / sqrt(n) for w(r) = r^(1/kappa') and psi(w) = c sqrt(w): the bound P(excess > r^2 + (w/r)^2 2 x /
// n) <= e^-x.
struct RiskBound {
  double r = 0, bound = 0;
};
template <class V>
void fields(V& v, RiskBound& t) {
  v("r", t.r);
  v("bound", t.bound);
}
// Under the margin condition with exponent eps and constant c: w(r)^2 = (r^2 / c)^(1/(1 + eps)), psi(w) = A w.
RiskBound risk_bound(double n, double eps, double c, double a, double level);

}  // namespace granary::ensemble
