// The engines behind every dense product of the package (see core/base/eigen.h).
//
//   portable   Eigen's kernels, compiled for any processor of the architecture (on arm64 that is NEON)
//   native     the same kernels compiled for AVX2 and FMA, where the compiler can and the processor has them
//   r          a BLAS and LAPACK from outside, such as the one R is linked to
//
// An engine is a table of the level-3 routines the rest is built on. `use_engine("auto")`, the default, takes native where there
// is one, and r when a measurement finds that it multiplies at least half again as fast: a clear margin, so that the choice does
// not change from one run to the next. Within an engine results do not depend on the number of threads.
#pragma once

#include <string>
#include <vector>

namespace granary {

struct DenseEngine {
  const char* name;
  // c += alpha op(a) op(b), c: m x n, op: 'N' or 'T'. All matrices by columns, with leading dimensions.
  void (*gemm)(char op_a, char op_b, int m, int n, int k, double alpha, const double* a, int lda, const double* b, int ldb, double* c, int ldc);
  void (*gemm_float)(char op_a, char op_b, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb, float* c, int ldc);
  // y += alpha op(a) x, a: m x n
  void (*gemv)(char op, int m, int n, double alpha, const double* a, int lda, const double* x, int incx, double* y, int incy);
  void (*gemv_float)(char op, int m, int n, float alpha, const float* a, int lda, const float* x, int incx, float* y, int incy);
  // y += alpha a x, a symmetric by one triangle
  void (*symv)(char uplo, int n, double alpha, const double* a, int lda, const double* x, int incx, double* y, int incy);
  // One small triangle (n <= 64) against m right-hand sides; rows of a right-hand side lie `step` apart, right-hand sides `next`.
  // Solves T x = b, T lower, by columns, its diagonal replaced by reciprocals.
  void (*solve_small)(int n, const double* t, int m, double* b, int step, int next);
  // Lower Cholesky factor of a small matrix (n <= 64) in place; the number of the first bad pivot (from 1), or 0.
  int (*factor_small)(int n, double* a, int lda);
  // Whole routines, or null: then they are built from the above.
  void (*trsm)(char side, char uplo, char op, char diag, int m, int n, const double* a, int lda, double* b, int ldb);
  void (*syrk)(char uplo, char op, int n, int k, double alpha, const double* a, int lda, double* c, int ldc);
  int (*potrf)(int n, double* a, int lda);
};

const DenseEngine& engine();                // the one in use
std::vector<std::string> engine_names();    // those that can be used here
void use_engine(const std::string& name);   // "auto" or one of engine_names(); InputError otherwise
void offer_engine(const DenseEngine* from_outside);  // makes "r" available; single precision it may leave out

double measure_engine(const DenseEngine& e);  // seconds of a 384 x 384 product, best of three

// Lower Cholesky factor of the n x n matrix in place (its upper triangle is not touched); the number of the first bad pivot, or 0.
int factor_lower(int n, double* a, int lda);

}  // namespace granary
