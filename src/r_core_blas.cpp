// The BLAS and LAPACK that R is linked to, as an engine of core/linalg/engine.h. In a file of its own: R's declarations of these
// routines and Eigen's do not go together.
#define USE_FC_LEN_T
#include <Rconfig.h>
#include <R_ext/BLAS.h>
#include <R_ext/Lapack.h>
#ifndef FCONE
#define FCONE
#endif

#include "core/linalg/engine.h"

namespace {

constexpr double one = 1;

void gemm(char op_a, char op_b, int m, int n, int k, double alpha, const double* a, int lda, const double* b, int ldb, double* c, int ldc) {
  F77_CALL(dgemm)(&op_a, &op_b, &m, &n, &k, &alpha, a, &lda, b, &ldb, &one, c, &ldc FCONE FCONE);
}
void gemv(char op, int m, int n, double alpha, const double* a, int lda, const double* x, int incx, double* y, int incy) {
  F77_CALL(dgemv)(&op, &m, &n, &alpha, a, &lda, x, &incx, &one, y, &incy FCONE);
}
void symv(char uplo, int n, double alpha, const double* a, int lda, const double* x, int incx, double* y, int incy) {
  F77_CALL(dsymv)(&uplo, &n, &alpha, a, &lda, x, &incx, &one, y, &incy FCONE);
}
void trsm(char side, char uplo, char op, char diag, int m, int n, const double* a, int lda, double* b, int ldb) {
  F77_CALL(dtrsm)(&side, &uplo, &op, &diag, &m, &n, &one, a, &lda, b, &ldb FCONE FCONE FCONE FCONE);
}
void syrk(char uplo, char op, int n, int k, double alpha, const double* a, int lda, double* c, int ldc) {
  F77_CALL(dsyrk)(&uplo, &op, &n, &k, &alpha, a, &lda, &one, c, &ldc FCONE FCONE);
}
int potrf(int n, double* a, int lda) {
  const char lower = 'L';
  int info = 0;
  F77_CALL(dpotrf)(&lower, &n, a, &lda, &info FCONE);
  return info;
}

}  // namespace

// What R's BLAS does not have (single precision) stays null: core puts its own there.
extern const granary::DenseEngine r_blas_engine;
const granary::DenseEngine r_blas_engine{"r", gemm, nullptr, gemv, nullptr, symv, nullptr, nullptr, trsm, syrk, potrf};
