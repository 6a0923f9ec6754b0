#include "regress/aso_task.h"

#include <algorithm>
#include <cmath>

#include "core/optim/lbfgs.h"
#include "core/linalg/spd.h"

namespace granary::regress {

double loss_value(TaskLoss loss, double prediction, double y) {
  const double m = prediction * y;
  switch (loss) {
    case TaskLoss::squared:
      return (prediction - y) * (prediction - y);
    case TaskLoss::logistic:
      return m > 0 ? std::log1p(std::exp(-m)) : -m + std::log1p(std::exp(m));
    case TaskLoss::huber:
      if (m < -1) return -4 * m;
      return m < 1 ? (1 - m) * (1 - m) : 0;
    case TaskLoss::hinge2:
      break;
  }
  return m < 1 ? (1 - m) * (1 - m) : 0;
}

double loss_slope(TaskLoss loss, double prediction, double y) {
  const double m = prediction * y;
  switch (loss) {
    case TaskLoss::squared:
      return 2 * (prediction - y);
    case TaskLoss::logistic:
      return m > 0 ? -y * std::exp(-m) / (1 + std::exp(-m)) : -y / (1 + std::exp(m));
    case TaskLoss::huber:
      if (m < -1) return -4 * y;
      return m < 1 ? -2 * y * (1 - m) : 0;
    case TaskLoss::hinge2:
      break;
  }
  return m < 1 ? -2 * y * (1 - m) : 0;
}

VectorXd penalised_part(const VectorXd& u, const Structure& structure, const VectorXd& lambda) {
  VectorXd out(u.size());
  for (std::size_t t = 0; t < structure.groups.size(); ++t) {
    const std::vector<int>& columns = structure.groups[t];
    const MatrixXd& theta = structure.theta[t];
    VectorXd part(static_cast<Index>(columns.size()));
    for (std::size_t j = 0; j < columns.size(); ++j) part[static_cast<Index>(j)] = u[columns[j]];
    if (theta.rows() > 0) part -= theta.transpose() * (theta * part).eval();
    part *= lambda[static_cast<Index>(t)];
    for (std::size_t j = 0; j < columns.size(); ++j) out[columns[j]] = part[static_cast<Index>(j)];
  }
  return out;
}

namespace {

// The objective of one task in z = (u, b); without an intercept the last coordinate stays zero.
class TaskObjective {
 public:
  TaskObjective(const Design& x, const Task& task, const Structure& structure, const VectorXd* target, const TaskOptions& options)
      : x_(x), task_(task), structure_(structure), target_(target), options_(options), seen_(x.cols()), scores_(x.rows()) {
    for (Index i = 0; i < task.y.size(); ++i) observed_ += std::isfinite(task.y[i]) ? 1 : 0;
    ridge_ = target ? 0 : options.ridge * x.mean_square();
    whole_.resize(x.cols());
    for (std::size_t t = 0; t < structure.groups.size(); ++t) {
      for (int j : structure.groups[t]) whole_[j] = task.lambda[static_cast<Index>(t)];
    }
  }

  Index observed() const { return observed_; }

  double operator()(const VectorXd& z, VectorXd& gradient) {
    const Index p = x_.cols();
    score(z);
    VectorXd slopes(scores_.size());
    double value = 0, sum = 0;
    const double weight = 1 / static_cast<double>(observed_);
    for (Index i = 0; i < scores_.size(); ++i) {
      const double y = task_.y[i];
      if (!std::isfinite(y)) {
        slopes[i] = 0;
        continue;
      }
      value += weight * loss_value(options_.loss, scores_[i], y);
      slopes[i] = weight * loss_slope(options_.loss, scores_[i], y);
      sum += slopes[i];
    }
    gradient.resize(p + 1);
    x_.transposed_times(slopes, gradient.head(p));
    for (int j : task_.masked) gradient[j] = 0;
    gradient[p] = options_.intercept ? sum : 0;
    const VectorXd u = z.head(p), pull = penalty_pull(u);
    value += (target_ ? (u - *target_) : u).dot(pull);
    gradient.head(p) += 2 * pull;
    return value;
  }

