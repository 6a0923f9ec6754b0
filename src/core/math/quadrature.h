// Gauss-Hermite quadrature for expectations under a normal law, E g(m + s Z) ~ sum_k w_k g(m + s z_k), exact for polynomials of
// degree 2 n - 1. Nodes are the eigenvalues of the Jacobi matrix (Golub and Welsch, Math. Comp. 1969).
#pragma once

#include "core/base/types.h"

namespace granary {

struct Quadrature {
  VectorXd nodes, weights;  // weights sum to one
};

Quadrature gauss_hermite(int n);  // 1 <= n <= 200

// The same for the uniform law on [0, 1]: int_0^1 g(s) ds ~ sum_k w_k g(s_k).
Quadrature gauss_legendre(int n);  // 1 <= n <= 5000

}  // namespace granary
