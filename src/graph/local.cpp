#include "graph/local.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/optim/admm.h"
#include "core/base/errors.h"
#include "core/optim/fista.h"
#include "core/prox/proximal.h"
#include "core/linalg/spd_inverse.h"
#include "core/linalg/spectral_norm.h"
#include "graph/glasso_problem.h"
#include "graph/local_bcd.h"
#include "graph/nodes_problem.h"
#include "core/linalg/dense.h"

namespace granary::graph {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// -log det X, and X^-1; infinite when X is not positive definite.
double log_barrier(const MatrixXd& x, MatrixXd& inverse) {
  Llt llt(x);
  if (llt.info() != Eigen::Success) return infinity;
  const double value = -2 * llt.matrixLLT().diagonal().array().log().sum();
  if (!std::isfinite(value)) return infinity;
  inverse = llt.matrixLLT();
  inverse_from_cholesky(inverse);
  inverse.triangularView<Eigen::StrictlyUpper>() = inverse.transpose();
  return value;
}

class Solver {
 public:
  Solver(const ConstMatrixRef& s, const LocalOperator& op, const LocalPenalty& penalty, const LocalOptions& options,
         Monitor& monitor, LocalResult& result)
      : s_(s),
        op_(op),
        penalty_(penalty),
        options_(options),
        monitor_(monitor),
        out_(result),
        p_(static_cast<double>(s.rows())) {}

  // `out.x` holds the start.
  void fista(int max_iter) {
    if (!prox_) prox_ = std::make_unique<LocalProx>(op_);
    CompositeProblem<MatrixXd> problem;
    problem.smooth = [&](const MatrixXd& x, MatrixXd& gradient) {
      MatrixXd inverse;
      const double barrier = log_barrier(x, inverse);
      if (!std::isfinite(barrier)) return infinity;
      gradient = s_ - inverse;
      return barrier + s_.cwiseProduct(x).sum();
    };
    problem.prox = [&](const MatrixXd& v, double step) -> MatrixXd {
      MatrixXd x = (*prox_)(v, step, penalty_, 0.05 * options_.tol * p_, monitor_);
      pull_ = (v - x) / step;  // sym Y, feasible
      return x;
    };
    problem.penalty = [&](const MatrixXd& x) { return local_penalty(x, op_, penalty_); };
    problem.gap = [&](const MatrixXd& x) {
      // The dual values of different steps all bound the minimum: keep the best.
      const double dual = -local_gap(s_, 0, pull_);
      if (dual > best_dual_ || !std::isfinite(best_dual_)) {
        best_dual_ = dual;
        dual_point_ = pull_;
      }
      const double barrier = minus_log_det(x);
      return barrier + s_.cwiseProduct(x).sum() + local_penalty(x, op_, penalty_) - best_dual_;
    };
    FistaOptions driver;
    driver.tol = 0;
    driver.gap_tol = options_.tol * p_;
    driver.gap_every = 3;
    driver.max_iter = max_iter;
    driver.step = step_;
    const FistaResult<MatrixXd> end = granary::fista(problem, out_.x, driver, monitor_);
    step_ = end.step;
    out_.x = end.x;
    out_.convergence.iterations += end.convergence.iterations;
    out_.convergence.message = end.convergence.message;
  }

  void admm() {
    const double variance = s_.diagonal().mean() + penalty_.rho;
    LocalColumnsProx columns(op_);
    AdmmProblem problem;
    problem.f = [&](const MatrixXd& v, double g) -> MatrixXd { return prox_log_det(s_, 0.5 * (v + v.transpose()), g).x; };
    problem.g.push_back([&](const MatrixXd& c, double g) -> MatrixXd {
      return columns(c, g, penalty_.rho, penalty_.tau, options_.threads, monitor_);
    });
    problem.gap = [&](const AdmmState& now) {
      const MatrixXd x = 0.5 * (now.z[0] + now.z[0].transpose());
      const double barrier = minus_log_det(x);
      if (!std::isfinite(barrier)) return infinity;
      const double objective = barrier + s_.cwiseProduct(x).sum() + local_penalty(x, op_, penalty_);
      return local_gap(s_, objective, 0.5 * now.rho * (now.u[0] + now.u[0].transpose()));
    };
    AdmmOptions driver;
    driver.tol = 0;
    driver.gap_tol = options_.tol * p_;
    driver.gap_every = 5;
    driver.max_iter = std::max(1, options_.max_iter - out_.convergence.iterations);
    AdmmState start;
    start.rho = variance * variance;
    start.z.push_back(out_.x);
    MatrixXd inverse;
    log_barrier(out_.x, inverse);
    start.u.push_back((inverse - s_) / start.rho);
    const AdmmResult end = granary::admm(problem, std::move(start), driver, monitor_);
    out_.convergence.iterations += end.convergence.iterations;
    const MatrixXd copy = 0.5 * (end.z[0] + end.z[0].transpose());
    out_.x = std::isfinite(minus_log_det(copy)) ? copy : end.x;
    dual_point_ = 0.5 * end.rho * (end.u[0] + end.u[0].transpose());
    best_dual_ = -local_gap(s_, 0, dual_point_);
    fista(end.convergence.converged ? 3 : 1);
    out_.convergence.message = end.convergence.message;
    finish();
  }

  void bcd(int sweeps) {
    MatrixXd inverse;
    log_barrier(out_.x, inverse);
    const LocalBcdReport report = local_bcd(s_, op_, penalty_, options_.tol, sweeps, monitor_, out_.x, inverse);
    out_.trace = report.objective;
    out_.convergence.iterations += report.sweeps;
    settled_ = report.settled;
  }

