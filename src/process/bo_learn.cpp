#include "process/bo_learn.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/optim/direct.h"
#include "core/base/errors.h"
#include "core/infer/mcmc.h"
#include "core/optim/multistart.h"

namespace granary::process {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

VectorXd into_box(ConstVectorRef theta, const BoLearnOptions& options) {
  return theta.cwiseMax(options.lower).cwiseMin(options.upper);
}

}  // namespace

VectorXd BoModel::parameters() const {
  VectorXd theta(n_parameters());
  theta.head(kernel.n_parameters()) = kernel.parameters();
  if (learn_noise) theta[theta.size() - 1] = std::log(noise);
  return theta;
}

BoSurrogate BoModel::surrogate(ConstVectorRef theta, ConstMatrixRef x, ConstVectorRef y, Cholesky factor) const {
  if (theta.size() != n_parameters())
    throw InputError(message("the model has ", n_parameters(), " parameters, but ", theta.size(), " were given."));
  Kernel at = kernel;
  at.set_parameters(theta.head(kernel.n_parameters()));
  return BoSurrogate(std::move(at), learn_noise ? std::exp(theta[theta.size() - 1]) : noise, trend, prior, x, y,
                     std::move(factor));
}

double bo_score(const BoModel& model, ConstMatrixRef x, ConstVectorRef y, ConstVectorRef theta, const BoLearnOptions& options,
                VectorXd* gradient) {
  if (((theta - options.lower).array() < 0).any() || ((theta - options.upper).array() > 0).any()) return -infinity;
  double value;
  try {
    const BoSurrogate surrogate = model.surrogate(theta, x, y);
    value = options.score == BoScore::evidence ? surrogate.log_evidence() : surrogate.log_leave_one_out();
    if (gradient) *gradient = surrogate.gradient(options.score).head(theta.size());
  } catch (const NumericalError&) {
    return -infinity;
  }
  value += options.prior.add(theta, gradient);
  return std::isfinite(value) ? value : -infinity;
}

VectorXd bo_learn(const BoModel& model, ConstMatrixRef x, ConstVectorRef y, ConstVectorRef start, const BoLearnOptions& options,
                  Monitor& monitor) {
  const Index m = start.size();
  if (m == 0) return start;
  std::vector<VectorXd> starts{into_box(start, options)};
  if (options.global) {
    const BatchObjective minus = [&](const MatrixXd& points) {
      VectorXd values(points.rows());
      for (Index i = 0; i < points.rows(); ++i) {
        monitor.check();
        values[i] = -bo_score(model, x, y, points.row(i).transpose(), options, nullptr);
      }
      return values;
    };
    DirectOptions search;
    search.max_evaluations = static_cast<int>(options.evaluations_per_parameter * m);
    const DirectResult found = direct(minus, options.lower, options.upper, search, monitor);
    if (found.x.size() > 0) starts.push_back(found.x);
  }
  if (options.prior.mean.size() > 0) starts.push_back(into_box(options.prior.mean, options));
  MatrixXd from(static_cast<Index>(starts.size()), m);
  for (std::size_t i = 0; i < starts.size(); ++i) from.row(i) = starts[i].transpose();
  const Objective minus = [&](const VectorXd& theta, VectorXd& gradient) {
    monitor.check();
    gradient = VectorXd::Zero(m);
    const double value = bo_score(model, x, y, theta, options, &gradient);
    gradient = -gradient;
    return -value;
  };
  LbfgsOptions optimiser;
  optimiser.max_iter = options.max_iter;
  optimiser.tol = 1e-3;  // theta steers the search; its last digits change nothing
  optimiser.value_tol = 1e-8;
  try {
    return multistart_box(minus, from, options.lower, options.upper, optimiser, 1, monitor).x;
  } catch (const NumericalError&) {
    return starts.front();  // no start has a finite score: stay
  }
}

MatrixXd bo_sample(const BoModel& model, ConstMatrixRef x, ConstVectorRef y, ConstVectorRef start, const BoLearnOptions& options,
                   Rng& rng, Monitor& monitor) {
  const Index m = start.size();
  MatrixXd particles(std::max(options.particles, 1), m);
  const LogDensity score = [&](const VectorXd& theta) {
    monitor.check();
    return bo_score(model, x, y, theta, options, nullptr);
  };
  VectorXd theta = into_box(start, options);
  double value = score(theta);
  if (!std::isfinite(value) && options.prior.mean.size() > 0) {
    theta = into_box(options.prior.mean, options);
    value = score(theta);
  }
  for (int sweep = -options.burn_in; sweep < particles.rows(); ++sweep) {
    if (m > 0 && std::isfinite(value)) slice_sweep(score, theta, value, VectorXd::Ones(m), rng);
    if (sweep >= 0) particles.row(sweep) = theta.transpose();
  }
  return particles;
}

MatrixXd bo_parameters(const BoModel& model, ConstMatrixRef x, ConstVectorRef y, ConstVectorRef start, const BoLearnOptions& options,
                       Rng& rng, Monitor& monitor) {
  if (options.sample) return bo_sample(model, x, y, start, options, rng, monitor);
  return bo_learn(model, x, y, start, options, monitor).transpose();
}

}  // namespace granary::process
