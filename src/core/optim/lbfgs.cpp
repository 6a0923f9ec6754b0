#include "core/optim/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

namespace granary {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double sufficient_decrease = 1e-4;  // c1 of the Wolfe conditions
constexpr double curvature = 0.9;             // c2

// The inverse Hessian as the last pairs s = x' - x, y = g' - g.
class Memory {
 public:
  explicit Memory(int capacity) : capacity_(static_cast<std::size_t>(std::max(1, capacity))) {}

  void push(VectorXd s, VectorXd y) {
    const double sy = s.dot(y);
    if (!(sy > 1e-10 * s.norm() * y.norm())) return;  // a pair of no or negative curvature would spoil the metric
    gamma_ = sy / y.squaredNorm();
    pairs_.emplace_back(std::move(s), std::move(y));
    if (pairs_.size() > capacity_) pairs_.pop_front();
  }
  void clear() { pairs_.clear(); }
  bool empty() const { return pairs_.empty(); }
  double gamma(double otherwise) const { return pairs_.empty() ? otherwise : gamma_; }

  // H g in the coordinates where `free` is one (elsewhere zero), by the two loops on the pairs restricted to them.
  VectorXd apply(const VectorXd& g, const VectorXd& free, double first_gamma) const {
    VectorXd q = g.cwiseProduct(free);
    const std::size_t m = pairs_.size();
    std::vector<double> alpha(m, 0), rho(m, 0);
    double scale = -1;
    for (std::size_t k = m; k-- > 0;) {
      const VectorXd& s = pairs_[k].first;
      const VectorXd y = pairs_[k].second.cwiseProduct(free);
      const double sy = s.dot(y), yy = y.squaredNorm();
      if (!(sy > 1e-10 * std::sqrt(s.cwiseProduct(free).squaredNorm() * yy))) continue;
      if (scale < 0) scale = sy / yy;
      rho[k] = 1 / sy;
      alpha[k] = rho[k] * s.dot(q);
      q -= alpha[k] * y;
    }
    q *= scale > 0 ? scale : gamma(first_gamma);
    for (std::size_t k = 0; k < m; ++k) {
      if (rho[k] == 0) continue;
      const double beta = rho[k] * pairs_[k].second.dot(q);
      q += (alpha[k] - beta) * pairs_[k].first.cwiseProduct(free);
    }
    return q;
  }

 private:
  std::size_t capacity_;
  std::deque<std::pair<VectorXd, VectorXd>> pairs_;
  double gamma_ = 1;
};

// The point where a line search stands.
struct Point {
  VectorXd x, gradient;
  double value = infinity;
};

// Calls f, counts, and treats everything that is not finite as infinitely bad.
class Evaluator {
 public:
  Evaluator(const Objective& f, LbfgsResult& result, Monitor& monitor) : f_(f), result_(result), monitor_(monitor) {}

  void operator()(Point& point) {
    monitor_.check();
    ++result_.evaluations;
    const Index n = point.x.size();
    point.gradient.setZero(n);
    point.value = f_(point.x, point.gradient);
    if (point.gradient.size() != n) {
      throw InputError(message("the gradient has ", point.gradient.size(), " entries, the parameters ", n, "."));
    }
    if (!std::isfinite(point.value) || !point.gradient.allFinite()) point.value = infinity;
  }

 private:
  const Objective& f_;
  LbfgsResult& result_;
  Monitor& monitor_;
};

// A first metric when nothing is known: a step of a tenth of ||x||, or, from the origin, the step that would bring a linear f to
// zero.
double first_gamma(const Point& at, double slope_norm) {
  if (slope_norm == 0) return 1;
  const double size = at.x.norm();
  if (size > 0) return 0.1 * size / slope_norm;
  const double to_zero = std::abs(at.value) / (slope_norm * slope_norm);
  return to_zero > 0 && std::isfinite(to_zero) ? to_zero : 1 / slope_norm;
}

// The stopping rule, in one place for all three.
class Watch {
 public:
  Watch(const LbfgsOptions& options, LbfgsResult& result) : options_(options), result_(result) {}

  // True when the run is over.
  bool done(double value, const VectorXd& slope) {
    Convergence& end = result_.convergence;
    const double size = slope.size() ? slope.cwiseAbs().maxCoeff() : 0;
    if (first_ < 0) first_ = size;
    largest_ = std::max(largest_, size);
    end.residual = largest_ > 0 ? size / largest_ : 0;  // a start at the optimum has no slope to speak of
    if (size <= options_.tol * first_ || size == 0) {
      end.converged = true;
      return true;
    }
    quiet_ = std::abs(last_ - value) <= options_.value_tol * std::max(std::abs(value), std::abs(last_)) ? quiet_ + 1 : 0;
    last_ = value;
    if (quiet_ >= 5) {
      end.converged = true;
      end.message = "the objective no longer changes";
      return true;
    }
    if (end.iterations >= options_.max_iter) {
      end.message = "the iteration limit was reached; raise max_iter or loosen tol";
      return true;
    }
    return false;
  }

