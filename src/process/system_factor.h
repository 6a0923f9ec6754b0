// A Cholesky factor that is its own or lies in the memory of another (a fit that R holds), until something is appended to it.
#pragma once

#include <utility>

#include "core/base/types.h"
#include "core/linalg/spd.h"

namespace granary::process {

class SystemFactor {
 public:
  SystemFactor() = default;
  SystemFactor(Cholesky own) : own_(std::move(own)) {}  // NOLINT: a factor is a factor
  // `lower`, zeros above its diagonal, must outlive the result.
  static SystemFactor borrowed(MatrixView lower) {
    if (lower.rows() != lower.cols() || !(lower.diagonal().array() > 0).all())
      throw InputError("a Cholesky factor must be square with a positive diagonal.");
    SystemFactor out;
    out.data_ = lower.data();
    out.size_ = lower.rows();
    return out;
  }

  using Lower = Eigen::Map<const MatrixXd, 0, Eigen::OuterStride<>>;
  Lower lower() const {
    if (data_ != nullptr) return Lower(data_, size_, size_, Eigen::OuterStride<>(size_));
    const auto own = own_.lower();
    return Lower(own.data(), own.rows(), own.cols(), Eigen::OuterStride<>(std::max<Index>(1, own.outerStride())));
  }
  Index size() const { return data_ != nullptr ? size_ : own_.size(); }
  double log_determinant() const { return 2 * lower().diagonal().array().log().sum(); }
  MatrixXd reconstruct() const { return lower() * lower().transpose(); }

  template <class B>
  typename B::PlainObject solve_lower(const Eigen::MatrixBase<B>& b) const {  // L^-1 b
    typename B::PlainObject x = b;
    lower().template triangularView<Eigen::Lower>().solveInPlace(x);
    return x;
  }
  template <class B>
  typename B::PlainObject solve_upper(const Eigen::MatrixBase<B>& b) const {  // L'^-1 b
    typename B::PlainObject x = b;
    lower().transpose().template triangularView<Eigen::Upper>().solveInPlace(x);
    return x;
  }
  template <class B>
  typename B::PlainObject solve(const Eigen::MatrixBase<B>& b) const {
    return solve_upper(solve_lower(b));
  }

  void append(ConstVectorRef column, double diagonal) {
    if (data_ != nullptr) {
      own_ = Cholesky::from_lower(lower());
      data_ = nullptr;
    }
    own_.append(column, diagonal);
  }

 private:
  Cholesky own_;
  const double* data_ = nullptr;
  Index size_ = 0;
};

}  // namespace granary::process
