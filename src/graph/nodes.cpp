#include "graph/nodes.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/optim/admm.h"
#include "core/graph/components.h"
#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/prox/proximal.h"
#include "core/linalg/spectral_norm.h"
#include "core/linalg/submatrix.h"
#include "core/graph/union_find.h"
#include "graph/nodes_bcd.h"
#include "core/linalg/dense.h"

namespace granary::graph {

namespace {

// argmin of rho ||V||_1 + tau sum_n ||V_n,-n||_q + g/2 ||V - C||^2, groups by column: soft thresholds, then the group step.
MatrixXd prox_rows(const MatrixXd& c, double g, const NodesPenalty& penalty) {
  MatrixXd v = soft_threshold(c, penalty.rho / g);
  VectorXd column;
  for (Index n = 0; n < v.cols(); ++n) {
    const double diagonal = v(n, n);
    column = v.col(n);
    column[n] = 0;
    v.col(n) = penalty.norm == RowNorm::l2 ? prox_group_l2(column, penalty.tau / g) : prox_group_linf(column, penalty.tau / g);
    v(n, n) = diagonal;
  }
  return v;
}

// The l-inf step ties the largest entries of a row exactly, and averaging V with V' unties them by as much as the two still
// differ, which the gap would feel to first order. So rows that share a tied entry get one level, the mean over their tied
// entries, and no entry exceeds the level of either of its rows.
void restore_ties(const MatrixXd& v, MatrixXd& x) {
  const int p = static_cast<int>(x.cols());
  VectorXd top(p);
  for (int n = 0; n < p; ++n) {
    top[n] = 0;
    for (int i = 0; i < p; ++i) {
      if (i != n) top[n] = std::max(top[n], std::abs(v(i, n)));
    }
  }
  const auto tied = [&](int i, int n) { return x(i, n) != 0 && std::abs(v(i, n)) == top[n]; };
  UnionFind rows(p);
  for (int n = 0; n < p; ++n) {
    for (int i = 0; i < n; ++i) {
      if (tied(i, n) && tied(n, i)) rows.unite(i, n);
    }
  }
  const std::vector<int> label = rows.labels();
  VectorXd sum = VectorXd::Zero(p), count = VectorXd::Zero(p);
  for (int n = 0; n < p; ++n) {
    for (int i = 0; i < p; ++i) {
      if (i == n || !tied(i, n)) continue;
      sum[label[n]] += std::abs(x(i, n));
      count[label[n]] += 1;
    }
  }
  for (int n = 0; n < p; ++n) {
    for (int i = 0; i < n; ++i) {
      if (x(i, n) == 0) continue;
      double size = std::abs(x(i, n));
      for (const int row : {i, n}) {
        const int other = row == n ? i : n, group = label[row];
        if (count[group] == 0) continue;
        const double level = sum[group] / count[group];
        size = tied(other, row) ? level : std::min(size, level);
      }
      x(i, n) = x(n, i) = x(i, n) > 0 ? size : -size;
    }
  }
}

// An edge needs both rows to have it. Before convergence that may leave the cone: the off-diagonal is then shrunk until it does
// not.
MatrixXd precision_from_copy(const MatrixXd& v, RowNorm norm) {
  MatrixXd x = symmetrised(v);
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < j; ++i) {
      if (v(i, j) == 0 || v(j, i) == 0) x(i, j) = x(j, i) = 0;
    }
  }
  if (norm == RowNorm::linf) restore_ties(v, x);
  const VectorXd diagonal = x.diagonal();
  for (int k = 0; k < 60 && !std::isfinite(minus_log_det(x)); ++k) {
    x *= 0.9;
    x.diagonal() = diagonal;
  }
  return x;
}

struct Part {
  MatrixXd x, w;
  MatrixXd dual;  // sym Y
  double log_det = 0, objective = 0, gap = 0, violation = 0;
  bool converged = true;
  int iterations = 0;
  double residual = 0;
  std::string message;
  std::vector<double> trace;
};

void certify(const ConstMatrixRef& s, const NodesPenalty& penalty, Part& part) {
  const Llt llt(part.x);
  if (llt.info() != Eigen::Success)
    throw NumericalError("the estimate is not positive definite; raise max_iter or rescale the data.");
  part.w = symmetrised(llt.solve(MatrixXd::Identity(s.rows(), s.cols())));
  part.log_det = 2 * llt.matrixLLT().diagonal().array().log().sum();
  part.objective = -part.log_det + s.cwiseProduct(part.x).sum() + nodes_penalty(part.x, penalty);
  if (part.dual.size() == 0) part.dual = nearest_dual(s, part.w, penalty);
  part.gap = nodes_gap(s, part.objective, part.dual);
  part.violation = (part.w - s - part.dual).cwiseAbs().maxCoeff();
}

