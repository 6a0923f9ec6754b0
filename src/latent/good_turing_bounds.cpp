#include "latent/good_turing_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/math/special.h"
#include "latent/good_turing.h"

namespace granary::latent {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double power_log(double base, double exponent) { return exponent == 0 ? 0 : exponent * std::log(base); }

// P(Bin(m, p) = k)
double binomial(double m, double p, double k) {
  if (k > m) return 0;
  if (p >= 1) return k == m ? 1 : 0;
  return std::exp(log_choose(m, k) + power_log(p, k) + (m - k) * std::log1p(-p));
}

// Lemma 24
double deviation(double b, double mean, double m, double delta) {
  const double l = std::log(6 * std::sqrt(m) / delta);
  return std::max(std::sqrt(4 * b * mean * l), 2 * b * l);
}

struct Groups {
  std::vector<double> p, times;
};
Groups group(ConstVectorRef prob) {
  std::vector<double> sorted(prob.data(), prob.data() + prob.size());
  std::sort(sorted.begin(), sorted.end());
  Groups g;
  for (const double p : sorted) {
    if (p <= 0) continue;
    if (!g.p.empty() && g.p.back() == p) {
      ++g.times.back();
    } else {
      g.p.push_back(p);
      g.times.push_back(1);
    }
  }
  return g;
}

// |M_k - E M_k| for a law, with probability 1 - delta: Lemma 24 for words up to B, the rest by their own probability.
double mass_deviation(const Groups& g, double m, double k, double delta) {
  double above = 0, mass_above = 0, mean = 0;
  for (std::size_t i = 0; i < g.p.size(); ++i) mean += g.times[i] * g.p[i] * binomial(m, g.p[i], k);
  std::size_t top = g.p.size();
  while (top > 1) {
    const double here = g.times[top - 1] * binomial(m, g.p[top - 1], k);
    if (above + here > delta / 2) break;
    above += here;
    mass_above += here * g.p[top - 1];
    --top;
  }
  return deviation(g.p[top - 1], std::max(0.0, mean - mass_above), m, delta - above) + mass_above;
}

GtBoundTable hitting(const GtBoundOptions& o, Monitor& monitor) {
  GtBoundTable out;
  out.columns = {"k", "mean_mass", "mean_good_turing", "bias", "sd_mass", "bound"};
  out.values.resize(o.k.size(), 6);
  const Groups g = group(o.prob);
  const double m = o.n[0];
  for (Index i = 0; i < o.k.size(); ++i) {
    monitor.progress(static_cast<double>(i) / static_cast<double>(o.k.size()));
    const double k = o.k[i];
    const double mass = expected_hitting_mass(o.prob, m, k), turing = expected_good_turing(o.prob, m, k);
    double bias = 0;
    for (std::size_t j = 0; j < g.p.size() && k < m; ++j) bias += g.times[j] * g.p[j] * (k + 1) / (m - k) * binomial(m, g.p[j], k + 1);
    double bound = nan;
    if (k < m) {
      if (k > 0) {  // Lemma 24 is for k > 0
        bound = mass_deviation(g, m, k, o.delta / 2) + deviation((k + 1) / (m - k), turing, m, o.delta / 2) + bias;
      } else {
        bound = missing_mass_bounds(m, o.delta).below;
      }
    }
    out.values.row(i) << k, mass, turing, k < m ? bias : nan, std::sqrt(hitting_mass_variance(o.prob, m, k, monitor)), bound;
  }
  return out;
}

GtBoundTable log_loss(const GtBoundOptions& o) {
  const double m = o.counts.sum(), alpha = o.discount, tau = o.tau, log8 = std::log(8 * m / o.delta);
  double missing = 0, unseen = 0, low = 0;
  for (Index w = 0; w < o.prob.size(); ++w) {
    if (o.counts[w] == 0) missing += o.prob[w], unseen += o.prob[w] > 0;
    low += o.counts[w] >= 1 && o.counts[w] <= tau;
  }
  if (low == 0) throw InputError("no word was seen between 1 and `tau` times, so there is nothing to discount.");
  const double root = std::sqrt(3 * std::log(8 / o.delta) / m);
  const double first = missing > 0 ? missing * std::log(unseen * std::log(4 * m / o.delta) / (alpha * low)) : 0;
  const auto rest = [&](double lambda) {
    const double x = lambda * log8 / m;
    double mass = 0, words = 0;
    for (Index w = 0; w < o.prob.size(); ++w) (o.prob[w] <= x ? mass : words) += o.prob[w] <= x ? o.prob[w] : 1;
    const double gap = std::sqrt(lambda) - std::sqrt(3.0);
    return lambda * log8 / (1 - alpha) * (root + missing) + alpha / (1 - alpha) * mass + root + 3 * lambda * log8 / (2 * gap * gap * m) * words;
  };
  // tau < (lambda - sqrt(3 lambda)) log(8 m / delta) bounds lambda from below, as lambda > 3 does.
  const double need = tau / log8, least = std::max(3.0, std::pow((std::sqrt(3.0) + std::sqrt(3.0 + 4 * need)) / 2, 2));
  double lambda = o.lambda;
  if (lambda > 0) {
    if (!(lambda > least)) throw InputError(message("`lambda` must be above ", least, " for this `tau`, not ", lambda, "."));
  } else {
    double best = std::numeric_limits<double>::infinity();
    for (int i = 1; i <= 400; ++i) {
      const double at = least * std::exp(8.0 * i / 400), value = rest(at);
      if (value < best) best = value, lambda = at;
    }
  }
  GtBoundTable out;
  out.columns = {"lambda", "missing", "bound"};
  out.values.resize(1, 3);
  out.values << lambda, missing, std::max(0.0, first + rest(lambda));
  return out;
}

}  // namespace

