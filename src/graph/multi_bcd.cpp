#include "graph/multi_bcd.h"

#include <cmath>

#include "graph/multi_newton.h"

namespace granary::graph {

namespace {

class Sweeper {
 public:
  Sweeper(const MultiProblem& problem, const MultiState& state)
      : problem_(problem),
        tasks_(problem.tasks()),
        off_(problem.off, tasks_),
        w_(state.w),
        q_(tasks_),
        c_(tasks_),
        x_(tasks_),
        v_(tasks_) {
    const Index p = problem.variables();
    precision_.assign(tasks_, MatrixXd::Zero(p, p));
    for_each_entry(state.pattern, [&](Index i, Index j, Index e) {
      for (int k = 0; k < tasks_; ++k) precision_[k](i, j) = precision_[k](j, i) = state.values(k, e);
    });
    h_.assign(tasks_, MatrixXd(p, p));
    hy_.resize(p, tasks_);
  }

  void sweep(Monitor& monitor) {
    for (Index n = 0; n < problem_.variables(); ++n) {
      monitor.check();
      update(n);
    }
  }

  MultiState state() const {  // pattern and values only
    const Index p = problem_.variables();
    MultiState out;
    std::vector<Eigen::Triplet<double>> entries;
    std::vector<double> values;
    for (Index j = 0; j < p; ++j) {
      for (Index i = 0; i <= j; ++i) {
        bool zero = i != j;
        for (int k = 0; k < tasks_; ++k) zero = zero && precision_[k](i, j) == 0;
        if (zero) continue;
        entries.emplace_back(static_cast<int>(i), static_cast<int>(j), 1.0);
        for (int k = 0; k < tasks_; ++k) values.push_back(precision_[k](i, j));
      }
    }
    out.pattern.resize(p, p);
    out.pattern.setFromTriplets(entries.begin(), entries.end());
    out.values = Eigen::Map<const MatrixXd>(values.data(), tasks_, static_cast<Index>(entries.size()));
    return out;
  }

  void refresh(const std::vector<MatrixXd>& w) { w_ = w; }

 private:
  void update(Index n) {
    const Index p = problem_.variables();
    const bool free_diagonal = problem_.diagonal.none();
    for (int k = 0; k < tasks_; ++k) {
      const MatrixXd& w = w_[k];
      const VectorXd wn = w.col(n);
      h_[k].noalias() = w - wn * (wn / wn[n]).transpose();
      h_[k].col(n).setZero();
      h_[k].row(n).setZero();
      VectorXd y = precision_[k].col(n);
      y[n] = 0;
      hy_.col(k).noalias() = h_[k] * y;
      v_[k] = free_diagonal ? problem_.s[k](n, n) : wn[n];  // 1 / xi_k
    }
    for (Index j = 0; j < p; ++j) {
      if (j == n) continue;
      bool zero = true;
      for (int k = 0; k < tasks_; ++k) {
        const double t = problem_.weight[k], hjj = h_[k](j, j), y = precision_[k](j, n);
        q_[k] = t * v_[k] * hjj;
        c_[k] = -t * (v_[k] * (hy_(j, k) - hjj * y) + problem_.s[k](j, n));
        zero = zero && y == 0;
      }
      if (zero && off_.is_zero(c_.data())) continue;
      off_.solve(q_.data(), c_.data(), x_.data());
      for (int k = 0; k < tasks_; ++k) {
        const double change = x_[k] - precision_[k](j, n);
        if (change == 0) continue;
        precision_[k](j, n) = precision_[k](n, j) = x_[k];
        hy_.col(k) += change * h_[k].col(j);
      }
    }
    VectorXd b(tasks_), z(tasks_);
    for (int k = 0; k < tasks_; ++k) b[k] = std::max(0.0, hy_.col(k).dot(precision_[k].col(n)));  // hy has a zero at n
    if (free_diagonal) {
      for (int k = 0; k < tasks_; ++k) z[k] = 1 / v_[k] + b[k];
    } else {
      const MultiPenalty& d = problem_.diagonal;
      for (int k = 0; k < tasks_; ++k) c_[k] = problem_.weight[k] * problem_.s[k](n, n) + d.l1;  // z > 0: l1 is linear
      if (d.l2 == 0) {
        z = b.array() + problem_.weight.array() / c_.array();
      } else {
        z = (d.norm == MultiNorm::l2 ? log_trust_region(problem_.weight, c_, b, d.l2)
                                     : log_knapsack(problem_.weight, c_, b, d.l2))
                .z;
      }
    }
    for (int k = 0; k < tasks_; ++k) {
      precision_[k](n, n) = z[k];
      const double inverse_schur = 1 / (z[k] - b[k]);
      w_[k].noalias() = h_[k] + (inverse_schur * hy_.col(k)) * hy_.col(k).transpose();
      w_[k].col(n) = -inverse_schur * hy_.col(k);
      w_[k].row(n) = -inverse_schur * hy_.col(k).transpose();
      w_[k](n, n) = inverse_schur;
    }
  }

  const MultiProblem& problem_;
  int tasks_;
  BlockSolver off_;
  std::vector<MatrixXd> precision_, w_, h_;
  MatrixXd hy_;
  VectorXd q_, c_, x_, v_;
};

}  // namespace

MultiReport multi_bcd(const MultiProblem& problem, const MultiOptions& options, Monitor& monitor, MultiState& state) {
  if (problem.off.norm == MultiNorm::fused && (problem.off.l2 > 0 || problem.diagonal.l2 > 0)) {
    throw InputError(
        "block coordinate descent is defined for the norms l2 and linf; use method newton or admm for the fused penalty.");
  }
  MultiReport report;
  Sweeper sweeper(problem, state);
  std::vector<SpdInverse> factors(problem.tasks());
  double f = objective(problem, state), residual = free_set(problem, state).residual;
  const double slack = 1e-12 * (std::abs(f) + static_cast<double>(problem.variables()) * problem.weight.sum());
  bool stalled = false;
  for (report.converged = residual <= options.tol; !report.converged && report.iterations < options.max_iter && !stalled;) {
    ++report.iterations;
    sweeper.sweep(monitor);
    MultiState next = sweeper.state();
    if (!factorise(next, factors, options.threads, monitor)) {
      stalled = true;
      break;
    }
    next.w = std::move(state.w);
    invert(next, factors, options.threads, monitor);
    state = std::move(next);
    sweeper.refresh(state.w);
    const double f_next = objective(problem, state);
    stalled = !problem.diagonal.none() && f_next > f + slack;
    f = f_next;
    residual = free_set(problem, state).residual;
    report.converged = residual <= options.tol;
  }
  if (report.converged) return report;
  if (!problem.diagonal.none()) {
    MultiOptions rest = options;
    rest.max_iter = std::max(options.max_iter, 100);
    const int sweeps = report.iterations;
    report = multi_newton(problem, rest, monitor, state);
    report.message = message(sweeps, " sweeps did not reach the tolerance; Newton steps finished");
    report.iterations += sweeps;
    return report;
  }
  report.message = message("stopped at max_iter = ", options.max_iter, " sweeps with residual ", residual);
  return report;
}

}  // namespace granary::graph