// Alternating directions come to rows of zeros from above: when they stop, a node may still have a row of entries of rounding
// size, and with it edges that the optimum does not have. The weakest rows go, as many as lower the objective.
MatrixXd without_phantoms(const ConstMatrixRef& s, const NodesPenalty& penalty, const MatrixXd& x) {
  const auto value = [&](const MatrixXd& a) { return minus_log_det(a) + s.cwiseProduct(a).sum() + nodes_penalty(a, penalty); };
  const VectorXd scale = x.diagonal().cwiseSqrt().cwiseInverse();
  MatrixXd partial = (scale.asDiagonal() * x * scale.asDiagonal()).cwiseAbs();
  partial.diagonal().setZero();
  const VectorXd strength = partial.colwise().maxCoeff();
  const double before = value(x);
  for (const double limit : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10}) {
    MatrixXd rest = x;
    bool weak = false;
    for (Index n = 0; n < x.cols(); ++n) {
      if (strength[n] == 0 || strength[n] > limit) continue;
      weak = true;
      rest.row(n).setZero();
      rest.col(n).setZero();
      rest(n, n) = x(n, n);
    }
    if (!weak) break;
    if (value(rest) <= before) return rest;
  }
  return x;
}

void run_admm(const ConstMatrixRef& s, const NodesPenalty& penalty, const NodesOptions& options, Monitor& monitor, Part& part) {
  const double variance = s.diagonal().mean() + penalty.rho;  // the unit of S; that of g is its square
  AdmmOptions driver;
  driver.tol = options.tol;
  driver.max_iter = options.max_iter;
  AdmmProblem problem;
  problem.f = [&](const MatrixXd& v, double g) -> MatrixXd { return prox_log_det(s, symmetrised(v), g).x; };
  problem.g.push_back([&](const MatrixXd& c, double g) -> MatrixXd { return prox_rows(c, g, penalty); });
  AdmmState start;
  start.rho = variance * variance;
  start.z.push_back(part.x);
  start.u.push_back((part.w - s) / start.rho);
  const AdmmResult end = admm(problem, std::move(start), driver, monitor);
  part.iterations += end.convergence.iterations;
  part.residual = end.convergence.residual;
  part.x = without_phantoms(s, penalty, precision_from_copy(end.z[0], penalty.norm));
  part.dual = symmetrised(end.rho * end.u[0]);  // a subgradient of the penalty at V, hence feasible
  certify(s, penalty, part);
  part.converged = end.convergence.converged && part.gap <= options.tol * static_cast<double>(s.rows());
  if (!part.converged) part.message = message("stopped after ", part.iterations, " iterations");
}

// `part.x` and `part.w` hold the start.
void solve_part(const ConstMatrixRef& s, const NodesPenalty& penalty, const NodesOptions& options, Monitor& monitor, Part& part) {
  if (options.method == NodesMethod::bcd || options.method == NodesMethod::both) {
    const int sweeps = options.method == NodesMethod::bcd ? options.max_iter : options.sweeps;
    const NodesBcdReport report = nodes_bcd(s, penalty, options.tol, sweeps, monitor, part.x, part.w);
    part.trace = report.objective;
    part.iterations = report.sweeps;
    if (options.method == NodesMethod::bcd) {
      certify(s, penalty, part);
      part.residual = part.violation / (s.diagonal().mean() + penalty.rho);
      part.converged = report.settled && part.gap <= options.tol * static_cast<double>(s.rows());
      if (!part.converged) {
        part.message = report.settled ? "the block descent settled away from the optimum, as it may: method = \"admm\" reaches it"
                                      : message("stopped after ", report.sweeps, " sweeps");
      }
      return;
    }
  }
  run_admm(s, penalty, options, monitor, part);
}

// A single node: X = 1 / (S_nn + rho), with no gap at all.
void isolate(const ConstMatrixRef& s, const NodesPenalty& penalty, Part& part) {
  const double variance = s(0, 0) + penalty.rho;
  part.x = MatrixXd::Constant(1, 1, 1 / variance);
  part.w = MatrixXd::Constant(1, 1, variance);
  part.log_det = -std::log(variance);
  part.objective = 1 - part.log_det;
}

void start_part(const ConstMatrixRef& s, const NodesPenalty& penalty, const MatrixXd* start, const std::vector<int>& members,
                Part& part) {
  if (start) {
    part.x = principal_submatrix(*start, members);
    const Llt llt(part.x);
    if (llt.info() != Eigen::Success) throw InputError("start must be a positive definite precision matrix.");
    part.w = symmetrised(llt.solve(MatrixXd::Identity(s.rows(), s.cols())));
    return;
  }
  const VectorXd variance = s.diagonal().array() + penalty.rho;
  part.x = variance.cwiseInverse().asDiagonal();
  part.w = variance.asDiagonal();
}

}  // namespace

