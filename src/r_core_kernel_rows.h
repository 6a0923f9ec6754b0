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

// The same of list(x =, kernel =).
inline KernelRows kernel_rows(SEXP points) {
  SEXP x = door::element(points, "x"), kernel = door::element(points, "kernel");
  if (x == nullptr) throw InputError("there are no points: `x` is missing.");
  return make_kernel_rows(x, kernel == nullptr ? R_NilValue : kernel);
}

// k(row, z) for the rows of z, a matrix or a dgCMatrix.
inline MatrixXd cross_kernel(const KernelRows& rows, SEXP z) {
  if (is_sparse(z)) return rows.cross(SparseMatrix(sparse(z)));
  return rows.cross(ConstMatrixRef(matrix(z)));
}

}  // namespace granary
