#include "ensemble/label_propagation.h"

#include <limits>

#include "core/base/errors.h"
#include "core/linalg/dense.h"

namespace granary::ensemble {

void LeafDistance::add(ConstMatrixRef rows, ConstVectorRef weights) {
  const Index p = rows.rows(), at = means_.cols();
  const double n = weights.sum();
  const VectorXd mean = rows * weights / n;
  means_.conservativeResize(p, at + 1);
  means_.col(at) = mean;
  if (metric_ == LeafMetric::euclidean) return;
  const MatrixXd centred = rows.colwise() - mean;
  if (metric_ == LeafMetric::diag) {
    inverse_.conservativeResize(p, at + 1);
    inverse_.col(at) = ((centred.array().square().matrix() * weights / n).array() + ridge_).inverse();
    return;
  }
  const MatrixXd weighted = centred * weights.asDiagonal();
  MatrixXd covariance = weighted * centred.transpose() / n;
  const VectorXd variances = covariance.diagonal();
  covariance *= n / (n + static_cast<double>(p));
  covariance.diagonal() = variances.array() + ridge_;
  const Llt llt(covariance);
  if (llt.info() != Eigen::Success) throw NumericalError("The covariance of a leaf could not be factorised: raise `ridge`, or use metric = \"diag\".");
  factors_.push_back(llt.matrixL());
}

double LeafDistance::operator()(Index i, Index j) const {
  const auto d = means_.col(i) - means_.col(j);
  if (metric_ == LeafMetric::euclidean) return d.squaredNorm();
  if (metric_ == LeafMetric::diag) return 0.5 * (d.array().square() * (inverse_.col(i) + inverse_.col(j)).array()).sum();
  VectorXd a = d, b = d;
  factors_[i].triangularView<Eigen::Lower>().solveInPlace(a);
  factors_[j].triangularView<Eigen::Lower>().solveInPlace(b);
  return 0.5 * (a.squaredNorm() + b.squaredNorm());
}

std::vector<int> nearest_labelled(const LeafDistance& distance, const std::vector<bool>& labelled, Monitor& monitor, VectorXd* reach) {
  const Index n = distance.size();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  VectorXd length = VectorXd::Constant(n, infinity);
  std::vector<int> lender(n, -1);
  std::vector<bool> settled(n, false);
  for (Index i = 0; i < n; ++i)
    if (labelled[i]) {
      length[i] = 0;
      lender[i] = static_cast<int>(i);
    }
  for (Index step = 0; step < n; ++step) {
    Index at = -1;
    for (Index i = 0; i < n; ++i)
      if (!settled[i] && lender[i] >= 0 && (at < 0 || length[i] < length[at])) at = i;
    if (at < 0) throw InputError("No leaf of a tree has a case of the target.");
    settled[at] = true;
    monitor.check();
    for (Index j = 0; j < n; ++j) {
      if (settled[j] || labelled[j]) continue;
      const double through = length[at] + distance(at, j);
      if (lender[j] < 0 || through < length[j] || (through == length[j] && lender[at] < lender[j])) {
        length[j] = through;
        lender[j] = lender[at];
      }
    }
  }
  if (reach) *reach = length;
  return lender;
}

}  // namespace granary::ensemble
