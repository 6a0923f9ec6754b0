#include "core/linalg/moments.h"

#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"

namespace granary {

Moments moments(ConstMatrixRef x, ConstVectorRef weights) {
  Moments out;
  const bool weighted = weights.size() > 0;
  if (weighted && weights.size() != x.rows()) throw InputError("There must be one weight per row.");
  out.n = weighted ? weights.sum() : static_cast<double>(x.rows());
  out.rows = weighted ? static_cast<double>((weights.array() > 0).count()) : static_cast<double>(x.rows());
  out.mean = VectorXd::Zero(x.cols());
  out.scatter = MatrixXd::Zero(x.cols(), x.cols());
  if (!(out.n > 0)) return out;
  if (weighted) {
    out.mean.noalias() = x.transpose() * weights / out.n;
  } else {
    out.mean = x.colwise().mean().transpose();
  }
  MatrixXd centred = x.rowwise() - out.mean.transpose();
  if (weighted) centred.array().colwise() *= weights.array().sqrt();
  out.scatter.selfadjointView<Eigen::Lower>().rankUpdate(centred.transpose());
  out.scatter.triangularView<Eigen::StrictlyUpper>() = out.scatter.transpose();
  return out;
}

Moments combine(const Moments& a, const Moments& b) {
  if (a.n <= 0) return b;
  if (b.n <= 0) return a;
  if (a.mean.size() != b.mean.size()) throw InputError("Moments of different numbers of columns cannot be combined.");
  Moments out;
  out.n = a.n + b.n;
  out.rows = a.rows + b.rows;
  const VectorXd gap = b.mean - a.mean;
  out.mean = a.mean + gap * (b.n / out.n);
  out.scatter = a.scatter + b.scatter + (a.n * (b.n / out.n)) * (gap * gap.transpose());
  return out;
}

MatrixXd rows_with_moments(const Moments& of) {
  const Index p = of.mean.size();
  const Index m = p + 1;
  // scatter / n = D V diag(e) V' D with D the standard deviations, so that columns of any scale keep their digits
  const VectorXd sd = (of.scatter.diagonal() / of.n).cwiseMax(0).cwiseSqrt();
  const VectorXd inverse = sd.unaryExpr([](double s) { return s > 0 ? 1 / s : 0.0; });
  const MatrixXd correlation = inverse.asDiagonal() * (of.scatter / of.n) * inverse.asDiagonal();
  const SymmetricEigen eigen(correlation);
  const VectorXd root = eigen.eigenvalues().cwiseMax(0).cwiseSqrt();
  // the cosines of the discrete cosine transform: orthonormal, and orthogonal to the constant
  MatrixXd rows(m, p);
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < m; ++i) rows(i, j) = std::sqrt(2.0) * std::cos(M_PI * (i + 0.5) * (j + 1) / m) * root(j);
  }
  rows = rows * eigen.eigenvectors().transpose() * sd.asDiagonal();
  rows.rowwise() += of.mean.transpose();
  return rows;
}

}  // namespace granary
