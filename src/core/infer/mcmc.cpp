#include "core/infer/mcmc.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"

namespace granary {

namespace {

constexpr double pi = 3.14159265358979323846;

void require_start(double value) {
  if (!std::isfinite(value)) throw NumericalError("the chain has to start where the density is positive and finite.");
}

}  // namespace

void slice_sweep(const LogDensity& log_density, VectorXd& x, double& value, ConstVectorRef widths, Rng& rng, int max_steps) {
  require_start(value);
  for (Index k = 0; k < x.size(); ++k) {
    const double level = value - rng.exponential(), here = x[k];
    const auto at = [&](double to) {
      x[k] = to;
      return log_density(x);
    };
    double left = here - widths[k] * rng.uniform(), right = left + widths[k];
    int to_left = static_cast<int>(rng.below(static_cast<std::uint64_t>(max_steps) + 1)), to_right = max_steps - to_left;
    while (to_left-- > 0 && at(left) > level) left -= widths[k];
    while (to_right-- > 0 && at(right) > level) right += widths[k];
    for (;;) {
      const double to = rng.uniform(left, right), found = at(to);
      if (found > level) {
        value = found;
        break;
      }
      (to < here ? left : right) = to;
      if (!(right - left > 1e-14 * (1 + std::abs(here)))) {  // the slice is too thin for this precision: stay
        x[k] = here;
        break;
      }
    }
  }
}

void elliptical_slice(const LogDensity& log_likelihood, VectorXd& f, double& value, const VectorXd& prior_draw, Rng& rng) {
  require_start(value);
  const double level = value - rng.exponential();
  double angle = rng.uniform(0, 2 * pi), lower = angle - 2 * pi, upper = angle;
  for (;;) {
    VectorXd to = std::cos(angle) * f + std::sin(angle) * prior_draw;
    const double found = log_likelihood(to);
    if (found > level) {
      f.swap(to);
      value = found;
      return;
    }
    (angle < 0 ? lower : upper) = angle;
    if (!(upper - lower > 1e-14)) return;
    angle = rng.uniform(lower, upper);
  }
}

Hamiltonian::Hamiltonian(int steps, double step_size, double target)
    : steps_(steps), step_size_(step_size), target_(target), centre_(std::log(10 * step_size)) {
  if (steps < 1 || !(step_size > 0) || !(target > 0 && target < 1)) {
    throw InputError("a Hamiltonian chain needs a step count and size above 0 and a target between 0 and 1.");
  }
}

bool Hamiltonian::move(const LogDensityGradient& log_density, VectorXd& x, double& value, VectorXd& gradient, Rng& rng) {
  require_start(value);
  VectorXd to = x, slope = gradient, momentum = rng.normals(x.size());
  const double energy = 0.5 * momentum.squaredNorm() - value;
  double found = value;
  // A step size that varies a little keeps the path from closing on itself.
  const double step = step_size_ * rng.uniform(0.9, 1.1);
  momentum += 0.5 * step * slope;
  for (int s = 0; s < steps_; ++s) {
    to += step * momentum;
    found = log_density(to, slope);
    if (!std::isfinite(found) || !slope.allFinite()) break;
    momentum += (s + 1 < steps_ ? step : 0.5 * step) * slope;
  }
  const double change = energy - (0.5 * momentum.squaredNorm() - found);
  const double chance = std::isfinite(change) ? std::min(1.0, std::exp(change)) : 0;
  if (warming_) {
    count_ += 1;
    const double blend = 1 / (count_ + 10);
    error_ += blend * (target_ - chance - error_);
    const double log_step = centre_ - std::sqrt(count_) / 0.05 * error_, weight = std::pow(count_, -0.75);
    log_mean_ += weight * (log_step - log_mean_);
    step_size_ = std::exp(std::max(-30.0, std::min(30.0, log_step)));
  }
  accepted_ += chance;
  moves_ += 1;
  if (!(rng.uniform() < chance)) return false;
  x.swap(to);
  gradient.swap(slope);
  value = found;
  return true;
}

void Hamiltonian::end_warm_up() {
  if (warming_ && count_ > 0) step_size_ = std::exp(log_mean_);
  warming_ = false;
  accepted_ = moves_ = 0;
}

double effective_sample_size(ConstVectorRef series) {
  const Index n = series.size();
  if (n < 4) return static_cast<double>(n);
  const VectorXd centred = series.array() - series.mean();
  const double scale = centred.squaredNorm();
  if (!(scale > 0)) return static_cast<double>(n);
  const auto correlation = [&](Index lag) { return centred.head(n - lag).dot(centred.tail(n - lag)) / scale; };
  const double one = correlation(1);
  double sum = 1 + 2 * one, last = 1 + one;
  for (Index lag = 2; lag + 1 < n; lag += 2) {
    const double pair = std::min(last, correlation(lag) + correlation(lag + 1));
    if (!(pair > 0)) break;
    sum += 2 * pair;
    last = pair;
  }
  return static_cast<double>(n) / std::max(sum, 1.0 / static_cast<double>(n));
}

}  // namespace granary
