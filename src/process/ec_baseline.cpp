#include "process/ec_baseline.h"

#include <algorithm>
#include <cmath>

#include "process/ec_state.h"
#include "core/linalg/dense.h"

namespace granary::process {

namespace {

Eigen::ArrayXd spin_variances(ConstVectorRef mean) { return (1 - mean.array().square()).max(smallest_spin_variance); }

}  // namespace

TapResult tap(ConstMatrixRef j, ConstVectorRef theta, const TapOptions& options, Monitor& monitor) {
  const Stopwatch clock;
  const Index n = theta.size();
  const MatrixXd squares = j.cwiseProduct(j);
  TapResult result;
  Convergence& end = result.convergence;
  VectorXd m = theta.array().tanh();
  double share = options.damping, best = 1e300;
  int since = 0;
  for (end.iterations = 1; end.iterations <= options.max_iter; ++end.iterations) {
    monitor.check();
    end.residual = 0;
    for (Index i = 0; i < n; ++i) {
      const double reaction = squares.col(i).dot((1 - m.array().square()).matrix());
      const double to = std::tanh(theta[i] + j.col(i).dot(m) - m[i] * reaction);
      end.residual = std::max(end.residual, std::abs(to - m[i]));
      m[i] += share * (to - m[i]);
    }
    if (end.residual <= options.tol) {
      end.converged = true;
      break;
    }
    since = end.residual < 0.99 * best ? 0 : since + 1;
    best = std::min(best, end.residual);
    if (since >= 50 && share > 1e-3) {
      share *= 0.5;
      since = 0;
    }
  }
  end.iterations = std::min(end.iterations, options.max_iter);
  if (!end.converged) end.message = "the TAP equations did not settle";
  const Eigen::ArrayXd v = spin_variances(m);
  double entropy = 0;
  for (Index i = 0; i < n; ++i) {
    for (const double p : {0.5 * (1 + m[i]), 0.5 * (1 - m[i])}) entropy -= p > 0 ? p * std::log(p) : 0;
  }
  result.mean = m;
  result.log_z = entropy + 0.5 * m.dot(j * m) + theta.dot(m) + 0.25 * v.matrix().dot(squares * v.matrix());
  MatrixXd response = -j - 2 * squares.cwiseProduct(m * m.transpose());
  response.diagonal().array() += 1 / v + (squares * v.matrix()).array();
  result.stable = SymmetricEigen(response, EigenParts::values).eigenvalues().minCoeff() > 0;
  result.covariance = Lu(response).inverse();
  end.seconds = clock.seconds();
  return result;
}

MatrixXd mean_field_response(ConstMatrixRef j, ConstVectorRef mean) {
  MatrixXd response = -j;
  response.diagonal().array() += 1 / spin_variances(mean);
  return Lu(response).inverse();
}

EcParameters ec_inverse(const EcMoments& moments, const EcForest& forest) {
  return difference(gaussian_parameters(moments, forest), binary_parameters(moments, forest));
}

}  // namespace granary::process
