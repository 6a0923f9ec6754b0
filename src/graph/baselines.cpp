#include "graph/baselines.h"

#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"

namespace granary::graph {

BaselineFit ridge_precision(const ConstMatrixRef& s, double rho) {
  if (!(rho >= 0) || !std::isfinite(rho)) throw InputError(message("rho must not be negative, got ", rho, "."));
  BaselineFit out;
  out.w = s;
  out.w.diagonal().array() += rho;
  const Llt llt(out.w);
  const VectorXd root = llt.matrixLLT().diagonal();
  if (llt.info() != Eigen::Success || !(root.minCoeff() > 1e-7 * std::sqrt(out.w.diagonal().maxCoeff()))) {
    throw NumericalError(
        rho > 0 ? "the covariance plus the ridge is singular; use a larger penalty."
                : "the covariance is singular, so it has no inverse: there are too few observations, or columns depend "
                  "on each other. Use a ridge, or another type.");
  }
  out.x = llt.solve(MatrixXd::Identity(s.rows(), s.cols()));
  out.x = 0.5 * (out.x + out.x.transpose()).eval();
  out.log_det = -2 * root.array().log().sum();
  out.convergence.converged = true;
  out.convergence.gap = out.convergence.residual = 0;
  return out;
}

std::vector<BaselineFit> baselines(const ConstMatrixRef& s, const BaselineOptions& options) {
  std::vector<BaselineFit> out;
  for (const double lambda : options.lambda) {
    const double rho = options.type == BaselineType::ridge ? lambda : 0;
    BaselineFit fit;
    if (options.type == BaselineType::independent) {
      fit.x = s.diagonal().cwiseInverse().asDiagonal();
      fit.w = s.diagonal().asDiagonal();
      fit.log_det = -s.diagonal().array().log().sum();
      fit.convergence.converged = true;
      fit.convergence.gap = fit.convergence.residual = 0;
    } else {
      fit = ridge_precision(s, rho);
    }
    fit.objective = -fit.log_det + s.cwiseProduct(fit.x).sum() + rho * fit.x.trace();
    if (!options.covariance) fit.w.resize(0, 0);
    out.push_back(std::move(fit));
  }
  return out;
}

}  // namespace granary::graph
