#include "latent/entropy_posterior.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/math/peak_integral.h"
#include "core/math/rising.h"
#include "core/math/special.h"

namespace granary::latent {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
constexpr double log_tiny = -42;  // e^-42 of either coordinate: less than rounding of what it is added to
constexpr double log_u_most = 6.5, log_v_most = 60;
constexpr int first_points = 32, most_points = 1024;

struct Point {
  double discount, rest, strength, log_weight, mean, variance, width_u, width_v;
};

struct Summary {
  double mean = 0, sd = 0;
};

Summary summarise(std::vector<Point>& points) {
  double top = minus_infinity;
  for (const Point& p : points) top = std::max(top, p.log_weight);
  double total = 0, first = 0;
  for (Point& p : points) {
    p.log_weight = std::exp(p.log_weight - top);  // from here on the weight itself
    total += p.log_weight;
  }
  for (Point& p : points) first += (p.log_weight /= total) * p.mean;
  double second = 0;
  for (const Point& p : points) second += p.log_weight * (p.variance + (p.mean - first) * (p.mean - first));
  return {first, std::sqrt(second)};
}

EntropyMixture mixture_of(const std::vector<Point>& points) {
  std::vector<const Point*> keep;
  for (const Point& p : points)
    if (p.log_weight > 1e-14) keep.push_back(&p);
  EntropyMixture m;
  const Index n = static_cast<Index>(keep.size());
  for (VectorXd* v : {&m.discount, &m.strength, &m.rest, &m.weight, &m.mean, &m.sd, &m.width_u, &m.width_v}) v->resize(n);
  for (Index i = 0; i < n; ++i) {
    const Point& p = *keep[static_cast<std::size_t>(i)];
    m.discount[i] = p.discount;
    m.strength[i] = p.strength;
    m.rest[i] = p.rest;
    m.weight[i] = p.log_weight;
    m.mean[i] = p.mean;
    m.sd[i] = std::sqrt(p.variance);
    m.width_u[i] = p.width_u;
    m.width_v[i] = p.width_v;
  }
  m.weight /= m.weight.sum();
  return m;
}

// Doubles the number of points until mean and standard deviation move by less than `tol` of the mean. grid(n) gives the points of a grid with n of them a side.
template <class Grid>
EntropyPosterior refine(const Grid& grid, double tol, Monitor& monitor) {
  const Stopwatch watch;
  EntropyPosterior out;
  Summary before;
  for (int n = first_points, round = 0; n <= most_points; n *= 2, ++round) {
    monitor.check();
    std::vector<Point> points = grid(n);
    const Summary now = summarise(points);
    const double change = std::max(std::fabs(now.mean - before.mean), std::fabs(now.sd - before.sd)) / std::max(now.mean, 1e-300);
    before = now;
    out.convergence.iterations = round;
    if (round > 0) {
      out.convergence.residual = change;
      out.convergence.converged = change <= tol;
    }
    if (out.convergence.converged || 2 * n > most_points) {
      out.mean = now.mean;
      out.sd = now.sd;
      out.mixture = mixture_of(points);
      break;
    }
  }
  out.convergence.seconds = watch.seconds();
  return out;
}

class Pym {
 public:
  Pym(const FrequencyTable& table, PymPrior prior, const PriorDensity& density) : counts_(table), prior_(prior), density_(density) {}

  double log_prior(double u, double v) const {
    if (prior_ == PymPrior::dp || prior_ == PymPrior::pd) return 0;
    if (prior_ == PymPrior::pym) return -10 * (u + v) / u;
    const double q = density_(v / (u + v));
    if (!(q >= 0) || !std::isfinite(q)) {
      throw InputError(message("`prior` must be a density on [0, 1): at ", v / (u + v), " it is ", q, "."));
    }
    return std::log(q);
  }

  // Log of the integrand in (log u, log v); in log u alone for "dp", in log v alone for "pd".
  double along_u(const PyCounts::AtDiscount& at, double v, double log_u) const {
    const double u = std::exp(log_u);
    double value = counts_.log_evidence(at, strength_of(u)) + log_u;
    if (v > 0) value += log_prior(u, v) - std::log(u + v) + std::log(v);
    return value;
  }
  double along_v(double log_v) const { return counts_.log_evidence(counts_.at(discount_of(std::exp(log_v))), 0) + log_v; }

  PeakRange range_u(const PyCounts::AtDiscount& at, double v) const {
    return find_peak([&](double s) { return along_u(at, v, s) + 2 * std::log1p(std::exp(s) + v); }, log_tiny, log_u_most, 36);
  }

