// A matrix as R gives it to low-rank methods: dense, a dgCMatrix, or list(rows, cols, by_rows, read) with a function that
// gives the next block of whole rows or columns; read(TRUE) begins again, and what has no numbers is the end.
#pragma once

#include "core/lowrank/gram_source.h"
#include "core/lowrank/matrix_source.h"
#include "r_core_kernel.h"
#include "r_door.h"

namespace granary {

inline std::unique_ptr<MatrixSource> matrix_source(SEXP x) {
  if (TYPEOF(x) != VECSXP) return make_source(design(x));
  const Callback<MatrixXd, bool> next(door::element(x, "read"));
  const Index rows = count(door::element(x, "rows")), cols = count(door::element(x, "cols"));
  return block_source(rows, cols, flag(door::element(x, "by_rows")), [next](bool restart) { return next(restart); });
}

// The matrix of all pairs: points with a kernel; the matrix itself (no kernel); or list(size, block), a function of rows and
// columns.
inline std::unique_ptr<GramSource> gram_source(SEXP x, SEXP kernel) {
  if (TYPEOF(x) == VECSXP) {
    const Callback<MatrixXd, VectorXd, VectorXd> block(door::element(x, "block"));
    return function_gram(count(door::element(x, "size")), [block](const VectorXd& i, const VectorXd& j) { return block(i, j); });
  }
  if (is_null(kernel)) return matrix_gram(matrix(x));
  const KernelSpec spec = read<KernelSpec>(kernel, "kernel");
  return is_sparse(x) ? kernel_gram(spec, sparse(x)) : kernel_gram(spec, matrix(x));
}

}  // namespace granary
