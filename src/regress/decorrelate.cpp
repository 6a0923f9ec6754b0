#include "regress/decorrelate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "core/base/errors.h"
#include "core/optim/l1_quadratic.h"
#include "core/optim/lp.h"
#include "core/base/parallel.h"
#include "core/math/special.h"
#include "core/linalg/dense.h"
#include "regress/decorrelate_path.h"

namespace granary::regress {
namespace {

MatrixXd gram(const ConstMatrixRef& x) {
  MatrixXd s = MatrixXd::Zero(x.cols(), x.cols());
  s.selfadjointView<Eigen::Lower>().rankUpdate(x.transpose(), 1 / static_cast<double>(x.rows()));
  s.triangularView<Eigen::StrictlyUpper>() = s.transpose();
  return s;
}

// [X, P], P the projector on the column space of X: the design behind the robust dual, whose matrix is its inner products over n.
MatrixXd with_projector(const ConstMatrixRef& x) {
  const Index n = x.rows(), p = x.cols();
  MatrixXd z(n, p + n);
  z.leftCols(p) = x;
  const PivotedQr qr(x);
  if (qr.rank() == n) {
    z.rightCols(n).setIdentity();
  } else {
    const MatrixXd basis = qr.thin_q();
    z.rightCols(n).noalias() = basis * basis.transpose();
  }
  return z;
}

// Whether to form S for `count` rows. Without it a row takes some passes over the design, which for few rows is quicker than
// making S and for all of them takes up to twice as long; beyond 10000 columns (800 MB) S is never made.
bool worth_forming(Index count, Index p) { return p <= 10000 && count >= p / 8; }

VectorXd second_moments(const ConstMatrixRef& z) {
  return z.colwise().squaredNorm().transpose() / static_cast<double>(z.rows());
}

VectorXd products_with(const ConstMatrixRef& z, Index i) {  // column i of Z'Z / n
  return z.transpose() * z.col(i) / static_cast<double>(z.rows());
}

VectorXd combination(const ConstMatrixRef& z, const VectorXd& v) {
  VectorXd out = VectorXd::Zero(z.rows());
  for (Index j = 0; j < v.size(); ++j)
    if (v[j] != 0) out.noalias() += v[j] * z.col(j);
  return out;
}

// Solves rows; one for all threads, only read from.
class RowSolver {
 public:
  // `z` is x, or [x, P] for the robust version; p columns are those of x.
  RowSolver(const ConstMatrixRef& z, Index p, Index count, const DecorrelateOptions& options)
      : z_(z), options_(options), n_(z.rows()), p_(p), diagonal_(second_moments(z)) {
    if (worth_forming(count, p)) s_ = gram(z);
  }

  double diagonal(Index i) const { return diagonal_[i]; }

  struct State {
    VectorXd v, gradient;
    bool warm = false;
  };

  // The dual at mu; from `state` if that is warm.
  bool solve(Index i, double mu, int max_iter, State& state, Monitor& monitor) const {
    const Index size = z_.cols();
    VectorXd r = VectorXd::Zero(size), penalty = VectorXd::Constant(size, mu);
    r[i] = 1;
    if (options_.robust()) penalty.tail(n_).setConstant(std::pow(static_cast<double>(n_), options_.beta - 1));
    if (!state.warm) {
      state.v = VectorXd::Zero(size);
      state.gradient = -r;
    }
    L1QuadraticOptions solver;
    solver.tol = options_.tol;
    // Short bursts, so that a dual without a minimum is noticed before the sweeps run out.
    for (int done = 0; done < max_iter;) {
      solver.max_iter = std::min(max_iter - done, std::max(50, done));
      const Convergence c = s_.size() ? l1_quadratic(s_, r, penalty, state.v, state.gradient, solver, monitor)
                                      : l1_quadratic_gram(z_, r, penalty, state.v, state.gradient, solver, monitor);
      done += std::max(1, c.iterations);
      state.warm = c.converged;
      if (c.converged) return true;
      if (c.iterations < solver.max_iter) return false;  // the arithmetic has no more to give
      // Every feasible row has a variance of at least (v_i - mu |v|_1)^2 / v'Sv, whatever v is: beyond 1e4 / S_ii, and without
      // end where none is feasible, the row is of no use.
      const double lead = state.v[i] - mu * state.v.head(p_).cwiseAbs().sum();
      const double curvature = state.v.dot(state.gradient + r);
      if (p_ > n_ - 1 && !options_.robust() && lead > 0 && lead * lead * diagonal_[i] > 1e4 * curvature) return false;
      if (state.v.cwiseAbs().sum() * diagonal_[i] > 1e6) return false;
    }
    return false;
  }

