#include <algorithm>
#include <cmath>

#include "process/rvm.h"

namespace granary::process {

MatrixXd rvm_basis(const Kernel& kernel, ConstMatrixRef x, ConstMatrixRef centers, bool bias) {
  MatrixXd phi(x.rows(), centers.rows() + bias);
  if (bias) phi.col(0).setOnes();
  if (centers.rows() > 0) phi.rightCols(centers.rows()) = kernel.cross(x, centers);
  return phi;
}

RvmResult rvm_fit(const RvmData& data, const RvmOptions& options, Monitor& monitor) {
  return rvm(rvm_basis(Kernel(data.kernel, data.x.cols()), data.x, data.centers, data.bias), data.y, options, monitor);
}

void check(const RvmState& t) {
  const Index m = t.coefficients.size();
  const bool bias = std::find(t.relevant.begin(), t.relevant.end(), 0) != t.relevant.end();
  require(t.x.rows() == t.y.size(), "`x` has not one row per response.");
  require(static_cast<Index>(t.relevant.size()) == m && t.precision.size() == m && t.covariance.rows() == m && t.covariance.cols() == m &&
              t.vectors.rows() + bias == m,
          "the weights do not fit the basis functions.");
  require(t.vectors.rows() == 0 || t.vectors.cols() == t.x.cols(), "`vectors` has not the columns of `x`.");
  require(t.noise_var > 0, "`noise_var` is not positive.");
}

RvmPrediction rvm_predict(const RvmState& state, ConstMatrixRef newx, const RvmPredictOptions& options, Monitor& monitor) {
  const Kernel kernel(state.kernel, state.x.cols());
  const bool bias = !state.relevant.empty() && state.relevant[0] == 0;
  const MatrixXd phi = rvm_basis(kernel, newx, state.vectors, bias);
  RvmPrediction out;
  out.mean = phi * state.coefficients;
  if (!options.variance && !options.augment) return out;
  out.variance = (phi * state.covariance).cwiseProduct(phi).rowwise().sum();
  if (!options.augment) return out;

  const MatrixXd train = rvm_basis(kernel, state.x, state.vectors, bias);
  const VectorXd rest = state.y - train * state.coefficients;
  const double beta = 1 / state.noise_var;
  const Index kernels = state.precision.size() - bias;
  double prior = kernels > 0 ? state.precision.tail(kernels).cwiseInverse().mean()
                             : (state.y.array() - state.y.mean()).square().sum() / std::max<double>(1, static_cast<double>(state.y.size()) - 1);
  if (!std::isfinite(prior) || prior <= 0) prior = 1;
  const Index chunk = std::max<Index>(1, 5000000 / std::max<Index>(1, state.x.rows()));
  for (Index from = 0; from < newx.rows(); from += chunk) {
    monitor.check();
    const Index count = std::min(chunk, newx.rows() - from);
    const auto rows = newx.middleRows(from, count);
    const MatrixXd fresh = kernel.cross(state.x, rows), crossed = train.transpose() * fresh, solved = state.covariance * crossed;
    const Eigen::ArrayXd s = beta * fresh.colwise().squaredNorm().transpose().array() -
                             beta * beta * crossed.cwiseProduct(solved).colwise().sum().transpose().array();
    const Eigen::ArrayXd q = beta * (fresh.transpose() * rest).array();
    const Eigen::ArrayXd e = kernel.diagonal(rows, false).array() -
                             beta * phi.middleRows(from, count).cwiseProduct(solved.transpose()).rowwise().sum().array();
    const Eigen::ArrayXd down = 1 / prior + s.max(0);
    out.mean.segment(from, count).array() += e * q / down;
    out.variance.segment(from, count).array() += e.square() / down;
  }
  return out;
}

}  // namespace granary::process
