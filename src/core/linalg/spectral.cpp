#include "core/linalg/spectral.h"
#include "core/linalg/dense.h"

#include <Spectra/SymEigsSolver.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace granary {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

void require_count(Index k, Index n) {
  if (k < 1 || k > n) throw InputError(message("the number of components must be between 1 and ", n, ", got ", k, "."));
}

// Lanczos costs about 3k products and as many orthogonalisations; past this share of n the dense solver wins and never fails.
bool dense_is_cheaper(Index k, Index n) { return n <= 32 || 3 * k >= n; }

// No coordinate is zero and no simple symmetry is respected, so the start is orthogonal to no eigenvector of interest by design.
VectorXd start_vector(Index n) {
  constexpr double golden = 0.6180339887498949;
  VectorXd v(n);
  for (Index i = 0; i < n; ++i) {
    const double turn = golden * static_cast<double>(i + 1);
    v[i] = turn - std::floor(turn) - 0.5 + 0.25 * std::cos(static_cast<double>(i));
  }
  return v.normalized();
}

std::vector<Index> order_of(const VectorXd& values, Which which) {
  std::vector<Index> order(values.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) {
    if (which == Which::largest) return values[i] > values[j];
    if (which == Which::smallest) return values[i] < values[j];
    return std::abs(values[i]) > std::abs(values[j]);
  });
  return order;
}

void keep_best(EigenPairs& pairs, Index k, Which which) {
  const std::vector<Index> order = order_of(pairs.values, which);
  const VectorXd values = pairs.values;
  const MatrixXd vectors = pairs.vectors;
  pairs.values.resize(k);
  pairs.vectors.resize(vectors.rows(), k);
  for (Index j = 0; j < k; ++j) {
    pairs.values[j] = values[order[j]];
    pairs.vectors.col(j) = vectors.col(order[j]);
  }
}

EigenPairs dense_eigenpairs(const MatrixXd& a, Index k, Which which) {
  if (!a.allFinite()) throw InputError("the matrix holds a value that is missing or not finite.");
  const SymmetricEigen solver(a);
  if (solver.info() != Eigen::Success) throw NumericalError("the dense eigenvalue solver did not converge; rescale the matrix.");
  EigenPairs pairs;
  pairs.values = solver.eigenvalues();
  pairs.vectors = solver.eigenvectors();
  const double norm = pairs.values.cwiseAbs().maxCoeff();
  keep_best(pairs, k, which);
  fix_signs(pairs.vectors);
  const MatrixXd gap = a.selfadjointView<Eigen::Lower>() * pairs.vectors - pairs.vectors * pairs.values.asDiagonal();
  pairs.convergence.residual = norm > 0 ? gap.colwise().norm().maxCoeff() / norm : 0;
  pairs.convergence.converged = true;
  return pairs;
}

// What Spectra asks of an operator: (sign A + shift I) / scale.
class ShiftedOperator {
 public:
  using Scalar = double;
  ShiftedOperator(const LinearOperator& apply, Index n, double sign, double scale, double shift, Monitor& monitor)
      : apply_(apply), n_(n), sign_(sign), scale_(scale), shift_(shift), monitor_(monitor) {}
  Index rows() const { return n_; }
  Index cols() const { return n_; }
  void perform_op(const double* x_in, double* y_out) const {
    monitor_.check();
    const Eigen::Map<const VectorXd> x(x_in, n_);
    Eigen::Map<VectorXd> y(y_out, n_);
    apply_(x, y);
    y = (sign_ / scale_) * y + shift_ * x;
  }

 private:
  const LinearOperator& apply_;
  Index n_;
  double sign_, scale_, shift_;
  Monitor& monitor_;
};

// A lower bound on ||A||, within a small factor after a few powers.
double norm_estimate(const LinearOperator& apply, Index n) {
  VectorXd x = start_vector(n), y(n);
  double norm = 0;
  for (int round = 0; round < 6; ++round) {
    apply(x, y);
    if (!y.allFinite()) throw NumericalError("a product with the matrix is not finite; look for missing values or rescale it.");
    const double size = y.norm();
    norm = std::max(norm, size);
    if (size == 0) break;
    x = y / size;
  }
  return norm;
}

