#include "kernel/svm_probability.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/linalg/dense.h"

namespace granary::kernel {

MatrixXd couple_pairs(ConstMatrixRef pairs, Index classes) {
  if (pairs.cols() != classes * (classes - 1) / 2) throw InputError("there must be one column for each pair of classes.");
  MatrixXd out(pairs.rows(), classes);
  MatrixXd r = MatrixXd::Zero(classes, classes), system(classes + 1, classes + 1);
  VectorXd right = VectorXd::Zero(classes + 1);
  right[classes] = 1;
  for (Index i = 0; i < pairs.rows(); ++i) {
    Index c = 0;
    for (Index a = 0; a < classes; ++a) {
      for (Index b = a + 1; b < classes; ++b, ++c) {
        r(b, a) = std::min(std::max(pairs(i, c), 1e-7), 1 - 1e-7);
        r(a, b) = 1 - r(b, a);
      }
    }
    system.setZero();
    for (Index a = 0; a < classes; ++a) {
      for (Index b = 0; b < classes; ++b) {
        if (a == b) continue;
        system(a, a) += r(b, a) * r(b, a);
        system(a, b) = -r(b, a) * r(a, b);
      }
      system(a, classes) = system(classes, a) = 1;
    }
    const VectorXd p = Lu(system).solve(VectorXd(right)).head(classes).cwiseMax(0.0);
    out.row(i) = p.transpose() / p.sum();
  }
  return out;
}

}  // namespace granary::kernel
