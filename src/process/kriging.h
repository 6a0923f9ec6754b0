// What is done with a fitted kriging model beyond prediction (see gp.h for the model and its symbols).
//
//   reinterpolate     the interpolator through the fitted values of a noisy model: kernel without nugget, y replaced by the means
//                     at the observed inputs. Its beta and mean are those of the noisy model; s2 = alpha'K alpha / n, and its
//                     variance is zero at the observed inputs (Forrester, Keane and Bressloff, AIAA J. 2006)
//   conditional_draws joint draws at new points given the data
//   imse_constant     the variance averaged over a box, in closed form for the squared exponential kernel and a constant trend or
//                     none: E r and E r r' are products of differences of erf (Sacks et al., Statist. Sci. 1989)
//   kriging_surface   the criterion at many parameters
#pragma once

#include "core/random/gaussian.h"
#include "process/gp.h"

namespace granary::process {

GaussianProcess reinterpolate(const GaussianProcess& gp);

// One draw per column; `noise` is added to the diagonal of the joint covariance.
MatrixXd conditional_draws(const GaussianProcess& gp, ConstMatrixRef x, ConstMatrixRef f, ConstVectorRef noise, Index count,
                           Rng& rng, Monitor& monitor);
// Draws from the process itself, trend not included: N(0, s2 K(x, x) + diag(noise)).
MatrixXd prior_draws(const GaussianProcess& gp, ConstMatrixRef x, ConstVectorRef noise, Index count, Rng& rng, Monitor& monitor);

// `lengthscales`: one per input. The kernel of `gp` must be the squared exponential with these and the variance given, the trend
// one column of ones or none. `rounding`: how large the error of the value may be, since a small variance is left where two large
// numbers cancel; averages over points (kriging_predict) lose half as many digits.
struct ImseValue {
  double value = 0, rounding = 0;
};
template <class V>
void fields(V& v, ImseValue& t) {
  v("value", t.value);
  v("rounding", t.rounding);
}
ImseValue imse_constant(const GaussianProcess& gp, double variance, ConstVectorRef lengthscales, ConstVectorRef lower,
                        ConstVectorRef upper);
// The same from the description of that kernel.
ImseValue imse_constant(const GaussianProcess& gp, const KernelSpec& kernel, ConstVectorRef lower, ConstVectorRef upper);

// One row of logarithms per value; -infinity where the covariance cannot be factored.
VectorXd kriging_surface(const GpModel& model, ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef f,
                         ConstMatrixRef log_parameters, const GpLearnOptions& options, Monitor& monitor);

// Derivatives of mean and variance, some points at a time, so that memory stays O(n). df[k] as in predict_gradient().
GpGradient kriging_gradient(const GaussianProcess& gp, ConstMatrixRef x, ConstMatrixRef f, const std::vector<MatrixXd>& df,
                            int threads, Monitor& monitor);

// Largest |c_i(x)| over the points of x, c(x) = d mean(x) / dy: how far one wrong response can move the surface.
VectorXd largest_weights(const GaussianProcess& gp, ConstMatrixRef x, ConstMatrixRef f, int threads, Monitor& monitor);

}  // namespace granary::process
