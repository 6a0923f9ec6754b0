#include "regress/aso.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/linalg/spectral.h"
#include "regress/aso_ridge.h"

namespace granary::regress {

namespace {

void require_tasks(const std::vector<Design>& designs, const std::vector<Task>& tasks,
                   const std::vector<std::vector<int>>& groups) {
  if (designs.empty() || tasks.empty()) throw InputError("there must be at least one design and one task.");
  const Index p = designs[0].cols();
  std::vector<char> seen(static_cast<std::size_t>(p), 0);
  for (const auto& group : groups) {
    for (int j : group) {
      if (j < 0 || j >= p || seen[static_cast<std::size_t>(j)]++) throw InputError("the groups must hold every column once.");
    }
  }
  if (std::count(seen.begin(), seen.end(), 0) > 0) throw InputError("the groups must hold every column once.");
  for (const Design& x : designs) {
    if (x.cols() != p) throw InputError(message("all designs must have the same columns, got ", p, " and ", x.cols(), "."));
  }
  for (const Task& task : tasks) {
    const Index n = designs[static_cast<std::size_t>(task.design)].rows();
    if (task.y.size() != n) throw InputError(message("a task has ", task.y.size(), " responses for ", n, " rows."));
    if (task.lambda.size() != static_cast<Index>(groups.size())) throw InputError("a task needs one lambda per group.");
    if (task.lambda.minCoeff() < 0) throw InputError("lambda must not be negative.");
  }
}

class Rounds {
 public:
  Rounds(const std::vector<Design>& designs, const std::vector<Task>& tasks, const TaskOptions& options, int threads,
         Monitor& monitor)
      : designs_(designs), tasks_(tasks), options_(options), threads_(threads), monitor_(monitor), fits_(tasks.size()) {
    if (options.loss == TaskLoss::squared) ridge_ = make_ridge_solver(designs, tasks, options);
  }

  std::vector<TaskFit>& fits() { return fits_; }

  // All tasks at once; `targets` null: at spared subspaces.
  void fit_tasks(const Structure& structure, const MatrixXd* targets) {
    if (ridge_) ridge_->prepare(structure, targets != nullptr);
    parallel_for(static_cast<Index>(tasks_.size()), threads_, monitor_, [&](Index l) {
      const auto at = static_cast<std::size_t>(l);
      const Task& task = tasks_[at];
      const Design& x = designs_[static_cast<std::size_t>(task.design)];
      const VectorXd target = targets ? VectorXd(targets->col(l)) : VectorXd();
      if (ridge_ && ridge_->solve(l, targets ? &target : nullptr, fits_[at])) {
        fits_[at].loss = task_loss(x, task, TaskLoss::squared, fits_[at].u, fits_[at].intercept);
      } else {
        fits_[at] = fit_task(x, task, structure, targets ? &target : nullptr, fits_[at], options_, monitor_);
      }
    });
  }

  AsoResult result() const {
    AsoResult out;
    const Index m = static_cast<Index>(fits_.size());
    out.u.resize(designs_[0].cols(), m);
    out.intercepts.resize(m);
    for (Index l = 0; l < m; ++l) {
      const TaskFit& fit = fits_[static_cast<std::size_t>(l)];
      out.u.col(l) = fit.u;
      out.intercepts[l] = fit.intercept;
      out.losses.push_back(fit.loss);
      out.unfinished += fit.converged ? 0 : 1;
    }
    return out;
  }

