// The rows of a kernel over data as R holds them: a matrix, a dgCMatrix, or (kernel = NULL) a kernel matrix itself.
#pragma once

#include "core/kernel/kernel_rows.h"
#include "r_core_kernel.h"

namespace granary {

// A kernel matrix is referred to, so `x` must outlive the rows; other data are copied in a form of their own.
inline KernelRows make_kernel_rows(SEXP x, SEXP kernel) {
  if (is_null(kernel)) return KernelRows(matrix(x));
  const KernelSpec spec = read<KernelSpec>(kernel, "kernel");
  if (is_sparse(x)) return KernelRows(spec, SparseMatrix(sparse(x)));
  return KernelRows(spec, ConstMatrixRef(matrix(x)));
}

// k(row, z) for the rows of z, a matrix or a dgCMatrix.
inline MatrixXd cross_kernel(const KernelRows& rows, SEXP z) {
  if (is_sparse(z)) return rows.cross(SparseMatrix(sparse(z)));
  return rows.cross(ConstMatrixRef(matrix(z)));
}

}  // namespace granary
