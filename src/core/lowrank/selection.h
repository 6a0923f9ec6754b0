// Which columns of a matrix stand for all of them: leverage scores, sampling by weights, by residuals, by pivots, and dual sets.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/lowrank/matrix_source.h"
#include "core/random/rng.h"

namespace granary {

// Squared lengths of the rows of V, whose columns are orthonormal: they sum to their number.
VectorXd leverage_scores(ConstMatrixRef v);

// ---- draws -----------------------------------------------------------------------------------------------------------------

// `count` different places among those of positive weight, one after the other, each with probability proportional to its
// weight among the places left. Fewer where there are not as many.
std::vector<Index> draw_distinct(ConstVectorRef weights, Index count, Rng& rng);
std::vector<Index> draw_repeated(ConstVectorRef weights, Index count, Rng& rng);  // independent draws
// Each place by itself, with probability min(1, count w_i / sum w).
std::vector<Index> draw_independent(ConstVectorRef weights, double count, Rng& rng);
std::vector<Index> largest_places(ConstVectorRef weights, Index count);  // positive weights only; ties to the smallest place

// ---- dual sets -------------------------------------------------------------------------------------------------------------

// Weights s >= 0, at most r of them positive, for vectors v_i with sum v_i v_i' = I_k and numbers x_i >= 0, such that
//
//   lambda_min(sum s_i v_i v_i') >= (1 - sqrt(k / r))^2   and   sum s_i x_i <= sum x_i
//
// Boutsidis, Drineas and Magdon-Ismail (SIAM J. Comput. 2014), Lemma 13; Wang and Zhang (NIPS 2012), Algorithm 2. Of the
// admissible i the one whose interval for 1/t is longest is taken, with the middle of the interval.
struct DualSet {
  VectorXd weights;
  double smallest = 0;            // lambda_min(sum s_i v_i v_i')
  double smallest_bound = 0;      // (1 - sqrt(k / r))^2
  double sum = 0, sum_bound = 0;  // sum s_i x_i, sum x_i
};
template <class V>
void fields(V& v, DualSet& t) {
  v("weights", t.weights);
  v("smallest", t.smallest);
  v("smallest_bound", t.smallest_bound);
  v("sum", t.sum);
  v("sum_bound", t.sum_bound);
}
// InputError unless k < r and the v_i (rows of v) are as said; NumericalError where a certificate does not hold.
DualSet dual_set(ConstVectorRef x, ConstMatrixRef v, Index r, Monitor& monitor);

// ---- by what is left ---------------------------------------------------------------------------------------------------------

// The squared lengths of the columns of A - Q Q'A, Q orthonormal; `squares` are those of A. What is below rounding is zero.
VectorXd residual_squares(const MatrixSource& a, ConstVectorRef squares, ConstMatrixRef q, const Work& work);

// Columns one after the other, the one that is longest outside the span of those before: pivoted QR that stops at `count`, or
// where nothing is left. One product with A per column.
std::vector<Index> pivot_columns(const MatrixSource& a, Index count, const Work& work);

// ---- plans -------------------------------------------------------------------------------------------------------------------

// Of c columns, how many by the dual set (the others by adaptive sampling): the c1 > k that minimises the bound eps of
// E|A - CC^+A|^2 <= (1 + eps)|A - A_k|^2. Zero where c <= k + 1, and eps infinite.
struct ColumnSplit {
  Index dual = 0;
  double eps = 0;
};
ColumnSplit split_columns(Index k, Index c);
double split_bound(Index k, Index c, Index dual);               // eps for this c1
double row_bound(Index k, Index columns, Index r, Index dual);  // (c / r2)(1 + 1 / (1 - sqrt(k / r1))^2)
ColumnSplit split_rows(Index k, Index columns, Index r);

}  // namespace granary