  // A line search found nothing, even along the gradient. That is the floor of double precision if the decrease a step could
  // promise is below the rounding of f, and a failure otherwise.
  void stuck(double value, double promised) {
    Convergence& end = result_.convergence;
    end.converged = promised <= 1e3 * epsilon * std::abs(value);
    end.message =
        end.converged
            ? "the objective cannot be decreased further in double precision"
            : "no step along the gradient decreases the objective: it is not smooth here, or known to few digits only";
    end.reason = end.converged ? Stop::solved : Stop::stalled;
  }

 private:
  const LbfgsOptions& options_;
  LbfgsResult& result_;
  double first_ = -1, largest_ = 0, last_ = infinity;
  int quiet_ = 0;
};

void finish(LbfgsResult& result, Point& at, double value, const Stopwatch& clock) {
  result.x = std::move(at.x);
  result.gradient = std::move(at.gradient);
  result.value = value;
  result.convergence.seconds = clock.seconds();
}

[[noreturn]] void bad_start() {
  throw NumericalError("the objective or its gradient is not finite at the starting point; start elsewhere or rescale the data.");
}

// The minimiser of the cubic through two values and slopes, kept away from the ends of the interval; its middle when there is
// none.
double interpolate(double a, double fa, double da, double b, double fb, double db) {
  const double middle = 0.5 * (a + b), width = b - a;
  double t = middle;
  if (std::isfinite(fa) && std::isfinite(fb)) {
    const double d1 = da + db - 3 * (fa - fb) / (a - b);
    const double inside = d1 * d1 - da * db;
    if (inside >= 0) {
      const double d2 = std::copysign(std::sqrt(inside), width);
      t = b - width * (db + d2 - d1) / (db - da + 2 * d2);
    }
  } else {
    return a + 0.1 * width;
  }
  if (!std::isfinite(t)) t = middle;
  const double low = std::min(a, b), high = std::max(a, b), margin = 0.1 * (high - low);
  return std::min(std::max(t, low + margin), high - margin);
}

// A step that satisfies the strong Wolfe conditions along `direction`. Near the solution, where values drown in rounding, the
// decrease is judged by slopes instead (Hager and Zhang, SIAM J. Optim. 2005). False when no step decreases f.
bool strong_wolfe(Evaluator& evaluate, const Point& from, const VectorXd& direction, double slope, double step,
                  int max_evaluations, Point& to) {
  struct Trial {
    double step, value, slope;
  };
  const double noise = 4 * epsilon * std::abs(from.value);
  Trial low{0, from.value, slope}, high{infinity, infinity, 0};
  const auto visit = [&](double t) {
    to.x = from.x + t * direction;
    evaluate(to);
    return Trial{t, to.value, std::isfinite(to.value) ? to.gradient.dot(direction) : 0.0};
  };
  for (int k = 0; k < max_evaluations; ++k) {
    const Trial now = visit(step);
    const bool by_value = now.value <= from.value + sufficient_decrease * now.step * slope;
    const bool by_slope = now.value <= from.value + noise && now.slope <= (2 * sufficient_decrease - 1) * slope;
    if (!(by_value || by_slope) || now.value > low.value + noise) {
      high = now;
    } else {
      if (std::abs(now.slope) <= -curvature * slope) return true;
      if (std::isinf(high.step) ? now.slope > 0 : now.slope * (high.step - low.step) >= 0) high = low;
      low = now;
    }
    if (std::isinf(high.step)) {
      step *= 4;
      if (!std::isfinite(step)) break;
    } else {
      if (std::abs(high.step - low.step) <= 4 * epsilon * std::max(high.step, low.step)) break;
      step = interpolate(low.step, low.value, low.slope, high.step, high.value, high.slope);
    }
  }
  if (low.step == 0 || !(low.value < from.value)) return false;
  visit(low.step);  // a decrease, if not a Wolfe point
  return true;
}

// What distinguishes the box from the l1 penalty.
struct Geometry {
  std::function<double(const VectorXd& x)> penalty;
  std::function<VectorXd(const VectorXd& x, const VectorXd& g)> slope;  // the projected or pseudo-gradient: zero iff stationary
  // One where the quasi-Newton metric may act, zero where the plain gradient, scaled by gamma, must.
  std::function<VectorXd(const VectorXd& x, const VectorXd& slope, double gamma)> free;
  std::function<void(const VectorXd& slope, VectorXd& direction)> align;
  std::function<void(const VectorXd& x, const VectorXd& slope, VectorXd& trial)> project;
};

// Bisection towards a weak Wolfe point on the projected path x(t) = P(x + t d): such a point exists although the path has kinks
// (Lewis and Overton, Math. Program. 2013). `value` is that of the objective with its penalty.
bool projected_search(Evaluator& evaluate, const Geometry& geometry, const Point& from, double from_value, const VectorXd& slope,
                      const VectorXd& direction, int max_evaluations, Point& to, double& to_value) {
  const double start_slope = slope.dot(direction), noise = 4 * epsilon * std::abs(from_value);
  double low = 0, high = infinity, step = 1, low_value = from_value;
  double path_slope = 0;
  const auto visit = [&](double t) {
    const VectorXd trial = from.x + t * direction;
    to.x = trial;
    geometry.project(from.x, slope, to.x);
    evaluate(to);
    to_value = to.value + (std::isfinite(to.value) ? geometry.penalty(to.x) : 0.0);
    path_slope = 0;
    if (!std::isfinite(to_value)) return;
    const VectorXd there = geometry.slope(to.x, to.gradient);
    for (Index i = 0; i < trial.size(); ++i) {
      if (to.x[i] == trial[i]) path_slope += there[i] * direction[i];
    }
  };
  for (int k = 0; k < max_evaluations; ++k) {
    visit(step);
    const double linear = slope.dot(to.x - from.x);
    const bool by_value = linear < 0 && to_value <= from_value + sufficient_decrease * linear;
    const bool by_slope = linear < 0 && to_value <= from_value + noise && std::abs(path_slope) <= -curvature * start_slope;
    if (!(by_value || by_slope)) {
      high = step;
    } else if (path_slope < curvature * start_slope && low_value - to_value > noise) {
      low = step;
      low_value = to_value;
    } else {
      return true;
    }
    const double next = std::isinf(high) ? 4 * step : std::isfinite(to_value) || low > 0 ? 0.5 * (low + high) : 0.1 * high;
    if (!std::isfinite(next) || next == step || high - low <= 4 * epsilon * high) break;
    step = next;
  }
  if (low == 0) return false;
  visit(low);
  return true;
}

LbfgsResult projected_quasi_newton(const Objective& f, VectorXd start, const Geometry& geometry, const LbfgsOptions& options,
                                   Monitor& monitor) {
  const Stopwatch clock;
  LbfgsResult result;
  Evaluator evaluate(f, result, monitor);
  Watch watch(options, result);
  Memory memory(options.memory);
  Point at, next;
  at.x = std::move(start);
  evaluate(at);
  if (!std::isfinite(at.value)) bad_start();
  double value = at.value + geometry.penalty(at.x), next_value = value;
  VectorXd slope = geometry.slope(at.x, at.gradient);

  while (!watch.done(value, slope)) {
    ++result.convergence.iterations;
    const double first = first_gamma(at, slope.norm());
    bool moved = false;
    double promised = infinity;  // g'Hg, what the model says a step gains
    for (int attempt = 0; attempt < 2 && !moved; ++attempt) {
      if (attempt == 1) {
        if (memory.empty()) break;
        memory.clear();
      }
      const double gamma = memory.gamma(first);
      const VectorXd free = geometry.free(at.x, slope, gamma);
      VectorXd direction = -memory.apply(slope, free, first) - gamma * (slope.array() * (1 - free.array())).matrix();
      geometry.align(slope, direction);
      if (!(slope.dot(direction) < 0)) continue;
      promised = std::min(promised, -slope.dot(direction));
      moved =
          projected_search(evaluate, geometry, at, value, slope, direction, options.max_evaluations_per_line, next, next_value);
    }
    if (!moved) {
      watch.stuck(value, promised);
      break;
    }
    memory.push(next.x - at.x, next.gradient - at.gradient);
    std::swap(at, next);
    value = next_value;
    slope = geometry.slope(at.x, at.gradient);
  }
  finish(result, at, value, clock);
  return result;
}

}  // namespace

