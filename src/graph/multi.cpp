#include "graph/multi.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/graph/components.h"
#include "core/base/parallel.h"
#include "core/prox/proximal.h"
#include "core/linalg/submatrix.h"
#include "graph/glasso.h"
#include "graph/multi_admm.h"
#include "graph/multi_bcd.h"
#include "graph/multi_newton.h"

namespace granary::graph {

namespace {

struct Part {
  std::vector<MatrixXd> s;  // what problem.s looks at
  MultiProblem problem;
  MultiState state;
  MultiReport report;
  double objective = 0, gap = 0, residual = 0;
};

MultiReport solve(const MultiProblem& problem, const MultiOptions& options, Monitor& monitor, MultiState& state) {
  switch (options.method) {
    case MultiMethod::bcd:
      return multi_bcd(problem, options, monitor, state);
    case MultiMethod::admm:
      return multi_admm(problem, options, monitor, state);
    case MultiMethod::newton:
      break;
  }
  return multi_newton(problem, options, monitor, state);
}

void finish(const MultiProblem& problem, const MultiOptions& options, Monitor& monitor, Part& part) {
  const auto certify = [&] {
    part.objective = objective(problem, part.state);
    part.gap = duality_gap(problem, part.objective, part.state.w);
  };
  if (problem.variables() == 1) {
    part.report.converged = true;  // diagonal_state() is the solution
    certify();
  } else {
    // A small residual does not bound the distance to the minimum, a small gap does: where that is still to be had, the solver
    // goes on with a sharper residual, as long as that helps.
    const double enough = options.tol * static_cast<double>(problem.variables()) * problem.weight.sum();
    MultiOptions own = options;
    double before = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 6; ++round, own.tol *= 0.1) {
      const int used = part.report.iterations;
      own.max_iter = options.max_iter - used;
      part.report = solve(problem, own, monitor, part.state);
      part.report.iterations += used;
      certify();
      if (!part.report.converged || !(part.gap > enough) || !(part.gap < before) || part.report.iterations >= options.max_iter)
        break;
      before = part.gap;
    }
  }
  part.residual = free_set(problem, part.state).residual;
  if (!part.report.converged && std::isnan(part.gap)) {
    part.report.message += "; no dual point was found, so the likelihood may be unbounded: try a larger penalty";
  }
}

Part make_part(const MultiProblem& problem, const std::vector<int>& members) {
  const Index n = static_cast<Index>(members.size());
  Part part;
  part.s.resize(problem.tasks());
  for (int k = 0; k < problem.tasks(); ++k) {
    part.s[k] = principal_submatrix(problem.s[k], members);
    part.problem.s.emplace_back(part.s[k].data(), n, n);
  }
  part.problem.weight = problem.weight;
  part.problem.off = problem.off;
  part.problem.diagonal = problem.diagonal;
  return part;
}

// What of `start` belongs to the component; a submatrix of a positive definite matrix is one.
MultiState restricted_state(const MultiState& start, const std::vector<int>& members, const ComponentIndex& where,
                            Monitor& monitor) {
  const int own = where.label[members[0]];
  std::vector<Eigen::Triplet<double>> entries;
  std::vector<Index> from;
  for_each_entry(start.pattern, [&](Index i, Index j, Index e) {
    if (where.label[i] != own || where.label[j] != own) return;
    entries.emplace_back(where.position[i], where.position[j], 1.0);
    from.push_back(e);
  });
  MultiState out;
  const Index n = static_cast<Index>(members.size());
  out.pattern.resize(n, n);
  out.pattern.setFromTriplets(entries.begin(), entries.end());  // positions ascend with members: the order of entries is kept
  out.values.resize(start.values.rows(), static_cast<Index>(from.size()));
  for (std::size_t e = 0; e < from.size(); ++e) out.values.col(static_cast<Index>(e)) = start.values.col(from[e]);
  std::vector<SpdInverse> factors;
  if (!factorise(out, factors, 1, monitor)) throw NumericalError("the starting precision matrices are not positive definite");
  invert(out, factors, 1, monitor);
  return out;
}

// The parts of a block diagonal solution put together.
MultiState assemble(const std::vector<Part>& parts, const std::vector<std::vector<int>>& components, Index p, int tasks) {
  struct Item {
    int i, j;
    const double* x;
  };
  std::vector<Item> items;
  MultiState out;
  out.w.assign(tasks, MatrixXd::Zero(p, p));
  out.log_det = VectorXd::Zero(tasks);
  for (std::size_t c = 0; c < parts.size(); ++c) {
    const MultiState& state = parts[c].state;
    const auto& members = components[c];
    for_each_entry(state.pattern, [&](Index i, Index j, Index e) {
      items.push_back({members[i], members[j], state.values.col(e).data()});
    });
    for (int k = 0; k < tasks; ++k) put_back(out.w[k], state.w[k], members);
    out.log_det += state.log_det;
  }
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.j < b.j || (a.j == b.j && a.i < b.i); });
  std::vector<Eigen::Triplet<double>> entries;
  out.values.resize(tasks, static_cast<Index>(items.size()));
  for (std::size_t e = 0; e < items.size(); ++e) {
    entries.emplace_back(items[e].i, items[e].j, 1.0);
    out.values.col(static_cast<Index>(e)) = Eigen::Map<const VectorXd>(items[e].x, tasks);
  }
  out.pattern.resize(p, p);
  out.pattern.setFromTriplets(entries.begin(), entries.end());
  return out;
}

