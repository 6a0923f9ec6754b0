#include "kernel/sgd_dynamics.h"

#include <algorithm>
#include <array>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <limits>

#include "core/base/errors.h"

namespace granary::kernel {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double diverged = 1e200;

using Moments = std::array<double, 3>;

// J_j(z) = int_0^1 exp(-z (1 - s)) s^j ds for j = 0, 1, 2; `decay` = exp(-z).
Moments exponential_moments(double z, double decay) {
  if (z < 0.5) {  // upwards the recursion would cancel: J_2 = sum_m (-z)^m 2 / (m + 3)! by Horner, the others downwards
    constexpr double over[] = {1.0 / 4,  1.0 / 5,  1.0 / 6,  1.0 / 7,  1.0 / 8, 1.0 / 9,
                               1.0 / 10, 1.0 / 11, 1.0 / 12, 1.0 / 13, 1.0 / 14};
    double j2 = 1;
    for (int m = 10; m >= 0; --m) j2 = 1 - z * over[m] * j2;
    j2 *= 1.0 / 3;
    const double j1 = 0.5 * (1 - z * j2);
    return {1 - z * j1, j1, j2};
  }
  const double inverse = 1 / z, j0 = (1 - decay) * inverse, j1 = (1 - j0) * inverse;
  return {j0, j1, (1 - 2 * j1) * inverse};
}

// J_j(2 z) from J_j(z): the integral over each half is one over the whole. Sums of positive terms.
Moments doubled(const Moments& j, double decay) {
  return {0.5 * (1 + decay) * j[0], 0.25 * (j[0] + (1 + decay) * j[1]), 0.125 * (j[0] + 2 * j[1] + (1 + decay) * j[2])};
}

// Weights of E at the start, the middle and the end of a step in int_0^f exp(-z (f - s)) E(s) ds, E the parabola through the
// three; `moments` are those at f z.
Moments parabola_weights(const Moments& moments, double fraction) {
  const double j0 = fraction * moments[0], j1 = fraction * fraction * moments[1],
               j2 = fraction * fraction * fraction * moments[2];
  return {j0 - 3 * j1 + 2 * j2, 4 * (j1 - j2), 2 * j2 - j1};
}

// E_0, the training error of the mean weights, as a sum of squares, so that it keeps its digits when everything is learned: a
// mode adds 1/2 (z^2 / a) [(1 - g a/(a + lambda))^2 - 1], and the ones are taken out of the mean of y^2.
class MeanTraining {
 public:
  MeanTraining(const SgdModes& modes, const SgdStep& step)
      : size_(VectorXd::Zero(modes.value.size())), shrunk_(VectorXd::Zero(modes.value.size())) {
    for (Index k = 0; k < modes.value.size(); ++k) {
      const double a = modes.value[k];
      if (!(a > 0)) continue;
      size_[k] = 0.5 * modes.weight[k] * modes.power[k] / a / modes.alpha;
      shrunk_[k] = step.lambda / (a + step.lambda);
    }
    const double rest = 0.5 * modes.response - size_.sum();
    unlearnable_ = rest > 1e-13 * modes.response ? rest : 0;
  }
  double unlearnable() const { return unlearnable_; }  // the part of y outside the span of the inputs
  double term(Index k, double left) const {            // left = 1 - g
    const double error = shrunk_[k] + (1 - shrunk_[k]) * left;
    return size_[k] * error * error;
  }

 private:
  VectorXd size_, shrunk_;
  double unlearnable_ = 0;
};

// One step of the Volterra equation by collocation at the middle and the end, with an exponential integrator for every c(a, .):
// modes that decay much faster than the step cost nothing in accuracy. O(modes).
class OnlineSolver {
 public:
  OnlineSolver(const SgdModes& modes, const SgdStep& step)
      : modes_(modes),
        rate_(2 * step.eta / modes.alpha * (modes.value.array() + step.lambda)),
        source_(step.eta * step.eta / modes.alpha * modes.value.array()),
        load_(modes.weight.array() * modes.value.array() / modes.alpha),
        mean_(modes, step),
        remaining_(VectorXd::Ones(modes.value.size())),
        spread_(VectorXd::Zero(modes.value.size())) {
    error_ = error_mean_ = 0.5 * modes.response;
  }

  double train() const { return error_; }
  double train_mean() const { return error_mean_; }
  const VectorXd& spread() const { return spread_; }
  double noise() const { return modes_.weight.dot(spread_); }
  double fastest() const { return rate_.size() > 0 ? rate_.maxCoeff() : 0; }

