// The generalized lasso from data to a path: design, intercept, largest penalty, grid, and the way down to the first penalty.
//
// Least squares with an intercept is least squares of centred data; other losses get a column of ones that nothing penalises.
#pragma once

#include <memory>
#include <vector>

#include "core/linalg/design.h"
#include "regress/gen_lasso.h"

namespace granary::regress {

enum class GenDesignType { matrix, identity, blur };
inline Names<GenDesignType> names(GenDesignType) {
  return {{GenDesignType::matrix, "matrix"}, {GenDesignType::identity, "identity"}, {GenDesignType::blur, "blur"}};
}

struct GenData {
  GenDesignType type = GenDesignType::matrix;
  Design x;                     // matrix
  std::vector<int> dim;         // blur: of the image
  int size = 3;                 // blur: of the square
  VectorView y{nullptr, 0};
  SparseMatrix penalty;         // R
  std::vector<int> blocks;      // rows of R per block; empty: one each
  MatrixXd null;                // a basis of the null space of R where one is known
};
template <class V>
void fields(V& v, GenData& t) {
  v("type", t.type);
  v("x", t.x);
  v("dim", t.dim);
  v("size", t.size);
  v("y", t.y);
  v("penalty", t.penalty);
  v("blocks", t.blocks);
  v("null", t.null);
}

enum class GenLimits { ask, skip };  // whether the largest penalty is computed where the penalties are given
inline Names<GenLimits> names(GenLimits) { return {{GenLimits::ask, "ask"}, {GenLimits::skip, "skip"}}; }

struct GenFitOptions {
  GenLassoOptions solver;
  LossFamily family = LossFamily::gaussian;
  double delta = 1.345;  // huber
  bool intercept = false;
  std::vector<double> lambda;  // falling; empty: a grid
  int n_lambda = 20;
  double lambda_min_ratio = 0.01;
  GenLimits limits = GenLimits::ask;
};
template <class V>
void fields(V& v, GenFitOptions& t) {
  fields(v, t.solver);
  v("family", t.family);
  v("delta", t.delta);
  v("intercept", t.intercept);
  v("lambda", t.lambda);
  v("n_lambda", t.n_lambda);
  v("lambda_min_ratio", t.lambda_min_ratio);
  v("limits", t.limits);
}

// Coefficients without the column of ones; `intercept` per penalty.
struct GenFitResult {
  std::vector<GenLassoFit> fits;
  std::vector<double> lambda, intercept;
  double lambda_max = Convergence::unknown;
  bool lambda_max_exact = false;
  bool unique = true;
};
template <class V>
void fields(V& v, GenFitResult& t) {
  v("fits", t.fits);
  v("lambda", t.lambda);
  v("intercept", t.intercept);
  v("lambda_max", any_number(t.lambda_max));
  v("lambda_max_exact", t.lambda_max_exact);
  v("unique", t.unique);
}

GenFitResult gen_lasso_fit(const GenData& data, const GenFitOptions& options, Monitor& monitor);

}  // namespace granary::regress
