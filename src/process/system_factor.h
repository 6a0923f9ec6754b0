// A Cholesky factor that is its own or lies in the memory of another (a fit that R holds), until something is appended to it.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/errors.h"
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
    if (grown_.size() > 0) return Lower(grown_.data(), size_, size_, Eigen::OuterStride<>(grown_.rows()));
    const auto own = own_.lower();
    return Lower(own.data(), own.rows(), own.cols(), Eigen::OuterStride<>(std::max<Index>(1, own.outerStride())));
  }
  Index size() const { return data_ != nullptr || grown_.size() > 0 ? size_ : own_.size(); }
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

  // [C c; c' d], one of `more` that will come. A borrowed factor is copied once, with room for those: at some thousand rows the copies are
  // what an append costs.
  void append(ConstVectorRef column, double diagonal, Index more = 1) {
    if (data_ == nullptr && grown_.size() == 0) return own_.append(column, diagonal);
    const VectorXd row = solve_lower(column);
    const double pivot = diagonal - row.squaredNorm();
    if (!(pivot > 1e-15 * std::abs(diagonal)) || !std::isfinite(pivot))
      throw NumericalError(message("the new row depends linearly on the ", size_, " before it; leave it out or add a ridge to its diagonal."));
    if (data_ != nullptr) {
      grown_.resize(size_ + more, size_ + more);
      grown_.topLeftCorner(size_, size_) = lower();
      data_ = nullptr;
    } else if (size_ == grown_.rows()) {
      const Index room = size_ + std::max<Index>(8, size_ / 8);
      grown_.conservativeResize(room, room);
    }
    grown_.row(size_).head(size_) = row.transpose();
    grown_.col(size_).head(size_).setZero();
    grown_(size_, size_) = std::sqrt(pivot);
    ++size_;
  }

  // L itself, without a copy where that can be; the factor is gone then.
  MatrixXd take() {
    if (data_ == nullptr && grown_.size() > 0 && grown_.rows() == size_) {
      size_ = 0;
      return std::move(grown_);
    }
    return lower();
  }

 private:
  Cholesky own_;
  const double* data_ = nullptr;
  MatrixXd grown_;  // of a factor that was borrowed
  Index size_ = 0;
};

}  // namespace granary::process
