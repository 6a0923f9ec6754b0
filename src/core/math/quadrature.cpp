#include "core/math/quadrature.h"

#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"

namespace granary {

Quadrature gauss_hermite(int n) {
  if (n < 1 || n > 200) throw InputError(message("Gauss-Hermite quadrature takes 1 to 200 nodes, got ", n, "."));
  // Recurrence of the polynomials that are orthogonal under N(0, 1): x p_k = p_{k+1} + k p_{k-1}.
  const VectorXd diagonal = VectorXd::Zero(n);
  VectorXd below(n - 1);
  for (int k = 1; k < n; ++k) below[k - 1] = std::sqrt(static_cast<double>(k));
  SymmetricEigen eigen;
  eigen.compute_tridiagonal(diagonal, below, EigenParts::values);
  Quadrature rule;
  // Nodes are symmetric about zero; averaging both sides removes what rounding left.
  const VectorXd found = eigen.eigenvalues();
  rule.nodes = 0.5 * (found - found.reverse());
  // Christoffel's formula: one over the sum of the squared orthonormal polynomials. The squared first entries of the eigenvectors
  // are the same numbers, but at the outer nodes, where weights fall to 1e-50, rounding leaves nothing of them.
  rule.weights.resize(n);
  for (int i = 0; i < n; ++i) {
    const double x = rule.nodes[i];
    double before = 0, now = 1, sum = 1;
    for (int k = 0; k + 1 < n; ++k) {
      const double next = (x * now - std::sqrt(static_cast<double>(k)) * before) / std::sqrt(k + 1.0);
      before = now;
      now = next;
      sum += now * now;
    }
    rule.weights[i] = 1 / sum;
  }
  rule.weights /= rule.weights.sum();
  return rule;
}

// Newton's method on the Legendre polynomials from the usual asymptotic starts: O(n^2), full precision.
Quadrature gauss_legendre(int n) {
  if (n < 1 || n > 5000) throw InputError(message("Gauss-Legendre quadrature takes 1 to 5000 nodes, got ", n, "."));
  Quadrature rule;
  rule.nodes.resize(n);
  rule.weights.resize(n);
  const double pi = std::acos(-1.0);
  for (int i = 0; i < (n + 1) / 2; ++i) {
    double x = std::cos(pi * (i + 0.75) / (n + 0.5)), slope = 1;
    for (int step = 0; step < 100; ++step) {
      double before = 1, now = x;
      for (int k = 2; k <= n; ++k) {
        const double next = ((2 * k - 1) * x * now - (k - 1) * before) / k;
        before = now;
        now = next;
      }
      slope = n * (x * now - before) / (x * x - 1);
      const double move = now / slope;
      x -= move;
      if (std::abs(move) < 1e-15) break;
    }
    if (2 * i + 1 == n) x = 0;
    rule.nodes[i] = 0.5 * (1 - x);
    rule.nodes[n - 1 - i] = 0.5 * (1 + x);
    rule.weights[i] = rule.weights[n - 1 - i] = 1 / ((1 - x * x) * slope * slope);
  }
  rule.weights /= rule.weights.sum();
  return rule;
}

}  // namespace granary
