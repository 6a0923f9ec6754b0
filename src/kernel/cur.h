// A large matrix by some of its own columns and rows, A ~ C U R, and the choice of columns by itself, A ~ C C^+ A.
//
//   fast                near-optimal columns (a dual set on the singular vectors, then adaptive sampling), rows alike
//   dual_set            the dual set alone, deterministic given the singular vectors
//   subspace            independent draws by leverage scores; subspace_expected: each column by itself
//   leverage_top, qr    the largest scores; pivoted QR (of A where it is small, else of a sketch)
//   uniform, norm2      draws without regard to A, by squared lengths
//   adaptive            by what the columns chosen so far leave, in rounds
//   given               indices the user has
//
// Wang and Zhang (NIPS 2012): Algorithm 1 is `fast` with c1 = c - 2k/eps, r1 = r - 2c/eps; Lemma 1 is `dual_set`, Lemma 2 the
// columns of `fast`, Theorem 3 the adaptive step. The subspace methods are those of Drineas, Mahoney and Muthukrishnan (SIAM J.
// Matrix Anal.
// 2008), norm2 that of Drineas, Kannan and Mahoney (SIAM J. Comput. 2006).
//
// With thin rank-revealing C = Q_C T_C and R' = Q_R T_R the best U is T_C^+ M (T_R^+)' with M = Q_C'A Q_R, and
// |A - CUR|^2 = |A|^2 - |M|^2: no residual is formed, unless rounding would hide it.
#pragma once

#include <string>
#include <vector>

#include "core/base/fields.h"
#include "core/lowrank/matrix_source.h"
#include "core/lowrank/selection.h"
#include "core/random/rng.h"

namespace granary::kernel {

enum class CurMethod { fast, dual_set, subspace, subspace_expected, leverage_top, qr, uniform, norm2, adaptive, given };
inline Names<CurMethod> names(CurMethod) {
  return {{CurMethod::fast, "fast"},
          {CurMethod::dual_set, "dual_set"},
          {CurMethod::subspace, "subspace"},
          {CurMethod::subspace_expected, "subspace_expected"},
          {CurMethod::leverage_top, "leverage_top"},
          {CurMethod::qr, "qr"},
          {CurMethod::uniform, "uniform"},
          {CurMethod::norm2, "norm2"},
          {CurMethod::adaptive, "adaptive"},
          {CurMethod::given, "given"}};
}
enum class CurMiddle { optimal, skeleton, dmm };
inline Names<CurMiddle> names(CurMiddle) {
  return {{CurMiddle::optimal, "optimal"}, {CurMiddle::skeleton, "skeleton"}, {CurMiddle::dmm, "dmm"}};
}
enum class SvdKind { automatic, random, exact };
inline Names<SvdKind> names(SvdKind) {
  return {{SvdKind::automatic, "auto"}, {SvdKind::random, "random"}, {SvdKind::exact, "exact"}};
}

struct CurOptions {
  Index k = 1, c = 4, r = 4;  // target rank, columns, rows; r = 0: columns only
  CurMethod method = CurMethod::fast;
  CurMiddle u = CurMiddle::optimal;
  Index split = 0, split_rows = 0;  // columns and rows of the dual set; 0: those with the best bound
  SvdKind svd = SvdKind::automatic;
  Index oversample = 10, power = 1;
  bool replace = false;  // independent draws, as in the theory; else different columns
  bool parts = false;    // return C and R
  int threads = 1;
  std::vector<Index> columns, rows;  // for `given`
  bool by_rows = false;              // of leverage scores: those of the rows
};
template <class V>
void fields(V& v, CurOptions& t) {
  v("k", t.k);
  v("c", t.c);
  v("r", t.r);
  v("method", t.method);
  v("u", t.u);
  v("split", t.split);
  v("split_rows", t.split_rows);
  v("svd", t.svd);
  v("oversample", t.oversample);
  v("power", t.power);
  v("replace", t.replace);
  v("parts", t.parts);
  v("threads", t.threads);
  v("columns", positions(t.columns));
  v("rows", positions(t.rows));
  v("by_rows", t.by_rows);
}

struct ChosenSet {
  std::vector<Index> index;  // in the order chosen
  VectorXd scores;           // of all: leverage scores, or what the draws went by
  VectorXd weights;          // of the dual set, all; empty without one
  Index dual = 0;            // members that the dual set gave
  bool exhausted = false;    // nothing was left to choose by before the budget was used
};
template <class V>
void fields(V& v, ChosenSet& t) {
  v("index", positions(t.index));
  v("scores", t.scores);
  v("weights", t.weights);
  v("dual", t.dual);
  v("exhausted", t.exhausted);
}

struct CurResult {
  ChosenSet columns, rows;
  MatrixXd u;       // c x r; without rows C^+A, c x columns of A
  MatrixXd c, r;    // A(:, columns), A(rows, :), where asked for
  VectorXd values;  // leading singular values (estimates by a sketch)
  Index k = 0;      // target rank, reduced where A has less
  bool exact_svd = false;
  double norm = 0;          // |A|
  double best_error = 0;    // |A - A_k|; by a sketch an estimate from above
  double column_error = 0;  // |A - CC^+A|
  double error = 0;         // |A - CUR|
  double bound = 0;         // on the expected |A - CUR| / |A - A_k| (of columns: |A - CC^+A| / |A - A_k|); infinite: none
  Index column_rank = 0, row_rank = 0;
  double passes = 0, seconds = 0;
};
template <class V>
void fields(V& v, CurResult& t) {
  v("columns", t.columns);
  v("rows", t.rows);
  v("u", t.u);
  v("c", t.c);
  v("r", t.r);
  v("values", t.values);
  v("k", t.k);
  v("exact_svd", t.exact_svd);
  v("norm", t.norm);
  v("best_error", t.best_error);
  v("column_error", t.column_error);
  v("error", t.error);
  v("bound", any_number(t.bound));
  v("column_rank", t.column_rank);
  v("row_rank", t.row_rank);
  v("passes", t.passes);
  v("seconds", t.seconds);
}

CurResult cur(const MatrixSource& a, const CurOptions& options, Rng& rng, Monitor& monitor);

// Leverage scores of the columns (or rows) for the k leading singular vectors, with their singular values.
struct LeverageResult {
  VectorXd scores, values;
  Index k = 0;
  bool exact_svd = false;
};
template <class V>
void fields(V& v, LeverageResult& t) {
  v("scores", t.scores);
  v("values", t.values);
  v("k", t.k);
  v("exact_svd", t.exact_svd);
}
LeverageResult column_leverage(const MatrixSource& a, const CurOptions& options, Rng& rng, Monitor& monitor);

// How many columns and rows a relative error eps of |A - CUR| against |A - A_k| takes, in expectation: c the smallest with a
// bound eps for the columns, r the smallest with a bound eps for the rows (their squares add). From c and r, eps.
struct CurPlan {
  double eps = 0;
  Index c = 0, dual = 0, r = 0, dual_rows = 0;
  double c_leading = 0, r_leading = 0;  // 2k/eps and 2c/eps
};
template <class V>
void fields(V& v, CurPlan& t) {
  v("eps", any_number(t.eps));
  v("c", t.c);
  v("dual", t.dual);
  v("r", t.r);
  v("dual_rows", t.dual_rows);
  v("c_leading", t.c_leading);
  v("r_leading", t.r_leading);
}
CurPlan plan_cur(Index k, double eps);
CurPlan plan_error(Index k, Index c, Index r);

}  // namespace granary::kernel
