#include "regress/debiased_lasso.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"
#include "core/math/special.h"
#include "regress/scaled_lasso.h"

namespace granary::regress {
namespace {

struct Factors {
  double lambda0, lambda, mu;
};
Factors factors_of(DebiasedPreset preset) { return preset == DebiasedPreset::paper ? Factors{10, 4, 2} : Factors{1, 0.5, 1}; }

// Step 3, or what the caller knows.
Decorrelation rows_of(const DebiasedData& data, const MatrixXd& x, const std::vector<int>& which, const DebiasedOptions& options,
                      Monitor& monitor) {
  const Index count = static_cast<Index>(which.size());
  if (data.rows) {
    if (data.rows->rows() != x.rows() || data.rows->cols() != count) throw InputError("`m` was not made from the rows of `x`.");
    return given_rows(x, which, *data.rows);
  }
  if (data.m) {
    if (data.m->rows() != count || data.m->cols() != x.cols())
      throw InputError(message("`m` must be a ", count, " x ", x.cols(), " matrix, but it is ", data.m->rows(), " x ", data.m->cols(), "."));
    return given_rows(x, which, x * data.m->transpose());
  }
  DecorrelateOptions row_options = options.rows;
  if (options.preset == DebiasedPreset::paper) {
    if (!row_options.mu && row_options.mu_rule == MuRule::scaled)
      row_options.mu = factors_of(options.preset).mu * std::sqrt(std::log(static_cast<double>(x.cols())) / static_cast<double>(x.rows()));
    row_options.infeasible = Infeasible::identity;
  }
  return decorrelate(x, which, row_options, monitor);
}

void guess_coverage(const DebiasedStart& start, double alpha, DebiasedResult& result) {
  const MatrixXd& x = start.design.x;
  const double n = static_cast<double>(x.rows()), z = -normal_quantile(alpha / 2);
  const double shrinkage = std::max(start.lambda, start.sigma / std::sqrt(n));
  std::vector<Index> selected;
  for (Index j = 0; j < x.cols(); ++j)
    if (start.theta[j] != 0) selected.push_back(j);
  const Index count = static_cast<Index>(result.which.size());
  result.bias = VectorXd::Zero(count);
  VectorXd share = VectorXd::Ones(count);
  for (const Index j : selected) {
    VectorXd deviation = result.rows.rows.transpose() * x.col(j) / n;
    const double off = std::min(shrinkage, std::abs(start.theta[j]));
    for (Index k = 0; k < count; ++k) {
      const bool own = result.which[static_cast<std::size_t>(k)] == j;
      if (own) share[k] = deviation[k];
      result.bias[k] += std::pow(off * (own ? deviation[k] - 1 : deviation[k]), 2);
    }
  }
  result.coverage.resize(count);
  for (Index k = 0; k < count; ++k) {
    const double scale = start.design.scale[result.which[static_cast<std::size_t>(k)]];
    result.bias[k] = std::sqrt(result.bias[k]) / (result.se[k] * scale);
    result.coverage[k] = normal_cdf((z - result.bias[k]) * share[k]) - normal_cdf((-z - result.bias[k]) * share[k]);
  }
}

}  // namespace

DebiasedStart debiased_start(const DebiasedData& data, const DebiasedOptions& options, Monitor& monitor) {
  DebiasedStart start;
  start.design = scale_columns(data.x, options.intercept, options.standardize);
  const MatrixXd& x = start.design.x;
  const double n = static_cast<double>(x.rows()), p = static_cast<double>(x.cols());
  start.mean_y = options.intercept ? data.y.mean() : 0;
  start.response = data.y.array() - start.mean_y;
  const double spread = std::sqrt(start.response.squaredNorm() / n);
  if (!(spread > 1e-14 * std::abs(start.mean_y))) throw InputError("`y` is constant: there is nothing to explain.");
  const double unit = std::sqrt(2 * std::log(p) / n);
  const Factors factor = factors_of(options.preset);

  start.noise.converged = true;
  start.sigma_estimated = !options.sigma;
  if (options.sigma) {
    start.sigma = *options.sigma;
  } else {
    if (!options.lambda0 && x.cols() == 1)
      throw InputError("`sigma` or `lambda0` must be given when there is only one column: log p is zero.");
    ScaledLassoOptions scaled;
    scaled.lambda0 = options.lambda0 ? *options.lambda0 : factor.lambda0 * unit;
    scaled.intercept = scaled.standardize = false;
    const ScaledLassoResult noise = scaled_lasso(ConstMatrixRef(x), start.response, scaled, monitor);
    start.noise = noise.convergence;
    start.sigma = noise.sigma;
    if (start.sigma < 1e-6 * spread)
      throw NumericalError("The scaled lasso fits `y` perfectly, so the noise level it finds is zero. Give `sigma`, or a larger `lambda0`.");
  }

  if (!options.lambda && x.cols() == 1) throw InputError("`lambda` must be given when there is only one column: log p is zero.");
  start.lambda = options.lambda ? *options.lambda : factor.lambda * start.sigma * unit;
  LassoOptions penalised;
  penalised.lambda = VectorXd::Constant(1, start.lambda);
  penalised.intercept = penalised.standardize = false;
  penalised.tol = 1e-9;
  const LassoPath path = lasso(ConstMatrixRef(x), start.response, penalised, monitor);
  start.lasso = path.convergence;
  start.theta = path.coefficients.col(0);
  start.residual = start.response - x * start.theta;
  return start;
}

DebiasedResult debiased_shell(const DebiasedStart& start, std::vector<int> which) {
  DebiasedResult result;
  result.which = std::move(which);
  result.keep = start.design.keep;
  result.center = start.design.center;
  result.scale = start.design.scale;
  result.lasso = start.theta.cwiseQuotient(start.design.scale);
  result.mean_y = start.mean_y;
  result.sigma = start.sigma;
  result.lambda = start.lambda;
  result.sigma_estimated = start.sigma_estimated;
  result.noise = start.noise;
  result.lasso_convergence = start.lasso;
  return result;
}

DebiasedResult debias(const DebiasedStart& start, std::vector<int> which, Decorrelation rows, double alpha) {
  DebiasedResult result = debiased_shell(start, std::move(which));
  result.rows = std::move(rows);
  const double n = static_cast<double>(start.design.x.rows());
  const Index count = static_cast<Index>(result.which.size());
  const VectorXd correction = result.rows.rows.transpose() * start.residual / n;
  result.coefficients.resize(count);
  result.se.resize(count);
  result.p_value.resize(count);
  for (Index k = 0; k < count; ++k) {
    const int i = result.which[static_cast<std::size_t>(k)];
    const double scale = start.design.scale[i];
    result.coefficients[k] = (start.theta[i] + correction[k]) / scale;
    result.se[k] = start.sigma * std::sqrt(result.rows.row[static_cast<std::size_t>(k)].variance / n) / scale;
    result.p_value[k] = 2 * normal_cdf(-std::abs(result.coefficients[k]) / result.se[k]);
  }
  guess_coverage(start, alpha, result);
  return result;
}

DebiasedResult debiased_lasso(const DebiasedData& data, const DebiasedOptions& options, Monitor& monitor) {
  const DebiasedStart start = debiased_start(data, options, monitor);
  const std::vector<int> which = kept_places(start.design, data.which, data.x.cols());
  return debias(start, which, rows_of(data, start.design.x, which, options, monitor), options.alpha);
}

DecorrelatedDesign decorrelate_columns(const DebiasedData& data, const DebiasedOptions& options, Monitor& monitor) {
  const ScaledDesign design = scale_columns(data.x, options.intercept, options.standardize);
  DecorrelatedDesign out;
  out.which = kept_places(design, data.which, data.x.cols());
  out.keep = design.keep;
  out.center = design.center;
  out.scale = design.scale;
  out.rows = decorrelate(design.x, out.which, options.rows, monitor);
  return out;
}

double coherence(const DebiasedData& data, const DebiasedOptions& options) {
  const ScaledDesign design = scale_columns(data.x, options.intercept, options.standardize);
  const std::vector<int> which = kept_places(design, data.which, data.x.cols());
  Decorrelation rows;
  if (data.rows) {
    rows = given_rows(design.x, which, *data.rows);
  } else if (data.m) {
    rows = given_rows(design.x, which, design.x * data.m->transpose());
  } else {
    rows = given_rows(design.x, which, design.x);
  }
  double largest = 0;
  for (const DecorrelatedRow& row : rows.row) largest = std::max(largest, row.coherence);
  return largest;
}

double wald_statistic(ConstVectorRef difference, ConstMatrixRef covariance) {
  const Llt factor(covariance);
  if (factor.info() != Eigen::Success) return Convergence::unknown;
  VectorXd z = difference;
  factor.matrixL().solveInPlace(z);
  return z.squaredNorm();
}

}  // namespace granary::regress