// From one upper triangle per task to a common pattern. log_det and w are left to the caller.
MultiState merge_tasks(const std::vector<SparseMatrix>& upper) {
  const int tasks = static_cast<int>(upper.size());
  SparseMatrix sum(upper[0].rows(), upper[0].cols());
  for (const SparseMatrix& x : upper) sum += SparseMatrix(x.cwiseAbs());
  sum.makeCompressed();
  MultiState out;
  out.pattern = sum;
  out.values.resize(tasks, sum.nonZeros());
  for_each_entry(out.pattern, [&](Index i, Index j, Index e) {
    for (int k = 0; k < tasks; ++k) out.values(k, e) = upper[k].coeff(static_cast<int>(i), static_cast<int>(j));
  });
  std::fill(out.pattern.valuePtr(), out.pattern.valuePtr() + out.pattern.nonZeros(), 1.0);
  drop_zero_blocks(out);
  return out;
}

// Nothing ties the tasks together: K graphical lassos with penalty l1 / T_k.
MultiResult separate(const MultiProblem& problem, const MultiOptions& options, Monitor& monitor, const MultiState* start) {
  const Stopwatch clock;
  const int tasks = problem.tasks();
  std::vector<GlassoResult> fits(tasks);
  std::vector<SparseMatrix> upper(tasks);
  MultiResult result;
  parallel_for(tasks, options.threads, monitor, [&](Index k) {
    GlassoOptions own;
    own.tol = options.tol;
    own.threads = 1;
    own.method = options.method == MultiMethod::admm ? GlassoMethod::admm : GlassoMethod::bcd;
    own.max_iter = options.max_iter;
    const double t = problem.weight[k];
    GlassoState from;
    if (start) {
      from.upper = task_upper(start->pattern, start->values, static_cast<int>(k));
      from.w = start->w[k];
      from.log_det = start->log_det[k];
    }
    fits[k] =
        glasso(problem.s[k], Penalty::scalar(problem.off.l1 / t, problem.diagonal.l1 > 0), own, monitor, start ? &from : nullptr);
    upper[k] = fits[k].state.upper;
  });
  result.state = merge_tasks(upper);
  result.state.log_det.resize(tasks);
  WholeConvergence whole(result.convergence);
  for (int k = 0; k < tasks; ++k) {
    result.state.w.push_back(std::move(fits[k].state.w));
    result.state.log_det[k] = fits[k].state.log_det;
    result.objective += problem.weight[k] * fits[k].objective;
    whole.add(fits[k].convergence, problem.weight[k]);
  }
  result.components = screen_components(problem);
  result.convergence.seconds = clock.seconds();
  return result;
}

}  // namespace

MultiResult multi(const MultiProblem& problem, const MultiOptions& options, Monitor& monitor, const MultiState* start) {
  const Stopwatch clock;
  check_problem(problem);
  if (problem.off.l2 == 0 && problem.diagonal.l2 == 0) return separate(problem, options, monitor, start);
  const Index p = problem.variables();
  MultiResult result;
  result.components = options.screen ? screen_components(problem) : one_component(p);
  const auto& components = result.components;
  const Index count = static_cast<Index>(components.size());
  std::vector<Part> parts(count);
  if (count == 1) {
    parts[0].state = start ? *start : diagonal_state(problem, monitor);
    finish(problem, options, monitor, parts[0]);
    result.state = std::move(parts[0].state);
  } else {
    const ComponentIndex where(components, p);
    const std::vector<Index> order = largest_first(components);
    parallel_for(count, options.threads, monitor, [&](Index k) {
      const Index c = order[k];
      const auto& members = components[c];
      parts[c] = make_part(problem, members);
      parts[c].state = start && members.size() > 1 ? restricted_state(*start, members, where, monitor)
                                                   : diagonal_state(parts[c].problem, monitor);
      finish(parts[c].problem, options, monitor, parts[c]);
    });
    result.state = assemble(parts, components, p, problem.tasks());
  }

  WholeConvergence whole(result.convergence);
  for (const Part& part : parts) {
    whole.add(part.report.converged, part.report.iterations, part.gap, part.residual, part.report.message);
    result.objective += part.objective;
  }
  result.convergence.seconds = clock.seconds();
  return result;
}

