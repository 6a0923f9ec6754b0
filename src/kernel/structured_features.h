// Feature vectors phi(x) of the inputs, one per row of a dense or sparse matrix in R, held so that one vector lies together.
#pragma once

#include "core/base/types.h"

namespace granary::kernel {

class InputFeatures {
 public:
  InputFeatures() = default;
  static InputFeatures dense(ConstMatrixRef rows) {
    InputFeatures f;
    f.dense_ = rows.transpose();
    f.is_dense_ = true;
    return f;
  }
  template <class Sparse>
  static InputFeatures sparse(const Sparse& rows) {
    InputFeatures f;
    f.sparse_ = rows.transpose();
    return f;
  }
  static InputFeatures identity(Index n) {  // of the kernel version, where a token is its own feature
    InputFeatures f;
    f.sparse_.resize(n, n);
    f.sparse_.setIdentity();
    return f;
  }

  Index size() const { return is_dense_ ? dense_.cols() : sparse_.cols(); }
  Index dimension() const { return is_dense_ ? dense_.rows() : sparse_.rows(); }

  template <class Visit>
  void for_each(Index t, Visit&& visit) const {
    if (is_dense_) {
      for (Index d = 0; d < dense_.rows(); ++d) visit(d, dense_(d, t));
    } else {
      for (SparseMatrix::InnerIterator it(sparse_, t); it; ++it) visit(it.index(), it.value());
    }
  }

  // W phi for W with `rows` rows and a column for each feature, stored by columns from w on: what a feature says lies together,
  // so that a sparse phi touches few places.
  VectorXd scores(Index t, const double* w, Index rows) const {
    const Eigen::Map<const MatrixXd> weights(w, rows, dimension());
    if (is_dense_) return weights * dense_.col(t);
    VectorXd out = VectorXd::Zero(rows);
    for (SparseMatrix::InnerIterator it(sparse_, t); it; ++it) out += it.value() * weights.col(it.index());
    return out;
  }

  double squared_norm(Index t) const {
    double sum = 0;
    for_each(t, [&](Index, double value) { sum += value * value; });
    return sum;
  }

 private:
  MatrixXd dense_;
  SparseMatrix sparse_;
  bool is_dense_ = false;
};

}  // namespace granary::kernel