// The k algebraically largest pairs of sign * A. Spectra measures residuals against |eigenvalue|, so an eigenvalue near zero
// could never pass: with A / ||A|| + 2 I all of them are near one, and the test becomes relative to ||A||.
void append_extreme(const LinearOperator& apply, Index n, Index k, double sign, double norm, const EigenOptions& options,
                    Monitor& monitor, EigenPairs& pairs) {
  const double shift = 2;
  ShiftedOperator op(apply, n, sign, norm, shift, monitor);
  const Index wanted = options.subspace > 0 ? options.subspace : std::max<Index>(2 * k + 1, 20);
  const Index subspace = std::min(n, std::max(wanted, k + 2));
  Spectra::SymEigsSolver<double, Spectra::LARGEST_ALGE, ShiftedOperator> solver(&op, k, subspace);
  VectorXd start = start_vector(n);
  solver.init(start.data());
  // A restarted Krylov space can pass over a copy of a repeated eigenvalue that enters only by rounding; the strict
  // tolerance makes it stay long enough to meet them.
  const Index found = solver.compute(options.max_iter, options.tol / 3, Spectra::LARGEST_ALGE);
  pairs.convergence.iterations += static_cast<int>(solver.num_iterations());
  if (solver.info() != Spectra::SUCCESSFUL || found < k) {
    throw NumericalError(message("only ", found, " of ", k, " eigenpairs converged to tolerance ", options.tol, " in ",
                                 options.max_iter, " restarts; raise max_iter or subspace (now ", subspace, "), or loosen tol."));
  }
  const Index before = pairs.values.size();
  pairs.values.conservativeResize(before + k);
  pairs.vectors.conservativeResize(n, before + k);
  pairs.values.tail(k) = sign * norm * (solver.eigenvalues().array() - shift);
  pairs.vectors.rightCols(k) = solver.eigenvectors(k);
}

}  // namespace

void fix_signs(MatrixXd& vectors) {
  MatrixXd none(0, vectors.cols());
  fix_signs(vectors, none);
}

void fix_signs(MatrixXd& vectors, MatrixXd& paired) {
  if (vectors.rows() == 0) return;
  for (Index j = 0; j < vectors.cols(); ++j) {
    // Entries equal up to rounding count as ties, or the sign would depend on the compiler.
    const double largest = vectors.col(j).cwiseAbs().maxCoeff();
    Index i = 0;
    while (std::abs(vectors(i, j)) < largest * (1 - 1e-8)) ++i;
    if (vectors(i, j) < 0) {
      vectors.col(j) *= -1;
      paired.col(j) *= -1;
    }
  }
}

EigenPairs top_eigenpairs(const LinearOperator& apply, Index n, Index k, Which which, const EigenOptions& options,
                          Monitor& monitor) {
  require_count(k, n);
  const Stopwatch clock;
  if (dense_is_cheaper(k, n)) {
    MatrixXd a(n, n);
    for (Index j = 0; j < n; ++j) {
      monitor.check();
      apply(VectorXd::Unit(n, j), a.col(j));
    }
    EigenPairs pairs = dense_eigenpairs(0.5 * (a + a.transpose()), k, which);
    pairs.convergence.seconds = clock.seconds();
    return pairs;
  }

  EigenPairs pairs;
  const double norm = norm_estimate(apply, n);
  if (norm == 0) {  // a generic vector is mapped to zero only by the zero matrix
    pairs.values = VectorXd::Zero(k);
    pairs.vectors = MatrixXd::Identity(n, k);
    pairs.convergence.residual = 0;
    pairs.convergence.converged = true;
    return pairs;
  }
  if (which != Which::smallest) append_extreme(apply, n, k, 1, norm, options, monitor, pairs);
  if (which != Which::largest) append_extreme(apply, n, k, -1, norm, options, monitor, pairs);
  keep_best(pairs, k, which);
  fix_signs(pairs.vectors);

  double worst = 0;
  VectorXd y(n);
  for (Index j = 0; j < k; ++j) {
    apply(pairs.vectors.col(j), y);
    worst = std::max(worst, (y - pairs.values[j] * pairs.vectors.col(j)).norm());
  }
  pairs.convergence.residual = worst / norm;
  pairs.convergence.converged = true;
  pairs.convergence.seconds = clock.seconds();
  return pairs;
}

