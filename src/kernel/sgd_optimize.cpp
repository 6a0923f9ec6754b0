#include "kernel/sgd_optimize.h"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <limits>

#include "core/base/errors.h"

namespace granary::kernel {

namespace {

struct Minimum {
  double at = 0, value = std::numeric_limits<double>::infinity();
};

// A grid finds the valley, Brent's method its floor.
template <class Function>
Minimum minimise(Function&& f, double low, double high, int grid, int bits) {
  VectorXd value(grid);
  Minimum best;
  Index where = 0;
  for (int k = 0; k < grid; ++k) {
    const double x = low + (high - low) * k / (grid - 1);
    value[k] = f(x);
    if (value[k] < best.value) {
      best = {x, value[k]};
      where = k;
    }
  }
  const double step = (high - low) / (grid - 1);
  std::uintmax_t most = 60;
  const auto found = boost::math::tools::brent_find_minima(f, low + step * std::max<Index>(0, where - 1),
                                                           low + step * std::min<Index>(grid - 1, where + 1), bits, most);
  if (found.second < best.value) best = {found.first, found.second};
  return best;
}

}  // namespace

double test_error(const SgdProblem& problem, const SgdStep& step, double time, Monitor& monitor) {
  const SgdModes modes = teacher_modes(problem.spectrum, problem.alpha, problem.sigma2);
  const VectorXd progress = problem.online ? progress_online(modes, step, time) : progress_offline(modes, step, time);
  const MeanError mean = mean_error(modes, step, progress, problem.sigma2);
  const double noise = problem.online ? online_curve(modes, step, VectorXd::Constant(1, time), {}, monitor).noise[0] : 0;
  return mean.bias + mean.variance + noise;
}

SgdOptimum best_step(const SgdProblem& problem, const SgdTheory& theory, double time, double lambda, Monitor& monitor) {
  if (!(time > 0)) throw InputError("the time to optimise for must be positive.");
  SgdOptimum best;
  best.test = std::numeric_limits<double>::infinity();
  const auto best_eta = [&](double l, double low, double high, int grid) {
    const auto error = [&](double log_eta) {
      ++best.evaluations;
      return test_error(problem, {std::exp(log_eta), l}, time, monitor);
    };
    return minimise(error, low, high, grid, 22);
  };
  const auto limit = [&](double l) { return problem.online ? theory.critical_rate(l) : theory.offline_limit(l); };
  const auto record = [&](const Minimum& m, double l) {
    if (m.value < best.test) {
      best.test = m.value;
      best.step = {std::exp(m.at), l};
    }
    return m.value;
  };
  // Below, nothing has been learned by `time`: eta a t / alpha is some 1e-4 for the largest eigenvalues.
  const auto lowest = [&](double l) {
    return std::log(std::min(1e-4 * problem.alpha * theory.offline_limit(0) / time, 1e-4 * limit(l)));
  };
  if (lambda >= 0) {
    record(best_eta(lambda, lowest(lambda), std::log(limit(lambda)), 25), lambda);
    return best;
  }
  record(best_eta(0, lowest(0), std::log(limit(0)), 25), 0);
  if (!(problem.sigma2 > 0)) return best;
  // The best penalty at the end of time is sigma2; before it, smaller (their footnote 3). Rates are sought around the last best
  // one.
  const auto error = [&](double log_lambda) {
    const double l = std::exp(log_lambda), centre = std::log(best.step.eta);
    const double high = std::min(std::log(limit(l)), centre + 1), low = std::min(centre - 1, high - 1);
    return record(best_eta(l, low, high, 5), l);
  };
  minimise(error, std::log(1e-3 * problem.sigma2), std::log(30 * problem.sigma2), 9, 14);
  return best;
}

EtaSchedule fit_eta_schedule(ConstVectorRef time, ConstVectorRef eta) {
  const Index n = time.size();
  if (n < 2 || eta.size() != n) throw InputError("a schedule needs at least two times and as many rates.");
  const VectorXd x = time.array().log(), y = eta.array() * time.array();
  const double centre = x.mean(), spread = (x.array() - centre).square().sum();
  if (!(spread > 0)) throw InputError("a schedule needs at least two different times.");
  EtaSchedule fit;
  fit.b = (x.array() - centre).matrix().dot(y) / spread;
  fit.a = y.mean() - fit.b * centre;
  fit.fitted = (fit.a + fit.b * x.array()) / time.array();
  fit.residual = std::sqrt(((fit.fitted - eta).array() / eta.array()).square().mean());
  return fit;
}

}  // namespace granary::kernel