  // For squared loss the gradient is 2 (K z - c): K z.
  void curvature_times(ConstVectorRef z, VectorRef y) {
    const Index p = x_.cols();
    score(z);
    double sum = 0;
    for (Index i = 0; i < scores_.size(); ++i) {
      scores_[i] = std::isfinite(task_.y[i]) ? scores_[i] / static_cast<double>(observed_) : 0;
      sum += scores_[i];
    }
    x_.transposed_times(scores_, y.head(p));
    for (int j : task_.masked) y[j] = 0;
    const VectorXd u = z.head(p);
    y.head(p) += target_ ? VectorXd(whole_.cwiseProduct(u)) : penalty_pull(u);
    y[p] = options_.intercept ? sum : z[p];
  }

 private:
  void score(ConstVectorRef z) {
    const Index p = x_.cols();
    seen_ = z.head(p);
    for (int j : task_.masked) seen_[j] = 0;
    x_.times(seen_, scores_);
    if (options_.intercept) scores_.array() += z[p];
  }
  VectorXd penalty_pull(const VectorXd& u) const {
    if (target_) return whole_.cwiseProduct(u - *target_);
    return penalised_part(u, structure_, task_.lambda) + ridge_ * u;
  }

  const Design& x_;
  const Task& task_;
  const Structure& structure_;
  const VectorXd* target_;
  const TaskOptions& options_;
  VectorXd seen_, scores_, whole_;
  Index observed_ = 0;
  double ridge_ = 0;
};

}  // namespace

double task_loss(const Design& x, const Task& task, TaskLoss loss, const VectorXd& u, double intercept) {
  VectorXd seen = u, scores(x.rows());
  for (int j : task.masked) seen[j] = 0;
  x.times(seen, scores);
  double value = 0;
  Index observed = 0;
  for (Index i = 0; i < scores.size(); ++i) {
    if (!std::isfinite(task.y[i])) continue;
    value += loss_value(loss, scores[i] + intercept, task.y[i]);
    ++observed;
  }
  return value / static_cast<double>(observed);
}

TaskFit fit_task(const Design& x, const Task& task, const Structure& structure, const VectorXd* target, const TaskFit& start,
                 const TaskOptions& options, Monitor& monitor) {
  const Index p = x.cols();
  TaskObjective objective(x, task, structure, target, options);
  if (objective.observed() == 0) throw InputError("a task has no observed response.");
  VectorXd from = VectorXd::Zero(p + 1), gradient(p + 1);
  objective(from, gradient);
  const double cold = gradient.cwiseAbs().maxCoeff();
  if (start.u.size() == p) {
    from.head(p) = start.u;
    from[p] = options.intercept ? start.intercept : 0;
  }
  TaskFit fit;
  VectorXd z = from;
  if (options.loss == TaskLoss::squared) {
    // Newton's method, which is over after one system.
    objective(from, gradient);
    if (cold > 0 && gradient.cwiseAbs().maxCoeff() > 1e-2 * options.tol * cold) {
      CgOptions cg;
      cg.tol = std::min(0.1, 1e-3 * options.tol * cold / gradient.cwiseAbs().maxCoeff());
      cg.max_iter = std::max(options.max_iter, 100);
      const CgResult step = conjugate_gradient([&](ConstVectorRef v, VectorRef y) { objective.curvature_times(v, y); },
                                               -0.5 * gradient, cg, monitor);
      z += step.x;
      fit.iterations = step.convergence.iterations;
      objective(z, gradient);
      fit.converged = gradient.cwiseAbs().maxCoeff() <= options.tol * cold;
    }
  } else {
    objective(from, gradient);
    const double warm = gradient.cwiseAbs().maxCoeff();
    if (warm > options.tol * cold) {
      LbfgsOptions smooth;
      smooth.tol = std::min(0.5, options.tol * cold / warm);  // lbfgs measures against its own first gradient
      smooth.max_iter = options.max_iter;
      const LbfgsResult found = lbfgs([&](const VectorXd& v, VectorXd& g) { return objective(v, g); }, from, smooth, monitor);
      z = found.x;
      fit.iterations = found.convergence.iterations;
      // On separable rows the loss runs out into a flat; four digits of the gradient are then all there is to have.
      fit.converged = found.convergence.converged || found.gradient.cwiseAbs().maxCoeff() <= 100 * options.tol * cold;
    }
  }
  if (!z.allFinite()) throw NumericalError("a task has no finite solution; raise lambda or rescale the features.");
  fit.u = z.head(p);
  fit.intercept = options.intercept ? z[p] : 0;
  fit.loss = task_loss(x, task, options.loss, fit.u, fit.intercept);
  return fit;
}

}  // namespace granary::regress