std::vector<MultiResult> multi_path(const MultiProblem& problem, const MultiPath& penalties, const MultiOptions& options, Monitor& monitor) {
  if (penalties.lambda.size() != penalties.lambda1.size()) throw InputError("lambda and lambda1 must have the same length.");
  const std::size_t count = penalties.lambda.size();
  std::vector<MultiResult> path;
  path.reserve(count);
  MultiProblem now = problem;
  for (std::size_t k = 0; k < count; ++k) {
    monitor.progress(static_cast<double>(k) / static_cast<double>(count));
    now.off = penalties.off(k);
    now.diagonal = penalties.diagonal(k);
    path.push_back(multi(now, options, monitor, path.empty() ? nullptr : &path.back().state));
    if (k > 0 && !options.covariance) path[k - 1].state.w.clear();
  }
  if (count > 1 && !options.covariance) path.back().state.w.clear();
  return path;
}

namespace {

double largest_spread(const MultiProblem& problem) {
  MatrixXd high = problem.weight[0] * problem.s[0], low = high;
  for (int k = 1; k < problem.tasks(); ++k) {
    high = high.cwiseMax(problem.weight[k] * problem.s[k]);
    low = low.cwiseMin(problem.weight[k] * problem.s[k]);
  }
  return (high - low).maxCoeff() / problem.tasks();
}

// The smallest weight of N(x) that leaves no edge beside lambda1 ||x||_1: that of the thresholded covariances.
double largest_beside(const MultiProblem& problem, MultiNorm norm, double lambda1) {
  std::vector<MatrixXd> shrunk;
  MultiProblem left;
  for (int k = 0; k < problem.tasks(); ++k) shrunk.push_back(soft_threshold(MatrixXd(problem.weight[k] * problem.s[k]), lambda1));
  for (const MatrixXd& m : shrunk) left.s.emplace_back(m.data(), m.rows(), m.cols());
  left.weight = VectorXd::Ones(problem.tasks());
  left.off = {norm, 0, 1};
  return largest_entry_weight(left);
}

}  // namespace

double positive_top(double top, const MultiProblem& problem) {
  if (top > 0) return top;
  double largest = 1e-300;
  for (int k = 0; k < problem.tasks(); ++k) largest = std::max(largest, problem.weight[k] * problem.s[k].diagonal().maxCoeff());
  return largest;
}

MultiPath default_path(const MultiProblem& problem, const MultiGrid& grid) {
  const bool both = grid.norm == MultiNorm::fused && !grid.lambda1;
  double top = 0;
  if (both) {
    MultiProblem now = problem;
    now.off = {grid.norm, 1, 1};
    top = largest_entry_weight(now);
  } else if (grid.norm == MultiNorm::fused) {
    top = largest_spread(problem);
  } else {
    top = largest_beside(problem, grid.norm, grid.lambda1.value_or(0));
  }
  MultiPath path;
  path.norm = grid.norm;
  path.lambda = geometric_path(positive_top(top, problem), grid.ratio, grid.n);
  path.lambda1 = both ? path.lambda : std::vector<double>(path.lambda.size(), grid.lambda1.value_or(0));
  return path;
}

MultiResult multi_certificate(const MultiProblem& problem, const std::vector<SparseMatrix>& precision, Monitor& monitor) {
  check_problem(problem);
  std::vector<SparseMatrix> upper;
  for (const SparseMatrix& x : precision) upper.push_back(x.triangularView<Eigen::Upper>());
  MultiResult result;
  result.state = merge_tasks(upper);
  std::vector<SpdInverse> factors;
  if (!factorise(result.state, factors, 1, monitor)) throw InputError("a precision matrix is not positive definite.");
  invert(result.state, factors, 1, monitor);
  result.objective = objective(problem, result.state);
  result.convergence.gap = duality_gap(problem, result.objective, result.state.w);
  result.convergence.residual = free_set(problem, result.state).residual;
  return result;
}

}  // namespace granary::graph