  // Returns the residual over E_t; the step is taken where it is at most `tol`.
  double advance(double h, double tol) {
    const Index n = rate_.size();
    quarter_.resize(n);
    whole_.resize(3, n);
    // d = exp(-rate t / 2) at h/4, h/2 and h; mean error at the same times.
    double mean_quarter = 0, mean_middle = 0, mean_end = 0;
    double carried_quarter = 0, carried_middle = 0, carried_end = 0;
    Moments at_quarter{0, 0, 0}, at_middle{0, 0, 0}, at_end{0, 0, 0};
    for (Index k = 0; k < n; ++k) {
      const double z = rate_[k] * h;
      const double eighth = std::exp(-z / 8), q = eighth * eighth, q2 = q * q, q4 = q2 * q2;
      quarter_[k] = q;
      const double d = remaining_[k];
      mean_quarter += mean_.term(k, d * eighth);
      mean_middle += mean_.term(k, d * q);
      mean_end += mean_.term(k, d * q2);
      carried_quarter += load_[k] * q * spread_[k];
      carried_middle += load_[k] * q2 * spread_[k];
      carried_end += load_[k] * q4 * spread_[k];
      const double strength = load_[k] * source_[k] * h;
      const Moments quarter = exponential_moments(z / 4, q), half = doubled(quarter, q);
      add(at_quarter, strength, parabola_weights(quarter, 0.25));
      add(at_middle, strength, parabola_weights(half, 0.5));
      const Moments whole = parabola_weights(doubled(half, q2), 1);
      add(at_end, strength, whole);
      for (int j = 0; j < 3; ++j) whole_(j, k) = source_[k] * h * whole[j];
    }
    const double base = mean_.unlearnable(), mean_at_end = base + mean_end;
    const double r1 = base + mean_middle + carried_middle + at_middle[0] * error_;
    const double r2 = mean_at_end + carried_end + at_end[0] * error_;
    const double a11 = 1 - at_middle[1], a12 = -at_middle[2], a21 = -at_end[1], a22 = 1 - at_end[2];
    const double determinant = a11 * a22 - a12 * a21;
    const double middle = (r1 * a22 - a12 * r2) / determinant, end = (a11 * r2 - a21 * r1) / determinant;
    // The parabola against the equation at a quarter of the step.
    const double guess = 0.375 * error_ + 0.75 * middle - 0.125 * end;
    const double held =
        base + mean_quarter + carried_quarter + at_quarter[0] * error_ + at_quarter[1] * middle + at_quarter[2] * end;
    const double size = std::max({std::abs(error_), std::abs(end), 1e-200 * modes_.response, 1e-300});
    const double residual = std::abs(guess - held) / size;
    if (!(residual <= tol) || a11 <= 0.5 || a22 <= 0.5) return std::max(residual, 2 * tol);
    for (Index k = 0; k < n; ++k) {
      const double q = quarter_[k], q2 = q * q, q4 = q2 * q2;
      spread_[k] = q4 * spread_[k] + whole_(0, k) * error_ + whole_(1, k) * middle + whole_(2, k) * end;
      remaining_[k] *= q2;
    }
    error_ = end;
    error_mean_ = mean_at_end;
    return residual;
  }

 private:
  static void add(Moments& sum, double factor, const Moments& part) {
    for (int j = 0; j < 3; ++j) sum[j] += factor * part[j];
  }
  const SgdModes& modes_;
  VectorXd rate_, source_, load_;
  MeanTraining mean_;
  VectorXd remaining_, spread_, quarter_;
  Eigen::Matrix<double, 3, Eigen::Dynamic> whole_;  // what E at start, middle and end adds to each c
  double error_ = 0, error_mean_ = 0;
};

void check_problem(const SgdModes& modes, const SgdStep& step, const ConstVectorRef& times) {
  if (!(modes.alpha > 0)) throw InputError("alpha must be positive.");
  if (!(step.eta >= 0) || !(step.lambda >= 0)) throw InputError("eta and lambda must not be negative.");
  for (Index k = 0; k < times.size(); ++k) {
    if (!(times[k] >= 0) || (k > 0 && times[k] < times[k - 1])) throw InputError("times must ascend and not be negative.");
  }
}

double train_of_mean(const SgdModes& modes, const SgdStep& step, const VectorXd& progress) {
  const MeanTraining mean(modes, step);
  double sum = mean.unlearnable();
  for (Index k = 0; k < progress.size(); ++k) sum += mean.term(k, 1 - progress[k]);
  return sum;
}

}  // namespace

