#include "core/cluster/soft_polish.h"

#include <algorithm>
#include <cmath>

namespace granary {

namespace {

// a s + b t + c u, of sums.
ClusterSums combined(double a, const ClusterSums& s, double b, const ClusterSums& t, double c, const ClusterSums& u) {
  return {a * s.first + b * t.first + c * u.first, a * s.weight + b * t.weight + c * u.weight};
}

double size(const ClusterSums& s, const VectorXd& origin) {
  double out = s.weight.squaredNorm();
  if (origin.size() == 0) return std::sqrt(out + s.first.squaredNorm());
  for (Index h = 0; h < s.weight.size(); ++h) out += (s.first.row(h) - s.weight[h] * origin.transpose()).squaredNorm();
  return std::sqrt(out);
}

}  // namespace

SoftResult polish_soft(const DataRows& x, ConstVectorRef weights, SoftResult from, const ScoreModel& model, const SumsStep& step, const SumsInside& inside,
                       const PolishOptions& options, Monitor& monitor) {
  const Stopwatch clock;
  SoftResult out = std::move(from);
  Convergence& c = out.convergence;
  ClusterSums here = std::move(out.sums);
  SoftPass now = std::move(out.last);
  LinearScores scores = out.scores;
  int used = 0;
  const auto look = [&](const ClusterSums& sums) {
    model(sums, scores);
    ++used;
    return soft_pass(x, weights, scores, Membership::soft, 0, nullptr, options.threads, monitor);
  };
  const auto note = [&](const SoftPass& pass) {
    out.trace.push_back(pass.value);
    out.entropy.push_back(pass.entropy);
  };
  c.converged = false;
  double longest = 4;  // of a; grows while long steps pay
  while (true) {
    c.residual = step(here, now.sums);
    c.converged = c.residual <= options.tol;
    if (c.converged || used >= options.max_iter) break;
    const ClusterSums first = now.sums;
    SoftPass second = look(first);
    note(second);
    if (step(first, second.sums) <= options.tol || used >= options.max_iter) {
      here = first;
      now = std::move(second);
      continue;
    }
    const ClusterSums r = combined(1, first, -1, here, 0, here), v = combined(1, second.sums, -2, first, 1, here);
    const double length = std::min(size(r, options.origin) / size(v, options.origin), longest);
    bool taken = false;
    if (length > 1) {
      ClusterSums target = combined(1, here, 2 * length, r, length * length, v);
      if (inside(target)) {
        SoftPass there = look(target);
        taken = std::isfinite(there.value) && there.value >= second.value - 1e-14 * std::abs(second.value);
        if (taken) {
          if (length == longest) longest *= 4;
          here = std::move(target);
          now = std::move(there);
        }
      }
      if (!taken) longest = std::max(longest / 4, 1.5);
    }
    if (!taken) {
      here = second.sums;
      now = look(here);
    }
    note(now);
  }
  model(here, scores);
  out.scores = std::move(scores);
  out.sums = std::move(here);
  out.last = std::move(now);
  c.reason = c.converged ? Stop::solved : Stop::iterations;
  c.iterations += used;
  c.seconds += clock.seconds();
  return out;
}

}  // namespace granary
