#include "kernel/svm.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/base/quiet_monitor.h"

namespace granary::kernel {

namespace {

bool has_cost(SvmType type) {
  return type == SvmType::classification || type == SvmType::regression || type == SvmType::nu_regression;
}

void check(SvmType type, const SvmTask& task) {
  const Index n = static_cast<Index>(task.rows.size());
  if (n == 0) throw InputError("a support vector machine needs at least one row.");
  if (task.weight.size() != n || (type != SvmType::one_class && task.y.size() != n) ||
      (task.start.size() > 0 && task.start.size() != n))
    throw InputError("labels, weights and start must have one number for each row.");
  if (!(task.weight.minCoeff() > 0)) throw InputError("weights must be positive.");
  if (type == SvmType::classification || type == SvmType::nu_classification) {
    if (!(task.y.minCoeff() == -1 && task.y.maxCoeff() == 1 && (task.y.array().abs() == 1).all()))
      throw InputError("a classifier needs rows of both classes, labelled -1 and 1.");
  }
}

// The sheet's box, and its coefficients from `start` (positive or negative part, or all of it) with the sum put right.
SmoSheet make_sheet(VectorXd linear, VectorXd lower, VectorXd upper, const VectorXd& start, double sum) {
  SmoSheet sheet{std::move(linear), std::move(lower), std::move(upper), {}};
  sheet.start = feasible_start(start, sheet.lower, sheet.upper, sum);
  return sheet;
}

SmoProblem make_problem(SvmType type, const SvmTask& task, const SvmPoint& at, const VectorXd& start) {
  const Index n = static_cast<Index>(task.rows.size());
  const VectorXd none = VectorXd::Zero(n), box = has_cost(type) ? VectorXd(at.cost * task.weight) : task.weight;
  const double total = task.weight.sum();
  const VectorXd up = start.cwiseMax(0.0), down = start.cwiseMin(0.0);
  SmoProblem out;
  switch (type) {
    case SvmType::classification: {
      const VectorXd signed_box = box.cwiseProduct(task.y);
      out.sheets.push_back(make_sheet(task.y, signed_box.cwiseMin(0.0), signed_box.cwiseMax(0.0), start, 0));
      break;
    }
    case SvmType::regression:
      out.sheets.push_back(make_sheet(task.y, -box, box, start, 0));
      out.kink = VectorXd::Constant(n, at.epsilon);
      break;
    case SvmType::one_class:
      out.sheets.push_back(make_sheet(none, none, box, up, at.nu * total));
      break;
    case SvmType::nu_classification: {
      const VectorXd signed_box = box.cwiseProduct(task.y);
      if (at.nu > largest_nu(task) * (1 + 1e-12))
        throw InputError(message("nu = ", at.nu, " is not feasible: the largest is ", largest_nu(task),
                                 ", twice the share of the smaller class."));
      const double sum = std::min(at.nu, largest_nu(task)) * total / 2;
      out.sheets.push_back(make_sheet(none, none, signed_box.cwiseMax(0.0), up, sum));
      out.sheets.push_back(make_sheet(none, signed_box.cwiseMin(0.0), none, down, -sum));
      break;
    }
    case SvmType::nu_regression: {
      const double sum = at.nu * at.cost * total / 2;
      out.sheets.push_back(make_sheet(task.y, none, box, up, sum));
      out.sheets.push_back(make_sheet(task.y, -box, none, down, -sum));
      break;
    }
  }
  return out;
}

SvmSolution make_solution(SvmType type, const SmoProblem& problem, const SvmPoint& at, SmoResult&& r) {
  SvmSolution out;
  const std::size_t sheets = problem.sheets.size();
  const Index n = r.f.size();
  out.coefficients = r.beta[0];
  if (sheets == 2) out.coefficients += r.beta[1];
  out.bounded.assign(static_cast<std::size_t>(n), 0);
  out.identified.assign(static_cast<std::size_t>(n), 1);
  for (std::size_t s = 0; s < sheets; ++s) {
    const SmoSheet& sheet = problem.sheets[s];
    for (Index t = 0; t < n; ++t) {
      const double b = r.beta[s][t];
      if (b != 0 && (b == sheet.lower[t] || b == sheet.upper[t])) out.bounded[static_cast<std::size_t>(t)] = 1;
      if (!r.pinned[s][static_cast<std::size_t>(t)]) out.identified[static_cast<std::size_t>(t)] = 0;
    }
  }
  out.offset = r.multiplier[0];
  if (sheets == 2) out.offset = 0.5 * (r.multiplier[0] + r.multiplier[1]);
  if (type == SvmType::regression) out.epsilon = at.epsilon;
  if (type == SvmType::nu_regression) out.epsilon = 0.5 * (r.multiplier[0] - r.multiplier[1]);
  out.decision = r.f.array() + out.offset;
  if (type == SvmType::nu_classification) {
    out.rho = 0.5 * (r.multiplier[1] - r.multiplier[0]);
    if (!(out.rho > 0))
      throw NumericalError(
          "the classes cannot be told apart at this nu: the margin is zero. Use a smaller nu or another kernel.");
    out.coefficients /= out.rho;
    out.offset /= out.rho;
    out.decision /= out.rho;
    r.objective /= out.rho * out.rho;
  }
  out.solver = std::move(r);
  out.solver.beta.clear();
  out.solver.f.resize(0);
  out.solver.pinned.clear();
  return out;
}

}  // namespace

double largest_nu(const SvmTask& task) {
  const double positive = (task.y.array() > 0).select(task.weight, 0.0).sum(), total = task.weight.sum();
  return 2 * std::min(positive, total - positive) / total;
}

VectorXd feasible_start(VectorXd b, ConstVectorRef lower, ConstVectorRef upper, double sum) {
  b = b.cwiseMax(lower).cwiseMin(upper);
  // What is too much is taken from what there is, in proportion; what is missing is added row by row, first where b is not
  // zero. Rounding is put right row by row, too.
  double amiss = sum - b.sum();
  if (amiss == 0) return b;
  const VectorXd toward_zero =
      amiss < 0 ? VectorXd(b.cwiseMax(0.0).cwiseMin(b - lower)) : VectorXd((-b).cwiseMax(0.0).cwiseMin(upper - b));
  const double room = toward_zero.sum();
  if (room > 0) {
    const double share = std::min(1.0, std::abs(amiss) / room);
    b = (amiss < 0 ? VectorXd(b - share * toward_zero) : VectorXd(b + share * toward_zero)).cwiseMax(lower).cwiseMin(upper);
  }
  for (const bool nonzero : {true, false}) {
    amiss = sum - b.sum();
    for (Index t = 0; t < b.size() && amiss != 0; ++t) {
      if ((b[t] != 0) != nonzero) continue;
      const double step = amiss > 0 ? std::min(amiss, upper[t] - b[t]) : std::max(amiss, lower[t] - b[t]);
      b[t] = step == upper[t] - b[t] ? upper[t] : step == lower[t] - b[t] ? lower[t] : b[t] + step;
      amiss -= step;
    }
  }
  double scale = std::abs(sum);
  for (Index t = 0; t < b.size(); ++t) scale = std::max({scale, std::abs(b[t])});
  if (std::abs(sum - b.sum()) > 1e-9 * scale)
    throw InputError(message("no coefficients between their bounds have the sum ", sum, "."));
  return b;
}

SmoResult solve_box_qp(const Eigen::Map<const MatrixXd>& k, SmoSheet sheet, double sum, const SmoOptions& options,
                       Monitor& monitor) {
  sheet.start = feasible_start(sheet.start, sheet.lower, sheet.upper, sum);
  SmoProblem problem;
  problem.sheets.push_back(std::move(sheet));
  KernelRows rows(k);
  return solve_smo(problem, rows, options, monitor);
}

std::vector<SvmSolution> solve_svm(SvmType type, const SvmData& data, const SvmTask& task, const std::vector<SvmPoint>& points,
                                   const SmoOptions& options, Monitor& monitor) {
  check(type, task);
  SvmData::Chosen chosen = data.choose(task.rows);
  VectorXd start = task.start.size() > 0 ? task.start : VectorXd(VectorXd::Zero(static_cast<Index>(task.rows.size())));
  double start_cost = task.start_cost;
  std::vector<SvmSolution> out;
  for (const SvmPoint& at : points) {
    if (has_cost(type) && start_cost > 0) start *= at.cost / start_cost;
    const SmoProblem problem = make_problem(type, task, at, start);
    SvmSolution solution = make_solution(type, problem, at, solve_smo(problem, chosen.rows, options, monitor));
    if (!task.held_out.empty())
      solution.held_out = data.decision(task.rows, solution.coefficients, task.held_out, monitor).array() + solution.offset;
    start = solution.coefficients * (type == SvmType::nu_classification ? solution.rho : 1.0);
    start_cost = at.cost;
    out.push_back(std::move(solution));
  }
  return out;
}

std::vector<std::vector<SvmSolution>> solve_svm(const SvmData& data, const std::vector<SvmTask>& tasks, const SvmOptions& options,
                                                Monitor& monitor) {
  if (options.nu.size() != options.cost.size() || options.epsilon.size() != options.cost.size())
    throw InputError("`cost`, `nu` and `epsilon` must have equal lengths.");
  std::vector<SvmPoint> points;
  for (std::size_t k = 0; k < options.cost.size(); ++k) points.push_back({options.cost[k], options.nu[k], options.epsilon[k]});
  std::vector<std::vector<SvmSolution>> found(tasks.size());
  if (tasks.size() == 1 && points.size() == 1) {  // a single machine shows its own progress
    found[0] = solve_svm(options.type, data, tasks[0], points, options.solver, monitor);
    return found;
  }
  std::atomic<Index> done{0};
  parallel_for(static_cast<Index>(tasks.size()), options.threads, monitor, [&](Index k) {
    QuietMonitor quiet(monitor);
    found[k] = solve_svm(options.type, data, tasks[k], points, options.solver, quiet);
    monitor.progress(static_cast<double>(++done) / static_cast<double>(tasks.size()));
  });
  return found;
}

}  // namespace granary::kernel
