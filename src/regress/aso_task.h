// One linear prediction problem with a quadratic penalty that may spare a subspace.
//
//   minimise  1/n sum_i L(x_i'u + b, y_i) + sum_t lambda_t (|u_t|^2 - |Theta_t u_t|^2)       `free_subspace`
//   or        1/n sum_i L(x_i'u + b, y_i) + sum_t lambda_t |u_t - target_t|^2
//
// over u and b, where t runs over groups of columns. Dense and sparse designs are used through products only: nothing is centred
// or copied.
#pragma once

#include <vector>

#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::regress {

enum class Loss {
  huber,     // max(0, 1 - py)^2 for py >= -1, else -4 py: the modified Huber loss, y = -1 or 1
  squared,   // (p - y)^2
  logistic,  // log(1 + exp(-py))
  hinge2     // max(0, 1 - py)^2
};
double loss_value(Loss loss, double prediction, double y);
double loss_slope(Loss loss, double prediction, double y);  // in the prediction

// A design that lives elsewhere, dense or sparse.
class Design {
 public:
  explicit Design(const Eigen::Map<const MatrixXd>& x) : dense_(x.data(), x.rows(), x.cols()), sparse_(nullptr) {}
  explicit Design(const ConstSparseMap& x) : dense_(nullptr, 0, 0), sparse_(&x) {}

  Index rows() const { return sparse_ ? sparse_->rows() : dense_.rows(); }
  Index cols() const { return sparse_ ? sparse_->cols() : dense_.cols(); }
  bool is_sparse() const { return sparse_ != nullptr; }
  Eigen::Map<const MatrixXd> dense() const { return Eigen::Map<const MatrixXd>(dense_.data(), dense_.rows(), dense_.cols()); }
  void times(ConstVectorRef u, VectorRef y) const;             // X u
  void transposed_times(ConstVectorRef r, VectorRef y) const;  // X'r
  double mean_square() const;                                  // of the entries

 private:
  Eigen::Map<const MatrixXd> dense_;
  const ConstSparseMap* sparse_;
};

struct Task {
  Index design = 0;         // which of the designs
  VectorXd y;               // one per row; NaN: not observed for this task
  VectorXd lambda;          // one per group
  std::vector<int> masked;  // columns this task does not see (as if they were zero)
};

// Columns of each group and the shared rows Theta_t (h_t x p_t, orthonormal; no rows: no structure in this group).
struct Structure {
  std::vector<std::vector<int>> groups;
  std::vector<MatrixXd> theta;
};

struct TaskFit {
  VectorXd u;
  double intercept = 0;
  double loss = 0;  // 1/n sum L
  int iterations = 0;
  bool converged = true;
};

struct TaskOptions {
  Loss loss = Loss::huber;
  bool intercept = true;
  double tol = 1e-6;  // on the gradient relative to that at zero
  int max_iter = 500;
  double ridge = 1e-8;  // on the spared subspace, relative to the mean square of the design: makes u unique
};

// u_t - Theta_t'Theta_t u_t in every group, times lambda_t.
VectorXd penalised_part(const VectorXd& u, const Structure& structure, const VectorXd& lambda);

// `target` null: the subspaces of `structure` are spared.
TaskFit fit_task(const Design& x, const Task& task, const Structure& structure, const VectorXd* target, const TaskFit& start,
                 const TaskOptions& options, Monitor& monitor);

double task_loss(const Design& x, const Task& task, Loss loss, const VectorXd& u, double intercept);

}  // namespace granary::regress
