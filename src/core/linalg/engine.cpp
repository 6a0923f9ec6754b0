#include "core/linalg/engine.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

#include "core/base/errors.h"

namespace granary {

extern const DenseEngine portable_engine;
#ifdef GRANARY_AVX2
extern const DenseEngine avx2_engine;
#endif

namespace {

// The one piece of global state in core: which engine multiplies. It changes how fast and in the last bits, never what.
std::atomic<const DenseEngine*> current{nullptr};
std::atomic<const DenseEngine*> outside{nullptr};
std::mutex choosing;

const DenseEngine* native() {
#ifdef GRANARY_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &avx2_engine;
#endif
  return nullptr;
}

const DenseEngine* own_best() {
  const DenseEngine* fast = native();
  return fast != nullptr ? fast : &portable_engine;
}

const DenseEngine* automatic() {
  const DenseEngine* own = own_best();
  const DenseEngine* other = outside;
  if (other == nullptr) return own;
  return measure_engine(*other) * 1.5 < measure_engine(*own) ? other : own;
}

}  // namespace

const DenseEngine& engine() {
  const DenseEngine* e = current.load(std::memory_order_acquire);
  if (e == nullptr) {
    const std::lock_guard<std::mutex> guard(choosing);
    e = current.load(std::memory_order_acquire);
    if (e == nullptr) current.store(e = automatic(), std::memory_order_release);
  }
  return *e;
}

std::vector<std::string> engine_names() {
  std::vector<std::string> names{"portable"};
  if (native() != nullptr) names.push_back("native");
  if (outside.load() != nullptr) names.push_back("r");
  return names;
}

void use_engine(const std::string& name) {
  const std::lock_guard<std::mutex> guard(choosing);
  if (name == "auto") {
    current = nullptr;
  } else if (name == "portable") {
    current = &portable_engine;
  } else if (name == "native" && native() != nullptr) {
    current = native();
  } else if (name == "r" && outside.load() != nullptr) {
    current = outside.load();
  } else {
    std::string possible;
    for (const std::string& n : engine_names()) possible += ", \"" + n + "\"";
    throw InputError(message("there is no engine \"", name, "\" for dense products here: use \"auto\"", possible, "."));
  }
}

void offer_engine(const DenseEngine* from_outside) {
  static DenseEngine completed;
  completed = *from_outside;
  if (completed.gemm_float == nullptr) completed.gemm_float = own_best()->gemm_float;
  if (completed.gemv_float == nullptr) completed.gemv_float = own_best()->gemv_float;
  outside = &completed;
}

double measure_engine(const DenseEngine& e) {
  constexpr int n = 384;
  std::vector<double> a(n * n, 0.5), b(n * n, 0.25), c(n * n, 0.0);
  double best = 1e300;
  for (int k = 0; k < 3; ++k) {
    const auto start = std::chrono::steady_clock::now();
    e.gemm('N', 'N', n, n, n, 1.0, a.data(), n, b.data(), n, c.data(), n);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

// The rest of the level-3 routines, by halving: nearly all their work is products. `small` is where halving ends.

namespace {

constexpr int small = 64;

inline long at(int i, int j, int ld) { return i + static_cast<long>(j) * ld; }
// Half of n, rounded to whole small blocks.
inline int half(int n) { return std::max(small, (n / 2 + small / 2) / small * small); }
inline bool acts_lower(char uplo, char op) { return (uplo == 'L') == (op == 'N'); }
// op(a)_21 for a matrix that acts as a lower one, op(a)_12 for an upper one, when split after k.
inline const double* beside(char uplo, const double* a, int lda, int k) { return uplo == 'L' ? a + at(k, 0, lda) : a + at(0, k, lda); }

// A small triangle as solve_small() wants it: lower, by columns, reciprocals on the diagonal. Upper ones are reversed.
void gather_triangle(bool lower, char op, char diag, int n, const double* a, int lda, double* t) {
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) {
      const int r = lower ? i : n - 1 - i, c = lower ? j : n - 1 - j;
      t[j * n + i] = op == 'N' ? a[at(r, c, lda)] : a[at(c, r, lda)];
    }
    t[j * n + j] = diag == 'U' ? 1 : 1 / t[j * n + j];
  }
}

void trsm(const DenseEngine& e, char side, char uplo, char op, char diag, int m, int n, const double* a, int lda, double* b, int ldb) {
  const int size = side == 'L' ? m : n;
  if (size == 0 || m == 0 || n == 0) return;
  const bool lower = acts_lower(uplo, op);
  if (size <= small) {
    double t[small * small];
    // X op(A) = B is op(A)' X' = B': the triangle the other way round, the right-hand sides along the rows.
    const bool left = side == 'L';
    gather_triangle(left ? lower : !lower, left ? op : (op == 'N' ? 'T' : 'N'), diag, size, a, lda, t);
    const bool reversed = left ? !lower : lower;
    const int step = left ? 1 : ldb, next = left ? ldb : 1;
    double* start = reversed ? b + static_cast<long>(size - 1) * step : b;
    e.solve_small(size, t, left ? n : m, start, reversed ? -step : step, next);
    return;
  }
  const int k = half(size);
  const double* a22 = a + at(k, k, lda);
  const double* off = beside(uplo, a, lda, k);
  if (side == 'L') {
    double *b1 = b, *b2 = b + k;
    if (lower) {
      trsm(e, side, uplo, op, diag, k, n, a, lda, b1, ldb);
      e.gemm(op, 'N', m - k, n, k, -1, off, lda, b1, ldb, b2, ldb);
      trsm(e, side, uplo, op, diag, m - k, n, a22, lda, b2, ldb);
    } else {
      trsm(e, side, uplo, op, diag, m - k, n, a22, lda, b2, ldb);
      e.gemm(op, 'N', k, n, m - k, -1, off, lda, b2, ldb, b1, ldb);
      trsm(e, side, uplo, op, diag, k, n, a, lda, b1, ldb);
    }
  } else {
    double *b1 = b, *b2 = b + at(0, k, ldb);
    if (lower) {
      trsm(e, side, uplo, op, diag, m, n - k, a22, lda, b2, ldb);
      e.gemm('N', op, m, k, n - k, -1, b2, ldb, off, lda, b1, ldb);
      trsm(e, side, uplo, op, diag, m, k, a, lda, b1, ldb);
    } else {
      trsm(e, side, uplo, op, diag, m, k, a, lda, b1, ldb);
      e.gemm('N', op, m, n - k, k, -1, b1, ldb, off, lda, b2, ldb);
      trsm(e, side, uplo, op, diag, m, n - k, a22, lda, b2, ldb);
    }
  }
}

// c += alpha op(a) op(a)', one triangle
void syrk(const DenseEngine& e, char uplo, char op, int n, int k, double alpha, const double* a, int lda, double* c, int ldc) {
  const char other = op == 'N' ? 'T' : 'N';
  if (n <= small) {
    double full[small * small];
    std::fill(full, full + n * n, 0.0);
    e.gemm(op, other, n, n, k, alpha, a, lda, a, lda, full, n);
    for (int j = 0; j < n; ++j)
      for (int i = uplo == 'L' ? j : 0; i < (uplo == 'L' ? n : j + 1); ++i) c[at(i, j, ldc)] += full[j * n + i];
    return;
  }
  const int h = half(n);
  const double* a2 = op == 'N' ? a + h : a + at(0, h, lda);
  syrk(e, uplo, op, h, k, alpha, a, lda, c, ldc);
  if (uplo == 'L') {
    e.gemm(op, other, n - h, h, k, alpha, a2, lda, a, lda, c + h, ldc);
  } else {
    e.gemm(op, other, h, n - h, k, alpha, a, lda, a2, lda, c + at(0, h, ldc), ldc);
  }
  syrk(e, uplo, op, n - h, k, alpha, a2, lda, c + at(h, h, ldc), ldc);
}

// c += alpha a b (side L) or alpha b a (side R), a symmetric of size `size`
void symm(const DenseEngine& e, char side, char uplo, int m, int n, double alpha, const double* a, int lda, const double* b, int ldb,
          double* c, int ldc) {
  const int size = side == 'L' ? m : n;
  if (size <= small) {
    double full[small * small];
    for (int j = 0; j < size; ++j)
      for (int i = 0; i < size; ++i) full[j * size + i] = (uplo == 'L') == (i >= j) || i == j ? a[at(i, j, lda)] : a[at(j, i, lda)];
    if (side == 'L') {
      e.gemm('N', 'N', m, n, m, alpha, full, size, b, ldb, c, ldc);
    } else {
      e.gemm('N', 'N', m, n, n, alpha, b, ldb, full, size, c, ldc);
    }
    return;
  }
  const int h = half(size);
  const double *off = beside(uplo, a, lda, h), *a22 = a + at(h, h, lda);
  const char to_lower = uplo == 'L' ? 'N' : 'T', to_upper = uplo == 'L' ? 'T' : 'N';  // how `off` gives a_21 and a_12
  if (side == 'L') {
    symm(e, side, uplo, h, n, alpha, a, lda, b, ldb, c, ldc);
    e.gemm(to_upper, 'N', h, n, m - h, alpha, off, lda, b + h, ldb, c, ldc);
    e.gemm(to_lower, 'N', m - h, n, h, alpha, off, lda, b, ldb, c + h, ldc);
    symm(e, side, uplo, m - h, n, alpha, a22, lda, b + h, ldb, c + h, ldc);
  } else {
    const double* b2 = b + at(0, h, ldb);
    double* c2 = c + at(0, h, ldc);
    symm(e, side, uplo, m, h, alpha, a, lda, b, ldb, c, ldc);
    e.gemm('N', to_lower, m, h, n - h, alpha, b2, ldb, off, lda, c, ldc);
    e.gemm('N', to_upper, m, n - h, h, alpha, b, ldb, off, lda, c2, ldc);
    symm(e, side, uplo, m, n - h, alpha, a22, lda, b2, ldb, c2, ldc);
  }
}

// b becomes alpha op(a) b or alpha b op(a), a triangular
void trmm(const DenseEngine& e, char side, char uplo, char op, char diag, int m, int n, double alpha, const double* a, int lda, double* b,
          int ldb) {
  const int size = side == 'L' ? m : n;
  if (size == 0 || m == 0 || n == 0) return;
  const bool lower = acts_lower(uplo, op);
  if (size <= small) {
    double full[small * small];
    for (int j = 0; j < size; ++j) {
      for (int i = 0; i < size; ++i) {
        const double value = op == 'N' ? a[at(i, j, lda)] : a[at(j, i, lda)];
        full[j * size + i] = i == j ? (diag == 'U' ? 1.0 : value) : (lower == (i > j) ? value : 0.0);
      }
    }
    std::vector<double> old(static_cast<std::size_t>(m) * n);
    for (int j = 0; j < n; ++j) {
      std::copy_n(b + at(0, j, ldb), m, old.data() + at(0, j, m));
      std::fill_n(b + at(0, j, ldb), m, 0.0);
    }
    if (side == 'L') {
      e.gemm('N', 'N', m, n, m, alpha, full, size, old.data(), m, b, ldb);
    } else {
      e.gemm('N', 'N', m, n, n, alpha, old.data(), m, full, size, b, ldb);
    }
    return;
  }
  const int k = half(size);
  const double *off = beside(uplo, a, lda, k), *a22 = a + at(k, k, lda);
  if (side == 'L') {
    double *b1 = b, *b2 = b + k;
    if (lower) {
      trmm(e, side, uplo, op, diag, m - k, n, alpha, a22, lda, b2, ldb);
      e.gemm(op, 'N', m - k, n, k, alpha, off, lda, b1, ldb, b2, ldb);
      trmm(e, side, uplo, op, diag, k, n, alpha, a, lda, b1, ldb);
    } else {
      trmm(e, side, uplo, op, diag, k, n, alpha, a, lda, b1, ldb);
      e.gemm(op, 'N', k, n, m - k, alpha, off, lda, b2, ldb, b1, ldb);
      trmm(e, side, uplo, op, diag, m - k, n, alpha, a22, lda, b2, ldb);
    }
  } else {
    double *b1 = b, *b2 = b + at(0, k, ldb);
    if (lower) {
      trmm(e, side, uplo, op, diag, m, k, alpha, a, lda, b1, ldb);
      e.gemm('N', op, m, k, n - k, alpha, b2, ldb, off, lda, b1, ldb);
      trmm(e, side, uplo, op, diag, m, n - k, alpha, a22, lda, b2, ldb);
    } else {
      trmm(e, side, uplo, op, diag, m, n - k, alpha, a22, lda, b2, ldb);
      e.gemm('N', op, m, n - k, k, alpha, b1, ldb, off, lda, b2, ldb);
      trmm(e, side, uplo, op, diag, m, k, alpha, a, lda, b1, ldb);
    }
  }
}

int potrf(const DenseEngine& e, int n, double* a, int lda) {
  if (n <= small) return e.factor_small(n, a, lda);
  const int k = half(n);
  int bad = potrf(e, k, a, lda);
  if (bad != 0) return bad;
  trsm(e, 'R', 'L', 'T', 'N', n - k, k, a, lda, a + k, lda);
  syrk(e, 'L', 'N', n - k, k, -1, a + k, lda, a + at(k, k, lda), lda);
  bad = potrf(e, n - k, a + at(k, k, lda), lda);
  return bad == 0 ? 0 : bad + k;
}

// c *= beta, as BLAS means it: beta = 0 clears whatever is there.
template <class Real>
void scale(int m, int n, Real beta, Real* c, int ldc) {
  if (beta == Real(1)) return;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) c[at(i, j, ldc)] = beta == Real(0) ? Real(0) : beta * c[at(i, j, ldc)];
}

// Row 0 of a vector with a negative increment is its last in memory.
template <class Real>
Real* first(Real* x, int n, int inc) {
  return inc < 0 ? x - static_cast<long>(n - 1) * inc : x;
}

}  // namespace

