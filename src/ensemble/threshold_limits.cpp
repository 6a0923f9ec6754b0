#include "ensemble/threshold_limits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/math/chernoff.h"

namespace granary::ensemble {

namespace {
// E C^2 and E C^4 of Chernoff's law
constexpr double second_moment = 0.26355964013261;
}  // namespace

SmoothLimit smooth_limit(ConstVectorRef slope, ConstVectorRef density) {
  require(slope.size() == density.size(), "there must be one slope and one density per cut.");
  SmoothLimit out;
  const Index k = slope.size();
  out.scale.resize(k);
  out.excess_scale.resize(k);
  double variance = 0;
  const double fourth = chernoff_moment(4);
  for (Index i = 0; i < k; ++i) {
    const double f = std::abs(slope[i]), g = density[i];
    require(g >= 0, "densities must not be negative.");
    out.scale[i] = f > 0 && g > 0 ? std::pow(f * f * g, -1.0 / 3) : std::numeric_limits<double>::infinity();
    out.excess_scale[i] = f > 0 ? std::cbrt(g / f) : std::numeric_limits<double>::infinity();
    out.excess_mean += out.excess_scale[i] * second_moment;
    variance += out.excess_scale[i] * out.excess_scale[i] * (fourth - second_moment * second_moment);
  }
  out.excess_sd = std::sqrt(variance);
  return out;
}

VectorXd excess_draws(const SmoothLimit& limit, Index count, Rng& rng) {
  VectorXd out = VectorXd::Zero(count);
  for (Index i = 0; i < count; ++i)
    for (Index k = 0; k < limit.excess_scale.size(); ++k) {
      const double c = chernoff_quantile(rng.uniform_open());
      out[i] += limit.excess_scale[k] * c * c;
    }
  return out;
}

double jump_tail(double m, double left, double right) {
  require(left >= 0 && left < 0.5 && right > 0.5 && right <= 1, "a jump goes from a share below 1/2 to one above.");
  if (m <= 0) return 1;
  const double r1 = (1 - right) / right, r2 = left / (1 - left);
  return 1 - (1 - std::pow(r1, m)) * (1 - std::pow(r2, m));
}

double jump_quantile(double level, double left, double right) {
  require(level > 0 && level < 1, "the level must lie between 0 and 1.");
  double d = 0;
  while (jump_tail(d + 1, left, right) > 1 - level && d < 1e7) d += 1;
  return d;
}

MatrixXd poisson_argmin(double left, double right, double density, Index count, Rng& rng) {
  require(left >= 0 && left < 0.5 && right > 0.5 && right <= 1, "a jump goes from a share below 1/2 to one above.");
  require(density > 0, "the density must be above 0.");
  MatrixXd out(count, 3);
  for (Index draw = 0; draw < count; ++draw) {
    // Going right, a positive row adds 1 to the risk of the cut (it is called negative), a negative one takes 1 away; mirrored
    // to the left.
    double from = 0, to = 0, least = 0;
    struct Side {
      double first, last, value;
    };
    const auto walk = [&](double add) {  // chance of a step up
      double t = 0, value = 0, best = 0, first = 0, last = 0;
      bool open = true;
      const double next0 = rng.exponential(density);
      double next = next0;
      last = next;
      // far above the least value the walk will not come back: chance below 1e-12
      const double stop = std::log(1e-12) / std::log((1 - add) / add);
      while (value - best < stop) {
        t = next;
        next = t + rng.exponential(density);
        value += rng.uniform() < add ? 1 : -1;
        if (value < best) {
          best = value;
          first = t;
          last = next;
          open = true;
        } else if (value == best && !open) {
          last = next;
          open = true;
        } else if (value > best) {
          open = false;
        } else if (open) {
          last = next;
        }
      }
      return Side{first, last, best};
    };
    const Side r = walk(right), l = walk(1 - left);
    least = std::min(r.value, l.value);
    from = l.value == least ? -l.last : r.first;
    to = r.value == least ? r.last : -l.first;
    if (l.value == least && r.value > least) to = -l.first;
    out.row(draw) << from, to, least;
  }
  return out;
}

RiskBound risk_bound(double n, double eps, double c, double a, double level) {
  require(n >= 1 && eps >= 0 && c > 0 && a > 0 && level > 0 && level < 1,
      "the bound needs n, c and a above 0, and a level in (0, 1).");
  // r^2 = a w / sqrt(n), w = (r^2 / c)^(1/(2 + 2 eps))
  const double power = 1 / (2 + 2 * eps), r2 = std::pow(a * std::pow(c, -power) / std::sqrt(n), 1 / (1 - power));
  const double w = std::pow(r2 / c, power), x = -std::log(1 - level);
  return {std::sqrt(r2), r2 + w * w / r2 * 2 * x / n};
}

}  // namespace granary::ensemble
