#include "regress/gen_lasso_problem.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"

namespace granary::regress {
namespace {

std::unique_ptr<GenDesign> make_design(const GenData& data) {
  switch (data.type) {
    case GenDesignType::identity:
      return identity_design(data.y.size());
    case GenDesignType::blur:
      require(data.dim.size() == 2, "an image has two dimensions.");
      return blur_design(data.dim[0], data.dim[1], data.size);
    case GenDesignType::matrix:
      break;
  }
  return data.x.is_sparse() ? sparse_design(SparseMatrix(data.x.sparse())) : dense_design(data.x.dense());
}

// R with a column of zeros for the intercept, and the null space that has grown by it.
GenPenalty make_penalty(const GenData& data, bool ones) {
  if (!ones) return GenPenalty(GenPenalty::Rows(data.penalty), data.blocks, data.null);
  GenPenalty::Rows wider = data.penalty;
  wider.conservativeResize(data.penalty.rows(), data.penalty.cols() + 1);
  MatrixXd null = data.null;
  if (null.rows() > 0) {
    null = MatrixXd::Zero(data.null.rows() + 1, data.null.cols() + 1);
    null.topLeftCorner(data.null.rows(), data.null.cols()) = data.null;
    null(data.null.rows(), data.null.cols()) = 1;
  }
  return GenPenalty(std::move(wider), data.blocks, null);
}

std::vector<double> grid(double top, int count, double ratio) {
  top = top > 0 ? top * (1 + 1e-10) : 1;  // so that rounding lets no difference in at the first penalty
  std::vector<double> out;
  for (int k = 0; k < count; ++k) out.push_back(k == 0 ? top : top * std::exp(std::log(ratio) * k / (count - 1)));
  return out;
}

// Penalties on the way down to the first one asked for: from zero straight to a small penalty takes many more rounds than by way
// of these.
std::vector<double> bridge(double first, double top, const GenDesign& x, const GenLassoOptions& options) {
  std::vector<double> out;
  const bool wanted = options.method == GenMethod::alin && !x.identity() && options.start.size() == 0 && std::isfinite(top) && first > 0 &&
                      first < 0.5 * top;
  if (!wanted) return out;
  const int steps = 1 + std::min(15, static_cast<int>(std::ceil(std::log(top / first) / std::log(2.0))));
  for (int k = 1; k < steps; ++k) out.push_back(top * std::exp(std::log(first / top) * k / steps));
  return out;
}

}  // namespace

GenFitResult gen_lasso_fit(const GenData& data, const GenFitOptions& options, Monitor& monitor) {
  const bool gaussian = options.family == LossFamily::gaussian, ones = options.intercept && !gaussian;
  VectorXd means;
  std::unique_ptr<GenDesign> x = make_design(data);
  if (options.intercept) x = centred_design(std::move(x), ones, means);
  GenLoss loss;
  loss.family = options.family;
  loss.delta = options.delta;
  const double mean = options.intercept && gaussian ? data.y.mean() : 0;
  loss.y = data.y.array() - mean;
  GenPenalty penalty = make_penalty(data, ones);

  GenFitResult result;
  result.lambda = options.lambda;
  if (options.lambda.empty() || options.limits == GenLimits::ask) {
    const GenLassoPath limits = gen_lasso_limits(*x, loss, penalty, monitor);
    result.lambda_max = limits.lambda_max;
    result.lambda_max_exact = limits.lambda_max_exact;
  }
  if (result.lambda.empty()) result.lambda = grid(result.lambda_max, options.n_lambda, options.lambda_min_ratio);
  GenLassoOptions solver = options.solver;
  if (ones && solver.start.size() > 0) {
    solver.start.conservativeResize(solver.start.size() + 1);
    solver.start[solver.start.size() - 1] = 0;
  }
  std::vector<double> all = bridge(result.lambda[0], result.lambda_max, *x, solver);
  const std::size_t before = all.size();
  all.insert(all.end(), result.lambda.begin(), result.lambda.end());
  GenLassoPath path = gen_lasso_path(*x, loss, penalty, all, solver, monitor);
  result.unique = path.unique;
  result.fits.assign(std::make_move_iterator(path.fits.begin() + static_cast<std::ptrdiff_t>(before)), std::make_move_iterator(path.fits.end()));
  for (GenLassoFit& fit : result.fits) {
    double shift = mean;
    if (ones) {
      shift += fit.b[fit.b.size() - 1];
      fit.b.conservativeResize(fit.b.size() - 1);
    }
    if (options.intercept) shift -= means.dot(fit.b);
    result.intercept.push_back(options.intercept ? shift : 0);
  }
  return result;
}

}  // namespace granary::regress
