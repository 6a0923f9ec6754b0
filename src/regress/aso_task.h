// One linear prediction problem with a quadratic penalty that may spare a subspace.
//
//   minimise  1/n sum_i L(x_i'u + b, y_i) + sum_t lambda_t (|u_t|^2 - |Theta_t u_t|^2)       `free_subspace`
//   or        1/n sum_i L(x_i'u + b, y_i) + sum_t lambda_t |u_t - target_t|^2
//
// over u and b, where t runs over groups of columns. Dense and sparse designs are used through products only: nothing is centred
// or copied.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/linalg/design.h"

namespace granary::regress {

enum class TaskLoss {
  huber,     // max(0, 1 - py)^2 for py >= -1, else -4 py: the modified Huber loss, y = -1 or 1
  squared,   // (p - y)^2
  logistic,  // log(1 + exp(-py))
  hinge2     // max(0, 1 - py)^2
};
inline Names<TaskLoss> names(TaskLoss) {
  return {{TaskLoss::huber, "huber"}, {TaskLoss::squared, "squared"}, {TaskLoss::logistic, "logistic"}, {TaskLoss::hinge2, "hinge2"}};
}
double loss_value(TaskLoss loss, double prediction, double y);
double loss_slope(TaskLoss loss, double prediction, double y);  // in the prediction

struct Task {
  Index design = 0;         // which of the designs
  VectorXd y;               // one per row; NaN: not observed for this task
  VectorXd lambda;          // one per group
  std::vector<int> masked;  // columns this task does not see (as if they were zero)
};
template <class V>
void fields(V& v, Task& t) {
  v("design", positions(t.design));
  v("y", any_number(t.y));
  v("lambda", t.lambda);
  v("masked", positions(t.masked));
}

// Columns of each group and the shared rows Theta_t (h_t x p_t, orthonormal; no rows: no structure in this group).
struct Structure {
  std::vector<std::vector<int>> groups;
  std::vector<MatrixXd> theta;
};

template <class V>
void fields(V& v, Structure& t) {
  v("groups", positions(t.groups));
  v("theta", t.theta);
}

struct TaskFit {
  VectorXd u;
  double intercept = 0;
  double loss = 0;  // 1/n sum L
  int iterations = 0;
  bool converged = true;
};

struct TaskOptions {
  TaskLoss loss = TaskLoss::huber;
  bool intercept = true;
  double tol = 1e-6;  // on the gradient relative to that at zero
  int max_iter = 500;
  double ridge = 1e-8;  // on the spared subspace, relative to the mean square of the design: makes u unique
};
template <class V>
void fields(V& v, TaskOptions& t) {
  v("loss", t.loss);
  v("intercept", t.intercept);
  v("task_tol", t.tol);
  v("max_iter", t.max_iter);
  v("ridge", t.ridge);
}

// u_t - Theta_t'Theta_t u_t in every group, times lambda_t.
VectorXd penalised_part(const VectorXd& u, const Structure& structure, const VectorXd& lambda);

// `target` null: the subspaces of `structure` are spared.
TaskFit fit_task(const Design& x, const Task& task, const Structure& structure, const VectorXd* target, const TaskFit& start,
                 const TaskOptions& options, Monitor& monitor);

double task_loss(const Design& x, const Task& task, TaskLoss loss, const VectorXd& u, double intercept);

}  // namespace granary::regress
