#include "core/linalg/leading_eigenpair.h"
#include "core/linalg/dense.h"

#include <algorithm>

namespace granary {

LeadingEigenpair leading_eigenpair(const LinearOperator& apply, ConstVectorRef start, const LeadingEigenOptions& options,
                                   Monitor& monitor) {
  const Index n = start.size();
  const double length = start.norm();
  if (!(length > 0)) throw InputError("the start of the eigenvalue iteration must not be zero.");
  const Index width = std::min<Index>(std::max(options.subspace, 4), n), kept = std::min<Index>(3, width - 1);

  MatrixXd basis(n, width), image(n, width);
  basis.col(0) = start / length;
  LeadingEigenpair best;
  VectorXd residual(n);
  for (Index m = 1;; ++m) {
    monitor.check();
    apply(basis.col(m - 1), image.col(m - 1));
    ++best.products;
    const MatrixXd projected = basis.leftCols(m).transpose() * image.leftCols(m);
    const SymmetricEigen ritz(0.5 * (projected + projected.transpose()));
    if (!projected.allFinite() || ritz.info() != Eigen::Success) {
      throw NumericalError("a product with the matrix is not finite; look for missing values or rescale it.");
    }
    const double size = ritz.eigenvalues().cwiseAbs().maxCoeff();
    const VectorXd weights = ritz.eigenvectors().col(m - 1);
    best.value = ritz.eigenvalues()[m - 1];
    best.vector.noalias() = basis.leftCols(m) * weights;
    residual.noalias() = image.leftCols(m) * weights;
    residual -= best.value * best.vector;
    best.residual = size > 0 ? residual.norm() / size : 0;
    if (best.residual <= options.tol || best.products >= options.max_products || m == n) break;

    if (m == width) {
      const MatrixXd top = ritz.eigenvectors().rightCols(kept).rowwise().reverse();
      basis.leftCols(kept) = (basis * top).eval();
      image.leftCols(kept) = (image * top).eval();
      m = kept;
    }
    // Twice is enough: what is left after the second pass is orthogonal to working precision.
    for (int pass = 0; pass < 2; ++pass) residual -= basis.leftCols(m) * (basis.leftCols(m).transpose() * residual).eval();
    const double left = residual.norm();
    if (!(left > 1e-14 * size)) break;  // the Krylov space is used up
    basis.col(m) = residual / left;
  }
  best.vector.normalize();
  if (best.vector.dot(start) < 0) best.vector = -best.vector;
  return best;
}

}  // namespace granary
