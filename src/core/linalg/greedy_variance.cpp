#include "core/linalg/greedy_variance.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"

namespace granary {

double GreedyVariance::information(double noise) const { return 0.5 * (variances.array() / noise).log1p().sum(); }

GreedyVariance greedy_variance(const KernelColumn& column, ConstVectorRef diagonal, const GreedyVarianceOptions& options,
                               Monitor& monitor) {
  const Index n = diagonal.size();
  if (!(options.noise >= 0) || !std::isfinite(options.noise)) throw InputError("the noise must not be negative.");
  if (options.repeated && options.noise == 0) throw InputError("without noise a point cannot be picked twice.");
  if (!diagonal.allFinite() || (n > 0 && diagonal.minCoeff() < 0)) {
    throw InputError("the kernel gives a variance that is negative or not finite.");
  }
  const Index most = options.repeated ? options.max_picks : options.max_picks > 0 ? std::min(options.max_picks, n) : n;
  const auto size = [&](const VectorXd& v) { return options.noise > 0 ? v.maxCoeff() : v.sum(); };
  GreedyVariance result;
  result.left = diagonal;
  MatrixXd m(n, std::min<Index>(most, 64));  // M', grown by doubling; column by column so that each pick is contiguous
  std::vector<double> variances;
  std::vector<bool> taken(n, false);
  const double first = n > 0 ? size(result.left) : 0;
  VectorXd s(n);
  for (Index k = 0; k < most; ++k) {
    monitor.check();
    Index best = -1;
    for (Index i = 0; i < n; ++i) {
      if (!taken[i] && (best < 0 || result.left[i] > result.left[best])) best = i;
    }
    if (best < 0) break;
    const double v = result.left[best];
    if (!(v > 0) || size(result.left) <= options.tol * first) break;
    column(best, s);
    if (k > 0) s.noalias() -= m.leftCols(k) * m.row(best).head(k).transpose();
    if (k == m.cols()) m.conservativeResize(Eigen::NoChange, std::min(most, 2 * m.cols()));
    m.col(k) = s / std::sqrt(v + options.noise);
    result.left -= m.col(k).cwiseAbs2();
    if (options.noise == 0) result.left[best] = 0;  // exactly, whatever rounding says
    result.lowest = std::min(result.lowest, result.left.minCoeff());
    result.left = result.left.cwiseMax(0);
    if (!options.repeated) taken[best] = true;
    result.picks.push_back(best);
    variances.push_back(v);
  }
  const Index picked = static_cast<Index>(result.picks.size());
  result.rows = m.leftCols(picked).transpose();
  result.variances = Eigen::Map<const VectorXd>(variances.data(), picked);
  return result;
}

KernelColumn kernel_column(const Kernel& kernel, const ConstMatrixRef& x) {
  return [&kernel, &x](Index j, VectorRef out) {
    Eigen::Map<MatrixXd> k(out.data(), out.size(), 1);
    kernel.cross(x, x.row(j), k);
  };
}

GreedyVariance greedy_variance(const Kernel& kernel, ConstMatrixRef x, const GreedyVarianceOptions& options, Monitor& monitor) {
  return greedy_variance(kernel_column(kernel, x), kernel.diagonal(x, false), options, monitor);
}

}  // namespace granary