  // The gap of wherever the block descent ended, against the dual value fista finds from there.
  void certify_bcd() {
    const MatrixXd kept = out_.x;
    const int sweeps = out_.convergence.iterations;
    fista(200);
    out_.x = kept;
    out_.convergence.iterations = sweeps;
    finish();
    if (!out_.convergence.converged) {
      out_.convergence.message = settled_
                                     ? "the block descent settled away from the optimum, as it may: another method reaches it"
                                     : message("stopped after ", sweeps, " sweeps");
    }
  }

  void finish() {
    const double barrier = log_barrier(out_.x, out_.w);
    if (!std::isfinite(barrier))
      throw NumericalError("the estimate is not positive definite; raise max_iter or rescale the data.");
    out_.log_det = -barrier;
    out_.objective = barrier + s_.cwiseProduct(out_.x).sum() + local_penalty(out_.x, op_, penalty_);
    Convergence& end = out_.convergence;
    end.gap = out_.objective - best_dual_;
    out_.largest_violation = (out_.w - s_ - dual_point_).cwiseAbs().maxCoeff();
    end.residual = out_.largest_violation / (s_.diagonal().mean() + penalty_.rho);
    end.converged = end.gap <= options_.tol * p_;
    if (end.converged) end.message.clear();
  }

 private:
  const ConstMatrixRef& s_;
  const LocalOperator& op_;
  const LocalPenalty& penalty_;
  const LocalOptions& options_;
  Monitor& monitor_;
  LocalResult& out_;
  const double p_;
  std::unique_ptr<LocalProx> prox_;
  MatrixXd pull_, dual_point_;
  double best_dual_ = -infinity, step_ = 0;
  bool settled_ = false;
};

// Every variable isolated: the answer needs no iteration.
bool all_of(const std::vector<char>& flags) {
  return std::all_of(flags.begin(), flags.end(), [](char f) { return f != 0; });
}

}  // namespace

LocalResult local_fit(const ConstMatrixRef& s, const LocalOperator& op, const LocalPenalty& penalty, const LocalOptions& options,
                      Monitor& monitor, const MatrixXd* start) {
  const Stopwatch clock;
  check_local_problem(s, op, penalty);
  LocalResult out;
  out.isolated = isolated_variables(s, op, penalty);
  const VectorXd variance = s.diagonal().array() + penalty.rho;
  if (s.cols() <= 1 || all_of(out.isolated)) {
    out.x = variance.cwiseInverse().asDiagonal();
    out.w = variance.asDiagonal();
    out.log_det = -variance.array().log().sum();
    out.objective = static_cast<double>(s.cols()) - out.log_det;
    out.convergence.converged = true;
    out.convergence.gap = out.convergence.residual = 0;
    return out;
  }
  if (start) {
    if (start->rows() != s.rows() || !std::isfinite(minus_log_det(*start)))
      throw InputError("start must be a positive definite precision matrix.");
    out.x = *start;
  } else {
    out.x = variance.cwiseInverse().asDiagonal();
  }
  Solver solver(s, op, penalty, options, monitor, out);
  switch (options.method) {
    case LocalMethod::fista:
      solver.fista(options.max_iter);
      solver.finish();
      break;
    case LocalMethod::admm:
      solver.admm();
      break;
    case LocalMethod::bcd:
      solver.bcd(options.max_iter);
      solver.certify_bcd();
      break;
    case LocalMethod::automatic:
      solver.admm();
      break;
    case LocalMethod::both:
      if (op.is_difference()) solver.bcd(options.sweeps);
      solver.admm();
      break;
  }
  out.convergence.seconds = clock.seconds();
  return out;
}

std::vector<LocalResult> local_path(const ConstMatrixRef& s, const LocalOperator& op, const LocalPenalties& penalties,
                                    const LocalOptions& options, Monitor& monitor, const std::optional<MatrixXd>& start) {
  if (penalties.rho.size() != penalties.tau.size()) throw InputError("rho and tau must have the same length.");
  const std::size_t count = penalties.rho.size();
  const double spectral = spectral_norm_above(s, monitor);
  std::vector<LocalResult> path;
  MatrixXd before;
  for (std::size_t k = 0; k < count; ++k) {
    const LocalPenalty penalty{penalties.rho[k], penalties.tau[k]};
    const MatrixXd* from = k > 0 && options.method != LocalMethod::bcd ? &before : start ? &*start : nullptr;
    path.push_back(local_fit(s, op, penalty, options, monitor, from));
    LocalResult& last = path.back();
    last.block = local_blocks(last.x, op, 1e-8 * last.x.cwiseAbs().maxCoeff());
    last.components = pattern_components(last.x.sparseView(0, 0));
    last.penalty = local_penalty(last.x, op, penalty);
    std::tie(last.lower, last.upper) = local_bounds(spectral, s.cols(), op, penalty);
    if (count > 1) {
      before = last.x;
      if (!options.covariance) last.w.resize(0, 0);
    }
    monitor.progress(static_cast<double>(k + 1) / static_cast<double>(count));
  }
  return path;
}

std::pair<double, double> local_bounds(double spectral_norm, Index p, const LocalOperator& op, const LocalPenalty& penalty) {
  const double n = static_cast<double>(p), m = static_cast<double>(op.matrix().rows());
  return {1 / (spectral_norm + n * penalty.rho + std::sqrt(m * n) * penalty.tau * op.frobenius()), n / penalty.rho};
}

}  // namespace granary::graph
