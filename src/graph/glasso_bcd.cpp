#include "graph/glasso_bcd.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/prox/proximal.h"
#include "core/linalg/spd_inverse.h"

namespace granary::graph {

namespace {

class BlockDescent {
 public:
  BlockDescent(const ConstMatrixRef& s, const Penalty& lambda, GlassoState& start);

  // One sweep over the columns. Returns about twice the gain in the dual objective, sum_ij (change of W_ij)^2 X_ii X_jj; NaN when
  // W left the cone.
  double sweep(Monitor& monitor);

  // X from the regressions of each column on the others. The two estimates of an entry agree at the optimum; before, their mean
  // is taken, and the entry is zero when either is.
  SparseMatrix precision() const;
  MatrixXd& w() { return w_; }

 private:
  struct Term {
    int row;
    double b;
  };

  void start_at(const GlassoState& start);
  bool add_violators(Index j);
  void settle(Index j);
  void fit(Index j);
  double update_column(Index j);
  void write_rows(Index end);

  const ConstMatrixRef& s_;
  const Penalty& lambda_;
  const Index p_;
  MatrixXd w_;
  std::vector<std::vector<Term>> regression_;  // beta of every column, nonzero entries
  VectorXd diagonal_;                          // X_jj = 1 / (W_jj - w_12' beta)

  // The column being worked on.
  VectorXd fitted_, bound_;  // W beta and Lambda_.j
  VectorXd excess_;          // |w_12 - s_12| - Lambda_.j
  std::vector<Term> local_;  // its support and violators
  std::vector<Term> used_;   // those of them that are not zero
  VectorXd b_, gradient_;
  MatrixXd w_local_;