  void row(double v, double width_v, int n, std::vector<Point>& points) const {
    const PyCounts::AtDiscount at = counts_.at(v > 0 ? discount_of(v) : Discount());
    const PeakRange range = range_u(at, v);
    if (!std::isfinite(range.value)) return;
    const double width = (range.upper - range.lower) / n;
    for (int i = 0; i <= n; ++i) {
      const double s = range.lower + i * width;
      const double strength = strength_of(std::exp(s));
      const EntropyMoments h = counts_.entropy(at, strength);
      points.push_back({at.discount.value, at.discount.rest, strength, along_u(at, v, s) + std::log(width), h.mean, h.variance, width, width_v});
    }
  }

  // log of the integral over u, roughly, with the weight that the second moment of H needs
  double row_size(double v) const {
    const PyCounts::AtDiscount at = counts_.at(discount_of(v));
    const PeakRange range = range_u(at, v);
    if (!std::isfinite(range.value)) return minus_infinity;
    constexpr int n = 12;
    const double width = (range.upper - range.lower) / n;
    double sum = 0;
    for (int i = 0; i <= n; ++i) {
      const double s = range.lower + i * width;
      sum += std::exp(along_u(at, v, s) + 2 * std::log1p(std::exp(s) + v) - range.value);
    }
    return range.value + std::log(sum * width);
  }

  PeakRange range_v(Monitor& monitor) const {
    return find_peak(
        [&](double r) {
          monitor.check();
          return prior_ == PymPrior::pd ? along_v(r) + 2 * std::log1p(std::exp(r)) : row_size(std::exp(r));
        },
        log_tiny, log_v_most, 40);
  }

  std::vector<Point> grid(int n, const PeakRange& range, Monitor& monitor) const {
    std::vector<Point> points;
    if (prior_ == PymPrior::dp) {
      row(0, 0, n, points);
      return points;
    }
    const double width = (range.upper - range.lower) / n;
    for (int i = 0; i <= n; ++i) {
      monitor.check();
      const double r = range.lower + i * width, v = std::exp(r);
      if (prior_ == PymPrior::pd) {
        const PyCounts::AtDiscount at = counts_.at(discount_of(v));
        const EntropyMoments h = counts_.entropy(at, 0);
        points.push_back({at.discount.value, at.discount.rest, 0, along_v(r), h.mean, h.variance, 0, width});
      } else {
        row(v, width, n, points);
      }
    }
    return points;
  }

  // Largest density in (h, g): from the best point of the grid by halving steps along log u and log v.
  void mode(EntropyPosterior& out) const {
    const bool with_u = prior_ != PymPrior::pd, with_v = prior_ != PymPrior::dp;
    const auto density = [&](double s, double r) {
      const double u = with_u ? std::exp(s) : 0, v = with_v ? std::exp(r) : 0;
      const PyCounts::AtDiscount at = counts_.at(v > 0 ? discount_of(v) : Discount());
      return counts_.log_evidence(at, u > 0 ? strength_of(u) : 0) + (with_u && with_v ? log_prior(u, v) : 0);
    };
    double best = minus_infinity, s = 0, r = 0;
    const EntropyMixture& m = out.mixture;
    const Index stride = std::max<Index>(1, m.weight.size() / 2000);
    for (Index i = 0; i < m.weight.size(); i += stride) {
      const double u = digamma(m.strength[i] + 1) - digamma(1), v = digamma(1) - digamma(m.rest[i]);
      if ((with_u && !(u > 0)) || (with_v && !(v > 0))) continue;
      const double at_s = with_u ? std::log(u) : 0, at_r = with_v ? std::log(v) : 0, value = density(at_s, at_r);
      if (value > best) best = value, s = at_s, r = at_r;
    }
    for (double step = 1; step > 1e-9;) {
      bool moved = false;
      for (const auto& [ds, dr] : {std::pair<double, double>{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}, {1, -1}, {-1, 1}}) {
        if ((ds != 0 && !with_u) || (dr != 0 && !with_v)) continue;
        const double to_s = std::max(s + step * ds, log_tiny), to_r = std::max(r + step * dr, log_tiny);
        if (to_s > log_u_most || to_r > log_v_most) continue;
        const double value = density(to_s, to_r);
        if (value > best) best = value, s = to_s, r = to_r, moved = true;
      }
      if (!moved) step /= 2;
    }
    out.mode_strength = with_u ? strength_of(std::exp(s)) : 0;
    out.mode_discount = with_v ? discount_of(std::exp(r)).value : 0;
  }

 private:
  PyCounts counts_;
  PymPrior prior_;
  const PriorDensity& density_;
};

}  // namespace

