#include "kernel/structured_space.h"

namespace granary::kernel {

void LinearSpace::add(double step, const SparseVector& d) {
  for (std::size_t k = 0; k < d.index.size(); ++k) view_[d.index[k]] += step * d.value[k];
}

KernelSpace::KernelSpace(ConstMatrixRef gram, ConstMatrixRef class_kernel, Index rest)
    : gram_(gram), class_kernel_(class_kernel), tokens_(gram.rows()), classes_(class_kernel.rows()) {
  w_ = VectorXd::Zero(tokens_ * classes_ + rest);
  view_ = w_;
}

void KernelSpace::add(double step, const SparseVector& d) {
  for (std::size_t k = 0; k < d.index.size(); ++k) {
    const Index at = d.index[k];
    const double change = step * d.value[k];
    w_[at] += change;
    if (at >= tokens_ * classes_) {
      view_[at] += change;
      continue;
    }
    const Index c = at % classes_, j = at / classes_;
    Eigen::Map<MatrixXd> scores(view_.data(), classes_, tokens_);
    for (Index other = 0; other < classes_; ++other) {
      const double factor = change * class_kernel_(other, c);
      if (factor != 0) scores.row(other) += factor * gram_.col(j).transpose();
    }
  }
}

double KernelSpace::inner(const SparseVector& a, const SparseVector& b) const {
  const Index own = tokens_ * classes_;
  double sum = 0;
  for (std::size_t s = 0; s < a.index.size(); ++s) {
    const Index p = a.index[s];
    for (std::size_t t = 0; t < b.index.size(); ++t) {
      const Index q = b.index[t];
      const double both = a.value[s] * b.value[t];
      if (p < own && q < own) {
        const double similar = class_kernel_(p % classes_, q % classes_);
        if (similar != 0) sum += both * similar * gram_(p / classes_, q / classes_);
      } else if (p == q) {
        sum += both;
      }
    }
  }
  return sum;
}

}  // namespace granary::kernel