EigenPairs top_eigenpairs(const MatrixXd& a, Index k, Which which, const EigenOptions& options, Monitor& monitor) {
  if (a.rows() != a.cols()) throw InputError(message("expected a square matrix, got ", a.rows(), " x ", a.cols(), "."));
  require_count(k, a.rows());
  if (dense_is_cheaper(k, a.rows())) return dense_eigenpairs(a, k, which);
  return top_eigenpairs([&](ConstVectorRef x, VectorRef y) { y.noalias() = a.selfadjointView<Eigen::Lower>() * x; }, a.rows(), k,
                        which, options, monitor);
}

EigenPairs top_eigenpairs(const SparseMatrix& a, Index k, Which which, const EigenOptions& options, Monitor& monitor) {
  if (a.rows() != a.cols()) throw InputError(message("expected a square matrix, got ", a.rows(), " x ", a.cols(), "."));
  require_count(k, a.rows());
  return top_eigenpairs([&](ConstVectorRef x, VectorRef y) { y = a.selfadjointView<Eigen::Lower>() * x; }, a.rows(), k, which,
                        options, monitor);
}

MatrixOperator dense_operator(const MatrixXd& a) {
  return {a.rows(), a.cols(), [&a](ConstVectorRef x, VectorRef y) { y.noalias() = a * x; },
          [&a](ConstVectorRef x, VectorRef y) { y.noalias() = a.transpose() * x; }};
}

MatrixOperator sparse_operator(const SparseMatrix& a) {
  return {a.rows(), a.cols(), [&a](ConstVectorRef x, VectorRef y) { y = a * x; },
          [&a](ConstVectorRef x, VectorRef y) { y = a.transpose() * x; }};
}

MatrixOperator sparse_plus_low_rank(const SparseMatrix& s, const MatrixXd& u, const MatrixXd& v) {
  if (u.rows() != s.rows() || v.rows() != s.cols() || u.cols() != v.cols()) {
    throw InputError(message("the low-rank part is ", u.rows(), " x ", u.cols(), " times ", v.cols(), " x ", v.rows(),
                             ", which does not fit a ", s.rows(), " x ", s.cols(), " matrix."));
  }
  return {s.rows(), s.cols(),
          [&s, &u, &v](ConstVectorRef x, VectorRef y) {
            const VectorXd inner = v.transpose() * x;
            y = s * x;
            y.noalias() += u * inner;
          },
          [&s, &u, &v](ConstVectorRef x, VectorRef y) {
            const VectorXd inner = u.transpose() * x;
            y = s.transpose() * x;
            y.noalias() += v * inner;
          }};
}

void require_svd_size(const MatrixOperator& a, Index k) { require_count(k, std::min(a.rows, a.cols)); }

TruncatedSvd svd_from_basis(const MatrixXd& q, const MatrixXd& b, Index k) {
  if (!b.allFinite()) throw NumericalError("a product with the matrix is not finite; look for missing values or rescale it.");
  const Svd svd(b, SvdParts::thin);
  TruncatedSvd result;
  result.u = q * svd.matrixU().leftCols(k);
  result.values = svd.singularValues().head(k);
  result.v = svd.matrixV().leftCols(k);
  fix_signs(result.v, result.u);
  result.convergence.converged = true;
  return result;
}

TruncatedSvd truncated_svd(const MatrixOperator& a, Index k, const EigenOptions& options, Monitor& monitor) {
  require_svd_size(a, k);
  const Stopwatch clock;
  const bool tall = a.rows >= a.cols;
  const Index n = tall ? a.cols : a.rows;
  const LinearOperator& first = tall ? a.apply : a.transposed;
  const LinearOperator& second = tall ? a.transposed : a.apply;

  EigenPairs gram;
  if (dense_is_cheaper(k, n)) {
    gram.vectors = MatrixXd::Identity(n, n);  // the small SVD below is then the whole one
  } else {
    VectorXd middle(tall ? a.rows : a.cols);
    gram = top_eigenpairs(
        [&](ConstVectorRef x, VectorRef y) {
          first(x, middle);
          second(middle, y);
        },
        n, k, Which::largest, options, monitor);
  }
  // Singular values of B = A V are those of A on span(V) without the squaring, so small ones keep their digits.
  MatrixXd b(tall ? a.rows : a.cols, gram.vectors.cols());
  for (Index j = 0; j < b.cols(); ++j) {
    monitor.check();
    first(gram.vectors.col(j), b.col(j));
  }
  TruncatedSvd result = svd_from_basis(gram.vectors, b.transpose(), k);
  if (tall) std::swap(result.u, result.v);
  fix_signs(result.v, result.u);
  result.convergence.iterations = gram.convergence.iterations;
  result.convergence.residual = gram.convergence.residual;
  result.convergence.seconds = clock.seconds();
  return result;
}

