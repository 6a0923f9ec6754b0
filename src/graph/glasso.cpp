#include "graph/glasso.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/graph/components.h"
#include "core/base/parallel.h"
#include "core/linalg/spd_inverse.h"
#include "core/linalg/submatrix.h"
#include "graph/face_newton.h"
#include "graph/glasso_admm.h"
#include "graph/glasso_barrier.h"
#include "graph/glasso_bcd.h"
#include "graph/quic.h"

namespace granary::graph {

namespace {

// The smallest multiple of Lambda that leaves no edge among the pairs that it charges.
double emptying_multiple(const ConstMatrixRef& s, const Penalty& lambda) {
  double top = 1;
  for (Index j = 0; j < s.cols(); ++j) {
    for (Index i = 0; i < j; ++i) {
      const double weight = lambda(i, j);
      if (weight > 0 && weight < Penalty::forbidden) top = std::max(top, std::abs(s(i, j)) / weight);
    }
  }
  return top;
}

// W and log det of X, which Newton's method needs; block descent ends with some W near it.
void complete(GlassoState& state) {
  SpdInverse factor;
  if (!factor.factorise(state.upper)) throw NumericalError("the precision matrix is not positive definite");
  state.log_det = factor.log_det();
  factor.inverse(state.w);
}

// Down to Lambda from a multiple of it that leaves no edge, each step started at the one before: where block descent is lost or creeps from
// afar it is neither from near by. Newton's method, which cannot lose the cone, and says so when there is no solution, does the steps that
// block descent does not, unless there is better: then this ends where block descent does. Too large for better, a problem on which both creep is
// given up after a number of steps that does not grow as the penalty falls: the answer is the best point seen, and its gap is said.
SolverReport approach(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, bool better, Monitor& monitor,
                      GlassoState& state) {
  constexpr double ratio = 1.6;
  constexpr int newton_steps = 100;
  const bool large = s.rows() > barrier_most;
  const double top = emptying_multiple(s, lambda);
  const int steps = std::max(1, static_cast<int>(std::ceil(std::log(top) / std::log(ratio))));
  GlassoState good = diagonal_state(s, lambda.scaled(top));
  SolverReport report;
  for (int k = 1; k <= steps; ++k) {
    const Penalty here = lambda.scaled(std::pow(top, 1 - static_cast<double>(k) / steps));
    GlassoOptions each = options;
    if (k < steps) {
      each.tol = std::max(options.tol, 1e-4);
      each.max_iter = std::min(options.max_iter, 100);
      each.progress_to = each.progress_from;
    }
    state = good;
    report = glasso_bcd(s, here, each, monitor, state);
    if (report.lost || !report.converged) {
      if (better) break;
      state = good;
      complete(state);
      if (large) each.max_iter = std::min(options.max_iter, newton_steps);
      report = (large ? face_newton : quic)(s, here, each, monitor, state);
      if (large && !report.converged) {
        if (k < steps) {
          each.tol = options.tol;
          report = face_newton(s, lambda, each, monitor, state);
        }
        if (!report.converged) {
          report.message += "; S is so badly conditioned that a larger lambda is the only help";
          report.reason = Stop::stalled;
        }
        return report;
      }
    }
    good = state;
  }
  return report;
}

// Where W is so badly conditioned that coordinate descent creeps: the interior point method for the zeros, then Newton's method on the face
// they leave. X without the entries that are called zero may leave the cone; then the start stays.
SolverReport from_barrier(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor,
                          GlassoState& state) {
  std::optional<SparseMatrix> near = glasso_barrier(s, lambda, 1e-12, monitor);
  SpdInverse factor;
  if (!near) {  // no dual point to start from: the likelihood may be unbounded, which QUIC finds out
    state = diagonal_state(s, lambda);
    return approach(s, lambda, options, false, monitor, state);
  }
  if (factor.factorise(*near)) {
    state.upper = std::move(*near);
    state.log_det = factor.log_det();
    factor.inverse(state.w);
  }
  GlassoOptions few = options;
  few.max_iter = std::min(options.max_iter, 100);
  return face_newton(s, lambda, few, monitor, state);
}

SolverReport solve_component(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor,
                             GlassoState& state) {
  if (options.method == GlassoMethod::admm) return glasso_admm(s, lambda, options, monitor, state);
  if (options.method == GlassoMethod::quic) return quic(s, lambda, options, monitor, state);
  constexpr int patience = 200;  // sweeps from here before a path is tried
  GlassoOptions first = options;
  first.max_iter = std::min(options.max_iter, patience);
  SolverReport report = glasso_bcd(s, lambda, first, monitor, state);
  if (report.converged || (!report.lost && options.max_iter <= patience)) return report;
  const int spent = report.iterations;
  const bool small = s.rows() <= barrier_most;
  report = approach(s, lambda, options, small, monitor, state);
  report.iterations += spent;
  if (report.converged || !small) return report;
  state = diagonal_state(s, lambda);
  SolverReport last = from_barrier(s, lambda, options, monitor, state);
  last.iterations += report.iterations;
  return last;
}

struct ComponentResult {
  GlassoState state;
  double objective = 0, gap = 0, kkt = 0;
  SolverReport report;
};

// Objective and gap of `out.state`, from it alone.
void certify_part(const ConstMatrixRef& s, const Penalty& lambda, ComponentResult& out) {
  out.objective = -out.state.log_det + linear_and_penalty(s, lambda, out.state.upper);
  if (!out.report.certified) {
    MatrixXd v = out.state.w, product;
    out.report.certificate = certify(s, lambda, out.state.upper, v, product);
  }
  out.kkt = out.report.certificate.largest;
  out.gap = out.report.certificate.gap;
  if (std::isnan(out.gap)) out.gap = duality_gap(s, lambda, out.objective, out.state.w);
}

// `state` holds the start on entry. A solver that ends by a rule of its own has converged only if the gap says so too: at most tol per
// variable. If not it goes on with a tighter rule.
void finish(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor,
            ComponentResult& out) {
  if (s.rows() == 1) {
    out.state = diagonal_state(s, lambda);  // the closed form
    out.objective = -out.state.log_det + linear_and_penalty(s, lambda, out.state.upper);
    out.report.converged = true;
    return;
  }
  SolverReport& report = out.report;
  report = solve_component(s, lambda, options, monitor, out.state);
  certify_part(s, lambda, out);
  const double allowed = options.tol * static_cast<double>(s.rows());
  GlassoOptions tighter = options;
  tighter.progress_to = tighter.progress_from;
  while (report.converged && !(out.gap <= allowed) && tighter.tol > 1e-13) {
    tighter.tol *= 0.01;
    complete(out.state);
    const SolverReport before = std::move(report);
    report = options.method == GlassoMethod::admm ? glasso_admm(s, lambda, tighter, monitor, out.state)
                                                  : quic(s, lambda, tighter, monitor, out.state);
    report.iterations += before.iterations;
    report.trace.insert(report.trace.begin(), before.trace.begin(), before.trace.end());
    certify_part(s, lambda, out);
    if (!report.converged && out.gap <= allowed) report.converged = true;  // what was asked for, if not the tighter rule
  }
  if (report.converged && !(out.gap <= allowed)) {
    report.converged = false;
    report.message = message("the duality gap stays at ", out.gap, ", above tol per variable, and no step makes it smaller");
    report.reason = Stop::stalled;
  }
  if (!report.converged && std::isnan(out.gap)) {
    report.message += "; no dual point was found, so the likelihood may be unbounded: try a larger lambda";
  }
  if (options.covariance && options.method == GlassoMethod::bcd) {
    SpdInverse factor;
    factor.factorise(out.state.upper);
    factor.inverse(out.state.w);
  }
}

// The part of `start` that belongs to a component. When no entry of X leaves the component, its W is the submatrix of W.
GlassoState restricted_state(const GlassoState& start, const std::vector<int>& members, const ComponentIndex& where, bool closed,
                             bool log_det) {
  const int n = static_cast<int>(members.size());
  std::vector<Eigen::Triplet<double>> entries;
  for (int j = 0; j < n; ++j) {
    for (SparseMatrix::InnerIterator it(start.upper, members[j]); it; ++it) {
      if (where.label[it.row()] == where.label[members[j]]) entries.emplace_back(where.position[it.row()], j, it.value());
    }
  }
  GlassoState out;
  out.upper.resize(n, n);
  out.upper.setFromTriplets(entries.begin(), entries.end());
  if (closed) out.w = principal_submatrix(start.w, members);
  if (closed && !log_det) return out;
  SpdInverse factor;
  if (!factor.factorise(out.upper)) throw NumericalError("the starting precision matrix is not positive definite");
  out.log_det = factor.log_det();
  if (!closed) factor.inverse(out.w);
  return out;
}

// For each component, whether X has no entry that leads out of it.
std::vector<char> closed_components(const SparseMatrix& upper, const std::vector<int>& label, Index count) {
  std::vector<char> closed(count, 1);
  for (Index j = 0; j < upper.cols(); ++j) {
    for (SparseMatrix::InnerIterator it(upper, j); it; ++it) {
      if (label[it.row()] != label[j] && it.value() != 0) closed[label[it.row()]] = closed[label[j]] = 0;
    }
  }
  return closed;
}

}  // namespace

void report_progress(const GlassoOptions& options, double first, double residual, Monitor& monitor) {
  if (!(options.progress_to > options.progress_from) || !(first > options.tol)) return monitor.check();
  const double share = std::clamp(std::log(first / residual) / std::log(first / options.tol), 0.0, 1.0);
  monitor.progress(options.progress_from + share * (options.progress_to - options.progress_from));
}

GlassoState diagonal_state(const ConstMatrixRef& s, const Penalty& lambda) {
  const Index p = s.rows();
  GlassoState state;
  state.upper.resize(p, p);
  state.upper.setIdentity();
  state.w.setZero(p, p);
  for (Index i = 0; i < p; ++i) {
    const double variance = s(i, i) + lambda(i, i);
    state.upper.valuePtr()[i] = 1 / variance;
    state.w(i, i) = variance;
    state.log_det -= std::log(variance);
  }
  return state;
}

GlassoState make_state(const SparseMatrix& symmetric) {
  GlassoState state;
  state.upper = symmetric.triangularView<Eigen::Upper>();
  SpdInverse factor;
  if (!factor.factorise(state.upper)) throw InputError("start must be a positive definite precision matrix");
  state.log_det = factor.log_det();
  factor.inverse(state.w);
  return state;
}

GlassoResult glasso(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor,
                    const GlassoState* start) {
  const Stopwatch clock;
  check_problem(s, lambda);
  const Index p = s.rows();
  GlassoResult result;
  result.components = screen_components(s, lambda);
  const auto& components = result.components;
  const Index count = static_cast<Index>(components.size());
  std::vector<ComponentResult> parts(count);

  const bool keep_w = options.covariance || options.warm;
  if (count == 1) {
    parts[0].state = start ? *start : diagonal_state(s, lambda);
    finish(s, lambda, options, monitor, parts[0]);
    result.state = std::move(parts[0].state);
    if (!keep_w) result.state.w.resize(0, 0);
  } else {
    const ComponentIndex where(components, p);
    const std::vector<char> closed = start ? closed_components(start->upper, where.label, count) : std::vector<char>();
    const std::vector<Index> order = largest_first(components);
    parallel_for(count, options.threads, monitor, [&](Index k) {
      const Index c = order[k];
      const auto& members = components[c];
      const Penalty part_lambda = lambda.restricted(members);
      const MatrixXd part_s = principal_submatrix(s, members);
      parts[c].state = start && members.size() > 1
                           ? restricted_state(*start, members, where, closed[c], options.method != GlassoMethod::bcd)
                           : diagonal_state(part_s, part_lambda);
      GlassoOptions part_options = options;
      if (k > 0) part_options.progress_to = part_options.progress_from;  // the largest component speaks for all
      finish(part_s, part_lambda, part_options, monitor, parts[c]);
    });

    std::vector<Eigen::Triplet<double>> entries;
    if (keep_w) result.state.w.setZero(p, p);
    for (Index c = 0; c < count; ++c) {
      const auto& members = components[c];
      const GlassoState& part = parts[c].state;
      for (Index j = 0; j < part.upper.cols(); ++j) {
        for (SparseMatrix::InnerIterator it(part.upper, j); it; ++it)
          entries.emplace_back(members[it.row()], members[j], it.value());
      }
      if (keep_w) put_back(result.state.w, part.w, members);
      result.state.log_det += part.log_det;
    }
    result.state.upper.resize(p, p);
    result.state.upper.setFromTriplets(entries.begin(), entries.end());
  }

  WholeConvergence whole(result.convergence);
  for (const ComponentResult& part : parts) {
    whole.add(part.report.converged, part.report.iterations, part.gap, part.report.residual, part.report.message);
    if (!part.report.converged && part.report.reason != Stop::unsaid) result.convergence.reason = part.report.reason;
    result.objective += part.objective;
    result.kkt = std::max(result.kkt, part.kkt);
  }
  ComponentResult& largest = parts[largest_first(components)[0]];  // its trace, the others where they end
  result.trace = std::move(largest.report.trace);
  for (GlassoStep& t : result.trace) t.objective += result.objective - largest.objective;
  result.convergence.seconds = clock.seconds();
  return result;
}

std::vector<GlassoResult> glasso_path(const ConstMatrixRef& s, const Penalty& lambda, const std::vector<double>& multipliers,
                                      const GlassoOptions& options, Monitor& monitor, const GlassoState* start) {
  std::vector<GlassoResult> path;
  path.reserve(multipliers.size());
  for (std::size_t k = 0; k < multipliers.size(); ++k) {
    const GlassoState* from = path.empty() ? start : &path.back().state;
    GlassoOptions step = options;
    step.warm = options.warm || k + 1 < multipliers.size();
    step.progress_from = static_cast<double>(k) / static_cast<double>(multipliers.size());
    step.progress_to = static_cast<double>(k + 1) / static_cast<double>(multipliers.size());
    GlassoResult next = glasso(s, lambda.scaled(multipliers[k]), step, monitor, from);
    if (!path.empty() && !options.covariance) path.back().state.w.resize(0, 0);
    path.push_back(std::move(next));
  }
  return path;
}

std::vector<GlassoResult> glasso_path(const ConstMatrixRef& s, const PenaltyPath& penalty, const GlassoOptions& options, Monitor& monitor,
                                      const std::optional<SparseMatrix>& start) {
  GlassoOptions last = options;
  last.warm = false;
  const GlassoState from = start ? make_state(*start) : GlassoState();
  return glasso_path(s, penalty.base(s.rows()), penalty.multipliers, last, monitor, start ? &from : nullptr);
}

GlassoCertificate glasso_certificate(const ConstMatrixRef& s, const Penalty& lambda, const SparseMatrix& precision) {
  const GlassoState state = make_state(precision);
  GlassoCertificate out;
  out.objective = -state.log_det + linear_and_penalty(s, lambda, state.upper);
  MatrixXd v = state.w, product;
  const Certificate proof = certify(s, lambda, state.upper, v, product);
  out.gap = std::isnan(proof.gap) ? duality_gap(s, lambda, out.objective, state.w) : proof.gap;
  out.residual = proof.residual;
  out.kkt = proof.largest;
  return out;
}

}  // namespace granary::graph
