// Anderson acceleration of a fixed-point map x -> g(x) (Walker and Ni, SIAM J. Numer. Anal. 2011). The caller keeps the
// safeguard: where an extrapolated point is no good, clear() and go on from the plain image.
#pragma once

#include <algorithm>
#include <deque>

#include "core/linalg/dense.h"
#include "core/base/types.h"

namespace granary {

// The extrapolated image: minimises ||sum_k c_k residual_k|| over sum c = 1, in differences.
class Anderson {
 public:
  explicit Anderson(int depth) : depth_(static_cast<std::size_t>(std::max(0, depth))) {}
  void clear() {
    images_.clear();
    residuals_.clear();
  }
  MatrixXd next(const MatrixXd& point, const MatrixXd& image) {
    images_.push_back(image);
    residuals_.push_back(image - point);
    if (images_.size() > depth_ + 1) {
      images_.pop_front();
      residuals_.pop_front();
    }
    const Index k = static_cast<Index>(images_.size()) - 1;
    if (k == 0) return image;
    const Index n = image.size();
    MatrixXd change(n, k);
    for (Index c = 0; c < k; ++c) {
      change.col(c) = flat(residuals_[c + 1]) - flat(residuals_[c]);
    }
    const VectorXd weight = PivotedQr(change).solve(flat(residuals_.back()));
    MatrixXd result = image;
    for (Index c = 0; c < k; ++c) result -= weight[c] * (images_[c + 1] - images_[c]);
    return result;
  }

 private:
  static Eigen::Map<const VectorXd> flat(const MatrixXd& m) { return {m.data(), m.size()}; }
  std::size_t depth_;
  std::deque<MatrixXd> images_, residuals_;
};

}  // namespace granary