SgdModes teacher_modes(const Quadrature& spectrum, double alpha, double sigma2) {
  SgdModes modes;
  modes.value = spectrum.nodes;
  modes.weight = spectrum.weights;
  modes.power = spectrum.nodes.array().square() + sigma2 * spectrum.nodes.array();
  modes.response = spectrum.weights.dot(spectrum.nodes) / alpha + sigma2;
  modes.alpha = alpha;
  return modes;
}

SgdCurve online_curve(const SgdModes& modes, const SgdStep& step, ConstVectorRef times, const SgdCurveOptions& options,
                      Monitor& monitor) {
  check_problem(modes, step, times);
  const Index count = times.size();
  SgdCurve curve;
  curve.train = curve.train_mean = curve.noise = VectorXd::Constant(count, infinity);
  if (options.keep_spread) curve.spread = MatrixXd::Constant(modes.value.size(), count, infinity);
  OnlineSolver solver(modes, step);
  double t = 0, h = 0.1 / std::max(solver.fastest(), 1e-300);
  for (Index k = 0; k < count; ++k) {
    while (t < times[k]) {
      monitor.check();
      // Equal shares of what is left, so that no step is a sliver.
      const double left = times[k] - t, parts = std::ceil(left / h * (1 - 1e-12));
      const double length = parts > 1 ? left / parts : left;
      const double residual = solver.advance(length, options.tol);
      const double change = std::min(4.0, std::max(0.2, 0.9 * std::cbrt(options.tol / std::max(residual, 1e-300))));
      if (residual <= options.tol) {
        ++curve.steps;
        t = parts > 1 ? t + length : times[k];
        if (!(solver.train() < diverged)) break;
        // A step cut short by an output time says little about how long the next may be.
        h = length < h ? std::max(h, length * change) : length * change;
      } else {
        h = length * (std::isfinite(residual) ? std::min(change, 0.5) : 0.1);
        if (!(h > 1e-14 * t) || h < 1e-280) {
          throw NumericalError(
              message("the learning curve could not be followed beyond time ", t, ": the rate ", step.eta, " is too large."));
        }
      }
    }
    if (!(solver.train() < diverged)) break;
    curve.train[k] = solver.train();
    curve.train_mean[k] = solver.train_mean();
    curve.noise[k] = solver.noise();
    if (options.keep_spread) curve.spread.col(k) = solver.spread();
  }
  return curve;
}

VectorXd progress_online(const SgdModes& modes, const SgdStep& step, double time) {
  const double factor = step.eta / modes.alpha * time;
  VectorXd result(modes.value.size());
  for (Index k = 0; k < result.size(); ++k) result[k] = -std::expm1(-factor * (modes.value[k] + step.lambda));
  return result;
}

VectorXd progress_offline(const SgdModes& modes, const SgdStep& step, double time) {
  const double passes = std::floor(time / modes.alpha * (1 + 1e-12) + 1e-12);
  VectorXd result(modes.value.size());
  for (Index k = 0; k < result.size(); ++k) result[k] = 1 - std::pow(1 - step.eta * (modes.value[k] + step.lambda), passes);
  return result;
}

SgdCurve offline_curve(const SgdModes& modes, const SgdStep& step, ConstVectorRef times) {
  check_problem(modes, step, times);
  SgdCurve curve;
  curve.train.resize(times.size());
  for (Index k = 0; k < times.size(); ++k) {
    const double error = train_of_mean(modes, step, progress_offline(modes, step, times[k]));
    curve.train[k] = error < diverged ? error : infinity;
  }
  curve.train_mean = curve.train;
  curve.noise = VectorXd::Zero(times.size());
  return curve;
}

MeanError mean_error(const SgdModes& modes, const SgdStep& step, const VectorXd& progress, double sigma2) {
  MeanError error;
  for (Index k = 0; k < progress.size(); ++k) {
    const double a = modes.value[k], g = progress[k];
    const double r = a > 0 ? a / (a + step.lambda) : 0;
    error.bias += 0.5 * modes.weight[k] * (g * r - 1) * (g * r - 1);
    if (a > 0 && sigma2 > 0) error.variance += 0.5 * sigma2 * modes.weight[k] * g * g * r / (a + step.lambda);
  }
  if (!(error.bias < diverged)) error.bias = infinity;
  if (!(error.variance < diverged)) error.variance = infinity;
  return error;
}

SgdTheory::SgdTheory(const MarchenkoPastur& law)
    : closed_(true), law_(law), alpha_(law.alpha()), lower_(law.lower()), upper_(law.upper()) {}

