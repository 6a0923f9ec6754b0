// The inner loops over the entries of P, compiled for several kinds of processors as those of core/neighbours/n_body_loops.cpp
// are.
#include <cmath>
#include <cstring>

#include "cluster/tsne_forces.h"
#include "core/linalg/wide_targets.h"

namespace granary::cluster::map_loops {

namespace {

typedef double Four __attribute__((vector_size(32)));

template <int dim, bool student>
GRANARY_INLINE void sum_of(const double* p, const int* row, Index size, const double* y, const double* point, double* out) {
  Four sum[dim], at[dim];
  for (int j = 0; j < dim; ++j) {
    sum[j] = Four{0, 0, 0, 0};
    at[j] = Four{point[j], point[j], point[j], point[j]};
  }
  Index e = 0;
  for (; e + 4 <= size; e += 4) {
    const double *a = y + static_cast<Index>(row[e]) * dim, *b = y + static_cast<Index>(row[e + 1]) * dim;
    const double *c = y + static_cast<Index>(row[e + 2]) * dim, *d = y + static_cast<Index>(row[e + 3]) * dim;
    Four by[dim], s = {1, 1, 1, 1}, weight;
    std::memcpy(&weight, p + e, sizeof weight);
    for (int j = 0; j < dim; ++j) {
      by[j] = at[j] - Four{a[j], b[j], c[j], d[j]};
      if (student) s += by[j] * by[j];
    }
    if (student) weight /= s;
    for (int j = 0; j < dim; ++j) sum[j] += weight * by[j];
  }
  for (int j = 0; j < dim; ++j) out[j] = (sum[j][0] + sum[j][1]) + (sum[j][2] + sum[j][3]);
  for (; e < size; ++e) {
    const double* a = y + static_cast<Index>(row[e]) * dim;
    double by[dim], s = 1;
    for (int j = 0; j < dim; ++j) {
      by[j] = point[j] - a[j];
      if (student) s += by[j] * by[j];
    }
    for (int j = 0; j < dim; ++j) out[j] += p[e] / s * by[j];
  }
}

GRANARY_WIDE
void student_one(const double* p, const int* row, Index size, const double* y, const double* point, double* out) {
  sum_of<1, true>(p, row, size, y, point, out);
}
GRANARY_WIDE
void student_two(const double* p, const int* row, Index size, const double* y, const double* point, double* out) {
  sum_of<2, true>(p, row, size, y, point, out);
}
GRANARY_WIDE
void student_three(const double* p, const int* row, Index size, const double* y, const double* point, double* out) {
  sum_of<3, true>(p, row, size, y, point, out);
}

}  // namespace

void attraction(int dim, bool student, const double* p, const int* row, Index size, const double* y, const double* point,
                double* out) {
  if (student && dim == 1) student_one(p, row, size, y, point, out);
  if (student && dim == 2) student_two(p, row, size, y, point, out);
  if (student && dim == 3) student_three(p, row, size, y, point, out);
  if (!student && dim == 1) sum_of<1, false>(p, row, size, y, point, out);
  if (!student && dim == 2) sum_of<2, false>(p, row, size, y, point, out);
  if (!student && dim == 3) sum_of<3, false>(p, row, size, y, point, out);
}

double stress(int dim, bool student, const double* p, const int* row, Index size, const double* y, const double* point) {
  double sum = 0;
  for (Index e = 0; e < size; ++e) {
    const double* a = y + static_cast<Index>(row[e]) * dim;
    double s = 0;
    for (int j = 0; j < dim; ++j) s += (point[j] - a[j]) * (point[j] - a[j]);
    sum += p[e] * (student ? std::log1p(s) : s);
  }
  return sum;
}

}  // namespace granary::cluster::map_loops