  bool shortcut(Index i, double mu) const {
    VectorXd column = s_.size() ? VectorXd(s_.col(i).head(p_)) : products_with(z_.leftCols(p_), i);
    column[i] = 0;
    const double rho = column.cwiseAbs().maxCoeff() / diagonal_[i];
    return mu >= rho / (1 + rho);
  }

  // Ready for solve() at `v`.
  State from(Index i, VectorXd v) const {
    State state;
    const VectorXd fitted = combination(z_, v);
    state.gradient = z_.transpose() * fitted / static_cast<double>(n_);
    state.gradient[i] -= 1;
    state.v = std::move(v);
    state.warm = true;
    return state;
  }

  VectorXd fitted(const State& state) const { return combination(z_, state.v); }  // X m

  State along_axis(Index i, double value) const {
    State state;
    state.v = VectorXd::Zero(z_.cols());
    state.v[i] = value;
    return state;
  }

 private:
  ConstMatrixRef z_;
  const DecorrelateOptions& options_;
  Index n_, p_;
  VectorXd diagonal_;
  MatrixXd s_;  // empty where few rows are asked for
};

void certify(const ConstMatrixRef& x, Index i, const VectorXd& fitted, DecorrelatedRow& row) {
  VectorXd slack = x.transpose() * fitted / static_cast<double>(x.rows());
  slack[i] -= 1;
  row.coherence = slack.cwiseAbs().maxCoeff();
  row.variance = fitted.squaredNorm() / static_cast<double>(x.rows());
  row.floor = std::pow(std::max(1 - row.mu, 0.0), 2) / (x.col(i).squaredNorm() / static_cast<double>(x.rows()));
  row.largest = fitted.cwiseAbs().maxCoeff();
}

// As in the authors' code: from a normal quantile down by 1.5 while 50 sweeps suffice, or up until they do.
bool search(const RowSolver& solver, Index i, Index n, Index p, RowSolver::State& best, double& mu, Monitor& monitor) {
  const double root = std::sqrt(static_cast<double>(n)), size = static_cast<double>(p);
  mu = normal_quantile(1 - 0.1 / (size * size)) / root;
  RowSolver::State state;
  bool found = solver.solve(i, mu, 50, state, monitor);
  for (int k = 1; k < 10; ++k) {
    RowSolver::State next = found ? state : RowSolver::State();
    const double trial = found ? mu / 1.5 : mu * 1.5;
    const bool solved = solver.solve(i, trial, 50, next, monitor);
    if (found && !solved) break;
    mu = trial;
    if (solved) state = next;
    if (!found && solved) {
      found = true;
      break;
    }
  }
  best = state;
  return found;
}

void check_columns(const ConstMatrixRef& x, const std::vector<int>& which) {
  if (x.rows() < 2) throw InputError("the design must have at least two rows.");
  if (!x.allFinite()) throw InputError("the design must be finite.");
  for (Index j = 0; j < x.cols(); ++j)
    if (x.col(j).squaredNorm() == 0) throw InputError(message("column ", j + 1, " of the design is zero; drop it."));
  for (const int i : which)
    if (i < 0 || i >= x.cols()) throw InputError(message("`which` must name columns 1 to ", x.cols(), ", not ", i + 1, "."));
}

// Whether a row can be infeasible, so that its path is followed where sweeps do not settle it.
bool follow_path(const DecorrelateOptions& options, Index n, Index p) { return !options.robust() && p >= n; }

// The mu of all rows; the other rules find one for each.
double asked_mu(const DecorrelateOptions& options, Index n, Index p) {
  if (!options.mu && options.mu_rule != MuRule::scaled) return 0;
  if (!options.mu && p == 1) throw InputError("`mu` must be given when there is only one column: log p is zero.");
  const double mu = options.mu ? *options.mu : std::sqrt(std::log(static_cast<double>(p)) / static_cast<double>(n));
  if (!(mu >= 0)) throw InputError(message("`mu` must be zero or positive, not ", mu, "."));
  if (mu >= 1)
    throw InputError(message("`mu` must be less than 1, not ", mu, ": from there on the row is zero.\n",
                             "With so few rows give a `mu`, or use mu_rule = \"min\"."));
  return mu;
}

void keep_sparse(Decorrelation& d) {
  if (d.row.empty() || d.row[0].m.size() == 0) return;
  MatrixXd m(d.row[0].m.size(), static_cast<Index>(d.row.size()));
  for (std::size_t k = 0; k < d.row.size(); ++k) m.col(static_cast<Index>(k)) = d.row[k].m;
  d.m = m.sparseView(0, 0);
}

}  // namespace

Decorrelation given_rows(ConstMatrixRef x, const std::vector<int>& which, MatrixXd rows) {
  check_columns(x, which);
  Decorrelation out;
  out.rows = std::move(rows);
  out.row.resize(which.size());
  for (std::size_t k = 0; k < which.size(); ++k) {
    certify(x, which[k], out.rows.col(static_cast<Index>(k)), out.row[k]);
    out.row[k].mu = out.row[k].coherence;
    certify(x, which[k], out.rows.col(static_cast<Index>(k)), out.row[k]);  // the floor is that of the mu reached
  }
  out.convergence.converged = true;
  return out;
}

MatrixXd row_space(ConstMatrixRef x) {
  const PivotedQr qr(x.transpose());
  return qr.thin_q().transpose();
}

double smallest_mu(const MatrixXd& a, Index i, Monitor& monitor) {
  const Index p = a.cols();
  if (a.rows() == p) return 0;  // nothing but zero is orthogonal to all rows
  const Index rows = a.rows();
  LinearProgram program;
  program.a.resize(rows + 1, 2 * p);
  program.a.topLeftCorner(rows, p) = a;
  program.a.topRightCorner(rows, p) = -a;
  program.a.row(rows).setOnes();
  // Zeros on the right make every vertex degenerate, and the simplex method creep: tiny numbers in their place, without a
  // pattern.
  program.b.resize(rows + 1);
  for (Index k = 0; k < rows; ++k) program.b[k] = 1e-7 * (std::fmod(0.618033988749895 * static_cast<double>(k + 1), 1.0) - 0.5);
  program.b[rows] = 1;
  program.sense.assign(rows + 1, RowSense::equal);
  program.sense[rows] = RowSense::less_equal;
  program.c = VectorXd::Zero(2 * p);
  program.c[i] = -1;
  program.c[p + i] = 1;
  const LpResult result = solve_lp(program, LpOptions(), monitor);
  if (result.status != LpStatus::optimal)
    throw NumericalError(message("the linear program for the smallest mu of column ", i + 1, " did not finish: ", result.convergence.message, "."));
  return std::max(0.0, -result.objective);
}

double smallest_robust_mu(ConstMatrixRef x, Index i, double bound, Monitor& monitor) {
  // minimise mu  subject to  |X'u / n - e_i|_inf <= mu,  |u|_inf <= bound,  u = Q a, Q an orthonormal basis of the columns of X.
  const Index n = x.rows(), p = x.cols();
  const MatrixXd q = PivotedQr(x).thin_q();
  const Index r = q.cols();
  const MatrixXd g = x.transpose() * q / static_cast<double>(n);
  const double longest = bound * std::sqrt(static_cast<double>(n));  // |a| = |u|
  LinearProgram program;
  program.a = MatrixXd::Zero(2 * p + 2 * n, r + 1);
  program.a.topLeftCorner(p, r) = g;
  program.a.block(p, 0, p, r) = -g;
  program.a.col(r).head(2 * p).setConstant(-1);
  program.a.block(2 * p, 0, n, r) = q;
  program.a.bottomLeftCorner(n, r) = -q;
  program.b = VectorXd::Zero(2 * p + 2 * n);
  program.b[i] = 1;
  program.b[p + i] = -1;
  program.b.tail(2 * n).setConstant(bound);
  program.lower = VectorXd::Constant(r + 1, -longest);
  program.upper = VectorXd::Constant(r + 1, longest);
  program.lower[r] = 0;
  program.upper[r] = 1;
  program.c = VectorXd::Unit(r + 1, r);
  const LpResult result = solve_lp(program, LpOptions(), monitor);
  if (result.status != LpStatus::optimal)
    throw NumericalError(message("the linear program for the smallest mu of column ", i + 1, " did not finish: ", result.convergence.message, "."));
  return std::max(0.0, result.objective);
}

Decorrelation decorrelate(ConstMatrixRef x, const std::vector<int>& which, const DecorrelateOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  check_columns(x, which);
  const Index n = x.rows(), p = x.cols(), count = static_cast<Index>(which.size());
  const double given = asked_mu(options, n, p);
  const MatrixXd joined = options.robust() ? with_projector(x) : MatrixXd();
  const RowSolver solver(options.robust() ? ConstMatrixRef(joined) : x, p, count, options);
  Decorrelation out;
  out.rows.resize(n, count);
  out.row.resize(count);
  const MuRule rule = options.mu ? MuRule::scaled : options.mu_rule;
  std::atomic<Index> done{0};
  std::once_flag once;
  MatrixXd space;
  const double bound = std::pow(static_cast<double>(n), options.beta);
  const bool follow = follow_path(options, n, p);
  const auto smallest = [&](Index i) {
    if (follow) {
      const RowPath path(x, i, 0, monitor);
      if (path.end() != RowPath::End::stopped) return path.mu();
    }
    if (options.robust() && static_cast<double>(n) * static_cast<double>(p) <= 1e5) return smallest_robust_mu(x, i, bound, monitor);
    std::call_once(once, [&] { space = row_space(x); });
    return smallest_mu(space, i, monitor);
  };
  parallel_for(count, options.threads, monitor, [&](Index k) {
    const Index i = which[k];
    DecorrelatedRow& row = out.row[k];
    RowSolver::State state;
    row.mu = given;
    bool solved = false;
    std::optional<RowPath> path;
    if (rule == MuRule::search) {
      solved = search(solver, i, n, p, state, row.mu, monitor);
    } else {
      if (rule == MuRule::smallest) {
        row.mu_min = smallest(i);
        row.mu = row.mu_min < 1e-9 ? 0 : 1.05 * row.mu_min;
      }
      row.shortcut = !options.robust() && solver.shortcut(i, row.mu);
      if (row.shortcut) {
        state = solver.along_axis(i, std::max(0.0, 1 - row.mu) / solver.diagonal(i));
        solved = true;
      } else {
        // Sweeps settle most rows; the others are near the edge of what is feasible, or beyond, and their path, of about 2n
        // steps that cost a
        // sweep each, says which.
        const int sweeps = follow ? std::min(options.max_iter, static_cast<int>(2 * n)) : options.max_iter;
        solved = solver.solve(i, row.mu, sweeps, state, monitor);
        if (!solved && follow) {
          path.emplace(x, i, row.mu, monitor);
          if (path->end() == RowPath::End::ray) row.mu_min = path->mu();
          if (path->end() == RowPath::End::reached) state = solver.from(i, path->at(row.mu));
          if (path->end() != RowPath::End::ray) solved = solver.solve(i, row.mu, options.max_iter, state, monitor);
        }
      }
    }
    if (!solved) {
      if (std::isnan(row.mu_min)) row.mu_min = smallest(i);
      row.feasible = rule == MuRule::smallest || row.mu >= row.mu_min * (1 - 1e-9);
      if (options.infeasible == Infeasible::error)
        throw NumericalError(message("no row satisfies the constraints for column ", i + 1, " at mu = ", row.mu,
                                     "; the smallest feasible mu is ", row.mu_min, "."));
      if (options.infeasible == Infeasible::identity) {
        state = solver.along_axis(i, options.robust() ? std::min(1.0, bound / x.col(i).cwiseAbs().maxCoeff()) : 1);
      } else {
        for (double mu = std::max({1.1 * row.mu_min, row.feasible ? 1.2 * row.mu : 0.0, 1e-3}); !solved && mu < 1; mu *= 1.2) {
          row.mu = mu;
          state = path && mu >= path->mu() ? solver.from(i, path->at(mu)) : RowSolver::State();
          solved = solver.solve(i, mu, options.max_iter, state, monitor);
        }
        row.converged = solved;
        if (!solved) state = solver.along_axis(i, 1 / solver.diagonal(i));
      }
    }
    const VectorXd fitted = solver.fitted(state);
    out.rows.col(k) = fitted;
    certify(x, i, fitted, row);
    if (options.keep_m && !options.robust()) row.m = state.v;
    monitor.progress(static_cast<double>(++done) / static_cast<double>(count));
  });
  keep_sparse(out);
  out.convergence.converged = true;
  out.convergence.iterations = static_cast<int>(count);
  for (const DecorrelatedRow& row : out.row) out.convergence.converged = out.convergence.converged && row.converged;
  out.convergence.seconds = watch.seconds();
  return out;
}

Decorrelation nodewise(ConstMatrixRef x, const std::vector<int>& which, double lambda, const DecorrelateOptions& options,
                       Monitor& monitor) {
  const Stopwatch watch;
  check_columns(x, which);
  const Index n = x.rows(), p = x.cols(), count = static_cast<Index>(which.size());
  const MatrixXd s = worth_forming(count, p) ? gram(x) : MatrixXd();
  const VectorXd root = second_moments(x).cwiseSqrt();
  Decorrelation out;
  out.rows.resize(n, count);
  out.row.resize(count);
  out.convergence.converged = true;
  parallel_for(count, options.threads, monitor, [&](Index k) {
    const Index i = which[k];
    DecorrelatedRow& row = out.row[k];
    VectorXd mu = lambda * root[i] * root;
    mu[i] = std::numeric_limits<double>::infinity();
    L1QuadraticOptions solver;
    solver.tol = options.tol;
    solver.max_iter = options.max_iter;
    const VectorXd r = s.size() ? VectorXd(s.col(i)) : products_with(x, i);
    VectorXd gamma = VectorXd::Zero(p), gradient = -r;
    const Convergence c = s.size() ? l1_quadratic(s, r, mu, gamma, gradient, solver, monitor)
                                   : l1_quadratic_gram(x, r, mu, gamma, gradient, solver, monitor);
    row.converged = c.converged;
    const double tau2 = r[i] - r.dot(gamma);
    if (!(tau2 > 1e-12 * r[i]))
      throw NumericalError(
          message("column ", i + 1, " is a combination of the others, so it has no nodewise row at lambda = ", lambda, "."));
    VectorXd m = -gamma / tau2;
    m[i] = 1 / tau2;
    const VectorXd fitted = combination(x, m);
    out.rows.col(k) = fitted;
    row.mu = lambda;
    certify(x, i, fitted, row);
    if (options.keep_m) row.m = m;
  });
  keep_sparse(out);
  for (const DecorrelatedRow& row : out.row) out.convergence.converged = out.convergence.converged && row.converged;
  out.convergence.iterations = static_cast<int>(count);
  out.convergence.seconds = watch.seconds();
  return out;
}

}  // namespace granary::regress
