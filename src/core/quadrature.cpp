#include "quadrature.h"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "errors.h"

namespace granary {

Quadrature gauss_hermite(int n) {
  if (n < 1 || n > 200) throw InputError(message("Gauss-Hermite quadrature takes 1 to 200 nodes, got ", n, "."));
  // Recurrence of the polynomials that are orthogonal under N(0, 1): x p_k = p_{k+1} + k p_{k-1}.
  const VectorXd diagonal = VectorXd::Zero(n);
  VectorXd below(n - 1);
  for (int k = 1; k < n; ++k) below[k - 1] = std::sqrt(static_cast<double>(k));
  Eigen::SelfAdjointEigenSolver<MatrixXd> eigen;
  eigen.computeFromTridiagonal(diagonal, below);
  Quadrature rule;
  // Nodes are symmetric about zero; averaging both sides removes what rounding left.
  const VectorXd found = eigen.eigenvalues();
  rule.nodes = 0.5 * (found - found.reverse());
  rule.weights = eigen.eigenvectors().row(0).transpose().cwiseAbs2();
  rule.weights = (0.5 * (rule.weights + rule.weights.reverse())).eval();
  rule.weights /= rule.weights.sum();
  return rule;
}

}  // namespace granary
