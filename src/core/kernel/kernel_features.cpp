#include "core/kernel/kernel_features.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"

namespace granary {

namespace {

void centre_features(KernelFeatures& features) {
  features.values.rowwise() -= features.mean.transpose();
  features.centred = true;
}

KernelFeatures from_picks(const GreedyVariance& found, double trace, double largest, bool centred) {
  if (found.lowest < -1e-8 * largest) throw InputError("the kernel is not positive semi-definite on these data.");
  KernelFeatures result;
  result.trace = trace;
  result.left = found.left;
  result.residual = found.left.sum();
  result.pivots = found.picks;
  const Index d = found.rows.rows();
  result.values = found.rows.transpose();
  result.root.setZero(d, d);
  for (Index k = 0; k < d; ++k) result.root.row(k).head(k + 1) = result.values.row(found.picks[k]).head(k + 1);
  result.centred = false;
  result.mean = result.values.colwise().mean();
  if (centred) centre_features(result);
  return result;
}

KernelFeatures features_of(const KernelColumn& column, const VectorXd& diagonal, const KernelFeaturesOptions& options,
                           Monitor& monitor) {
  if (!(options.tol >= 0) || !(options.tol < 1)) throw InputError("the tolerance of the incomplete Cholesky must be in [0, 1).");
  GreedyVarianceOptions greedy;
  greedy.max_picks = options.max_rank;
  // Below this what is left of the diagonal is rounding, and its columns would be noise divided by noise.
  greedy.tol = std::max(options.tol, 1e-14);
  const GreedyVariance found = greedy_variance(column, diagonal, greedy, monitor);
  return from_picks(found, diagonal.sum(), diagonal.size() > 0 ? diagonal.maxCoeff() : 0, options.centred);
}

}  // namespace

VectorXd KernelFeatures::coefficients(ConstVectorRef weights) const {
  return root.triangularView<Eigen::Lower>().transpose().solve(weights);
}

KernelFeatures kernel_features(const Kernel& kernel, ConstMatrixRef x, const KernelFeaturesOptions& options, Monitor& monitor) {
  return features_of(kernel_column(kernel, x), kernel.diagonal(x, false), options, monitor);
}

KernelFeatures kernel_features(ConstMatrixRef gram, const KernelFeaturesOptions& options, Monitor& monitor) {
  if (gram.rows() != gram.cols()) throw InputError("a kernel matrix must be square.");
  const KernelColumn column = [&](Index j, VectorRef out) { out = gram.col(j); };
  KernelFeaturesOptions plain = options;
  plain.centred = false;
  KernelFeatures result = features_of(column, gram.diagonal(), plain, monitor);
  // What is left of a positive semi-definite matrix is one, and its Frobenius norm at most its trace.
  double left = 0;
  VectorXd e;
  for (Index j = 0; j < gram.cols(); ++j) {
    if (j % 64 == 0) monitor.check();
    e = gram.col(j);
    e.noalias() -= result.values * result.values.row(j).transpose();
    left += e.squaredNorm();
  }
  if (std::sqrt(left) > result.residual + 1e-8 * result.trace) {
    throw InputError("the kernel matrix is not positive semi-definite.");
  }
  if (options.centred) centre_features(result);
  return result;
}

double smallest_row_sum(const KernelFeatures& features, const KernelColumn& column, Monitor& monitor) {
  const Index n = features.left.size();
  // What the features leave out is positive semi-definite, so its entries are bounded: |r_ij| <= sqrt(r_ii r_jj).
  const VectorXd bound = features.left.cwiseSqrt() * features.left.cwiseSqrt().sum();
  VectorXd lower = features.values * features.mean - bound / static_cast<double>(n);
  if (features.centred) lower.array() += features.mean.squaredNorm();
  lower *= static_cast<double>(n);  // (Z Z'1)_i less the bound
  std::vector<Index> order(n);
  std::iota(order.begin(), order.end(), Index(0));
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return lower[a] < lower[b] || (lower[a] == lower[b] && a < b); });
  double best = std::numeric_limits<double>::infinity();
  VectorXd k(n);
  for (Index j : order) {
    if (lower[j] > best) break;
    monitor.check();
    column(j, k);
    best = std::min(best, k.sum());
  }
  return best;
}

double smallest_row_sum(const KernelFeatures& features, const Kernel& kernel, ConstMatrixRef x, Monitor& monitor) {
  return smallest_row_sum(features, kernel_column(kernel, x), monitor);
}

}  // namespace granary