namespace {

NodesResult fit_in_units(const ConstMatrixRef& s, const NodesPenalty& penalty, const NodesOptions& options, Monitor& monitor,
                         const MatrixXd* start) {
  const Stopwatch clock;
  const Index p = s.rows();
  NodesResult result;
  result.screening = screen_nodes(s, penalty, options.screen);
  const auto& components = result.screening.components;
  std::vector<Index> several = largest_first(components);  // those with work to do
  while (!several.empty() && components[several.back()].size() == 1) several.pop_back();
  std::vector<Part> parts(components.size());
  parallel_for(static_cast<Index>(several.size()), options.threads, monitor, [&](Index k) {
    const Index c = several[k];
    const MatrixXd part_s = principal_submatrix(s, components[c]);
    start_part(part_s, penalty, start, components[c], parts[c]);
    solve_part(part_s, penalty, options, monitor, parts[c]);
  });

  WholeConvergence whole(result.convergence);
  std::vector<Eigen::Triplet<double>> entries;
  result.w.setZero(p, p);
  for (std::size_t c = 0; c < components.size(); ++c) {
    const auto& members = components[c];
    Part& part = parts[c];
    if (members.size() == 1) isolate(principal_submatrix(s, members), penalty, part);
    for (Index j = 0; j < part.x.cols(); ++j) {
      for (Index i = 0; i <= j; ++i) {
        if (part.x(i, j) != 0) entries.emplace_back(members[i], members[j], part.x(i, j));
      }
    }
    put_back(result.w, part.w, members);
    result.log_det += part.log_det;
    result.objective += part.objective;
    result.largest_violation = std::max(result.largest_violation, part.violation);
    whole.add(part.converged, part.iterations, part.gap, part.residual, part.message);
  }
  if (!several.empty()) {  // the trace of the largest component, the others where they end
    result.trace = std::move(parts[several[0]].trace);
    for (double& value : result.trace) value += result.objective - parts[several[0]].objective;
  }
  result.upper.resize(p, p);
  result.upper.setFromTriplets(entries.begin(), entries.end());
  result.convergence.seconds = clock.seconds();
  return result;
}

}  // namespace

// The solver's tolerances have a unit, so the problem is solved near mean variance one: S / u, rho / u, tau / u and u X, with u a power of
// two, which costs no digit.
NodesResult nodes_fit(const ConstMatrixRef& s, const NodesPenalty& penalty, const NodesOptions& options, Monitor& monitor,
                      const MatrixXd* start) {
  check_nodes_problem(s, penalty);
  const double variance = s.diagonal().mean() + penalty.rho;
  const double unit = std::isfinite(variance) && variance > 0 ? std::exp2(std::round(std::log2(variance))) : 1;
  MatrixXd from;
  if (start) from = unit * *start;
  NodesResult out = fit_in_units(s / unit, {penalty.rho / unit, penalty.tau / unit, penalty.norm}, options, monitor, start ? &from : nullptr);
  const double shift = static_cast<double>(s.rows()) * std::log(unit);
  out.upper /= unit;
  out.w *= unit;
  out.log_det -= shift;
  out.objective += shift;
  out.largest_violation *= unit;
  for (double& value : out.trace) value += shift;
  return out;
}

NodesPath default_path(const ConstMatrixRef& s, const NodesGrid& grid, const std::function<double(double)>& tau) {
  NodesPath path;
  path.norm = grid.norm;
  path.rho = geometric_path(largest_rho(s, grid.norm, tau), grid.ratio, grid.n);
  for (const double rho : path.rho) path.tau.push_back(tau(rho));
  return path;
}

std::vector<NodesResult> nodes_path(const ConstMatrixRef& s, const NodesPath& penalties, const NodesOptions& options, Monitor& monitor,
                                    const std::optional<MatrixXd>& start) {
  if (penalties.rho.size() != penalties.tau.size()) throw InputError("rho and tau must have the same length.");
  const std::size_t count = penalties.rho.size();
  const double spectral = spectral_norm_above(s, monitor);
  std::vector<NodesResult> path;
  MatrixXd before;
  for (std::size_t k = 0; k < count; ++k) {
    const NodesPenalty penalty{penalties.rho[k], penalties.tau[k], penalties.norm};
    // Where block descent ends depends on where it starts: each of its fits has the same start.
    const MatrixXd* from = k > 0 && options.method != NodesMethod::bcd ? &before : start ? &*start : nullptr;
    path.push_back(nodes_fit(s, penalty, options, monitor, from));
    NodesResult& last = path.back();
    before = MatrixXd(last.upper).selfadjointView<Eigen::Upper>();
    last.node_norm = row_norms(before, penalty.norm);
    std::tie(last.lower, last.upper_bound) = nodes_bounds(spectral, s.cols(), penalty);
    if (count > 1 && !options.covariance) last.w.resize(0, 0);
    monitor.progress(static_cast<double>(k + 1) / static_cast<double>(count));
    const double edges = static_cast<double>(last.upper.nonZeros() - s.cols());
    if (2 * edges > options.max_degree * static_cast<double>(s.cols())) break;
  }
  return path;
}

NodesCertificate nodes_certificate(const ConstMatrixRef& s, const NodesPenalty& penalty, const MatrixXd& x) {
  check_nodes_problem(s, penalty);
  Part part;
  part.x = x;
  certify(s, penalty, part);
  return {part.objective, part.gap, part.violation};
}

}  // namespace granary::graph
