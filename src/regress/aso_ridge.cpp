#include "regress/aso_ridge.h"

#include <cmath>
#include <map>
#include <utility>

#include "core/linalg/spd.h"

namespace granary::regress {

namespace {

constexpr Index most_columns = 1500;
constexpr double most_cells = 5e7;

// Rows with a response, the covariance of the design over them, and the factor of the penalised system. With an intercept
// everything is taken about the means, which is what eliminating it amounts to; the design itself is not touched.
struct Block {
  Index design = 0;
  std::vector<Index> rows;
  VectorXd lambda;
  VectorXd mean;
  MatrixXd covariance;
  Cholesky factor;
  bool usable = false;
};

class GramSolver : public RidgeSolver {
 public:
  GramSolver(const std::vector<Design>& designs, const std::vector<Task>& tasks, const TaskOptions& options)
      : designs_(designs), tasks_(tasks), options_(options), block_of_(tasks.size()) {
    std::map<std::pair<Index, std::pair<std::vector<Index>, std::vector<double>>>, std::size_t> known;
    for (std::size_t l = 0; l < tasks.size(); ++l) {
      const Task& task = tasks[l];
      std::vector<Index> rows;
      for (Index i = 0; i < task.y.size(); ++i) {
        if (std::isfinite(task.y[i])) rows.push_back(i);
      }
      const std::vector<double> lambda(task.lambda.data(), task.lambda.data() + task.lambda.size());
      const auto key = std::make_pair(task.design, std::make_pair(rows, lambda));
      const auto found = known.find(key);
      if (found != known.end()) {
        block_of_[l] = found->second;
        continue;
      }
      block_of_[l] = known[key] = blocks_.size();
      blocks_.push_back({task.design, std::move(rows), task.lambda, {}, {}, {}, false});
    }
  }

  bool affordable() const {
    const double p = static_cast<double>(designs_[0].cols());
    return 2 * p * p * static_cast<double>(blocks_.size()) <= most_cells;
  }

  void prepare(const Structure& structure, bool fixed_target) override {
    const bool same = fixed_target && fixed_before_;
    fixed_before_ = fixed_target;
    if (same) return;  // neither the design nor the penalty has changed
    for (Block& block : blocks_) {
      if (block.covariance.size() == 0) form_covariance(block);
      MatrixXd a = block.covariance;
      if (fixed_target) {
        for (std::size_t t = 0; t < structure.groups.size(); ++t) {
          for (int j : structure.groups[t]) a(j, j) += block.lambda[static_cast<Index>(t)];
        }
      } else {
        add_penalty(structure, block.lambda, options_.ridge * designs_[static_cast<std::size_t>(block.design)].mean_square(), a);
      }
      try {
        block.factor = Cholesky(a);
        block.usable = true;
      } catch (const NumericalError&) {
        block.usable = false;  // lambda = 0 and too few rows: conjugate gradients find the solution of least norm
      }
    }
  }

  bool solve(Index task, const VectorXd* target, TaskFit& fit) const override {
    const Task& own = tasks_[static_cast<std::size_t>(task)];
    const Block& block = blocks_[block_of_[static_cast<std::size_t>(task)]];
    if (!block.usable || !own.masked.empty()) return false;
    const Design& x = designs_[static_cast<std::size_t>(own.design)];
    const double weight = 1 / static_cast<double>(block.rows.size());
    VectorXd y = VectorXd::Zero(own.y.size());
    double mean = 0;
    for (Index i : block.rows) mean += weight * own.y[i];
    if (!options_.intercept) mean = 0;
    for (Index i : block.rows) y[i] = weight * (own.y[i] - mean);
    VectorXd right(x.cols());
    x.transposed_times(y, right);
    if (options_.intercept) right -= block.mean * y.sum();
    if (target) {
      // the penalty of a group multiplies its target
      VectorXd pull = *target;
      for (std::size_t t = 0; t < group_of_.size(); ++t) pull[static_cast<Index>(t)] *= block.lambda[group_of_[t]];
      right += pull;
    }
    fit.u = block.factor.solve(right);
    fit.intercept = options_.intercept ? mean - block.mean.dot(fit.u) : 0;
    fit.iterations = 1;
    fit.converged = true;
    return fit.u.allFinite();
  }

 private:
  void form_covariance(Block& block) const {
    const auto x = designs_[static_cast<std::size_t>(block.design)].dense();
    MatrixXd part(static_cast<Index>(block.rows.size()), x.cols());
    for (std::size_t r = 0; r < block.rows.size(); ++r) part.row(static_cast<Index>(r)) = x.row(block.rows[r]);
    block.mean = options_.intercept ? VectorXd(part.colwise().mean().transpose()) : VectorXd::Zero(x.cols());
    part.rowwise() -= block.mean.transpose();
    block.covariance = part.transpose() * part / static_cast<double>(block.rows.size());
  }

  void add_penalty(const Structure& structure, const VectorXd& lambda, double ridge, MatrixXd& a) {
    group_of_.assign(static_cast<std::size_t>(a.rows()), 0);
    for (std::size_t t = 0; t < structure.groups.size(); ++t) {
      const std::vector<int>& columns = structure.groups[t];
      const MatrixXd& theta = structure.theta[t];
      const MatrixXd inner = theta.transpose() * theta;
      for (std::size_t j = 0; j < columns.size(); ++j) {
        group_of_[static_cast<std::size_t>(columns[j])] = static_cast<Index>(t);
        a(columns[j], columns[j]) += lambda[static_cast<Index>(t)] + ridge;
        if (theta.rows() == 0) continue;
        for (std::size_t i = 0; i < columns.size(); ++i) {
          a(columns[i], columns[j]) -= lambda[static_cast<Index>(t)] * inner(static_cast<Index>(i), static_cast<Index>(j));
        }
      }
    }
  }

  const std::vector<Design>& designs_;
  const std::vector<Task>& tasks_;
  const TaskOptions& options_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> block_of_;
  std::vector<Index> group_of_;  // filled in the first round, which never has targets
  bool fixed_before_ = false;
};

}  // namespace

std::unique_ptr<RidgeSolver> make_ridge_solver(const std::vector<Design>& designs, const std::vector<Task>& tasks,
                                               const TaskOptions& options) {
  for (const Design& x : designs) {
    if (x.is_sparse() || x.cols() > most_columns) return nullptr;
  }
  auto solver = std::make_unique<GramSolver>(designs, tasks, options);
  if (!solver->affordable()) return nullptr;
  return solver;
}

}  // namespace granary::regress
