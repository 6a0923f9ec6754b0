#include "core/linalg/dense.h"

#include <Eigen/LU>
#include <Eigen/QR>

#include "core/linalg/engine.h"

namespace granary {

namespace {

template <class Storage>
Index factor(Storage& a) {
  return a.size() == 0 ? 0 : factor_lower(static_cast<int>(a.rows()), a.data(), static_cast<int>(a.outerStride()));
}

MatrixXd columns_of_q(const MatrixXd& qr, const VectorXd& coefficients, Index columns) {
  MatrixXd q = MatrixXd::Identity(qr.rows(), columns);
  const Index count = coefficients.size();
  if (count > 0) q.applyOnTheLeft(Eigen::householderSequence(qr, coefficients).setLength(count));
  return q;
}

}  // namespace

void Llt::compute(ConstMatrixRef a) {
  factor_ = a;
  bad_ = factor(factor_);
}

LltInPlace::LltInPlace(Eigen::Ref<MatrixXd> a) : LltBase(a) { bad_ = factor(factor_); }

Qr::Qr(ConstMatrixRef a) {
  const Eigen::HouseholderQR<MatrixXd> qr(a);
  qr_ = qr.matrixQR();
  coefficients_ = qr.hCoeffs();
}

MatrixXd Qr::r() const { return qr_.topRows(std::min(qr_.rows(), qr_.cols())).triangularView<Eigen::Upper>(); }

MatrixXd Qr::thin_q(Index columns) const { return columns_of_q(qr_, coefficients_, columns); }

MatrixXd Qr::solve(ConstMatrixRef b) const {
  const Index p = qr_.cols();
  MatrixXd right = b;
  if (coefficients_.size() > 0) right.applyOnTheLeft(Eigen::householderSequence(qr_, coefficients_).setLength(p).transpose());
  MatrixXd x = right.topRows(p);
  qr_.topRows(p).triangularView<Eigen::Upper>().solveInPlace(x);
  return x;
}

PivotedQr::PivotedQr(ConstMatrixRef a) {
  const Eigen::ColPivHouseholderQR<MatrixXd> qr(a);
  qr_ = qr.matrixQR();
  coefficients_ = qr.hCoeffs();
  pivots_ = qr.colsPermutation().indices();
  rank_ = qr.rank();
}

MatrixXd PivotedQr::thin_q(Index columns) const { return columns_of_q(qr_, coefficients_, columns); }

MatrixXd PivotedQr::solve(ConstMatrixRef b) const {
  MatrixXd right = b;
  if (coefficients_.size() > 0) right.applyOnTheLeft(Eigen::householderSequence(qr_, coefficients_).setLength(rank_).transpose());
  MatrixXd inner = right.topRows(rank_);
  qr_.topLeftCorner(rank_, rank_).triangularView<Eigen::Upper>().solveInPlace(inner);
  MatrixXd x = MatrixXd::Zero(qr_.cols(), b.cols());
  for (Index j = 0; j < rank_; ++j) x.row(pivots_[j]) = inner.row(j);
  return x;
}

void Lu::compute(ConstMatrixRef a) {
  const Eigen::PartialPivLU<MatrixXd> lu(a);
  lu_ = lu.matrixLU();
  const VectorXi to = lu.permutationP().indices();  // row i of A goes to place to[i]
  rows_.resize(to.size());
  for (Index i = 0; i < to.size(); ++i) rows_[to[i]] = static_cast<int>(i);
  sign_ = lu.permutationP().determinant();
}

VectorXd Lu::solve_transposed(const VectorXd& b) const {
  VectorXd x = b;
  lu_.transpose().triangularView<Eigen::Lower>().solveInPlace(x);
  lu_.transpose().triangularView<Eigen::UnitUpper>().solveInPlace(x);
  VectorXd out(x.size());
  for (Index i = 0; i < x.size(); ++i) out[rows_[i]] = x[i];
  return out;
}

MatrixXd Lu::inverse() const { return solve(MatrixXd::Identity(lu_.rows(), lu_.cols())); }

}  // namespace granary
