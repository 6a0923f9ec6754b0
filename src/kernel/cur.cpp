#include "kernel/cur.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/convergence.h"
#include "core/base/errors.h"
#include "core/linalg/dense.h"
#include "core/lowrank/sketch.h"

namespace granary::kernel {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// A or A' with what is known of it: the columns of this side are to be chosen.
struct Side {
  const MatrixSource& a;
  VectorXd squares;   // of the columns
  MatrixXd v;         // the leading singular vectors of this side, one row per column
  VectorXd residual;  // squared lengths of the columns of A - U S V'
};

PartialSvd leading_part(const MatrixSource& a, const CurOptions& options, Rng& rng, const Work& work) {
  const Index least = std::min(a.rows(), a.cols());
  const bool small = least <= 400 && static_cast<double>(a.rows()) * static_cast<double>(a.cols()) <= 4e6;
  const bool exact = options.svd == SvdKind::exact || (options.svd == SvdKind::automatic && small);
  PartialSvd svd = exact ? exact_svd(a, options.k, work)
                         : sketched_svd(a, options.k, {options.oversample, static_cast<int>(options.power)}, rng, work);
  Index rank = 0;
  while (rank < svd.values.size() && svd.values[rank] > 1e-12 * svd.values[0]) ++rank;
  svd.u = svd.u.leftCols(rank).eval();
  svd.v = svd.v.leftCols(rank).eval();
  svd.values = svd.values.head(rank).eval();
  return svd;
}

VectorXd without_rounding(const VectorXd& left, const VectorXd& squares) {
  return left.array().max(0.0) * (left.array() > 1e-13 * squares.array()).cast<double>();
}

void add_draws(ChosenSet& set, const VectorXd& weights, Index count, bool replace, Rng& rng) {
  if (count <= 0) return;
  if (!(weights.sum() > 0)) {
    set.exhausted = true;
    return;
  }
  const std::vector<Index> more = replace ? draw_repeated(weights, count, rng) : draw_distinct(weights, count, rng);
  if (static_cast<Index>(more.size()) < count) set.exhausted = true;
  set.index.insert(set.index.end(), more.begin(), more.end());
}

// What the columns chosen so far leave of each column.
VectorXd left_by(const Side& side, const std::vector<Index>& chosen, const Work& work) {
  if (chosen.empty()) return side.squares;
  VectorXd left = residual_squares(side.a, side.squares, range_basis(side.a.some_columns(chosen, work)).q, work);
  for (const Index j : chosen) left[j] = 0;
  return left;
}

// Lemma 1 (all of the budget) and Lemma 2 (the rest by adaptive sampling).
void by_dual_set(ChosenSet& set, const Side& side, Index count, Index dual, const CurOptions& options, Rng& rng,
                 const Work& work) {
  if (dual > side.v.cols()) {
    set.weights = dual_set(side.residual, side.v, dual, work.monitor).weights;
    set.index = largest_places(set.weights, dual);
    std::sort(set.index.begin(), set.index.end());
    set.dual = static_cast<Index>(set.index.size());
  }
  if (options.method == CurMethod::dual_set) return;  // fewer than asked for, where some were taken more than once
  add_draws(set, left_by(side, set.index, work), count - static_cast<Index>(set.index.size()), options.replace, rng);
}

void by_pivots(ChosenSet& set, const Side& side, Index count, Rng& rng, const Work& work) {
  const double size = static_cast<double>(side.a.rows()) * static_cast<double>(side.a.cols());
  if (size <= 2e7) {
    set.index = pivot_columns(side.a, count, work);
  } else {  // a sketch of a few more rows than columns wanted has nearly the geometry of the columns
    MatrixXd omega(side.a.rows(), std::min(side.a.rows(), count + 10));
    for (Index j = 0; j < omega.cols(); ++j)
      for (Index i = 0; i < omega.rows(); ++i) omega(i, j) = rng.normal();
    const MatrixXd sketch = side.a.transposed_times(omega, work).transpose();
    set.index = pivot_columns(*dense_source(MatrixView(sketch.data(), sketch.rows(), sketch.cols())), count, work);
  }
  set.exhausted = static_cast<Index>(set.index.size()) < count;
}

ChosenSet choose(const Side& side, Index count, Index split, bool rows, const CurOptions& options, Rng& rng, const Work& work) {
  const Index n = side.a.cols(), k = side.v.cols();
  ChosenSet set;
  set.scores = leverage_scores(side.v);
  if (options.method == CurMethod::given) {
    set.index = rows ? options.rows : options.columns;
  } else if (count >= n && !options.replace) {
    set.index = largest_places(VectorXd::Ones(n), n);
  } else if (options.method == CurMethod::fast) {
    if (split == 0) split = (rows ? split_rows(k, options.c, count) : split_columns(k, count)).dual;
    by_dual_set(set, side, count, std::min(split, count), options, rng, work);
  } else if (options.method == CurMethod::dual_set) {
    by_dual_set(set, side, count, count, options, rng, work);
  } else if (options.method == CurMethod::subspace) {
    add_draws(set, set.scores, count, options.replace, rng);
  } else if (options.method == CurMethod::subspace_expected) {
    set.index = draw_independent(set.scores, static_cast<double>(count), rng);
  } else if (options.method == CurMethod::leverage_top) {
    set.index = largest_places(set.scores, count);
  } else if (options.method == CurMethod::qr) {
    by_pivots(set, side, count, rng, work);
  } else if (options.method == CurMethod::uniform || options.method == CurMethod::norm2) {
    set.scores = side.squares;
    if (options.method == CurMethod::uniform) set.scores = (side.squares.array() > 0).cast<double>();
    add_draws(set, set.scores, count, options.replace, rng);
  } else {
    const Index round = std::max<Index>(1, (count + 9) / 10);
    while (static_cast<Index>(set.index.size()) < count && !set.exhausted) {
      const Index missing = count - static_cast<Index>(set.index.size());
      add_draws(set, left_by(side, set.index, work), std::min(round, missing), options.replace, rng);
    }
  }
  return set;
}

// |A|^2 - explained, or where that is rounding the residual itself.
double left_square(double total, double explained, const MatrixSource& a, const MatrixXd& left, const MatrixXd& right,
                   const Work& work) {
  const double rest = total - explained;
  const double work_of_residual =
      static_cast<double>(a.rows()) * static_cast<double>(a.cols()) * static_cast<double>(left.cols());
  if (rest > 1e-8 * total || work_of_residual > 1e12) return std::max(0.0, rest);
  return a.residual_column_squares(left, right, work).sum();
}

MatrixXd pseudo_inverse(const MatrixXd& a) {
  const Svd svd(a, SvdParts::thin);
  VectorXd d = svd.singularValues();
  const double least = d.size() > 0 ? 1e-12 * d[0] : 0;
  for (Index i = 0; i < d.size(); ++i) d[i] = d[i] > least ? 1 / d[i] : 0;
  return svd.matrixV() * d.asDiagonal() * svd.matrixU().transpose();
}

MatrixXd rows_of(const MatrixXd& x, const std::vector<Index>& which) {
  MatrixXd out(static_cast<Index>(which.size()), x.cols());
  for (Index i = 0; i < out.rows(); ++i) out.row(i) = x.row(which[static_cast<std::size_t>(i)]);
  return out;
}

// (D C(I, :))^+ D with D = diag(1 / sqrt(r q_i)), q the probabilities of the rows.
MatrixXd dmm_middle(const MatrixXd& crossing, const ChosenSet& rows, double r, bool expected) {
  const double total = rows.scores.sum();
  VectorXd d(crossing.rows());
  for (Index i = 0; i < d.size(); ++i) {
    const double q = r * rows.scores[rows.index[static_cast<std::size_t>(i)]] / total;
    d[i] = 1 / std::sqrt(expected ? std::min(1.0, q) : q);
  }
  return pseudo_inverse(d.asDiagonal() * crossing) * d.asDiagonal();
}

}  // namespace