EntropyPosterior pym_posterior(const FrequencyTable& table, PymPrior prior, const PriorDensity& density, double tol, Monitor& monitor) {
  if (table.coincidences() < 1) throw InputError("the entropy has no finite posterior mean where every symbol was seen once.");
  if (prior == PymPrior::custom && !density) throw InputError("`prior` must be a function of g.");
  const Pym pym(table, prior, density);
  const PeakRange range = prior == PymPrior::dp ? PeakRange() : pym.range_v(monitor);
  if (prior != PymPrior::dp && !std::isfinite(range.value)) throw InputError("`prior` leaves no probability where the data are possible.");
  EntropyPosterior out = refine([&](int n) { return pym.grid(n, range, monitor); }, tol, monitor);
  if (range.cut_upper) {
    out.convergence.converged = false;
    out.convergence.reason = Stop::unbounded;
    out.convergence.message = "the prior leaves so heavy a tail that the moments of the entropy are infinite or out of reach";
  }
  pym.mode(out);
  return out;
}

EntropyMoments dirichlet_entropy(const WeightedCounts& counts, double total, double distinct, double alphabet, double pseudo) {
  const double size = total + alphabet * pseudo, unseen = (alphabet - distinct) * pseudo;
  const double center = digamma(size + 1), tail = digamma(pseudo + 1) - center;
  double mean = unseen / size * tail, excess = unseen / size * trigamma_excess(pseudo + 1);
  for (Index i = 0; i < counts.count.size(); ++i) {
    const double a = counts.count[i] + pseudo, w = counts.times[i] * a / size;
    mean += w * (digamma(a + 1) - center);
    excess += w * trigamma_excess(a + 1);
  }
  double spread = unseen / size * (tail - mean) * (tail - mean);
  for (Index i = 0; i < counts.count.size(); ++i) {
    const double a = counts.count[i] + pseudo, f = digamma(a + 1) - center - mean;
    spread += counts.times[i] * a / size * f * f;
  }
  EntropyMoments out;
  out.mean = std::max(-mean, 0.0);
  out.variance = std::max(0.0, (spread + excess - trigamma_excess(size + 1)) / (size + 1));
  return out;
}

EntropyPosterior nsb_posterior(const FrequencyTable& table, double alphabet, double tol, Monitor& monitor) {
  EntropyPosterior out;
  if (alphabet == 1) {
    out.convergence.converged = true;
    return out;
  }
  const WeightedCounts counts = condense(table);
  const auto log_density = [&](double s) {
    monitor.check();
    const double b = std::exp(s), all = alphabet * b;
    double value = table.total > 0 ? -log_rising(all, table.total) : 0;
    for (Index i = 0; i < counts.count.size(); ++i) {
      const double n = counts.count[i];
      value += counts.times[i] * (n < 16 ? log_rising(b, n) : log_gamma_ratio(b, n));
    }
    // d xi / d b = alphabet trigamma(alphabet b + 1) - trigamma(b + 1), far out by what both lack of 1 / b
    const double slope = b < 1 ? alphabet * trigamma(all + 1) - trigamma(b + 1)
                               : ((trigamma_excess(all) - 1 / all) - (trigamma_excess(b) - 1 / b)) / b;
    return value + std::log(std::max(slope, 0.0)) + s;
  };
  const PeakRange range = find_peak(log_density, -60, 60, 60);
  out = refine(
      [&](int n) {
        std::vector<Point> points;
        const double width = (range.upper - range.lower) / n;
        for (int i = 0; i <= n; ++i) {
          const double s = range.lower + i * width;
          const EntropyMoments h = dirichlet_entropy(counts, table.total, table.distinct, alphabet, std::exp(s));
          points.push_back({0, 1, std::exp(s), log_density(s), h.mean, h.variance, width, 0});
        }
        return points;
      },
      tol, monitor);
  Index best = 0;
  out.mixture.weight.maxCoeff(&best);
  out.mode_strength = out.mixture.strength[best];
  return out;
}

double mixture_quantile(const EntropyMixture& m, double p) {
  double low = 0, high = 0;
  for (Index i = 0; i < m.mean.size(); ++i) high = std::max(high, m.mean[i] + 40 * m.sd[i]);
  const auto below = [&](double x) {
    double sum = 0;
    for (Index i = 0; i < m.mean.size(); ++i) {
      sum += m.weight[i] * (m.sd[i] > 0 ? normal_cdf((x - m.mean[i]) / m.sd[i]) : (x >= m.mean[i] ? 1.0 : 0.0));
    }
    return sum;
  };
  for (int i = 0; i < 60 && high - low > 1e-12 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (below(middle) < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

VectorXd mixture_curve(const EntropyMixture& m, ConstVectorRef at, MixtureCurve what) {
  VectorXd out = VectorXd::Zero(at.size());
  for (Index j = 0; j < at.size(); ++j) {
    if (what == MixtureCurve::quantile) {
      out[j] = mixture_quantile(m, at[j]);
      continue;
    }
    for (Index i = 0; i < m.mean.size(); ++i) {
      if (m.sd[i] > 0) out[j] += m.weight[i] * normal_pdf((at[j] - m.mean[i]) / m.sd[i]) / m.sd[i];
    }
  }
  return out;
}

}  // namespace granary::latent
