// Rows of a kernel matrix that is too large to store, over dense or sparse data: what kernel machines ask for.
//
// The data are prepared once (columns chosen, weighted, centred where only differences count, squared lengths), so that a row
// costs one matrix-vector product and one pass of the kernel's profile. Sparse data are kept by row and by column: a row
// goes through the lists of the columns it has, or through the rows asked for, whichever is less work.
//
// The rows stand in an order that can be changed (`reorder`), so that the rows a method still works on are the first ones.
// Values are those of Kernel::matrix, white noise on the diagonal. Not for several threads at once, but `cross` is.
#pragma once

#include <memory>
#include <vector>

#include "core/kernel/kernel.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

namespace rows_detail {
class Term;
}

class KernelRows {
 public:
  KernelRows(const KernelSpec& spec, ConstMatrixRef x);
  // InputError for parts that need whole points: powexp, hamming and user functions. Nothing is centred.
  KernelRows(const KernelSpec& spec, const SparseMatrix& x);
  // A kernel matrix computed elsewhere, symmetric; it is referred to, not copied. `cross` does not work with it.
  explicit KernelRows(const Eigen::Map<const MatrixXd>& gram);
  KernelRows(KernelRows&&) noexcept;
  KernelRows& operator=(KernelRows&&) noexcept;
  ~KernelRows();

  Index size() const { return diagonal_.size(); }
  const VectorXd& diagonal() const { return diagonal_; }
  double values_computed() const { return computed_; }  // kernel values so far

  // k(i, t) for t = from, ..., to - 1.
  void row(Index i, Index from, Index to, double* out);
  // The same for several i: one column of `out` each.
  void block(const std::vector<Index>& which, Index from, Index to, MatrixXd& out);
  // The same on several threads where the kernel allows it and there is enough to do. The values do not depend on their number.
  void block(const std::vector<Index>& which, Index from, Index to, MatrixXd& out, int threads, Monitor& monitor);
  // What is now at order[k] goes to place k; order is a permutation of 0, ..., order.size() - 1 of the first places.
  void reorder(const std::vector<Index>& order);
  // Two rows change places.
  void swap(Index a, Index b);

  // k(row, z): one column for each row of z. White noise is zero.
  MatrixXd cross(ConstMatrixRef z) const;
  MatrixXd cross(const SparseMatrix& z) const;

 private:
  void finish();
  void complete(const std::vector<Index>& which, Index from, Index to, MatrixXd& out);  // the diagonal, the count

  std::unique_ptr<rows_detail::Term> root_;
  VectorXd diagonal_;
  double computed_ = 0;
};

}  // namespace granary