CurResult cur(const MatrixSource& a, const CurOptions& options, Rng& rng, Monitor& monitor) {
  const Stopwatch clock;
  const Work work{options.threads, monitor};
  CurResult out;
  const VectorXd squares = a.column_squares(work);
  const double total = squares.sum();
  out.norm = std::sqrt(total);
  if (!(total > 0)) throw InputError("the matrix is zero everywhere: there is nothing to choose.");
  const PartialSvd svd = leading_part(a, options, rng, work);
  out.values = svd.values;
  out.exact_svd = svd.exact;
  const Index k = out.k = svd.values.size();
  const double best = left_square(total, svd.values.squaredNorm(), a, svd.u, svd.v * svd.values.asDiagonal(), work);
  out.best_error = std::sqrt(best);

  // Columns. The sketch has U S V' = U U'A, so what it explains of a column is |S v_j|^2.
  const MatrixXd vs = svd.v * svd.values.asDiagonal();
  const Side side{a, squares, svd.v, without_rounding(squares - vs.rowwise().squaredNorm(), squares)};
  out.columns = choose(side, options.c, options.split, false, options, rng, work);
  if (out.columns.index.empty()) throw InputError("no column was chosen: raise `c`.");
  const MatrixXd c = a.some_columns(out.columns.index, work);
  const RangeBasis c_basis = range_basis(c);
  out.column_rank = c_basis.rank();
  const MatrixXd explained = a.transposed_times(c_basis.q, work);  // A'Q_C
  const double column_left = left_square(total, explained.squaredNorm(), a, c_basis.q, explained, work);
  out.column_error = std::sqrt(column_left);
  const Index count = static_cast<Index>(out.columns.index.size());
  const bool bounded = options.method == CurMethod::fast || options.method == CurMethod::dual_set;
  const Index split = options.split > 0 ? options.split : split_columns(k, options.c).dual;
  const double column_bound = options.method == CurMethod::fast ? split_bound(k, options.c, split)
                              : count > k
                                  ? 1 / std::pow(1 - std::sqrt(static_cast<double>(k) / static_cast<double>(options.c)), 2)
                                  : infinite;
  if (options.r == 0) {
    out.error = out.column_error;
    out.bound = bounded ? std::sqrt(1 + column_bound) : infinite;
    out.u = c_basis.pseudo_inverse() * explained.transpose();
    if (options.parts) out.c = c;
    out.passes = a.passes();
    out.seconds = clock.seconds();
    return out;
  }

  // Rows: the same on A', but the subspace methods look at the singular vectors of C.
  const auto turned = transposed_source(a);
  const bool subspace = options.method == CurMethod::subspace || options.method == CurMethod::subspace_expected;
  const MatrixXd us = svd.u * svd.values.asDiagonal();
  const VectorXd row_squares = a.row_squares(work);
  const VectorXd left = row_squares - 2 * (a.times(svd.v, work).cwiseProduct(us)).rowwise().sum() + us.rowwise().squaredNorm();
  const Side other{*turned, row_squares, subspace ? c_basis.q : svd.u, without_rounding(left, row_squares)};
  out.rows = choose(other, options.r, options.split_rows, true, options, rng, work);
  if (out.rows.index.empty()) throw InputError("no row was chosen: raise `r`.");
  const MatrixXd r = a.some_rows(out.rows.index, work);
  const RangeBasis r_basis = range_basis(r.transpose());
  out.row_rank = r_basis.rank();
  const MatrixXd m = explained.transpose() * r_basis.q;
  const double smallest = left_square(total, m.squaredNorm(), a, c_basis.q * m, r_basis.q, work);
  if (options.u == CurMiddle::optimal) {
    out.u = c_basis.pseudo_inverse() * m * r_basis.pseudo_inverse().transpose();
    out.error = std::sqrt(smallest);
  } else {
    const MatrixXd crossing = rows_of(c, out.rows.index);  // A(I, J)
    const bool expected = options.method == CurMethod::subspace_expected;
    out.u = options.u == CurMiddle::skeleton ? pseudo_inverse(crossing)
                                             : dmm_middle(crossing, out.rows, static_cast<double>(options.r), expected);
    const MatrixXd n = c_basis.t * out.u * r_basis.t.transpose();  // CUR = Q_C N Q_R'
    out.error = std::sqrt(smallest + (m - n).squaredNorm());
  }
  const Index row_split = options.split_rows > 0 ? options.split_rows : split_rows(k, options.c, options.r).dual;
  out.bound = options.method == CurMethod::fast && options.u == CurMiddle::optimal
                  ? std::sqrt(1 + column_bound + row_bound(k, options.c, options.r, row_split))
                  : infinite;
  if (options.parts) {
    out.c = c;
    out.r = r;
  }
  out.passes = a.passes();
  out.seconds = clock.seconds();
  return out;
}