TruncatedSvd truncated_svd(const MatrixXd& a, Index k, const EigenOptions& options, Monitor& monitor) {
  return truncated_svd(dense_operator(a), k, options, monitor);
}

TruncatedSvd truncated_svd(const SparseMatrix& a, Index k, const EigenOptions& options, Monitor& monitor) {
  return truncated_svd(sparse_operator(a), k, options, monitor);
}

PivotedCholesky pivoted_cholesky(ConstVectorRef diagonal, const std::function<void(Index j, VectorRef y)>& column, Index max_rank,
                                 double tol, Monitor& monitor) {
  const Index n = diagonal.size();
  if (max_rank < 0) throw InputError(message("max_rank must not be negative, got ", max_rank, "."));
  if (!diagonal.allFinite() || (diagonal.array() < 0).any()) {
    throw InputError("the diagonal of a positive semi-definite matrix must be finite and not negative.");
  }
  PivotedCholesky result;
  VectorXd left = diagonal, y(n);
  const double trace = diagonal.sum(), largest = n > 0 ? diagonal.maxCoeff() : 0;
  const Index limit = std::min(max_rank, n);
  result.factor.resize(n, limit);
  result.residual_trace = trace;
  Index rank = 0;
  while (rank < limit && result.residual_trace > tol * trace) {
    monitor.check();
    Index pivot;
    const double size = left.maxCoeff(&pivot);
    if (size <= static_cast<double>(n) * epsilon * largest) break;  // what is left is rounding
    column(pivot, y);
    y.noalias() -= result.factor.leftCols(rank) * result.factor.row(pivot).head(rank).transpose();
    for (Index done : result.pivots) y[done] = 0;
    y /= std::sqrt(size);
    y[pivot] = std::sqrt(size);
    if (!y.allFinite()) throw NumericalError(message("column ", pivot + 1, " of the matrix holds a value that is not finite."));
    result.factor.col(rank++) = y;
    result.pivots.push_back(pivot);
    left = (left - y.cwiseAbs2()).cwiseMax(0);
    left[pivot] = 0;
    result.residual_trace = left.sum();
  }
  result.factor.conservativeResize(n, rank);
  return result;
}

PivotedCholesky pivoted_cholesky(ConstMatrixRef a, Index max_rank, double tol, Monitor& monitor) {
  if (a.rows() != a.cols()) throw InputError(message("expected a square matrix, got ", a.rows(), " x ", a.cols(), "."));
  const VectorXd diagonal = a.diagonal();
  return pivoted_cholesky(
      diagonal, [&](Index j, VectorRef y) { y = a.col(j); }, max_rank, tol, monitor);
}

double smallest_ritz_value(const ConstMatrixRef& a, Index steps) {
  const Index n = a.rows();
  steps = std::min(steps, n);
  MatrixXd basis(n, steps);
  VectorXd diagonal(steps), off(steps);
  VectorXd q = start_vector(n).normalized(), y(n);
  double norm = 0;
  Index m = 0;
  while (m < steps) {
    basis.col(m) = q;
    y.noalias() = a * q;
    norm = std::max(norm, y.norm());
    diagonal[m] = q.dot(y);
    for (int twice = 0; twice < 2; ++twice) y -= (basis.leftCols(m + 1) * (basis.leftCols(m + 1).transpose() * y)).eval();
    const double left = y.norm();
    off[m++] = left;
    if (!(left > 1e-14 * norm)) break;  // the Krylov space is used up
    q = y / left;
  }
  SymmetricEigen solver;
  solver.compute_tridiagonal(diagonal.head(m), off.head(m - 1), EigenParts::values);
  return solver.eigenvalues()[0];
}

}  // namespace granary