  // A new column of W is written as a row too, but rows are far apart in memory. So they wait until some can be written together:
  // rows pending_ .. j - 1 are up to date in columns pending_ .. j - 1 only.
  Index pending_ = 0;
};

BlockDescent::BlockDescent(const ConstMatrixRef& s, const Penalty& lambda, GlassoState& start)
    : s_(s), lambda_(lambda), p_(s.rows()), w_(std::move(start.w)), regression_(p_), fitted_(p_), bound_(p_) {
  start_at(start);
  diagonal_ = w_.diagonal().cwiseInverse();
  if (lambda.is_scalar()) bound_.setConstant(lambda(0, 1));
}

// The part of `start.w` that is W - S is shrunk until it fits the box. With S positive semi-definite and a start that came from a
// larger penalty this keeps W positive definite: it is a convex combination of S and the old W.
void BlockDescent::start_at(const GlassoState& start) {
  bool plain = true;
  for (Index j = 0; j < p_; ++j) {
    for (SparseMatrix::InnerIterator it(start.upper, j); it; ++it) plain = plain && it.row() == j;
  }
  double share = plain ? 0 : 1;  // from a diagonal X: S + diag(Lambda), which is always in the box
  if (!plain) {
    for (Index j = 0; j < p_; ++j) {
      for (Index i = 0; i < j; ++i) {
        const double excess = std::abs(w_(i, j) - s_(i, j)), l = lambda_(i, j);
        if (excess * share > l) share = l / excess;
      }
    }
  }
  for (Index j = 0; j < p_; ++j) {
    w_.col(j) = share * w_.col(j) + (1 - share) * s_.col(j);
    w_(j, j) = s_(j, j) + lambda_(j, j);
  }
  const VectorXd diagonal = start.upper.diagonal();
  for (int j = 0; j < p_; ++j) {
    for (SparseMatrix::InnerIterator it(start.upper, j); it; ++it) {
      const int i = static_cast<int>(it.row());
      if (i == j || it.value() == 0) continue;
      regression_[j].push_back({i, -it.value() / diagonal[j]});
      regression_[i].push_back({j, -it.value() / diagonal[i]});
    }
  }
}

bool BlockDescent::add_violators(Index j) {
  excess_ = (fitted_ - s_.col(j)).cwiseAbs() - bound_;
  excess_[j] = -1;
  for (const Term& term : local_) excess_[term.row] = -1;
  if (!(excess_.maxCoeff() > 0)) return false;
  for (int i = 0; i < p_; ++i) {
    if (excess_[i] > 0) local_.push_back({i, 0});
  }
  std::sort(local_.begin(), local_.end(), [](const Term& a, const Term& b) { return a.row < b.row; });  // for the cache
  return true;
}

// Coordinate descent over the local coordinates.
void BlockDescent::settle(Index j) {
  const Index m = static_cast<Index>(local_.size());
  w_local_.resize(m, m);
  gradient_.resize(m);
  b_.resize(m);
  for (Index c = 0; c < m; ++c) {
    const int i = local_[c].row;
    const double* column = w_.data() + p_ * i;
    for (Index r = c; r < m; ++r) w_local_(r, c) = w_local_(c, r) = column[local_[r].row];
    gradient_[c] = -s_(i, j);
    b_[c] = local_[c].b;
  }
  for (Index r = 0; r < m; ++r) {
    const int i = local_[r].row;
    if (i < pending_ || i >= j) continue;  // row i is stale, column i is not
    for (Index c = 0; c < m; ++c) w_local_(r, c) = w_local_(c, r) = w_(local_[c].row, i);
  }
  gradient_.noalias() += w_local_ * b_;
  constexpr int most_passes = 50;
  double first = 0;
  for (int pass = 0; pass < most_passes; ++pass) {
    double moved = 0;
    for (Index c = 0; c < m; ++c) {
      const double a = w_local_(c, c);
      const double z = soft_threshold(b_[c] - gradient_[c] / a, bound_[local_[c].row] / a);
      const double change = z - b_[c];
      if (change == 0) continue;
      b_[c] = z;
      moved = std::max(moved, std::abs(change) * a);
      gradient_ += change * w_local_.col(c);
    }
    if (pass == 0) first = moved;
    if (!(moved > 0.1 * first)) break;
  }
  for (Index c = 0; c < m; ++c) local_[c].b = b_[c];
}

// W beta over the local coordinates. Four columns of W at a time: the sum is read and written a quarter as often.
void BlockDescent::fit(Index j) {
  fitted_.setZero();
  used_.clear();
  for (const Term& term : local_) {
    if (term.b != 0) used_.push_back(term);
  }
  std::size_t k = 0;
  for (; k + 4 <= used_.size(); k += 4) {
    const Term* a = &used_[k];
    fitted_ += a[0].b * w_.col(a[0].row) + a[1].b * w_.col(a[1].row) + a[2].b * w_.col(a[2].row) + a[3].b * w_.col(a[3].row);
  }
  for (; k < used_.size(); ++k) fitted_ += used_[k].b * w_.col(used_[k].row);
  for (Index r = pending_; r < j; ++r) {
    fitted_[r] = 0;
    for (const Term& term : used_) fitted_[r] += term.b * w_(term.row, r);
  }
}

double BlockDescent::update_column(Index j) {
  for (Index r = pending_; r < j; ++r) w_(r, j) = w_(j, r);
  local_ = regression_[j];
  if (!lambda_.is_scalar()) {
    for (Index i = 0; i < p_; ++i) bound_[i] = lambda_(i, j);
  }
  constexpr int most_rounds = 4;  // a violator left over is found in the next sweep
  for (int round = 0; round < most_rounds; ++round) {
    settle(j);
    fit(j);
    if (!add_violators(j)) break;
  }

  regression_[j] = used_;
  double explained = 0;
  for (const Term& term : used_) explained += term.b * fitted_[term.row];
  const double schur = w_(j, j) - explained;
  if (!(schur > 0)) return Convergence::unknown;
  diagonal_[j] = 1 / schur;
  fitted_[j] = w_(j, j);
  const double change = (fitted_ - w_.col(j)).cwiseAbs2().dot(diagonal_) * diagonal_[j];
  w_.col(j) = fitted_;
  for (Index r = pending_; r < j; ++r) w_(j, r) = fitted_[r];
  return 2 * change;
}

// Rows pending_ .. end - 1 of W from its columns.
void BlockDescent::write_rows(Index end) {
  for (Index i = 0; i < p_; ++i) {
    for (Index r = pending_; r < end; ++r) w_(r, i) = w_(i, r);
  }
  pending_ = end;
}

double BlockDescent::sweep(Monitor& monitor) {
  constexpr Index rows_at_once = 8;  // a cache line
  double change = 0;
  pending_ = 0;
  for (Index j = 0; j < p_ && std::isfinite(change); ++j) {
    monitor.check();
    change += update_column(j);
    if (j + 1 == p_ || j + 1 == pending_ + rows_at_once) write_rows(j + 1);
  }
  return std::isfinite(change) ? change : Convergence::unknown;
}

SparseMatrix BlockDescent::precision() const {
  std::vector<Eigen::Triplet<double>> entries;
  for (int j = 0; j < p_; ++j) {
    double explained = 0;
    for (const Term& term : regression_[j]) explained += term.b * w_(term.row, j);
    const double diagonal = 1 / (w_(j, j) - explained);
    entries.emplace_back(j, j, diagonal);
    for (const Term& term : regression_[j]) entries.emplace_back(term.row, j, -term.b * diagonal);
  }
  SparseMatrix column(p_, p_);
  column.setFromTriplets(entries.begin(), entries.end());
  const SparseMatrix row = column.transpose();
  entries.clear();
  for (int j = 0; j < p_; ++j) {
    SparseMatrix::InnerIterator a(column, j), b(row, j);
    while (a && b && a.row() <= j) {
      if (a.row() == b.row()) entries.emplace_back(static_cast<int>(a.row()), j, 0.5 * (a.value() + b.value()));
      const Index at = a.row();
      if (at <= b.row()) ++a;
      if (b.row() <= at) ++b;
    }
  }
  SparseMatrix upper(p_, p_);
  upper.setFromTriplets(entries.begin(), entries.end());
  return upper;
}

}  // namespace

SolverReport glasso_bcd(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor,
                        GlassoState& state) {
  SolverReport report;
  BlockDescent descent(s, lambda, state);
  SpdInverse factor;
  MatrixXd product;
  const double target = options.tol * options.tol * static_cast<double>(s.rows());  // of t in Certificate
  const double rounding = 1e-24 * static_cast<double>(s.rows());
  double before = Convergence::unknown, first_residual = 0;
  while (report.iterations < options.max_iter) {
    const double change = descent.sweep(monitor);
    ++report.iterations;
    if (std::isnan(change)) {
      report.lost = true;
      return report;
    }
    const double expected = std::isnan(before) ? change : change * (change / before);  // of the next sweep
    before = change;
    if (first_residual == 0) first_residual = std::sqrt(change / static_cast<double>(s.rows()));
    report_progress(options, first_residual, std::sqrt(change / static_cast<double>(s.rows())), monitor);
    if (!(expected <= target) && change > 0 && report.iterations < options.max_iter) continue;

    SparseMatrix upper = descent.precision();
    report.certificate = certify(s, lambda, upper, descent.w(), product);
    const double last = std::exchange(report.residual, report.certificate.residual);
    const bool reached = report.residual <= options.tol;
    const bool stalled = !reached && change <= rounding && last > 0 && report.residual > 0.5 * last;
    if (!reached && !stalled && report.iterations < options.max_iter) continue;
    if (!factor.factorise(upper)) continue;
    state.upper = std::move(upper);
    state.log_det = factor.log_det();
    report.certified = true;
    report.converged = reached || (stalled && report.residual <= 100 * options.tol);
    if (stalled) report.message = message("W does not change any more in double precision; residual ", report.residual);
    break;
  }
  if (!report.certified) {
    report.lost = true;
    return report;
  }
  state.w = std::move(descent.w());
  report.trace.push_back({-state.log_det + linear_and_penalty(s, lambda, state.upper), report.residual,
                          static_cast<double>(state.upper.nonZeros()), 1, report.iterations});
  if (!report.converged && report.message.empty()) {
    report.message = message("stopped after ", report.iterations, " sweeps over the columns with residual ", report.residual);
  }
  return report;
}

}  // namespace granary::graph
