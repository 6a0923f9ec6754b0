// A design that lives elsewhere, dense or sparse: what a method needs that asks for products only, or that has one routine for each.
#pragma once

#include "core/base/types.h"

namespace granary {

using ConstSparseRef = Eigen::Ref<const SparseMatrix>;

class Design {
 public:
  Design() : dense_(nullptr, 0, 0), sparse_(0, 0, 0, nullptr, nullptr, nullptr) {}
  explicit Design(const MatrixView& x) : dense_(x.data(), x.rows(), x.cols()), sparse_(0, 0, 0, nullptr, nullptr, nullptr) {}
  explicit Design(const ConstSparseMap& x) : dense_(nullptr, 0, 0), sparse_(x), is_sparse_(true) {}
  Design(const Design&) = default;
  Design& operator=(const Design& other) {  // Eigen's views cannot be pointed elsewhere
    if (this != &other) {
      this->~Design();
      new (this) Design(other);
    }
    return *this;
  }

  Index rows() const { return is_sparse_ ? sparse_.rows() : dense_.rows(); }
  Index cols() const { return is_sparse_ ? sparse_.cols() : dense_.cols(); }
  bool is_sparse() const { return is_sparse_; }
  const MatrixView& dense() const { return dense_; }
  const ConstSparseMap& sparse() const { return sparse_; }

  void times(ConstVectorRef u, VectorRef y) const;             // X u
  void transposed_times(ConstVectorRef r, VectorRef y) const;  // X'r
  double mean_square() const;                                  // of the entries

 private:
  MatrixView dense_;
  ConstSparseMap sparse_;
  bool is_sparse_ = false;
};

}  // namespace granary
