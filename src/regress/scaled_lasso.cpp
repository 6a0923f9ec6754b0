#include "regress/scaled_lasso.h"

#include <cmath>

#include "core/base/errors.h"

namespace granary::regress {
namespace {

bool same_signs(const VectorXd& a, const VectorXd& b) { return (a.array().sign() == b.array().sign()).all(); }

template <class Matrix>
ScaledLassoResult alternate(const Matrix& x, ConstVectorRef y, const ScaledLassoOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  const double n = static_cast<double>(x.rows());
  ScaledLassoResult result;
  result.lambda0 = options.lambda0 > 0 ? options.lambda0 : std::sqrt(2 * std::log(static_cast<double>(x.cols())) / n);
  if (!(result.lambda0 > 0)) throw InputError("`lambda0` must be given when there is only one column: its default is zero.");
  LassoOptions lasso_options;
  lasso_options.intercept = options.intercept;
  lasso_options.standardize = options.standardize;
  lasso_options.tol = options.lasso_tol;
  lasso_options.lambda.resize(1);

  const double mean = options.intercept ? y.mean() : 0;
  const double start = std::sqrt((y.array() - mean).square().mean());
  double s = start;
  if (!(s > 0)) throw InputError("`y` is constant: it has no noise level to estimate.");
  double earlier_s = 0, earlier_next = 0;
  VectorXd earlier_b;
  for (int k = 1; k <= options.max_iter; ++k) {
    monitor.check();
    lasso_options.lambda[0] = s * result.lambda0;
    const LassoPath fit = lasso(x, y, lasso_options, monitor);
    const VectorXd b = fit.coefficients.col(0);
    const VectorXd residual = (y - x * b).array() - fit.intercept[0];
    const double next = std::sqrt(residual.squaredNorm() / n);
    result.convergence.iterations = k;
    result.convergence.residual = std::abs(next - s) / s;
    result.coefficients = b;
    result.intercept = fit.intercept[0];
    result.lambda = lasso_options.lambda[0];
    result.sigma = next;
    // The objective at the best s for these coefficients is next + lambda0 |t|_1.
    result.objective = next + (fit.objective[0] - 0.5 * next * next) / s;
    // With as many active columns as rows the residual is proportional to lambda: from there on s falls by the same factor for ever.
    const bool saturated = x.cols() >= x.rows() && (b.array() != 0).count() >= x.rows() - 1 && next < s;
    if (next < 1e-8 * start || saturated)
      throw NumericalError(
          "the scaled lasso fits the response perfectly, so its noise level is zero. Use a larger `lambda0`, or a `sigma` you know.");
    if (result.convergence.residual <= options.tol) {
      result.convergence.converged = true;
      break;
    }
    // While the signs stay, |residual|^2 is a line in lambda^2, and two points on it tell where it meets s^2: some steps instead of
    // hundreds where the alternation is slow.
    double target = next;
    if (k > 1 && same_signs(b, earlier_b)) {
      const double slope = (next - earlier_next) * (next + earlier_next) / ((s - earlier_s) * (s + earlier_s));
      if (slope > 0 && slope < 1) {
        const double square = (next * next - slope * s * s) / (1 - slope);
        if (square > 0) target = std::sqrt(square);
      }
    }
    earlier_s = s;
    earlier_next = next;
    earlier_b = b;
    s = target;
  }
  if (!result.convergence.converged) result.convergence.message = "the noise level still changed when the iterations ran out";
  result.convergence.seconds = watch.seconds();
  return result;
}

}  // namespace

ScaledLassoResult scaled_lasso(ConstMatrixRef x, ConstVectorRef y, const ScaledLassoOptions& options, Monitor& monitor) {
  return alternate(x, y, options, monitor);
}

ScaledLassoResult scaled_lasso(const ConstSparseRef& x, ConstVectorRef y, const ScaledLassoOptions& options, Monitor& monitor) {
  return alternate(x, y, options, monitor);
}

ScaledLassoResult scaled_lasso(const Design& x, ConstVectorRef y, const ScaledLassoOptions& options, Monitor& monitor) {
  if (x.is_sparse()) return alternate(ConstSparseRef(x.sparse()), y, options, monitor);
  return alternate(ConstMatrixRef(x.dense()), y, options, monitor);
}

}  // namespace granary::regress
