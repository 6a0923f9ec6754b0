// The points of kernel machines: a matrix, a sparse matrix, or a kernel matrix of all of them; and decision values
//
//   g(z) = sum_t c_t k(x_t, z) + offset
//
// for several machines at once, in panels of new points.
#pragma once

#include <vector>

#include "core/kernel/kernel_rows.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::kernel {

class SvmData {
 public:
  // Dense matrices are referred to, not copied.
  SvmData(KernelSpec spec, const Eigen::Map<const MatrixXd>& x);
  SvmData(KernelSpec spec, SparseMatrix x);
  explicit SvmData(const Eigen::Map<const MatrixXd>& gram);

  Index size() const { return size_; }

  // The kernel of some of the rows. Where it is a kernel matrix, `gram` holds the part that `rows` refers to.
  struct Chosen {
    MatrixXd gram;
    KernelRows rows;
  };
  Chosen choose(const std::vector<Index>& which) const;

  // Whether the kernel matrix of these rows has a direction of zero sum along which it clearly bends down.
  bool indefinite(const std::vector<Index>& which) const;

  // Decision values without offset at rows `at` of a machine with these coefficients at rows `which`.
  VectorXd decision(const std::vector<Index>& which, ConstVectorRef coefficients, const std::vector<Index>& at,
                    Monitor& monitor) const;

 private:
  enum class Kind { dense, sparse, gram } kind_;
  KernelSpec spec_;
  Eigen::Map<const MatrixXd> dense_;
  SparseMatrix sparse_;
  Index size_;
};

// Decision values without offsets, one row for each row of z and one column for each column of `coefficients` (one row of
// those for each row that `support` knows).
MatrixXd decision_values(const KernelRows& support, ConstMatrixRef coefficients, ConstMatrixRef z, int threads, Monitor& monitor);
MatrixXd decision_values(const KernelRows& support, ConstMatrixRef coefficients, const SparseMatrix& z, int threads,
                         Monitor& monitor);

}  // namespace granary::kernel
