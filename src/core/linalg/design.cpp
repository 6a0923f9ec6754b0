#include "core/linalg/design.h"

namespace granary {

void Design::times(ConstVectorRef u, VectorRef y) const {
  if (is_sparse_) {
    y = sparse_ * u;
  } else {
    y.noalias() = dense_ * u;
  }
}

void Design::transposed_times(ConstVectorRef r, VectorRef y) const {
  if (is_sparse_) {
    y = sparse_.transpose() * r;
  } else {
    y.noalias() = dense_.transpose() * r;
  }
}

double Design::mean_square() const {
  const double cells = static_cast<double>(rows()) * static_cast<double>(cols());
  if (cells == 0) return 0;
  return (is_sparse_ ? VectorView(sparse_.valuePtr(), sparse_.nonZeros()).squaredNorm() : dense_.squaredNorm()) / cells;
}

}  // namespace granary