LeverageResult column_leverage(const MatrixSource& a, const CurOptions& options, Rng& rng, Monitor& monitor) {
  const Work work{options.threads, monitor};
  const PartialSvd svd = leading_part(a, options, rng, work);
  return {leverage_scores(options.by_rows ? svd.u : svd.v), svd.values, svd.values.size(), svd.exact};
}

CurPlan plan_error(Index k, Index c, Index r) {
  CurPlan plan;
  const ColumnSplit columns = split_columns(k, c), rows = split_rows(k, c, r);
  plan.c = c;
  plan.r = r;
  plan.dual = columns.dual;
  plan.dual_rows = rows.dual;
  plan.eps = std::sqrt(1 + columns.eps + rows.eps) - 1;
  plan.c_leading = 2 * static_cast<double>(k) / plan.eps;
  plan.r_leading = 2 * static_cast<double>(c) / plan.eps;
  return plan;
}

CurPlan plan_cur(Index k, double eps) {
  const auto smallest = [](Index from, auto&& enough) {  // by doubling and halving
    Index low = from, high = from;
    while (!enough(high)) {
      low = high;
      high *= 2;
      if (high > (Index(1) << 40)) throw InputError("no number of columns reaches so small an error: raise `eps`.");
    }
    while (high - low > 1) {
      const Index middle = low + (high - low) / 2;
      (enough(middle) ? high : low) = middle;
    }
    return high;
  };
  CurPlan plan;
  plan.eps = eps;
  plan.c = smallest(k + 2, [&](Index c) { return split_columns(k, c).eps <= eps; });
  plan.dual = split_columns(k, plan.c).dual;
  plan.r = smallest(k + 2, [&](Index r) { return split_rows(k, plan.c, r).eps <= eps; });
  plan.dual_rows = split_rows(k, plan.c, plan.r).dual;
  plan.c_leading = 2 * static_cast<double>(k) / eps;
  plan.r_leading = 2 * static_cast<double>(plan.c) / eps;
  return plan;
}

}  // namespace granary::kernel
