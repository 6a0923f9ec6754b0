// The inner loops of kernel machines and clusterings, without branches: where the compiler and the system allow it they are compiled twice, for
// every machine and for those with vectors of four doubles, and the right one is taken when the package is loaded. Products and
// sums are not fused in either, so both give the same bits.
#pragma once

#include "core/base/types.h"

namespace granary {

// k holds x'z for several x and one z, and becomes variance * exp(-max(xx + zz - 2 x'z, 0) / 2), the squared exponential kernel,
// good to 2 units in the last place. What would be below 1e-307 is about that.
void gaussian_profile(const double* xx, double zz, double variance, double* k, Index size);
// The same from squared distances: s becomes variance * exp(-s / 2), for s >= 0.
void gaussian_of_squares(double variance, double* s, Index size);

// Matern kernels of smoothness 3/2 and 5/2: q = sqrt(2 nu) r >= 0, r the distance, becomes k.
void matern_three_profile(double variance, double* q, Index size);
void matern_five_profile(double variance, double* q, Index size);
// The same, and slope = g times the derivative of k in r^2.
void matern_three_slopes(double variance, const double* g, double* q, double* slope, Index size);
void matern_five_slopes(double variance, const double* g, double* q, double* slope, Index size);

// scores = max(v - (down - f), 0)^2 / max(kii + diagonal - 2 k, floor): the decrease (twice) of the objective that a pair
// promises.
void pair_scores(double v, const double* down, const double* f, double kii, const double* diagonal, const float* k, double floor,
                 double* scores, Index size);
void pair_scores(double v, const double* down, const double* f, double kii, const double* diagonal, const double* k, double floor,
                 double* scores, Index size);

// f += lambda (a - b)
void add_difference(double lambda, const float* a, const float* b, double* f, Index size);
void add_difference(double lambda, const double* a, const double* b, double* f, Index size);

// One more column of scores: where s is above the best so far, the best becomes the second and h the label; ties keep the earlier label.
void keep_two(const double* s, double h, double* best, double* second, double* label, Index size);
// s becomes exp(s - top), for s <= top.
void exp_below(const double* top, double* s, Index size);
// s becomes weight * exp(s - top) for one top, s <= top; returns the sum.
double weighted_exp_below(double top, const double* weight, double* s, Index size);

// s >= 0 becomes constant - power * log(1 + s): Student's log density, s the squared distance over its scale.
void student_logs(const double* constant, const double* power, double* s, Index size);

// Sparse rows against a table of k numbers per column, side by side: sum_h += sum_e values_e table(h, columns_e).
void gather_columns(const double* values, const int* columns, Index count, const double* table, Index k, double* sum);
// The other way round: table(h, columns_e) += values_e p_h.
void scatter_columns(const double* values, const int* columns, Index count, const double* p, Index k, double* table);

// Squared distances of rows (columns of x are `stride` apart) from one centre, by differences: where s is below the least so far it becomes the least and h the label.
void lower_squares(const double* x, Index stride, Index rows, Index d, const double* centre, double h, double* least, double* label);

// The largest of up - f and the least of down - f.
void extreme_differences(const double* up, const double* down, const double* f, Index size, double& largest, double& least);

}  // namespace granary
