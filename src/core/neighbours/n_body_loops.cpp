// The inner loops of body_sums(), without branches. As in core/linalg/wide_loops.cpp they are compiled for every machine and for
// those with vectors of four doubles; eight sums side by side, added up at the end, are the same numbers on both.
#include <cstring>

#include "core/linalg/wide_loops.h"
#include "core/linalg/wide_targets.h"
#include "core/neighbours/n_body.h"

namespace granary::body {

namespace {

typedef double Four __attribute__((vector_size(32)));  // where a processor has no such vectors the compiler takes smaller ones

GRANARY_INLINE void load(const double* from, Four& to) { std::memcpy(&to, from, sizeof to); }
GRANARY_INLINE double total(const Four& a, const Four& b) {
  return ((a[0] + b[0]) + (a[1] + b[1])) + ((a[2] + b[2]) + (a[3] + b[3]));
}

template <int dim>
GRANARY_INLINE void student(const Sources& from, const double* point, double* out) {
  Four mass[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}}, force[dim][2], at[dim];
  for (int j = 0; j < dim; ++j) {
    force[j][0] = force[j][1] = mass[0];
    at[j] = Four{point[j], point[j], point[j], point[j]};
  }
  const Four one = {1, 1, 1, 1};
  for (Index t = 0; t < from.size; t += lanes) {
    for (int h = 0; h < 2; ++h) {
      Four by[dim], s = one, weight;
      for (int j = 0; j < dim; ++j) {
        load(from.place[j] + t + 4 * h, by[j]);
        by[j] = at[j] - by[j];
        s += by[j] * by[j];
      }
      load(from.weight + t + 4 * h, weight);
      const Four k = one / s, heavy = weight * k, f = heavy * k;
      mass[h] += heavy;
      for (int j = 0; j < dim; ++j) force[j][h] += f * by[j];
    }
  }
  for (int j = 0; j < dim; ++j) out[j] = total(force[j][0], force[j][1]);
  out[dim] = total(mass[0], mass[1]);
}

template <int dim>
GRANARY_INLINE void squares(const Sources& from, const double* point, double* work) {  // 2 |y - y_t|^2
  for (Index t = 0; t < from.size; ++t) {
    double s = 0;
    for (int j = 0; j < dim; ++j) s += (point[j] - from.place[j][t]) * (point[j] - from.place[j][t]);
    work[t] = 2 * s;
  }
}

template <int dim>
GRANARY_INLINE void weighted(const Sources& from, const double* point, const double* k, double* out) {
  Four mass[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}}, force[dim][2];
  for (int j = 0; j < dim; ++j) force[j][0] = force[j][1] = mass[0];
  for (Index t = 0; t < from.size; t += lanes) {
    for (int h = 0; h < 2; ++h) {
      Four weight, value;
      load(from.weight + t + 4 * h, weight);
      load(k + t + 4 * h, value);
      value *= weight;
      mass[h] += value;
      for (int j = 0; j < dim; ++j) {
        Four by;
        load(from.place[j] + t + 4 * h, by);
        by = Four{point[j], point[j], point[j], point[j]} - by;
        force[j][h] += value * by;
      }
    }
  }
  for (int j = 0; j < dim; ++j) out[j] = total(force[j][0], force[j][1]);
  out[dim] = total(mass[0], mass[1]);
}

GRANARY_WIDE
void student_one(const Sources& from, const double* point, double* out) { student<1>(from, point, out); }
GRANARY_WIDE
void student_two(const Sources& from, const double* point, double* out) { student<2>(from, point, out); }
GRANARY_WIDE
void student_three(const Sources& from, const double* point, double* out) { student<3>(from, point, out); }
GRANARY_WIDE
void weighted_one(const Sources& from, const double* point, const double* k, double* out) { weighted<1>(from, point, k, out); }
GRANARY_WIDE
void weighted_two(const Sources& from, const double* point, const double* k, double* out) { weighted<2>(from, point, k, out); }
GRANARY_WIDE
void weighted_three(const Sources& from, const double* point, const double* k, double* out) { weighted<3>(from, point, k, out); }

}  // namespace

void student_sums(int dim, const Sources& from, const double* point, double* out) {
  if (dim == 1) student_one(from, point, out);
  if (dim == 2) student_two(from, point, out);
  if (dim == 3) student_three(from, point, out);
}

void gaussian_sums(int dim, const Sources& from, const double* point, double* out, double* work) {
  if (dim == 1) squares<1>(from, point, work);
  if (dim == 2) squares<2>(from, point, work);
  if (dim == 3) squares<3>(from, point, work);
  gaussian_of_squares(1, work, from.size);
  if (dim == 1) weighted_one(from, point, work, out);
  if (dim == 2) weighted_two(from, point, work, out);
  if (dim == 3) weighted_three(from, point, work, out);
}

}  // namespace granary::body
