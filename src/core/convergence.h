// How a solver ended. Every Result carries one, so that no fit hides an early stop.
#pragma once

#include <chrono>
#include <limits>
#include <string>

namespace granary {

struct Convergence {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  bool converged = false;
  int iterations = 0;
  double gap = unknown;       // duality gap, where the theory gives one
  double residual = unknown;  // KKT or optimality residual the stopping rule looked at
  double seconds = 0;
  std::string message;  // why it stopped, if that needs saying
};

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace granary