SgdTheory::SgdTheory(const Quadrature& spectrum, double alpha)
    : closed_(false), law_(1), spectrum_(spectrum), alpha_(alpha), lower_(infinity), upper_(0) {
  for (Index k = 0; k < spectrum.nodes.size(); ++k) {
    if (!(spectrum.nodes[k] > 0)) continue;  // such modes do not move
    lower_ = std::min(lower_, spectrum.nodes[k]);
    upper_ = std::max(upper_, spectrum.nodes[k]);
  }
  if (!(upper_ > 0)) throw InputError("the spectrum must have a positive eigenvalue.");
}

double SgdTheory::curvature(double l) const {
  if (closed_) return law_.mean_curvature(l);
  double sum = 0;
  for (Index k = 0; k < spectrum_.nodes.size(); ++k) {
    const double a = spectrum_.nodes[k];
    if (a > 0) sum += spectrum_.weights[k] * a * a / (a + l);
  }
  return sum;
}

double SgdTheory::critical_rate(double lambda) const { return 2 * alpha_ / curvature(lambda); }

double SgdTheory::slow_mode_rate(double) const {
  // (eta/alpha) int rho a^2 / (2 (a - a_-)) = 1: does not depend on lambda, and diverges where an eigenvalue sits on the edge.
  return closed_ ? 2 / (std::sqrt(alpha_) + 1 / std::sqrt(alpha_) - 1) : 0;
}

double SgdTheory::fastest_rate(double lambda) const { return 2 * alpha_ / curvature((lambda - lower_) / 2); }

double SgdTheory::offline_limit(double lambda) const { return 2 / (upper_ + lambda); }

double SgdTheory::normal_decay(const SgdStep& step) const { return step.eta / alpha_ * (step.lambda + lower_); }

// z with (eta/alpha) int rho a^2 / (z + 2 (a + lambda)) = 1, sought as l = lambda + z/2 > -lower edge.
double SgdTheory::slow_decay(const SgdStep& step) const {
  if (!(step.eta > slow_mode_rate(step.lambda))) return std::numeric_limits<double>::quiet_NaN();
  const auto excess = [&](double l) { return std::log(step.eta / (2 * alpha_) * curvature(l)); };
  const double low = closed_ ? -lower_ : -lower_ * (1 - 1e-13);
  const double at_low = excess(low);
  if (!(at_low > 0)) return std::numeric_limits<double>::quiet_NaN();
  double high = std::max(step.lambda, upper_);
  while (excess(high) > 0) high *= 2;
  std::uintmax_t steps = 300;
  const auto found = boost::math::tools::toms748_solve(excess, low, high, at_low, excess(high),
                                                       boost::math::tools::eps_tolerance<double>(50), steps);
  const double z = 2 * ((found.first + found.second) / 2 - step.lambda);
  return -step.eta / alpha_ * z;
}

SgdTheory::Asymptote SgdTheory::asymptote(const SgdStep& step, double sigma2) const {
  const double l = step.lambda;
  // Integrals of a/(a+l), a/(a+l)^2 and l^2/(a+l)^2; the second only ever multiplies sigma2 or a power of l.
  double shrinkage = 0, variance = 0, bias = 0;
  if (closed_) {
    shrinkage = law_.mean_shrinkage(l);
    variance = law_.mean_variance(l);
    bias = law_.mean_squared_bias(l);
  } else {
    for (Index k = 0; k < spectrum_.nodes.size(); ++k) {
      const double a = spectrum_.nodes[k], weight = spectrum_.weights[k];
      if (a > 0) {
        shrinkage += weight * a / (a + l);
        variance += weight * a / ((a + l) * (a + l));
        bias += weight * (l / (a + l)) * (l / (a + l));
      } else {
        bias += weight;
      }
    }
  }
  const double shrunk_variance = l > 0 ? l * variance : 0;
  Asymptote result;
  result.offline = 0.5 * (bias + (sigma2 > 0 ? sigma2 * variance : 0));
  // (1/alpha) int rho a m at the end, with int rho a (l^2 + s2 a)/(a+l)^2 = l^2 variance + s2 (shrinkage - l variance).
  const double train =
      0.5 * sigma2 + (l * shrunk_variance + sigma2 * (shrinkage - shrunk_variance)) / (2 * alpha_) - sigma2 / alpha_ * shrinkage;
  const double critical = critical_rate(l);
  if (step.eta >= critical) {
    // Without noise and penalty everything is fitted, and the error at the end is zero times infinity; the weights still diverge.
    result.test = result.train = infinity;
    return result;
  }
  result.train = std::max(0.0, train) / (1 - step.eta / critical);
  result.test = result.offline + 0.5 * step.eta * shrinkage * result.train;
  return result;
}

}  // namespace granary::kernel
