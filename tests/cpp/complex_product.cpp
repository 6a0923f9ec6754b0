// Complex matrices are only in the tests, as another way to an answer. Eigen asks a BLAS for their products with vectors (see
// core/base/eigen.h); here it is, by its definition: y <- beta y + alpha op(A) x.
#include <complex>

extern "C" int zgemv_(const char* op, const int* m, const int* n, const double* alpha, const double* a, const int* lda, const double* x, const int* incx,
                      const double* beta, double* y, const int* incy) {
  using Complex = std::complex<double>;
  const auto* matrix = reinterpret_cast<const Complex*>(a);
  const auto* from = reinterpret_cast<const Complex*>(x);
  auto* to = reinterpret_cast<Complex*>(y);
  const Complex scale(alpha[0], alpha[1]), keep(beta[0], beta[1]);
  const bool plain = *op == 'N', conjugate = *op == 'C';
  const int rows = plain ? *m : *n, columns = plain ? *n : *m;
  for (int i = 0; i < rows; ++i) {
    Complex sum = 0;
    for (int j = 0; j < columns; ++j) {
      const Complex entry = plain ? matrix[i + static_cast<long>(j) * *lda] : matrix[j + static_cast<long>(i) * *lda];
      sum += (conjugate ? std::conj(entry) : entry) * from[static_cast<long>(j) * *incx];
    }
    Complex& target = to[static_cast<long>(i) * *incy];
    target = keep * target + scale * sum;
  }
  return 0;
}
