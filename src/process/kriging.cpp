#include "process/kriging.h"

#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace granary::process {

namespace {

constexpr double pi = 3.14159265358979323846;
constexpr Index points_at_once = 128;

}  // namespace

GaussianProcess reinterpolate(const GaussianProcess& gp) {
  GpModel model = gp.model();
  model.nugget = 0;
  model.learn_nugget = false;
  model.noise.resize(0);
  model.profile_scale = true;
  return GaussianProcess(model, gp.inputs(), gp.fitted(), gp.trend());
}

MatrixXd conditional_draws(const GaussianProcess& gp, ConstMatrixRef x, ConstMatrixRef f, ConstVectorRef noise, Index count,
                           Rng& rng, Monitor& monitor) {
  const GpPrediction at = gp.predict(x, f, false, 1, monitor);
  MatrixXd covariance = gp.covariance(x, f);
  covariance.diagonal() += noise;
  return gaussian_draws(at.mean, covariance, gp.scale() * gp.model().kernel.diagonal(x).maxCoeff(), count, rng, monitor);
}

MatrixXd prior_draws(const GaussianProcess& gp, ConstMatrixRef x, ConstVectorRef noise, Index count, Rng& rng, Monitor& monitor) {
  MatrixXd covariance = gp.scale() * gp.model().kernel.matrix(x);
  covariance.diagonal() += noise;
  return gaussian_draws(VectorXd::Zero(x.rows()), covariance, 1, count, rng, monitor);
}

ImseValue imse_constant(const GaussianProcess& gp, double variance, ConstVectorRef lengthscales, ConstVectorRef lower,
                     ConstVectorRef upper) {
  const MatrixXd& x = gp.inputs();
  const Index n = x.rows(), d = x.cols(), p = gp.beta().size();
  if (p > 1) throw InputError("the closed form of the integrated error is for a constant trend.");
  MatrixXd second = MatrixXd::Constant(n, n, variance * variance);  // E r r'
  VectorXd first = VectorXd::Constant(n, variance);                 // E r
  for (Index k = 0; k < d; ++k) {
    const double l = lengthscales[k], width = upper[k] - lower[k];
    if (!(width > 0)) throw InputError("every side of the box must have positive length.");
    const double root2 = std::sqrt(2.0);
    for (Index i = 0; i < n; ++i) {
      const double a = x(i, k);
      first[i] *=
          l * std::sqrt(pi / 2) / width * (std::erf((upper[k] - a) / (l * root2)) - std::erf((lower[k] - a) / (l * root2)));
      for (Index j = 0; j <= i; ++j) {
        const double b = x(j, k), middle = (a + b) / 2, apart = (a - b) / (2 * l);
        second(i, j) *= std::exp(-apart * apart) * l * std::sqrt(pi) / (2 * width) *
                        (std::erf((upper[k] - middle) / l) - std::erf((lower[k] - middle) / l));
      }
    }
  }
  second.triangularView<Eigen::StrictlyUpper>() = second.transpose();
  // E var / s2 = k0 - tr(C^-1 E r r') + E u^2 / (1'C^-1 1), u = 1'C^-1 r - 1
  const SystemFactor& chol = gp.cholesky();
  double result = variance - chol.solve(second).trace();
  if (p == 1) {
    const VectorXd weight = chol.solve_upper(gp.trend_root().col(0));  // C^-1 1
    const double total = gp.trend_root().col(0).squaredNorm();
    result += (weight.dot(second * weight) - 2 * weight.dot(first) + 1) / total;
  }
  const double rounding = std::numeric_limits<double>::epsilon() * second.cwiseAbs().maxCoeff() * gp.inverse_diagonal().sum();
  return {gp.scale() * std::max(result, 0.0), gp.scale() * rounding};
}

ImseValue imse_constant(const GaussianProcess& gp, const KernelSpec& kernel, ConstVectorRef lower, ConstVectorRef upper) {
  const Index d = gp.inputs().cols();
  const VectorXd scales = kernel.scales.size() == 1 ? VectorXd::Constant(d, kernel.scales[0]) : kernel.scales;
  require(kernel.type == "se" && scales.size() == d, "the closed form of the integrated error is for the kernel \"se\" of all inputs.");
  return imse_constant(gp, kernel.variance, scales, lower, upper);
}

VectorXd kriging_surface(const GpModel& model, ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef f,
                         ConstMatrixRef log_parameters, const GpLearnOptions& options, Monitor& monitor) {
  VectorXd result(log_parameters.rows());
  parallel_for(log_parameters.rows(), options.threads, monitor, [&](Index i) {
    const VectorXd at = log_parameters.row(i).transpose();
    result[i] = gp_objective(model, x, y, f, at, options, nullptr, &monitor);
  });
  return result;
}

GpGradient kriging_gradient(const GaussianProcess& gp, ConstMatrixRef x, ConstMatrixRef f, const std::vector<MatrixXd>& df,
                            int threads, Monitor& monitor) {
  const Index m = x.rows(), blocks = (m + points_at_once - 1) / points_at_once;
  GpGradient result{MatrixXd(m, x.cols()), MatrixXd(m, x.cols())};
  parallel_for(blocks, threads, monitor, [&](Index b) {
    const Index from = b * points_at_once, count = std::min(points_at_once, m - from);
    std::vector<MatrixXd> part;
    for (const MatrixXd& full : df) part.push_back(full.middleRows(from, count));
    const GpGradient some = gp.predict_gradient(x.middleRows(from, count), f.middleRows(from, count), part);
    result.mean.middleRows(from, count) = some.mean;
    result.variance.middleRows(from, count) = some.variance;
  });
  return result;
}

VectorXd largest_weights(const GaussianProcess& gp, ConstMatrixRef x, ConstMatrixRef f, int threads, Monitor& monitor) {
  const Index m = x.rows(), blocks = (m + points_at_once - 1) / points_at_once;
  MatrixXd largest = MatrixXd::Zero(gp.size(), blocks);
  parallel_for(blocks, threads, monitor, [&](Index b) {
    const Index from = b * points_at_once, count = std::min(points_at_once, m - from);
    const MatrixXd c = gp.weights(x.middleRows(from, count), f.middleRows(from, count));
    largest.col(b) = c.cwiseAbs().colwise().maxCoeff().transpose();
  });
  return largest.rowwise().maxCoeff();
}

}  // namespace granary::process
