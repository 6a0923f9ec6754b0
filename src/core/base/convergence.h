// How a solver ended. Every Result carries one, so that no fit hides an early stop.
#pragma once

#include <chrono>
#include <limits>
#include <string>

#include "core/base/fields.h"

namespace granary {

// Why it stopped, for programs; `message` says it to people. R decides by this and never reads a message.
enum class Stop {
  unsaid,       // follows from `converged`: solved or iterations
  solved,       // the answer meets the tolerance, by a certificate computed from it
  iterations,   // the budget of iterations, evaluations or time ran out
  stalled,      // no step improves the answer in double precision
  approximate,  // gradients were sampled or approximate: nothing certain can be said
  unbounded,    // the objective falls without end (separable classes, a ray)
  infeasible,   // no point satisfies the constraints
  improper      // the iteration left its domain (an improper Gaussian, a matrix that is not positive definite)
};
inline Names<Stop> names(Stop) {
  return {{Stop::unsaid, "unsaid"},           {Stop::solved, "solved"},         {Stop::iterations, "iterations"},
          {Stop::stalled, "stalled"},         {Stop::approximate, "approximate"}, {Stop::unbounded, "unbounded"},
          {Stop::infeasible, "infeasible"},   {Stop::improper, "improper"}};
}

struct Convergence {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  bool converged = false;
  int iterations = 0;
  double gap = unknown;       // duality gap, where the theory gives one
  double residual = unknown;  // KKT or optimality residual the stopping rule looked at
  double seconds = 0;
  std::string message;  // why it stopped, if that needs saying
  Stop reason = Stop::unsaid;

  Stop why() const { return reason != Stop::unsaid ? reason : converged ? Stop::solved : Stop::iterations; }
};

template <class V>
void fields(V& v, Convergence& t) {
  t.reason = t.why();
  v("converged", t.converged);
  v("iterations", t.iterations);
  v("gap", any_number(t.gap));
  v("residual", any_number(t.residual));
  v("seconds", t.seconds);
  v("message", t.message);
  v("reason", t.reason);
}

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace granary