LbfgsResult lbfgs(const Objective& f, ConstVectorRef start, const LbfgsOptions& options, Monitor& monitor) {
  const Stopwatch clock;
  LbfgsResult result;
  Evaluator evaluate(f, result, monitor);
  Watch watch(options, result);
  Memory memory(options.memory);
  const VectorXd everywhere = VectorXd::Ones(start.size());
  Point at, next;
  at.x = start;
  evaluate(at);
  if (!std::isfinite(at.value)) bad_start();

  while (!watch.done(at.value, at.gradient)) {
    ++result.convergence.iterations;
    const double first = first_gamma(at, at.gradient.norm());
    bool moved = false;
    double promised = infinity;  // g'Hg, what the model says a step gains
    for (int attempt = 0; attempt < 2 && !moved; ++attempt) {
      if (attempt == 1) {
        if (memory.empty()) break;
        memory.clear();  // the metric may have gone stale: try the gradient itself
      }
      const VectorXd direction = -memory.apply(at.gradient, everywhere, first);
      const double slope = at.gradient.dot(direction);
      if (!(slope < 0)) continue;
      promised = std::min(promised, -slope);
      moved = strong_wolfe(evaluate, at, direction, slope, 1, options.max_evaluations_per_line, next);
    }
    if (!moved) {
      watch.stuck(at.value, promised);
      break;
    }
    memory.push(next.x - at.x, next.gradient - at.gradient);
    std::swap(at, next);
  }
  finish(result, at, at.value, clock);
  return result;
}

