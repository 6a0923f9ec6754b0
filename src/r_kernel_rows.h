// The rows of a kernel over data as R holds them: a matrix, a dgCMatrix, or (kernel = NULL) a kernel matrix itself.
#pragma once

#include <RcppEigen.h>

#include "core/kernel_rows.h"
#include "r_kernel.h"

namespace granary {

inline bool is_sparse(SEXP x) { return Rf_isS4(x); }

// A kernel matrix is referred to, so `x` must outlive the rows; other data are copied in a form of their own.
inline KernelRows make_kernel_rows(SEXP x, SEXP kernel) {
  if (Rf_isNull(kernel)) {
    const Eigen::Map<MatrixXd> gram(Rcpp::as<Eigen::Map<MatrixXd>>(x));
    return KernelRows(Eigen::Map<const MatrixXd>(gram.data(), gram.rows(), gram.cols()));
  }
  const KernelSpec spec = as_kernel_spec(Rcpp::as<Rcpp::List>(kernel));
  if (is_sparse(x)) return KernelRows(spec, Rcpp::as<SparseMatrix>(x));
  return KernelRows(spec, ConstMatrixRef(Rcpp::as<Eigen::Map<MatrixXd>>(x)));
}

// k(row, z) for the rows of z, a matrix or a dgCMatrix.
inline MatrixXd cross_kernel(const KernelRows& rows, SEXP z) {
  if (is_sparse(z)) return rows.cross(Rcpp::as<SparseMatrix>(z));
  return rows.cross(ConstMatrixRef(Rcpp::as<Eigen::Map<MatrixXd>>(z)));
}

}  // namespace granary
