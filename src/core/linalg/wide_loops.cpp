#include "core/linalg/wide_loops.h"

#include <cstdint>
#include <cstring>
#include <limits>

#include "core/linalg/wide_targets.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math")  // a comparison may be turned into a selection
#endif

namespace granary {

namespace {

template <class Real>
GRANARY_INLINE void scores_of(double v, const double* down, const double* f, double kii, const double* diagonal, const Real* k,
                              double floor, double* scores, Index size) {
#pragma omp simd
  for (Index t = 0; t < size; ++t) {
    const double b = v - (down[t] - f[t]), a = kii + diagonal[t] - 2 * static_cast<double>(k[t]);
    const double violation = b > 0 ? b : 0, bend = a > floor ? a : floor;
    scores[t] = violation * violation / bend;
  }
}

// exp(s) for s <= 0, that is 2^n exp(r), n = round(s / log 2), |r| <= log(2) / 2, and exp(r) by the rational approximation of the
// Cephes library, 1 + 2 r P(r^2) / (Q(r^2) - r P(r^2)).
GRANARY_INLINE double exp_negative(double s) {
  constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to a whole number, which stands in the last bits
  s = s > 0 ? 0 : s;                            // a NaN stays one
  s = s < -707.0 ? -707.0 : s;
  const double rounded = s * 1.4426950408889634 + shift, n = rounded - shift;
  const double r = (s - n * 6.93145751953125e-1) - n * 1.42860682030941723212e-6, rr = r * r;
  const double p = r * ((1.26177193074810590878e-4 * rr + 3.02994407707441961300e-2) * rr + 9.99999999999999999910e-1);
  const double q = ((3.00198505138664455042e-6 * rr + 2.52448340349684104192e-3) * rr + 2.27265548208155028766e-1) * rr + 2.0;
  const double e = 1 + 2 * p / (q - p);
  std::uint64_t bits;
  std::memcpy(&bits, &rounded, sizeof bits);
  bits = (bits + 1023) << 52;  // 2^n
  double power;
  std::memcpy(&power, &bits, sizeof power);
  return e * power;
}

// log(x) for finite x >= 1: x = 2^e m with m between sqrt(1/2) and sqrt(2), and log(m) by the rational approximation of the Cephes library,
// r - r^2 / 2 + r^3 P(r) / Q(r), r = m - 1.
GRANARY_INLINE double log_above_one(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const std::uint64_t raised = (bits >> 52) | 0x4330000000000000u;  // 2^52 plus the exponent, as a double
  bits = (bits & 0x000fffffffffffffu) | 0x3fe0000000000000u;        // m between 1/2 and 1
  double e, m;
  std::memcpy(&e, &raised, sizeof e);
  std::memcpy(&m, &bits, sizeof m);
  const double low = m < 0.70710678118654752440 ? 1.0 : 0.0;
  e = e - (4503599627370496.0 + 1022.0) - low;
  const double r = m + low * m - 1, rr = r * r;
  const double p = ((((1.01875663804580931796e-4 * r + 4.97494994976747001425e-1) * r + 4.70579119878881725854) * r + 1.44989225341610930846e1) * r +
                    1.79368678507819816313e1) * r + 7.70838733755885391666;
  const double q = ((((r + 1.12873587189167450590e1) * r + 4.52279145837532221105e1) * r + 8.29875266912776603211e1) * r + 7.11544750618563894466e1) * r +
                   2.31251620126765340583e1;
  return (r + (r * (rr * p / q) - 0.5 * rr - e * 2.121944400546905827679e-4)) + e * 0.693359375;
}

template <class Real>
GRANARY_INLINE void add_difference_of(double lambda, const Real* a, const Real* b, double* f, Index size) {
#pragma omp simd
  for (Index t = 0; t < size; ++t) f[t] += lambda * (static_cast<double>(a[t]) - static_cast<double>(b[t]));
}

#if defined(__GNUC__) || defined(__clang__)
// Sums of several clusters are held in registers while the entries of a row go by.
typedef double Four __attribute__((vector_size(32)));

template <int fours>
GRANARY_INLINE void gather_block(const double* values, const int* columns, Index count, const double* table, Index k, double* sum) {
  Four held[fours];
  std::memcpy(held, sum, sizeof held);
  for (Index e = 0; e < count; ++e) {
    const double* from = table + static_cast<Index>(columns[e]) * k;
    const Four v = {values[e], values[e], values[e], values[e]};
    for (int u = 0; u < fours; ++u) {
      Four t;
      std::memcpy(&t, from + 4 * u, sizeof t);
      held[u] += v * t;
    }
  }
  std::memcpy(sum, held, sizeof held);
}

template <int fours>
GRANARY_INLINE void scatter_block(const double* values, const int* columns, Index count, const double* p, Index k, double* table) {
  Four held[fours];
  std::memcpy(held, p, sizeof held);
  for (Index e = 0; e < count; ++e) {
    double* to = table + static_cast<Index>(columns[e]) * k;
    const Four v = {values[e], values[e], values[e], values[e]};
    for (int u = 0; u < fours; ++u) {
      Four t;
      std::memcpy(&t, to + 4 * u, sizeof t);
      t += v * held[u];
      std::memcpy(to + 4 * u, &t, sizeof t);
    }
  }
}
#define GRANARY_FOURS 1
#endif

// Squared distances of 16 rows from a centre.
GRANARY_INLINE void squares_block(const double* x, Index stride, Index d, const double* centre, double* s) {
#ifdef GRANARY_FOURS
  Four held[4] = {};
  for (Index j = 0; j < d; ++j) {
    const double* from = x + j * stride;
    const Four c = {centre[j], centre[j], centre[j], centre[j]};
    for (int u = 0; u < 4; ++u) {
      Four t;
      std::memcpy(&t, from + 4 * u, sizeof t);
      t -= c;
      held[u] += t * t;
    }
  }
  std::memcpy(s, held, sizeof held);
#else
  for (int t = 0; t < 16; ++t) s[t] = 0;
  for (Index j = 0; j < d; ++j) {
    for (int t = 0; t < 16; ++t) {
      const double difference = x[j * stride + t] - centre[j];
      s[t] += difference * difference;
    }
  }
#endif
}

// Beyond it exp(-q) is as good as zero, and a power of q could overflow. A NaN stays one.
GRANARY_INLINE double within_reach(double q) { return q > 707.0 ? 707.0 : q; }

}  // namespace

GRANARY_WIDE
void gaussian_profile(const double* xx, double zz, double variance, double* k, Index size) {
#pragma omp simd
  for (Index t = 0; t < size; ++t) k[t] = variance * exp_negative(k[t] - 0.5 * (xx[t] + zz));
}

GRANARY_WIDE
void gaussian_of_squares(double variance, double* s, Index size) {
#pragma omp simd
  for (Index t = 0; t < size; ++t) s[t] = variance * exp_negative(-0.5 * s[t]);
}

GRANARY_WIDE
void matern_three_profile(double variance, double* q, Index size) {
#pragma omp simd
  for (Index t = 0; t < size; ++t) {
    const double z = within_reach(q[t]);
    q[t] = variance * (1 + z) * exp_negative(-z);
  }
}

GRANARY_WIDE
void matern_five_profile(double variance, double* q, Index size) {
#pragma omp simd
  for (Index t = 0; t < size; ++t) {
    const double z = within_reach(q[t]);
    q[t] = variance * (1 + z + z * z / 3) * exp_negative(-z);
  }
}

GRANARY_WIDE
void matern_three_slopes(double variance, const double* g, double* q, double* slope, Index size) {
#pragma omp simd
  for (Index t = 0; t < size; ++t) {
    const double z = within_reach(q[t]), e = variance * exp_negative(-z);
    slope[t] = -1.5 * g[t] * e;
    q[t] = (1 + z) * e;
  }
}

GRANARY_WIDE
void matern_five_slopes(double variance, const double* g, double* q, double* slope, Index size) {
#pragma omp simd
  for (Index t = 0; t < size; ++t) {
    const double z = within_reach(q[t]), e = variance * exp_negative(-z);
    slope[t] = -5.0 / 6 * g[t] * (1 + z) * e;
    q[t] = (1 + z + z * z / 3) * e;
  }
}

GRANARY_WIDE
void pair_scores(double v, const double* down, const double* f, double kii, const double* diagonal, const float* k, double floor,
                 double* scores, Index size) {
  scores_of(v, down, f, kii, diagonal, k, floor, scores, size);
}

GRANARY_WIDE
void pair_scores(double v, const double* down, const double* f, double kii, const double* diagonal, const double* k, double floor,
                 double* scores, Index size) {
  scores_of(v, down, f, kii, diagonal, k, floor, scores, size);
}

GRANARY_WIDE
void add_difference(double lambda, const float* a, const float* b, double* f, Index size) {
  add_difference_of(lambda, a, b, f, size);
}

GRANARY_WIDE
void add_difference(double lambda, const double* a, const double* b, double* f, Index size) {
  add_difference_of(lambda, a, b, f, size);
}

GRANARY_WIDE
void keep_two(const double* s, double h, double* best, double* second, double* label, Index size) {
#pragma omp simd
  for (Index t = 0; t < size; ++t) {
    const double now = s[t], top = best[t];
    const double lower = now < top ? now : top;
    second[t] = second[t] > lower ? second[t] : lower;
    label[t] = now > top ? h : label[t];
    best[t] = now > top ? now : top;
  }
}

GRANARY_WIDE
double weighted_exp_below(double top, const double* weight, double* s, Index size) {
#pragma omp simd
  for (Index t = 0; t < size; ++t) s[t] = weight[t] * exp_negative(s[t] - top);
  double sum = 0;
  for (Index t = 0; t < size; ++t) sum += s[t];  // in order, whatever the width of the vectors
  return sum;
}

GRANARY_WIDE
void student_logs(const double* constant, const double* power, double* s, Index size) {
#pragma omp simd
  for (Index t = 0; t < size; ++t) s[t] = constant[t] - power[t] * log_above_one(1 + s[t]);
}

GRANARY_WIDE
void exp_below(const double* top, double* s, Index size) {
#pragma omp simd
  for (Index t = 0; t < size; ++t) s[t] = exp_negative(s[t] - top[t]);
}

GRANARY_WIDE
void gather_columns(const double* values, const int* columns, Index count, const double* table, Index k, double* sum) {
  Index h = 0;
#ifdef GRANARY_FOURS
  for (; h + 16 <= k; h += 16) gather_block<4>(values, columns, count, table + h, k, sum + h);
  for (; h + 8 <= k; h += 8) gather_block<2>(values, columns, count, table + h, k, sum + h);
  for (; h + 4 <= k; h += 4) gather_block<1>(values, columns, count, table + h, k, sum + h);
#endif
  for (; h < k; ++h) {
    double held = sum[h];
    for (Index e = 0; e < count; ++e) held += values[e] * table[static_cast<Index>(columns[e]) * k + h];
    sum[h] = held;
  }
}

GRANARY_WIDE
void scatter_columns(const double* values, const int* columns, Index count, const double* p, Index k, double* table) {
  Index h = 0;
#ifdef GRANARY_FOURS
  for (; h + 16 <= k; h += 16) scatter_block<4>(values, columns, count, p + h, k, table + h);
  for (; h + 8 <= k; h += 8) scatter_block<2>(values, columns, count, p + h, k, table + h);
  for (; h + 4 <= k; h += 4) scatter_block<1>(values, columns, count, p + h, k, table + h);
#endif
  for (; h < k; ++h)
    for (Index e = 0; e < count; ++e) table[static_cast<Index>(columns[e]) * k + h] += values[e] * p[h];
}

GRANARY_WIDE
void lower_squares(const double* x, Index stride, Index rows, Index d, const double* centre, double h, double* least, double* label) {
  constexpr Index width = 16;
  Index r = 0;
  double s[width];
  for (; r + width <= rows; r += width) {
    squares_block(x + r, stride, d, centre, s);
#pragma omp simd
    for (Index t = 0; t < width; ++t) {
      label[r + t] = s[t] < least[r + t] ? h : label[r + t];
      least[r + t] = s[t] < least[r + t] ? s[t] : least[r + t];
    }
  }
  for (; r < rows; ++r) {
    double sum = 0;
    for (Index j = 0; j < d; ++j) {
      const double difference = x[j * stride + r] - centre[j];
      sum += difference * difference;
    }
    if (!(sum < least[r])) continue;
    least[r] = sum;
    label[r] = h;
  }
}

GRANARY_WIDE
void extreme_differences(const double* up, const double* down, const double* f, Index size, double& largest, double& least) {
  double high = -std::numeric_limits<double>::infinity(), low = std::numeric_limits<double>::infinity();
#pragma omp simd reduction(max : high) reduction(min : low)
  for (Index t = 0; t < size; ++t) {
    const double u = up[t] - f[t], d = down[t] - f[t];
    high = u > high ? u : high;
    low = d < low ? d : low;
  }
  largest = high;
  least = low;
}

}  // namespace granary
