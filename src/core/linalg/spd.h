// Symmetric positive definite matrices: factor, solve, modify, repair.
//
//   Cholesky              A = L L', kept under rank-1 changes and row append/erase (Golub & Van Loan, 6.5; LINPACK's downdate)
//   DiagonalPlusLowRank   (D + U U')^-1 and log det by Woodbury and Sylvester, in a form that stays well scaled
//   BandedCholesky        the same in O(n b^2) for bandwidth b
//   conjugate_gradient    A x = b when only y = A x is at hand
//   nearest_psd, nearest_correlation   Higham (IMA J. Numer. Anal. 2002)
//
// Only the lower triangle of a symmetric argument is read.
#pragma once

#include <functional>

#include "core/base/convergence.h"
#include "core/base/errors.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

// y = A x. The result goes to an argument: a lambda that returned `a * x` would return an expression over dead references.
using LinearOperator = std::function<void(ConstVectorRef x, VectorRef y)>;

class Cholesky {
 public:
  Cholesky() = default;                 // of the empty matrix, ready for `append`
  explicit Cholesky(ConstMatrixRef a);  // throws NumericalError naming the first leading minor that is not positive

  // Takes L itself; its diagonal must be positive. The strict upper triangle is ignored.
  static Cholesky from_lower(ConstMatrixRef lower);

  Index size() const { return size_; }
  double jitter() const { return jitter_; }  // what cholesky_with_jitter added to the diagonal

  auto lower() const { return storage_.topLeftCorner(size_, size_); }  // L, zeros above the diagonal
  MatrixXd reconstruct() const;                                        // L L'

  template <class B>
  typename B::PlainObject solve(const Eigen::MatrixBase<B>& b) const {  // A^-1 b
    typename B::PlainObject x = solve_lower(b);
    lower().transpose().template triangularView<Eigen::Upper>().solveInPlace(x);
    return x;
  }
  template <class B>
  typename B::PlainObject solve_lower(const Eigen::MatrixBase<B>& b) const {  // L^-1 b
    require_rows(b.rows());
    typename B::PlainObject x = b;
    lower().template triangularView<Eigen::Lower>().solveInPlace(x);
    return x;
  }
  template <class B>
  typename B::PlainObject solve_upper(
      const Eigen::MatrixBase<B>& b) const {  // L'^-1 b; of standard normals: a draw from N(0, A^-1)
    require_rows(b.rows());
    typename B::PlainObject x = b;
    lower().transpose().template triangularView<Eigen::Upper>().solveInPlace(x);
    return x;
  }

  double log_determinant() const;
  double quadratic_form(ConstVectorRef x) const;          // x' A x
  double inverse_quadratic_form(ConstVectorRef b) const;  // b' A^-1 b

  void update(ConstVectorRef v);    // A + v v', O(n^2)
  void downdate(ConstVectorRef v);  // A - v v'; NumericalError, and no change, when that is not positive definite

  // [A c; c' d]; NumericalError, and no change, when that is not positive definite. Amortised O(n^2).
  void append(ConstVectorRef column, double diagonal);
  void erase(Index i);  // drops row and column i

 private:
  friend Cholesky cholesky_with_jitter(ConstMatrixRef, const struct JitterOptions&);

  void require_rows(Index rows) const;

  MatrixXd storage_;  // grows by doubling; the factor is its top left corner
  Index size_ = 0;
  double jitter_ = 0;
};

// Adds 0, then first, 10 first, ... up to last (each times the mean of the diagonal) until the matrix factors.
struct JitterOptions {
  double first = 1e-12;
  double last = 1e-2;
};
Cholesky cholesky_with_jitter(ConstMatrixRef a, const JitterOptions& options = {});

class DiagonalPlusLowRank {  // A = diag(d) + U U', d > 0
 public:
  DiagonalPlusLowRank(ConstVectorRef d, ConstMatrixRef u);

  Index size() const { return root_.size(); }
  double log_determinant() const;
  VectorXd inverse_diagonal() const;  // diag(A^-1)

  template <class B>
  typename B::PlainObject solve(const Eigen::MatrixBase<B>& b) const {
    if (b.rows() != size()) throw InputError(message("the right-hand side has ", b.rows(), " rows, the matrix ", size(), "."));
    // With W = D^-1/2 U: A^-1 = D^-1/2 (I - W (I + W'W)^-1 W') D^-1/2, whose middle matrix has no eigenvalue below one.
    typename B::PlainObject scaled = root_.cwiseInverse().asDiagonal() * b;
    const MatrixXd inner = middle_.solve(w_.transpose() * scaled);
    scaled.noalias() -= w_ * inner;
    return root_.cwiseInverse().asDiagonal() * scaled;
  }

 private:
  VectorXd root_;  // D^1/2
  MatrixXd w_;     // D^-1/2 U
  Cholesky middle_;
};

class BandedCholesky {
 public:
  // bands(k, j) = A(j + k, j) for k = 0..b: the diagonal in the first row, then the subdiagonals (LAPACK's lower storage).
  explicit BandedCholesky(ConstMatrixRef bands);

  Index size() const { return factor_.cols(); }
  Index bandwidth() const { return factor_.rows() - 1; }
  VectorXd solve(ConstVectorRef b) const;        // A^-1 b
  VectorXd solve_lower(ConstVectorRef b) const;  // L^-1 b
  VectorXd solve_upper(ConstVectorRef b) const;  // L'^-1 b; of standard normals: a draw from N(0, A^-1)
  double log_determinant() const;

 private:
  MatrixXd factor_;  // L in the same storage
};

struct CgOptions {
  double tol = 1e-10;  // on ||b - A x|| / ||b||
  int max_iter = 0;    // 0: ten times the dimension
};
struct CgResult {
  VectorXd x;
  Convergence convergence;  // residual = ||b - A x|| / ||b||
};
// Preconditioned conjugate gradients from `start` (empty: zero). `precondition` maps r to M^-1 r; empty: none.
CgResult conjugate_gradient(const LinearOperator& apply, ConstVectorRef b, const CgOptions& options, Monitor& monitor,
                            const LinearOperator& precondition = {}, ConstVectorRef start = VectorXd());

// |a_ij - a_ji| <= tol max|a| everywhere; false for a matrix that is not square or not finite.
bool is_symmetric(ConstMatrixRef a, double tol = 1e-8);

double quadratic_form(ConstMatrixRef a, ConstVectorRef x);  // x' A x

// The closest matrix in Frobenius norm whose eigenvalues are at least `min_eigenvalue`.
MatrixXd nearest_psd(ConstMatrixRef a, double min_eigenvalue = 0);

struct NearestCorrelationOptions {
  double tol = 1e-8;  // on the relative change of both projections
  int max_iter = 1000;
  double min_eigenvalue = 0;  // in [0, 1): a floor that keeps the result invertible
};
struct NearestCorrelationResult {
  MatrixXd correlation;
  Convergence convergence;
};
NearestCorrelationResult nearest_correlation(ConstMatrixRef a, const NearestCorrelationOptions& options, Monitor& monitor);

}  // namespace granary