LbfgsResult lbfgs_box(const Objective& f, ConstVectorRef start, ConstVectorRef lower, ConstVectorRef upper,
                      const LbfgsOptions& options, Monitor& monitor) {
  const Index n = start.size();
  if (lower.size() != n || upper.size() != n) {
    throw InputError(message("expected ", n, " bounds, got ", lower.size(), " lower and ", upper.size(), " upper ones."));
  }
  if (!(lower.array() <= upper.array()).all()) throw InputError("every lower bound must be at most its upper bound.");
  Geometry box;
  box.penalty = [](const VectorXd&) { return 0.0; };
  box.slope = [&](const VectorXd& x, const VectorXd& g) {
    VectorXd slope = g;
    for (Index i = 0; i < n; ++i) {
      if ((x[i] <= lower[i] && g[i] > 0) || (x[i] >= upper[i] && g[i] < 0)) slope[i] = 0;
    }
    return slope;
  };
  // A variable that a gradient step would carry onto its bound is about to rest there; coupled to the others through the metric
  // it would cut every step short. At a solution such variables have a multiplier, and the free ones no gradient.
  box.free = [&](const VectorXd& x, const VectorXd& slope, double gamma) {
    VectorXd free = VectorXd::Ones(n);
    for (Index i = 0; i < n; ++i) {
      const double target = x[i] - gamma * slope[i];
      const bool rests = (x[i] <= lower[i] || x[i] >= upper[i]) && slope[i] == 0;
      if (rests || (slope[i] > 0 && target <= lower[i]) || (slope[i] < 0 && target >= upper[i])) free[i] = 0;
    }
    return free;
  };
  box.align = [](const VectorXd&, VectorXd&) {};
  box.project = [&](const VectorXd&, const VectorXd&, VectorXd& trial) { trial = trial.cwiseMax(lower).cwiseMin(upper); };
  return projected_quasi_newton(f, start.cwiseMax(lower).cwiseMin(upper), box, options, monitor);
}

LbfgsResult lbfgs_l1(const Objective& f, ConstVectorRef start, ConstVectorRef weights, const LbfgsOptions& options,
                     Monitor& monitor) {
  const Index n = start.size();
  if (weights.size() != n) throw InputError(message("expected ", n, " l1 weights, got ", weights.size(), "."));
  if (!weights.allFinite() || (weights.array() < 0).any()) throw InputError("l1 weights must be finite and not negative.");
  Geometry orthant;
  orthant.penalty = [&](const VectorXd& x) { return weights.dot(x.cwiseAbs()); };
  orthant.slope = [&](const VectorXd& x, const VectorXd& g) {  // the subgradient of smallest norm
    VectorXd slope(n);
    for (Index i = 0; i < n; ++i) {
      if (x[i] != 0) {
        slope[i] = g[i] + (x[i] > 0 ? weights[i] : -weights[i]);
      } else {
        slope[i] = g[i] > weights[i] ? g[i] - weights[i] : g[i] < -weights[i] ? g[i] + weights[i] : 0.0;
      }
    }
    return slope;
  };
  // A variable whose gradient step would cross zero is about to rest there, as at a bound.
  orthant.free = [&](const VectorXd& x, const VectorXd& slope, double gamma) {
    VectorXd free = VectorXd::Ones(n);
    for (Index i = 0; i < n; ++i) {
      if (weights[i] == 0) continue;
      if (x[i] == 0 ? slope[i] == 0 : x[i] * (x[i] - gamma * slope[i]) <= 0) free[i] = 0;
    }
    return free;
  };
  orthant.align = [&](const VectorXd& slope, VectorXd& direction) {
    for (Index i = 0; i < n; ++i) {
      if (weights[i] > 0 && direction[i] * slope[i] >= 0) direction[i] = 0;
    }
  };
  // The orthant of x, and at zero the one the slope points into.
  orthant.project = [&](const VectorXd& x, const VectorXd& slope, VectorXd& trial) {
    for (Index i = 0; i < n; ++i) {
      const double side = x[i] != 0 ? x[i] : -slope[i];
      if (weights[i] > 0 && trial[i] * side <= 0) trial[i] = 0;
    }
  };
  return projected_quasi_newton(f, start, orthant, options, monitor);
}

}  // namespace granary
