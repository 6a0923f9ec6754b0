// Squared loss for many tasks on few designs: the covariance of a design is formed once, and factored once per round for all
// tasks with the same rows and penalties.
#pragma once

#include <memory>

#include "regress/aso_task.h"

namespace granary::regress {

class RidgeSolver {
 public:
  virtual ~RidgeSolver() = default;
  virtual void prepare(const Structure& structure, bool fixed_target) = 0;
  // False where the task has to be solved by other means (masked columns, singular systems).
  virtual bool solve(Index task, const VectorXd* target, TaskFit& fit) const = 0;
};

// Null where the covariances would be too large to hold, or the designs are sparse.
std::unique_ptr<RidgeSolver> make_ridge_solver(const std::vector<Design>& designs, const std::vector<Task>& tasks,
                                               const TaskOptions& options);

}  // namespace granary::regress
