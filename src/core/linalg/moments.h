// Moments of the columns of a data matrix: of all rows at once, or gathered piece by piece.
#pragma once

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary {

// Centred first, then multiplied: accurate when means are large beside the standard deviations. Divisor n - 1.
inline MatrixXd sample_covariance(ConstMatrixRef x) {
  const MatrixXd centred = x.rowwise() - x.colwise().mean();
  MatrixXd s = MatrixXd::Zero(x.cols(), x.cols());
  s.selfadjointView<Eigen::Lower>().rankUpdate(centred.transpose(), 1 / static_cast<double>(x.rows() - 1));
  s.triangularView<Eigen::StrictlyUpper>() = s.transpose();
  return s;
}

// What a Gaussian model needs to know of its rows, in memory that does not grow with their number.
struct Moments {
  double n = 0;      // sum of the weights
  double rows = 0;   // rows with a positive weight
  VectorXd mean;     // sum_i w_i x_i / n
  MatrixXd scatter;  // sum_i w_i (x_i - mean)(x_i - mean)'
};

template <class V>
void fields(V& v, Moments& t) {
  v("n", t.n);
  v("rows", t.rows);
  v("mean", t.mean);
  v("scatter", t.scatter);
}

// The moments of the rows of x; no weights: ones.
Moments moments(ConstMatrixRef x, ConstVectorRef weights = VectorXd());

// Those of the rows behind a and b together (Chan, Golub, LeVeque 1979): no digits are lost to means that are far from zero,
//   scatter = scatter_a + scatter_b + n_a n_b / (n_a + n_b) (mean_a - mean_b)(mean_a - mean_b)'.
Moments combine(const Moments& a, const Moments& b);

// A data matrix of p + 1 rows with these means, whose second moments about them (divisor: the rows) are scatter / n: least squares
// with any penalty has the same solutions on it as on the rows behind the moments.
MatrixXd rows_with_moments(const Moments& of);

}  // namespace granary