 private:
  const std::vector<Design>& designs_;
  const std::vector<Task>& tasks_;
  const TaskOptions& options_;
  int threads_;
  Monitor& monitor_;
  std::vector<TaskFit> fits_;
  std::unique_ptr<RidgeSolver> ridge_;
};

// U_t, p_t x m, with negative entries at zero where only positive weights count.
MatrixXd weighted_block(const std::vector<TaskFit>& fits, const std::vector<Task>& tasks, const std::vector<int>& columns,
                        std::size_t t, bool positive) {
  MatrixXd block(static_cast<Index>(columns.size()), static_cast<Index>(fits.size()));
  for (std::size_t l = 0; l < fits.size(); ++l) {
    const double root = std::sqrt(tasks[l].lambda[static_cast<Index>(t)]);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const double u = fits[l].u[columns[j]];
      block(static_cast<Index>(j), static_cast<Index>(l)) = root * (positive ? std::max(u, 0.0) : u);
    }
  }
  return block;
}

// Theta_t <- leading left singular vectors of U_t.
void update_structure(Structure& structure, std::vector<VectorXd>& d, const std::vector<TaskFit>& fits,
                      const std::vector<Task>& tasks, const AsoOptions& options, Monitor& monitor) {
  for (std::size_t t = 0; t < structure.groups.size(); ++t) {
    const MatrixXd block = weighted_block(fits, tasks, structure.groups[t], t, options.positive);
    const Index most = std::min(block.rows(), block.cols()), h = std::min(options.h[t], most);
    if (most == 0) continue;
    const TruncatedSvd svd = truncated_svd(block, std::min(h + 10, most), {}, monitor);  // some more, to see where they fall off
    d[t] = svd.values;
    structure.theta[t] = svd.u.leftCols(h).transpose();
  }
}

// Theta'v with v = Theta u (of the positive part of u, and only where u is positive).
MatrixXd structure_targets(const Structure& structure, const std::vector<TaskFit>& fits, Index p, bool positive) {
  MatrixXd targets = MatrixXd::Zero(p, static_cast<Index>(fits.size()));
  for (std::size_t l = 0; l < fits.size(); ++l) {
    for (std::size_t t = 0; t < structure.groups.size(); ++t) {
      const std::vector<int>& columns = structure.groups[t];
      const MatrixXd& theta = structure.theta[t];
      if (theta.rows() == 0) continue;
      VectorXd part(static_cast<Index>(columns.size()));
      for (std::size_t j = 0; j < columns.size(); ++j) {
        const double u = fits[l].u[columns[j]];
        part[static_cast<Index>(j)] = positive ? std::max(u, 0.0) : u;
      }
      const VectorXd shared = theta.transpose() * (theta * part).eval();
      for (std::size_t j = 0; j < columns.size(); ++j) {
        if (!positive || fits[l].u[columns[j]] > 0) targets(columns[j], static_cast<Index>(l)) = shared[static_cast<Index>(j)];
      }
    }
  }
  return targets;
}

double objective(const std::vector<TaskFit>& fits, const std::vector<Task>& tasks, const Structure& structure, bool positive) {
  double value = 0;
  const MatrixXd targets = positive ? structure_targets(structure, fits, fits[0].u.size(), true) : MatrixXd();
  for (std::size_t l = 0; l < fits.size(); ++l) {
    const VectorXd& u = fits[l].u;
    value += fits[l].loss;
    if (!positive) {
      value += u.dot(penalised_part(u, structure, tasks[l].lambda));
      continue;
    }
    for (std::size_t t = 0; t < structure.groups.size(); ++t) {
      for (int j : structure.groups[t]) {
        const double gap = u[j] - targets(j, static_cast<Index>(l));
        value += tasks[l].lambda[static_cast<Index>(t)] * gap * gap;
      }
    }
  }
  return value;
}

}  // namespace

AsoResult aso(const std::vector<Design>& designs, const std::vector<Task>& tasks, const std::vector<std::vector<int>>& groups,
              const AsoOptions& options, Monitor& monitor) {
  require_tasks(designs, tasks, groups);
  if (options.h.size() != groups.size()) throw InputError("there must be one h per group.");
  const Stopwatch clock;
  const Index p = designs[0].cols();
  Rounds rounds(designs, tasks, options.task, options.threads, monitor);

  Structure structure{groups, {}};
  for (const auto& group : groups) structure.theta.emplace_back(0, static_cast<Index>(group.size()));
  std::vector<VectorXd> d(groups.size());
  std::vector<double> path;
  Convergence convergence;
  const bool fixed_v = options.positive || options.variant == AsoVariant::fixed_v;
  for (int round = 1; round <= options.n_iter; ++round) {
    monitor.progress(static_cast<double>(round - 1) / options.n_iter);
    if (round == 1 || !fixed_v) {  // all u are zero at the start: the first round is ridge regression, whatever Theta
      rounds.fit_tasks(structure, nullptr);
    } else {
      const MatrixXd targets = structure_targets(structure, rounds.fits(), p, options.positive);
      rounds.fit_tasks(structure, &targets);
    }
    update_structure(structure, d, rounds.fits(), tasks, options, monitor);
    path.push_back(objective(rounds.fits(), tasks, structure, options.positive));
    convergence.iterations = round;
    if (round > 1) {
      const double before = path[path.size() - 2];
      convergence.residual = before > 0 ? std::abs(before - path.back()) / before : 0;
      convergence.converged = convergence.residual < options.tol;
      if (convergence.converged) break;
    }
  }
  AsoResult result = rounds.result();
  result.structure = std::move(structure);
  result.d = std::move(d);
  result.path = std::move(path);
  result.convergence = convergence;
  result.convergence.seconds = clock.seconds();
  return result;
}

AsoResult aso_target(const std::vector<Design>& designs, const std::vector<Task>& tasks, const Structure& structure,
                     const TaskOptions& options, int threads, Monitor& monitor) {
  require_tasks(designs, tasks, structure.groups);
  const Stopwatch clock;
  Rounds rounds(designs, tasks, options, threads, monitor);
  rounds.fit_tasks(structure, nullptr);
  AsoResult result = rounds.result();
  result.structure = structure;
  result.path.push_back(objective(rounds.fits(), tasks, structure, false));
  result.convergence.iterations = 1;
  result.convergence.converged = result.unfinished == 0;
  result.convergence.seconds = clock.seconds();
  return result;
}

MatrixXd spectral_structure(const Design& x, Index h, Monitor& monitor) {
  MatrixOperator a;
  a.rows = x.rows();
  a.cols = x.cols();
  a.apply = [&](ConstVectorRef u, VectorRef y) { x.times(u, y); };
  a.transposed = [&](ConstVectorRef r, VectorRef y) { x.transposed_times(r, y); };
  return truncated_svd(a, h, {}, monitor).v.transpose();
}

}  // namespace granary::regress
