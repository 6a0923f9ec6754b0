#include "regress/completion.h"

#include <algorithm>
#include <cmath>

#include "core/linalg/spectral.h"
#include "core/linalg/dense.h"

namespace granary::regress {

namespace {

double norm_by_gram(const MatrixXd& tall) {  // the largest singular value of a matrix with few columns
  if (tall.cols() == 0) return 0;
  const MatrixXd gram = tall.transpose() * tall;
  return std::sqrt(std::max(0.0, SymmetricEigen(gram, EigenParts::values).eigenvalues().maxCoeff()));
}

double norm_2x2(double a, double b, double c, double d) {
  const double sum = a * a + b * b + c * c + d * d, det = a * d - b * c;
  return std::sqrt(0.5 * (sum + std::sqrt(std::max(0.0, sum * sum - 4 * det * det))));
}

}  // namespace

void take_certificate(const Certificate& seen, const ObservedCells& cells, double tol, CompletionResult& result) {
  result.objective = seen.objective;
  result.loss = seen.loss;
  result.gradient_norm = seen.norm;
  result.convergence.gap = std::max(0.0, seen.gap);
  result.convergence.residual = result.convergence.gap / gap_scale(cells, seen.objective);
  result.certified = result.convergence.residual <= tol;
}

Certificate certify(const ObservedCells& cells, const ThinSvd& w, double lambda, const CertificateOptions& options,
                    Monitor& monitor) {
  Certificate result;
  const std::vector<double> fitted = fitted_cells(cells, balanced(w), options.threads, monitor);
  const std::vector<double> g = negative_gradient(cells, fitted);
  const SparseMatrix gradient = on_cells(cells, g);
  double with_x = 0, dual_square = 0;  // <G, X> and sum g^2 / (4 w)
  for (std::size_t a = 0; a < g.size(); ++a) {
    with_x += g[a] * cells.by_col.value[a];
    dual_square += g[a] * g[a] / (4 * cells.by_col.weight[a]);
  }
  result.loss = dual_square;  // (2 w e)^2 / (4 w) = w e^2
  result.objective = result.loss + lambda * w.d.sum();

  const Index r = w.d.size(), room = std::min(cells.rows, cells.cols) - r;
  MatrixXd a = gradient * w.q, b = gradient.transpose() * w.p;
  const MatrixXd corner = w.p.transpose() * a;
  a.noalias() -= w.p * corner;
  b.noalias() -= w.q * corner.transpose();
  const double g11 = norm_by_gram(corner), g21 = norm_by_gram(a), g12 = norm_by_gram(b);
  if (room > 0) {
    const MatrixOperator outside{cells.rows, cells.cols,
                                 [&](ConstVectorRef x, VectorRef y) {
                                   const VectorXd inner = w.q.transpose() * x;
                                   VectorXd z = x;
                                   z.noalias() -= w.q * inner;
                                   y = gradient * z;
                                   const VectorXd left = w.p.transpose() * y;
                                   y.noalias() -= w.p * left;
                                 },
                                 [&](ConstVectorRef x, VectorRef y) {
                                   const VectorXd inner = w.p.transpose() * x;
                                   VectorXd z = x;
                                   z.noalias() -= w.p * inner;
                                   y = gradient.transpose() * z;
                                   const VectorXd left = w.q.transpose() * y;
                                   y.noalias() -= w.q * left;
                                 }};
    EigenOptions lanczos;
    lanczos.tol = options.tol;
    TruncatedSvd top = truncated_svd(outside, std::min(room, std::max<Index>(1, options.candidates)), lanczos, monitor);
    result.outside = top.values[0];
    result.p = std::move(top.u);
    result.q = std::move(top.v);
    result.values = std::move(top.values);
  }
  const auto gap_at = [&](double norm) {
    const double best = dual_square > 0 ? with_x / (2 * dual_square) : 0;  // maximises s <G, X> - s^2 sum g^2 / (4 w)
    const double s = norm > 0 ? std::max(0.0, std::min(best, lambda / norm)) : 0;
    return result.objective - (s * with_x - s * s * dual_square);
  };
  result.norm = norm_2x2(g11, g12, g21, result.outside);
  result.gap = gap_at(result.norm);
  result.inner_gap = gap_at(norm_2x2(g11, g12, g21, 0));
  return result;
}

}  // namespace granary::regress