double expected_hitting_mass(ConstVectorRef prob, double m, double k) {
  double sum = 0;
  for (Index w = 0; w < prob.size(); ++w) sum += prob[w] > 0 ? prob[w] * binomial(m, prob[w], k) : 0;
  return sum;
}

double expected_good_turing(ConstVectorRef prob, double m, double k) {
  if (k >= m) return nan;
  double sum = 0;
  for (Index w = 0; w < prob.size(); ++w) sum += prob[w] > 0 ? (k + 1) / (m - k) * binomial(m, prob[w], k + 1) : 0;
  return sum;
}

double hitting_mass_variance(ConstVectorRef prob, double m, double k, Monitor& monitor) {
  const Groups g = group(prob);
  // Words that are hardly ever seen k times add nothing.
  Groups use;
  for (std::size_t i = 0; i < g.p.size(); ++i) {
    if (binomial(m, g.p[i], k) * g.p[i] * g.times[i] > 1e-20) {
      use.p.push_back(g.p[i]);
      use.times.push_back(g.times[i]);
    }
  }
  const std::size_t size = use.p.size();
  if (size > 20000) return nan;
  const double joint = 2 * k <= m ? log_choose(m, k) + log_choose(m - k, k) : -std::numeric_limits<double>::infinity();
  double variance = 0;
  for (std::size_t i = 0; i < size; ++i) {
    monitor.check();
    const double p = use.p[i], hit = binomial(m, p, k);
    variance += use.times[i] * p * p * hit * (1 - hit);
    for (std::size_t j = 0; j <= i; ++j) {
      const double r = use.p[j], pairs = i == j ? use.times[i] * (use.times[i] - 1) : 2 * use.times[i] * use.times[j];
      if (pairs == 0) continue;
      const double rest = 1 - p - r;
      const double pair = joint + power_log(p, k) + power_log(r, k);  // and everything else zero where nothing is left
      const double both = rest > 0 ? std::exp(pair + (m - 2 * k) * std::log1p(-p - r)) : m == 2 * k ? std::exp(pair) : 0;
      variance += pairs * p * r * (both - hit * binomial(m, r, k));
    }
  }
  return std::max(0.0, variance);
}

GtBoundTable good_turing_bounds(const GtBoundOptions& o, Monitor& monitor) {
  if (!(o.delta > 0 && o.delta < 1)) throw InputError("`delta` must lie between 0 and 1.");
  if (o.what == GtBound::hitting) return hitting(o, monitor);
  if (o.what == GtBound::log_loss) return log_loss(o);
  GtBoundTable out;
  const double d = o.delta;
  const auto per = [&](ConstVectorRef along, std::vector<std::string> columns, auto row) {
    out.columns = std::move(columns);
    out.values.resize(along.size(), static_cast<Index>(out.columns.size()));
    for (Index i = 0; i < along.size(); ++i) row(i, along[i]);
  };
  const double m = o.n.size() > 0 ? o.n[0] : 0;
  switch (o.what) {
    case GtBound::counts:
      per(o.counts, {"count", "lower", "upper"}, [&](Index i, double c) {
        const double l = std::log(4 * m / d), off = c > 18 * l ? std::sqrt(6 * c * l) : nan;
        out.values.row(i) << c, std::max(0.0, c - off) / m, std::min(1.0, (c + off) / m);
        if (std::isnan(off)) out.values(i, 1) = out.values(i, 2) = nan;
      });
      break;
    case GtBound::unseen:
      per(o.n, {"n", "bound"}, [&](Index i, double size) { out.values.row(i) << size, std::min(1.0, std::log(size / d) / size); });
      break;
    case GtBound::word:
      per(o.n, {"n", "bound"}, [&](Index i, double size) { out.values.row(i) << size, std::min(1.0, std::sqrt(3 * std::log(2 / d) / size)); });
      break;
    case GtBound::frequent:
      per(o.prob, {"prob", "lower", "upper"}, [&](Index i, double p) {
        const double l = std::log(2 * m / d), off = m * p >= 3 * l ? std::sqrt(3 * m * p * l) : nan;
        out.values.row(i) << p, m * p - off, m * p + off;
      });
      break;
    case GtBound::rare:
      per(o.prob, {"prob", "upper"}, [&](Index i, double p) {
        const double l = std::log(m / d);
        out.values.row(i) << p, m * p <= 3 * l ? 6 * l : nan;
      });
      break;
    case GtBound::missing:
      per(o.n, {"n", "below", "above"}, [&](Index i, double size) {
        const MissingBounds b = missing_mass_bounds(size, d);
        out.values.row(i) << size, b.below, b.above;
      });
      break;
    case GtBound::tail:
      per(o.n, {"n", "factor"}, [&](Index i, double size) { out.values.row(i) << size, 3 * std::sqrt(size); });
      break;
    default:  // rates
      per(o.k, {"k", "good_turing_old", "good_turing", "empirical", "crossover"}, [&](Index i, double k) {
        out.values.row(i) << k, k / std::sqrt(m), std::pow(k, 0.25) / std::sqrt(m) + k / m, 1 / k + std::sqrt(k) / m, std::pow(m, 0.4);
      });
  }
  return out;
}

}  // namespace granary::latent
