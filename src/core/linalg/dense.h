// Dense factorisations, compiled once for the whole package. Products, triangular solves and symmetric updates need no call: they
// are written as Eigen's expressions and go to the same engines (core/base/eigen.h).
//
//   Llt, LltInPlace    A = L L'                      SymmetricEigen   A = V diag(d) V', d ascending
//   Lu                 P A = L U                     Svd              A = U diag(d) V', d descending
//   Qr, PivotedQr      A = Q R, A P = Q R
//
// The names of the members are Eigen's, so that a reader of Eigen is at home. Including this file costs a compiler nothing:
// don't include <Eigen/Cholesky>, <Eigen/SVD> and the like elsewhere.
#pragma once

#include <utility>

#include "core/base/types.h"

namespace granary {

// What both kinds of Cholesky factor can do. Only the lower triangle of A is read.
template <class Storage>
class LltBase {
 public:
  Eigen::ComputationInfo info() const { return bad_ == 0 ? Eigen::Success : Eigen::NumericalIssue; }
  Index bad_pivot() const { return bad_ - 1; }  // of the first leading minor that is not positive; -1 if there is none
  Index rows() const { return factor_.rows(); }
  Index cols() const { return factor_.cols(); }

  const Storage& matrixLLT() const { return factor_; }  // its strict upper triangle is that of A
  auto matrixL() const { return factor_.template triangularView<Eigen::Lower>(); }
  auto matrixU() const { return factor_.transpose().template triangularView<Eigen::Upper>(); }

  template <class B>
  void solveInPlace(const Eigen::MatrixBase<B>& b) const {
    matrixL().solveInPlace(b.const_cast_derived());
    matrixU().solveInPlace(b.const_cast_derived());
  }
  template <class B>
  typename B::PlainObject solve(const Eigen::MatrixBase<B>& b) const {  // A^-1 b
    typename B::PlainObject x = b;
    solveInPlace(x);
    return x;
  }

 protected:
  LltBase() = default;
  explicit LltBase(Storage a) : factor_(std::move(a)) {}
  Storage factor_;
  Index bad_ = 0;
};

class Llt : public LltBase<MatrixXd> {
 public:
  Llt() = default;
  explicit Llt(ConstMatrixRef a) { compute(a); }
  void compute(ConstMatrixRef a);
};

class LltInPlace : public LltBase<Eigen::Ref<MatrixXd>> {  // L in the place of A's lower triangle
 public:
  explicit LltInPlace(Eigen::Ref<MatrixXd> a);
};

enum class EigenParts { all, values };

class SymmetricEigen {  // reads the lower triangle
 public:
  SymmetricEigen() = default;
  explicit SymmetricEigen(ConstMatrixRef a, EigenParts parts = EigenParts::all) { compute(a, parts); }
  void compute(ConstMatrixRef a, EigenParts parts = EigenParts::all);
  void compute_tridiagonal(ConstVectorRef diagonal, ConstVectorRef off_diagonal, EigenParts parts = EigenParts::all);

  const VectorXd& eigenvalues() const { return values_; }
  const MatrixXd& eigenvectors() const { return vectors_; }
  Eigen::ComputationInfo info() const { return info_; }

 private:
  VectorXd values_;
  MatrixXd vectors_;
  Eigen::ComputationInfo info_ = Eigen::Success;
};

enum class SvdParts { values, thin, full };

class Svd {
 public:
  Svd() = default;
  explicit Svd(ConstMatrixRef a, SvdParts parts = SvdParts::values) { compute(a, parts); }
  void compute(ConstMatrixRef a, SvdParts parts);

  const VectorXd& singularValues() const { return d_; }
  const MatrixXd& matrixU() const { return u_; }
  const MatrixXd& matrixV() const { return v_; }

 private:
  MatrixXd u_, v_;
  VectorXd d_;
};

class Qr {  // of an n x p matrix, by Householder reflections
 public:
  explicit Qr(ConstMatrixRef a);

  const MatrixXd& matrixQR() const { return qr_; }  // R above, the reflections below
  MatrixXd r() const;                               // min(n, p) x p
  MatrixXd thin_q(Index columns) const;             // the first columns of Q
  MatrixXd thin_q() const { return thin_q(std::min(qr_.rows(), qr_.cols())); }
  MatrixXd full_q() const { return thin_q(qr_.rows()); }
  MatrixXd solve(ConstMatrixRef b) const;  // least squares, n >= p, full rank

 private:
  MatrixXd qr_;
  VectorXd coefficients_;
};

class PivotedQr {  // columns by falling size
 public:
  explicit PivotedQr(ConstMatrixRef a);

  Index rank() const { return rank_; }
  MatrixXd thin_q(Index columns) const;
  MatrixXd thin_q() const { return thin_q(rank_); }  // a basis of the range
  MatrixXd full_q() const { return thin_q(qr_.rows()); }
  const MatrixXd& matrixQR() const { return qr_; }
  const VectorXi& pivots() const { return pivots_; }  // column of A at each place
  MatrixXd solve(ConstMatrixRef b) const;             // least squares; columns beyond the rank get 0

 private:
  MatrixXd qr_;
  VectorXd coefficients_;
  VectorXi pivots_;
  Index rank_ = 0;
};

class Lu {  // square, by rows exchanged
 public:
  Lu() = default;
  explicit Lu(ConstMatrixRef a) { compute(a); }
  void compute(ConstMatrixRef a);

  const MatrixXd& matrixLU() const { return lu_; }
  double permutation_sign() const { return sign_; }
  double determinant() const { return sign_ * lu_.diagonal().prod(); }
  template <class B>
  typename B::PlainObject solve(const Eigen::MatrixBase<B>& b) const {
    typename B::PlainObject x(b.rows(), b.cols());
    const typename B::PlainObject right = b;
    for (Index i = 0; i < x.rows(); ++i) x.row(i) = right.row(rows_[i]);
    lu_.triangularView<Eigen::UnitLower>().solveInPlace(x);
    lu_.triangularView<Eigen::Upper>().solveInPlace(x);
    return x;
  }
  VectorXd solve_transposed(const VectorXd& b) const;  // A'^-1 b
  MatrixXd inverse() const;  // where a solve will not do

 private:
  MatrixXd lu_;
  VectorXi rows_;  // row of A at each place
  double sign_ = 1;
};

}  // namespace granary
