// What a structured Gaussian graph has to beat, where it has a closed form:
//
//   ridge   X = (S + rho I)^-1, the solution of  max log det X - <S, X> - rho tr X; eigenvalues in [1 / (|S|_2 + rho), 1 / rho]
//   full    X = S^-1, the same at rho = 0
//   independent  X = diag(1 / S_ii)
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/types.h"
#include "core/graph/components.h"
#include "graph/glasso_problem.h"

namespace granary::graph {

enum class BaselineType { independent, ridge, full };
inline Names<BaselineType> names(BaselineType) {
  return {{BaselineType::independent, "independent"}, {BaselineType::ridge, "ridge"}, {BaselineType::full, "full"}};
}

struct BaselineOptions {
  BaselineType type = BaselineType::ridge;
  std::vector<double> lambda{0};  // rho of ridge; its length is the number of fits
  bool covariance = true;
};
template <class V>
void fields(V& v, BaselineOptions& t) {
  v("type", t.type);
  v("lambda", t.lambda);
  v("covariance", t.covariance);
}

struct BaselineFit {
  MatrixXd x, w;
  double log_det = 0, objective = 0;
  Convergence convergence;
};
template <class V>
void fields(V& v, BaselineFit& t) {  // for writing
  const SparseMatrix x = t.x.sparseView(0, 0);
  std::vector<int> component = component_labels(pattern_components(x), x.rows());
  v("precision", x);
  v("covariance", t.w);
  v("log_det", t.log_det);
  v("objective", t.objective);
  v("kkt", t.convergence.residual);
  v("component", positions(component));
  v("convergence", t.convergence);
}

BaselineFit ridge_precision(const ConstMatrixRef& s, double rho);  // NumericalError when singular

// One fit per lambda.
std::vector<BaselineFit> baselines(const ConstMatrixRef& s, const BaselineOptions& options);

}  // namespace granary::graph
