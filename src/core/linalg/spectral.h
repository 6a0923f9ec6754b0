// A few eigenpairs or singular triplets of large matrices, through nothing but products with vectors.
//
//   top_eigenpairs    k extreme eigenpairs of a symmetric matrix: implicitly restarted Lanczos (Spectra), or the dense solver
//                     where that is cheaper
//   truncated_svd     k leading singular triplets from A x and A'x: Lanczos on the smaller Gram matrix, then one small exact SVD
//   randomized_svd    the same by Gaussian sketching with power iterations: Halko, Martinsson, Tropp (SIAM Rev. 2011), 4.4
//   and 5.1 pivoted_cholesky  A ~ F F' by greedy pivots, from entries asked for one column at a time
//
// Every vector's sign is fixed so that its entry of largest magnitude (the first of equals) is positive; for an SVD this holds
// for the right vectors. The starting vector is fixed too, so results do not depend on a seed.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/linalg/spd.h"
#include "core/base/types.h"
#include "core/linalg/dense.h"

namespace granary {

// A general matrix as its products y = A x and y = A'x; `a` and `b` in the makers below must outlive it.
struct MatrixOperator {
  Index rows = 0;
  Index cols = 0;
  LinearOperator apply;       // x of length cols, y of length rows
  LinearOperator transposed;  // x of length rows, y of length cols
};
MatrixOperator dense_operator(const MatrixXd& a);
MatrixOperator sparse_operator(const SparseMatrix& a);
MatrixOperator sparse_plus_low_rank(const SparseMatrix& s, const MatrixXd& u, const MatrixXd& v);  // S + U V'

enum class Which { largest, smallest, largest_magnitude };  // the first two in the algebraic order

struct EigenOptions {
  double tol = 1e-10;   // on ||A v - lambda v|| / ||A||
  int max_iter = 1000;  // restarts
  int subspace = 0;     // Krylov dimension; 0: max(2k + 1, 20)
};
struct EigenPairs {
  VectorXd values;          // best first: descending for `largest`, ascending for `smallest`, by |value| for `largest_magnitude`
  MatrixXd vectors;         // columns
  Convergence convergence;  // residual = max ||A v - lambda v|| / ||A||
};
// NumericalError when not all k pairs are found. Symmetry is the caller's promise; of stored matrices the lower triangle is read.
EigenPairs top_eigenpairs(const LinearOperator& apply, Index n, Index k, Which which, const EigenOptions& options,
                          Monitor& monitor);
EigenPairs top_eigenpairs(const MatrixXd& a, Index k, Which which, const EigenOptions& options, Monitor& monitor);
EigenPairs top_eigenpairs(const SparseMatrix& a, Index k, Which which, const EigenOptions& options, Monitor& monitor);

// An upper bound of the smallest eigenvalue of a symmetric matrix (both triangles are read) by `steps` Lanczos steps with full
// reorthogonalisation: one matrix-vector product each, exact but for rounding when steps >= n. A negative value proves that the matrix is
// not positive semi-definite.
double smallest_ritz_value(const ConstMatrixRef& a, Index steps);

struct TruncatedSvd {
  MatrixXd u;       // rows x k
  VectorXd values;  // descending
  MatrixXd v;       // cols x k
  Convergence convergence;
};
TruncatedSvd truncated_svd(const MatrixOperator& a, Index k, const EigenOptions& options, Monitor& monitor);
TruncatedSvd truncated_svd(const MatrixXd& a, Index k, const EigenOptions& options, Monitor& monitor);
TruncatedSvd truncated_svd(const SparseMatrix& a, Index k, const EigenOptions& options, Monitor& monitor);

// Flips columns so that the entry of largest magnitude is positive; `paired` columns flip along.
void fix_signs(MatrixXd& vectors);
void fix_signs(MatrixXd& vectors, MatrixXd& paired);

struct PivotedCholesky {
  MatrixXd factor;            // n x rank, A ~ F F'; rows in the original order
  std::vector<Index> pivots;  // the columns of A that were used, in order
  double residual_trace = 0;  // tr(A - F F'), the exact nuclear-norm error for a PSD matrix
};
// Stops at `max_rank` columns or once the residual trace is at most tol tr(A). `column(j, y)` writes A(:, j) to y.
PivotedCholesky pivoted_cholesky(ConstVectorRef diagonal, const std::function<void(Index j, VectorRef y)>& column, Index max_rank,
                                 double tol, Monitor& monitor);
PivotedCholesky pivoted_cholesky(ConstMatrixRef a, Index max_rank, double tol, Monitor& monitor);

struct RandomizedSvdOptions {
  int oversample = 10;
  int power_iterations = 2;
};

// SVD of Q B given an orthonormal Q and B = Q'A, cut to k; shared by the solvers above and below.
TruncatedSvd svd_from_basis(const MatrixXd& q, const MatrixXd& b, Index k);
void require_svd_size(const MatrixOperator& a, Index k);

// `Random` offers normal(). Columns are products with single vectors, so any operator will do.
template <class Random>
TruncatedSvd randomized_svd(const MatrixOperator& a, Index k, const RandomizedSvdOptions& options, Random& rng,
                            Monitor& monitor) {
  require_svd_size(a, k);
  const Stopwatch clock;
  const Index width = std::min(k + std::max(0, options.oversample), std::min(a.rows, a.cols));
  const auto product = [&](const LinearOperator& apply, const MatrixXd& x, Index rows) {
    MatrixXd y(rows, x.cols());
    for (Index j = 0; j < x.cols(); ++j) {
      monitor.check();
      apply(x.col(j), y.col(j));
    }
    return y;
  };
  // Orthonormalising between products keeps directions whose singular values would drown after a few powers.
  const auto orthonormal = [&](const MatrixXd& y) {
    return Qr(y).thin_q(y.cols());
  };
  MatrixXd omega(a.cols, width);
  for (Index j = 0; j < width; ++j) {
    for (Index i = 0; i < a.cols; ++i) omega(i, j) = rng.normal();
  }
  MatrixXd q = orthonormal(product(a.apply, omega, a.rows));
  for (int round = 0; round < options.power_iterations; ++round) {
    const MatrixXd z = orthonormal(product(a.transposed, q, a.cols));
    q = orthonormal(product(a.apply, z, a.rows));
  }
  TruncatedSvd result = svd_from_basis(q, product(a.transposed, q, a.cols).transpose(), k);
  result.convergence.iterations = options.power_iterations;
  result.convergence.seconds = clock.seconds();
  return result;
}

}  // namespace granary
