// The kernels of an engine, compiled once per kind of processor. The including file has defined `Eigen` as a name of its own, so
// that no function of this copy can be taken for one compiled with other instructions, and GRANARY_ENGINE, the name of the table.
//
// Nothing of the standard library that has code of its own may be used here: the linker keeps one copy of such functions, and it
// could be this one, on a machine that cannot run it.
#if defined(__GNUC__) && !defined(__clang__)
_Pragma("GCC diagnostic ignored \"-Wignored-attributes\"")
#endif
#include <Eigen/Core>

#include "core/linalg/engine.h"

namespace granary {
namespace GRANARY_ENGINE {

template <class Real>
using Block = Eigen::Map<Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>, 0, Eigen::OuterStride<>>;
template <class Real>
using ConstBlock = Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>, 0, Eigen::OuterStride<>>;
template <class Real>
using Strided = Eigen::Map<Eigen::Matrix<Real, Eigen::Dynamic, 1>, 0, Eigen::InnerStride<>>;
template <class Real>
using ConstStrided = Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, 1>, 0, Eigen::InnerStride<>>;

template <class Real>
void gemm(char op_a, char op_b, int m, int n, int k, Real alpha, const Real* a, int lda, const Real* b, int ldb, Real* c, int ldc) {
  Block<Real> out(c, m, n, Eigen::OuterStride<>(ldc));
  const bool ta = op_a != 'N', tb = op_b != 'N';
  const ConstBlock<Real> x(a, ta ? k : m, ta ? m : k, Eigen::OuterStride<>(lda)), y(b, tb ? n : k, tb ? k : n, Eigen::OuterStride<>(ldb));
  if (!ta && !tb) out.noalias() += alpha * x * y;
  if (ta && !tb) out.noalias() += alpha * x.transpose() * y;
  if (!ta && tb) out.noalias() += alpha * x * y.transpose();
  if (ta && tb) out.noalias() += alpha * x.transpose() * y.transpose();
}

// Products with a vector are loops of our own: Eigen's begin where memory is aligned, so the order of their sums depends on
// addresses, and the last digits on the run and on the number of threads. These begin with the first row, whatever its address.
template <class Real>
void add_columns(int m, int n, Real alpha, const Real* a, int lda, const Real* x, Real* y) {  // y += alpha A x
  int j = 0;
  for (; j + 4 <= n; j += 4) {
    const Real *a0 = a + static_cast<long>(j) * lda, *a1 = a0 + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    const Real x0 = alpha * x[j], x1 = alpha * x[j + 1], x2 = alpha * x[j + 2], x3 = alpha * x[j + 3];
#pragma omp simd
    for (int i = 0; i < m; ++i) y[i] += (x0 * a0[i] + x1 * a1[i]) + (x2 * a2[i] + x3 * a3[i]);
  }
  for (; j < n; ++j) {
    const Real* a0 = a + static_cast<long>(j) * lda;
    const Real x0 = alpha * x[j];
#pragma omp simd
    for (int i = 0; i < m; ++i) y[i] += x0 * a0[i];
  }
}

template <class Real>
Real inner(int m, const Real* a, const Real* x) {  // in four vectors of sums, whatever the addresses
  using Packet = typename Eigen::internal::packet_traits<Real>::type;
  constexpr int lanes = Eigen::internal::packet_traits<Real>::size;
  const auto add = [&](int i, Packet& sum) {
    sum = Eigen::internal::pmadd(Eigen::internal::ploadu<Packet>(a + i), Eigen::internal::ploadu<Packet>(x + i), sum);
  };
  Packet s0 = Eigen::internal::pset1<Packet>(0), s1 = s0, s2 = s0, s3 = s0;
  int i = 0;
  for (; i + 4 * lanes <= m; i += 4 * lanes) {
    add(i, s0);
    add(i + lanes, s1);
    add(i + 2 * lanes, s2);
    add(i + 3 * lanes, s3);
  }
  for (; i + lanes <= m; i += lanes) add(i, s0);
  Real rest = 0;
  for (; i < m; ++i) rest += a[i] * x[i];
  return Eigen::internal::predux(Eigen::internal::padd(Eigen::internal::padd(s0, s1), Eigen::internal::padd(s2, s3))) + rest;
}

template <class Real>
void gemv(char op, int m, int n, Real alpha, const Real* a, int lda, const Real* x, int incx, Real* y, int incy) {
  using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
  const int in = op == 'N' ? n : m, out = op == 'N' ? m : n;
  Vector gathered;
  if (incx != 1) {
    gathered = ConstStrided<Real>(x, in, Eigen::InnerStride<>(incx));
    x = gathered.data();
  }
  if (op != 'N') {
    for (int j = 0; j < out; ++j) y[static_cast<long>(j) * incy] += alpha * inner(m, a + static_cast<long>(j) * lda, x);
  } else if (incy == 1) {
    add_columns(m, n, alpha, a, lda, x, y);
  } else {
    Vector result = Strided<Real>(y, out, Eigen::InnerStride<>(incy));
    add_columns(m, n, alpha, a, lda, x, result.data());
    Strided<Real>(y, out, Eigen::InnerStride<>(incy)) = result;
  }
}

inline void symv(char uplo, int n, double alpha, const double* a, int lda, const double* x, int incx, double* y, int incy) {
  using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1>;
  const Vector from = ConstStrided<double>(x, n, Eigen::InnerStride<>(incx));
  Vector to = Strided<double>(y, n, Eigen::InnerStride<>(incy));
  for (int j = 0; j < n; ++j) {  // column j below (or above) the diagonal is row j beside it
    const double* column = a + static_cast<long>(j) * lda;
    const int first = uplo == 'L' ? j + 1 : 0, size = uplo == 'L' ? n - j - 1 : j;
    add_columns(size, 1, alpha, column + first, lda, from.data() + j, to.data() + first);
    to[j] += alpha * (column[j] * from[j] + inner(size, column + first, from.data() + first));
  }
  Strided<double>(y, n, Eigen::InnerStride<>(incy)) = to;
}

// Right-hand sides are gathered 32 at a time, so that the loops over them have a fixed length and contiguous memory.
inline void solve_small(int n, const double* t, int m, double* b, int step, int next) {
  constexpr int width = 32, most = 64;
  alignas(64) double w[most * width];
  for (int from = 0; from < m; from += width) {
    const int count = m - from < width ? m - from : width;
    double* base = b + static_cast<long>(from) * next;
    for (int r = 0; r < count; ++r)
      for (int i = 0; i < n; ++i) w[i * width + r] = base[static_cast<long>(r) * next + static_cast<long>(i) * step];
    for (int r = count; r < width; ++r)
      for (int i = 0; i < n; ++i) w[i * width + r] = 0;
    for (int i = 0; i < n; ++i) {
      double* row = w + i * width;
      const double reciprocal = t[i * n + i];
      int k = 0;
      for (; k + 4 <= i; k += 4) {
        const double t0 = t[k * n + i], t1 = t[(k + 1) * n + i], t2 = t[(k + 2) * n + i], t3 = t[(k + 3) * n + i];
        const double *w0 = w + k * width, *w1 = w0 + width, *w2 = w1 + width, *w3 = w2 + width;
        for (int r = 0; r < width; ++r) row[r] -= t0 * w0[r] + t1 * w1[r] + t2 * w2[r] + t3 * w3[r];
      }
      for (; k < i; ++k) {
        const double tk = t[k * n + i];
        const double* wk = w + k * width;
        for (int r = 0; r < width; ++r) row[r] -= tk * wk[r];
      }
      for (int r = 0; r < width; ++r) row[r] *= reciprocal;
    }
    for (int r = 0; r < count; ++r)
      for (int i = 0; i < n; ++i) base[static_cast<long>(r) * next + static_cast<long>(i) * step] = w[i * width + r];
  }
}

inline int factor_small(int n, double* a, int lda) {
  for (int j = 0; j < n; ++j) {
    double* column = a + static_cast<long>(j) * lda;
    const double pivot = column[j];
    if (!(pivot > 0) || pivot > 1.7976931348623157e308) return j + 1;
    const double root = __builtin_sqrt(pivot), reciprocal = 1 / root;
    column[j] = root;
    for (int i = j + 1; i < n; ++i) column[i] *= reciprocal;
    for (int k = j + 1; k < n; ++k) {
      double* other = a + static_cast<long>(k) * lda;
      const double factor = column[k];
      for (int i = k; i < n; ++i) other[i] -= factor * column[i];
    }
  }
  return 0;
}

}  // namespace GRANARY_ENGINE
}  // namespace granary
