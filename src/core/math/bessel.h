// Modified Bessel functions I_nu on the log scale, their ratios, and what laws on spheres need of them. Any order from 0 to 1e6 and beyond, any argument from 0 to 1e8.
//
// Olver's uniform expansion (DLMF 10.41.3) where sqrt(nu^2 + x^2) is large, the power series or a continued fraction elsewhere. Outside their domain the functions
// return NaN; nothing throws.
//
// The von Mises-Fisher law on the unit sphere of R^d has the density c_d(kappa) exp(kappa mu'x), with
//
//   c_d(kappa) = kappa^nu / ((2 pi)^(d/2) I_nu(kappa)),   nu = d / 2 - 1,        A_d(kappa) = I_{d/2}(kappa) / I_{d/2-1}(kappa) = E mu'x.
//
// Its constant is given relative to that of the uniform law: the two are of the size of d log d, their difference is of the size of what kappa does.
#pragma once

namespace granary {

// log I_nu(x) for nu >= 0, x >= 0, at any size.
double log_bessel_i(double nu, double x);
double bessel_i_ratio(double nu, double x);  // I_{nu+1}(x) / I_nu(x), in [0, 1)
// log of sum_k (x^2 / 4)^k / (k! (nu + 1)_k) = Gamma(nu + 1) (2 / x)^nu I_nu(x): 0 at x = 0, relative accuracy at any order.
double log_bessel_i_scaled(double nu, double x);

double log_sphere_density(double d);                  // of the uniform law: log c_d(0) = log Gamma(d / 2) - log 2 - (d / 2) log pi
double log_vmf_constant(double d, double kappa);      // log c_d(kappa) - log c_d(0) <= 0
double vmf_resultant(double d, double kappa);         // A_d(kappa), in [0, 1)
double vmf_resultant_slope(double d, double kappa);   // A_d'(kappa) = 1 - A^2 - (d - 1) A / kappa > 0, the variance of mu'x
// The kappa with A_d(kappa) = r, 0 <= r < 1: Newton's iterations from (4.4) of Banerjee and others (JMLR 2005) between bounds that follow from
// those of Amos (1974), k / (nu + 1/2 + sqrt(k^2 + (nu + 3/2)^2)) <= A_d(k) <= k / (nu + 1/2 + sqrt(k^2 + (nu + 1/2)^2)). Infinite for r = 1.
double vmf_concentration(double d, double r);
struct Interval {
  double lower = 0, upper = 0;
};
Interval vmf_concentration_bounds(double d, double r);

}  // namespace granary