int factor_lower(int n, double* a, int lda) {
  const DenseEngine& e = engine();
  return e.potrf != nullptr ? e.potrf(n, a, lda) : potrf(e, n, a, lda);
}

}  // namespace granary

using granary::engine;

// What Eigen calls, by the conventions of BLAS. Eigen itself always asks with beta = 1 and real matrices ('C' is 'T').
extern "C" {

int granary_dgemm(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha, const double* a,
                  const int* lda, const double* b, const int* ldb, const double* beta, double* c, const int* ldc) {
  granary::scale(*m, *n, *beta, c, *ldc);
  if (*m > 0 && *n > 0 && *k > 0)
    engine().gemm(*op_a == 'N' ? 'N' : 'T', *op_b == 'N' ? 'N' : 'T', *m, *n, *k, *alpha, a, *lda, b, *ldb, c, *ldc);
  return 0;
}

int granary_sgemm(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const float* alpha, const float* a,
                  const int* lda, const float* b, const int* ldb, const float* beta, float* c, const int* ldc) {
  granary::scale(*m, *n, *beta, c, *ldc);
  if (*m > 0 && *n > 0 && *k > 0)
    engine().gemm_float(*op_a == 'N' ? 'N' : 'T', *op_b == 'N' ? 'N' : 'T', *m, *n, *k, *alpha, a, *lda, b, *ldb, c, *ldc);
  return 0;
}

int granary_dgemv(const char* op, const int* m, const int* n, const double* alpha, const double* a, const int* lda, const double* x,
                  const int* incx, const double* beta, double* y, const int* incy) {
  const bool plain = *op == 'N';
  const int rows = plain ? *m : *n, columns = plain ? *n : *m;
  double* to = granary::first(y, rows, *incy);
  if (*beta != 1)
    for (int i = 0; i < rows; ++i) to[static_cast<long>(i) * *incy] = *beta == 0 ? 0 : *beta * to[static_cast<long>(i) * *incy];
  if (*m > 0 && *n > 0) engine().gemv(plain ? 'N' : 'T', *m, *n, *alpha, a, *lda, granary::first(x, columns, *incx), *incx, to, *incy);
  return 0;
}

int granary_sgemv(const char* op, const int* m, const int* n, const float* alpha, const float* a, const int* lda, const float* x,
                  const int* incx, const float* beta, float* y, const int* incy) {
  const bool plain = *op == 'N';
  const int rows = plain ? *m : *n, columns = plain ? *n : *m;
  float* to = granary::first(y, rows, *incy);
  if (*beta != 1)
    for (int i = 0; i < rows; ++i) to[static_cast<long>(i) * *incy] = *beta == 0 ? 0 : *beta * to[static_cast<long>(i) * *incy];
  if (*m > 0 && *n > 0) engine().gemv_float(plain ? 'N' : 'T', *m, *n, *alpha, a, *lda, granary::first(x, columns, *incx), *incx, to, *incy);
  return 0;
}

int granary_dsymv(const char* uplo, const int* n, const double* alpha, const double* a, const int* lda, const double* x, const int* incx,
                  const double* beta, double* y, const int* incy) {
  double* to = granary::first(y, *n, *incy);
  if (*beta != 1)
    for (int i = 0; i < *n; ++i) to[static_cast<long>(i) * *incy] = *beta == 0 ? 0 : *beta * to[static_cast<long>(i) * *incy];
  if (*n > 0) engine().symv(*uplo, *n, *alpha, a, *lda, granary::first(x, *n, *incx), *incx, to, *incy);
  return 0;
}

int granary_dsymm(const char* side, const char* uplo, const int* m, const int* n, const double* alpha, const double* a, const int* lda,
                  const double* b, const int* ldb, const double* beta, double* c, const int* ldc) {
  granary::scale(*m, *n, *beta, c, *ldc);
  if (*m > 0 && *n > 0) granary::symm(engine(), *side, *uplo, *m, *n, *alpha, a, *lda, b, *ldb, c, *ldc);
  return 0;
}

int granary_dsyrk(const char* uplo, const char* op, const int* n, const int* k, const double* alpha, const double* a, const int* lda,
                  const double* beta, double* c, const int* ldc) {
  if (*beta != 1) {
    for (int j = 0; j < *n; ++j)
      for (int i = *uplo == 'L' ? j : 0; i < (*uplo == 'L' ? *n : j + 1); ++i) {
        double& entry = c[granary::at(i, j, *ldc)];
        entry = *beta == 0 ? 0 : *beta * entry;
      }
  }
  if (*n == 0 || *k == 0) return 0;
  const granary::DenseEngine& e = engine();
  const char plain = *op == 'N' ? 'N' : 'T';
  if (e.syrk != nullptr) {
    e.syrk(*uplo, plain, *n, *k, *alpha, a, *lda, c, *ldc);
  } else {
    granary::syrk(e, *uplo, plain, *n, *k, *alpha, a, *lda, c, *ldc);
  }
  return 0;
}

int granary_dtrsm(const char* side, const char* uplo, const char* op, const char* diag, const int* m, const int* n, const double* alpha,
                  const double* a, const int* lda, double* b, const int* ldb) {
  granary::scale(*m, *n, *alpha, b, *ldb);
  if (*m == 0 || *n == 0) return 0;
  const granary::DenseEngine& e = engine();
  const char plain = *op == 'N' ? 'N' : 'T';
  if (e.trsm != nullptr) {
    e.trsm(*side, *uplo, plain, *diag, *m, *n, a, *lda, b, *ldb);
  } else {
    granary::trsm(e, *side, *uplo, plain, *diag, *m, *n, a, *lda, b, *ldb);
  }
  return 0;
}

int granary_dtrmm(const char* side, const char* uplo, const char* op, const char* diag, const int* m, const int* n, const double* alpha,
                  const double* a, const int* lda, double* b, const int* ldb) {
  granary::trmm(engine(), *side, *uplo, *op == 'N' ? 'N' : 'T', *diag, *m, *n, *alpha, a, *lda, b, *ldb);
  return 0;
}

// y += alpha x; Eigen's triangular products of vectors end with it.
int granary_daxpy(const int* n, const double* alpha, const double* x, const int* incx, double* y, const int* incy) {
  for (int i = 0; i < *n; ++i) y[static_cast<long>(i) * *incy] += *alpha * x[static_cast<long>(i) * *incx];
  return 0;
}

// x becomes op(a) x. A vector is a matrix of one column; a stride is taken out first.
int granary_dtrmv(const char* uplo, const char* op, const char* diag, const int* n, const double* a, const int* lda, double* x,
                  const int* incx) {
  if (*n == 0) return 0;
  double* start = granary::first(x, *n, *incx);
  std::vector<double> copy(static_cast<std::size_t>(*n));
  for (int i = 0; i < *n; ++i) copy[i] = start[static_cast<long>(i) * *incx];
  granary::trmm(engine(), 'L', *uplo, *op == 'N' ? 'N' : 'T', *diag, *n, 1, 1.0, a, *lda, copy.data(), *n);
  for (int i = 0; i < *n; ++i) start[static_cast<long>(i) * *incx] = copy[i];
  return 0;
}

}  // extern "C"
