#include "glasso.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../core/parallel.h"
#include "../core/spd_inverse.h"
#include "glasso_admm.h"
#include "glasso_bcd.h"
#include "quic.h"

namespace granary::graph {

namespace {

SolverReport solve_component(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor,
                             GlassoState& state) {
  switch (options.method) {
    case GlassoMethod::bcd:
      return glasso_bcd(s, lambda, options, monitor, state);
    case GlassoMethod::admm:
      return glasso_admm(s, lambda, options, monitor, state);
    case GlassoMethod::quic:
      break;
  }
  return quic(s, lambda, options, monitor, state);
}

struct ComponentResult {
  GlassoState state;
  double objective = 0, gap = 0;
  Optimality optimality;
  SolverReport report;
};

// `state` holds the start on entry.
void finish(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor, ComponentResult& out) {
  if (s.rows() == 1) {
    out.state = diagonal_state(s, lambda);  // the closed form
    out.report.converged = true;
  } else {
    out.report = solve_component(s, lambda, options, monitor, out.state);
  }
  out.objective = -out.state.log_det + linear_and_penalty(s, lambda, out.state.upper);
  out.optimality = optimality(s, lambda, out.state.upper, out.state.w);
  if (options.certificate) {
    out.gap = duality_gap(s, lambda, out.objective, out.state.w);
    if (!out.report.converged && std::isnan(out.gap)) {
      out.report.message += "; no dual point was found, so the likelihood may be unbounded: try a larger lambda";
    }
  }
}

MatrixXd principal_submatrix(const ConstMatrixRef& m, const std::vector<int>& members) {
  const Index n = static_cast<Index>(members.size());
  MatrixXd out(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) out(i, j) = m(members[i], members[j]);
  }
  return out;
}

// The part of `start` that belongs to a component. When no entry of X leaves the component, its W is the submatrix of W.
GlassoState restricted_state(const GlassoState& start, const std::vector<int>& members, const std::vector<int>& position,
                             const std::vector<int>& label, bool closed) {
  const int n = static_cast<int>(members.size());
  std::vector<Eigen::Triplet<double>> entries;
  for (int j = 0; j < n; ++j) {
    for (SparseMatrix::InnerIterator it(start.upper, members[j]); it; ++it) {
      if (label[it.row()] == label[members[j]]) entries.emplace_back(position[it.row()], j, it.value());
    }
  }
  GlassoState out;
  out.upper.resize(n, n);
  out.upper.setFromTriplets(entries.begin(), entries.end());
  SpdInverse factor;
  if (!factor.factorise(out.upper)) throw NumericalError("the starting precision matrix is not positive definite");
  out.log_det = factor.log_det();
  if (closed) {
    out.w = principal_submatrix(start.w, members);
  } else {
    factor.inverse(out.w);
  }
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

  if (count == 1) {
    parts[0].state = start ? *start : diagonal_state(s, lambda);
    finish(s, lambda, options, monitor, parts[0]);
    result.state = std::move(parts[0].state);
  } else {
    std::vector<int> position(p), label(p);
    for (Index c = 0; c < count; ++c) {
      for (std::size_t k = 0; k < components[c].size(); ++k) {
        position[components[c][k]] = static_cast<int>(k);
        label[components[c][k]] = static_cast<int>(c);
      }
    }
    const std::vector<char> closed = start ? closed_components(start->upper, label, count) : std::vector<char>();
    std::vector<Index> order(count);  // largest first, so that threads end together
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return components[a].size() > components[b].size(); });
    parallel_for(count, options.threads, monitor, [&](Index k) {
      const Index c = order[k];
      const auto& members = components[c];
      const Penalty part_lambda = lambda.restricted(members);
      const MatrixXd part_s = principal_submatrix(s, members);
      parts[c].state = start && members.size() > 1 ? restricted_state(*start, members, position, label, closed[c])
                                                   : diagonal_state(part_s, part_lambda);
      GlassoOptions part_options = options;
      if (k > 0) part_options.progress_to = part_options.progress_from;  // the largest component speaks for all
      finish(part_s, part_lambda, part_options, monitor, parts[c]);
    });

    std::vector<Eigen::Triplet<double>> entries;
    result.state.w.setZero(p, p);
    for (Index c = 0; c < count; ++c) {
      const auto& members = components[c];
      const GlassoState& part = parts[c].state;
      for (Index j = 0; j < part.upper.cols(); ++j) {
        for (SparseMatrix::InnerIterator it(part.upper, j); it; ++it) entries.emplace_back(members[it.row()], members[j], it.value());
        for (Index i = 0; i < part.w.rows(); ++i) result.state.w(members[i], members[j]) = part.w(i, j);
      }
      result.state.log_det += part.log_det;
    }
    result.state.upper.resize(p, p);
    result.state.upper.setFromTriplets(entries.begin(), entries.end());
  }

  Convergence& convergence = result.convergence;
  convergence.converged = true;
  convergence.residual = 0;
  double gap = 0;
  Index largest = 0;
  for (Index c = 0; c < count; ++c) {
    const ComponentResult& part = parts[c];
    result.objective += part.objective;
    gap += part.gap;
    convergence.residual = std::max(convergence.residual, part.optimality.relative());
    result.largest_violation = std::max(result.largest_violation, part.optimality.largest);
    convergence.converged = convergence.converged && part.report.converged;
    convergence.iterations = std::max(convergence.iterations, part.report.iterations);
    if (!part.report.message.empty()) convergence.message = part.report.message;
    if (components[c].size() > components[largest].size()) largest = c;
  }
  result.trace = std::move(parts[largest].report.trace);
  convergence.gap = options.certificate ? gap : Convergence::unknown;
  convergence.seconds = clock.seconds();
  return result;
}

std::vector<GlassoResult> glasso_path(const ConstMatrixRef& s, const Penalty& lambda, const std::vector<double>& multipliers,
                                      const GlassoOptions& options, bool keep_covariance, Monitor& monitor,
                                      const GlassoState* start) {
  std::vector<GlassoResult> path;
  path.reserve(multipliers.size());
  for (std::size_t k = 0; k < multipliers.size(); ++k) {
    const GlassoState* from = path.empty() ? start : &path.back().state;
    GlassoOptions step = options;
    step.progress_from = static_cast<double>(k) / static_cast<double>(multipliers.size());
    step.progress_to = static_cast<double>(k + 1) / static_cast<double>(multipliers.size());
    GlassoResult next = glasso(s, lambda.scaled(multipliers[k]), step, monitor, from);
    if (!path.empty() && !keep_covariance) path.back().state.w.resize(0, 0);
    path.push_back(std::move(next));
  }
  return path;
}

}  // namespace granary::graph
