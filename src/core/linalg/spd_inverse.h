// Log-determinant and full inverse of a sparse symmetric positive definite matrix.
//
//   X = P' (L_1 L_1' (+) ... (+) L_c L_c') P,     W = X^-1
//
// X falls into the connected components of its pattern; each component is factored on its own, densely or sparsely, whichever is
// estimated to be cheaper. A dense component costs n^3 flops in total (Cholesky, triangular inverse and the product L^-T L^-1, a
// third each); a sparse one about 2 n nnz(L). On a chain the sparse route is linear in the number of entries of W.
#pragma once

#include <memory>
#include <vector>

#include "core/base/types.h"

namespace granary {

class SpdInverse {
 public:
  SpdInverse();
  ~SpdInverse();
  SpdInverse(SpdInverse&&) noexcept;
  SpdInverse& operator=(SpdInverse&&) noexcept;

  // Factors the symmetric matrix whose upper triangle (diagonal included) is given; explicit zeros are ignored.
  // False when it is not positive definite; the object then holds nothing.
  bool factorise(const SparseMatrix& upper);

  double log_det() const { return log_det_; }
  void inverse(MatrixXd& w) const;  // of the matrix last factored
  int components() const;

 private:
  struct Component;
  std::vector<std::unique_ptr<Component>> components_;
  Index size_ = 0;
  double log_det_ = 0;
  Index dense_from_ = -1;  // patterns with at least this many entries filled in before: do not analyse them again
};

// The lower triangle of (L L')^-1 in place of the lower triangular L. Recursive, so that nearly all work is in matrix products.
void inverse_from_cholesky(MatrixRef lower);
// The two halves of it, a third of n^3 flops each: L^-1 in place of L, and the lower triangle of M'M in place of M, both lower
// triangular.
void invert_lower(MatrixRef lower);
void cross_product_lower(MatrixRef lower);

}  // namespace granary
