// What a structured Gaussian graph has to beat, where it has a closed form:
//
//   ridge   X = (S + rho I)^-1, the solution of  max log det X - <S, X> - rho tr X; eigenvalues in [1 / (|S|_2 + rho), 1 / rho]
//   full    X = S^-1, the same at rho = 0
#pragma once

#include "core/base/convergence.h"
#include "core/base/types.h"

namespace granary::graph {

struct BaselineFit {
  MatrixXd x, w;
  double log_det = 0;
  Convergence convergence;
};

BaselineFit ridge_precision(const ConstMatrixRef& s, double rho);  // NumericalError when singular

}  // namespace granary::graph
