#include "latent/py_counts.h"

#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/math/peak_integral.h"
#include "core/math/rising.h"
#include "core/math/special.h"

namespace granary::latent {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// zeta(2), zeta(3), ...: digamma(1 + x) - digamma(1) = zeta(2) x - zeta(3) x^2 + zeta(4) x^3 - ...
constexpr double zeta[] = {1.6449340668482264, 1.2020569031595943, 1.0823232337111382, 1.0369277551433699, 1.0173430619844491,
                           1.0083492773819228, 1.0040773561979443, 1.0020083928260822, 1.0009945751278181, 1.0004941886041195,
                           1.0002460865533080, 1.0001227133475785, 1.0000612481350587, 1.0000305882363070, 1.0000152822594086};

// x with zeta(2) x + sign zeta(3) x^2 + zeta(4) x^3 + ... = y, for small y.
double from_series(double y, double sign) {
  double x = y / zeta[0];
  for (int round = 0; round < 20; ++round) {
    double value = 0, slope = 0;
    for (int k = 14; k >= 0; --k) {
      const double c = k % 2 == 1 ? sign * zeta[k] : zeta[k];
      slope = slope * x + (k + 1) * c;
      value = value * x + c;
    }
    const double step = (value * x - y) / slope;
    x -= step;
    if (std::fabs(step) <= 1e-16 * x) break;
  }
  return x;
}

constexpr double digamma_one = -0.57721566490153286;

// log Gamma(x) - [(x - 1/2) log x - x + log(2 pi) / 2], for x >= 30
double stirling_rest(double x) {
  const double u = 1 / (x * x);
  return (1.0 / 12 - u * (1.0 / 360 - u * (1.0 / 1260 - u / 1680))) / x;
}

}  // namespace

double trigamma_excess(double x) {
  if (x < 25) return x * trigamma(x) - 1;
  const double u = 1 / (x * x);
  return 0.5 / x + u * (1.0 / 6 - u * (1.0 / 30 - u * (1.0 / 42 - u * (1.0 / 30 - u * 5.0 / 66))));
}

double log_gamma_ratio(double x, double n) {
  if (x < 30) return log_gamma(x + n) - log_gamma(x);
  return (x - 0.5) * std::log1p(n / x) - n + n * std::log(x + n) + (stirling_rest(x + n) - stirling_rest(x));
}

double strength_of(double u) { return u < 0.05 ? from_series(u, -1) : inverse_digamma(u + digamma_one) - 1; }

Discount discount_of(double v) {
  Discount out;
  if (v < 0.05) {
    out.value = from_series(v, 1);
    out.rest = 1 - out.value;
  } else {
    out.rest = inverse_digamma(digamma_one - v);
    out.value = 1 - out.rest;
  }
  return out;
}

PyCounts::PyCounts(const FrequencyTable& table) : counts_(condense(table)), total_(table.total), distinct_(table.distinct) {
  double sum = 0;
  for (Index i = 0; i < counts_.count.size(); ++i) sum += counts_.times[i] * counts_.count[i] * digamma(counts_.count[i] + 1);
  center_ = total_ > 0 ? sum / total_ : 0;  // f is measured from here, so that its variance does not cancel
}

PyCounts::AtDiscount PyCounts::at(const Discount& d) const {
  AtDiscount out;
  out.discount = d;
  out.weight = (total_ - distinct_) + distinct_ * d.rest;
  const double log_gamma_rest = log_gamma(d.rest);
  double first = 0, second = 0;
  for (Index i = 0; i < counts_.count.size(); ++i) {
    const double n = counts_.count[i], times = counts_.times[i], a = (n - 1) + d.rest;  // n - d
    if (n < 16) {
      out.log_symbols += times * log_rising(d.rest, n - 1);
    } else {
      out.log_symbols += times * (log_gamma(a) - log_gamma_rest);
    }
    const double f = digamma(a + 1) - center_;
    first += times * a * f;
    second += times * a * f * f;
    out.excess += times * a * trigamma_excess(a + 1);
  }
  if (out.weight > 0) {
    out.mean = first / out.weight;
    out.spread = std::fmax(0.0, second / out.weight - out.mean * out.mean);
  }
  return out;
}

double PyCounts::log_evidence(const AtDiscount& at, double strength) const {
  if (total_ == 0) return 0;
  return log_rising(strength + at.discount.value, distinct_ - 1, at.discount.value) - log_rising(strength + 1, total_ - 1) + at.log_symbols;
}

EntropyMoments PyCounts::entropy(const AtDiscount& at, double strength) const {
  const double size = strength + total_, unseen = strength + distinct_ * at.discount.value;
  const double seen_share = at.weight / size, unseen_share = unseen / size;
  const double tail = digamma(at.discount.rest) - center_;
  const double gap = at.mean - tail;
  EntropyMoments out;
  out.mean = digamma(size + 1) - center_ - (seen_share * at.mean + unseen_share * tail);
  const double spread = seen_share * at.spread + seen_share * unseen_share * gap * gap;
  const double excess = at.excess / size + unseen_share * trigamma_excess(at.discount.rest) - trigamma_excess(size + 1);
  out.mean = std::fmax(out.mean, 0.0);
  out.variance = std::fmax(0.0, (spread + excess) / (size + 1));
  return out;
}

EntropyMoments py_entropy(const Discount& d, double strength) {
  EntropyMoments out;
  out.mean = digamma(strength + 1) - digamma(d.rest);
  out.variance = std::fmax(0.0, (trigamma_excess(d.rest) - trigamma_excess(strength + 1)) / (strength + 1));
  return out;
}

// With R = prod_{i=1}^{n-1} (a + i + d) / (a + i), the mean number is R + a (R - 1) / d.
double py_distinct(double n, double discount, double strength) {
  if (n < 1) return 0;
  if (discount < 1e-5) {
    const double slope = digamma_difference(strength + 1 + discount / 2, n - 1);  // log R / d, by the midpoint
    return std::exp(discount * slope) + strength * (discount > 0 ? std::expm1(discount * slope) / discount : slope);
  }
  const double log_ratio = log_rising(strength + discount + 1, n - 1) - log_rising(strength + 1, n - 1);
  return std::exp(log_ratio) + strength * std::expm1(log_ratio) / discount;
}

double py_new(double more, double n, double distinct, double discount, double strength) {
  if (more < 1) return 0;
  if (n < 1) return py_distinct(more, discount, strength);
  if (discount < 1e-5) {
    const double slope = digamma_difference(strength + n + discount / 2, more);
    return (distinct * discount + strength) * (discount > 0 ? std::expm1(discount * slope) / discount : slope);
  }
  const double log_ratio = log_rising(strength + n + discount, more) - log_rising(strength + n, more);
  return (distinct + strength / discount) * std::expm1(log_ratio);
}

PyLaw py_law(const FrequencyTable& table, double discount, double strength) {
  if (!(discount >= 0 && discount < 1)) throw InputError(message("`discount` must be at least 0 and less than 1, got ", discount, "."));
  if (!(strength > -discount) || !std::isfinite(strength)) {
    throw InputError(message("`strength` must be above minus the discount, got ", strength, "."));
  }
  const Discount d{discount, 1 - discount};
  PyLaw out;
  out.discount = discount;
  out.strength = strength;
  const EntropyMoments before = py_entropy(d, strength);
  out.prior_mean = out.mean = before.mean;
  out.prior_sd = out.sd = std::sqrt(before.variance);
  out.total = table.total;
  out.distinct = table.distinct;
  if (table.total < 1) return out;
  const PyCounts counts(table);
  const PyCounts::AtDiscount at = counts.at(d);
  out.loglik = counts.log_evidence(at, strength);
  const EntropyMoments after = counts.entropy(at, strength);
  out.mean = after.mean;
  out.sd = std::sqrt(after.variance);
  out.expected_distinct = py_distinct(table.total, discount, strength);
  return out;
}

PyFit py_fit(const FrequencyTable& table, bool dirichlet, Monitor& monitor) {
  if (table.distinct < 2) throw InputError("the likelihood has no maximum where only one symbol was seen: give `discount` and `strength`.");
  if (table.coincidences() < 1) {
    throw InputError("the likelihood has no maximum where every symbol was seen once: more draws are needed, or give `discount` and `strength`.");
  }
  const Stopwatch watch;
  const PyCounts counts(table);
  // t = log(a + d): all of its domain, for every discount.
  const auto best_strength = [&](const PyCounts::AtDiscount& at) {
    monitor.check();
    const auto f = [&](double t) { return counts.log_evidence(at, std::exp(t) - at.discount.value); };
    return find_peak(f, -40, 80, 60, 1);
  };
  // r = log of d / (1 - d)
  const auto discount_at = [](double r) { return Discount{1 / (1 + std::exp(-r)), 1 / (1 + std::exp(r))}; };
  const PyCounts::AtDiscount none = counts.at(Discount{0, 1});
  const PeakRange zero = best_strength(none);
  PyFit out;
  out.strength = std::exp(zero.mode);
  out.loglik = zero.value;
  bool interior = false;
  if (!dirichlet) {
    const PeakRange free = find_peak([&](double r) { return best_strength(counts.at(discount_at(r))).value; }, -25, 25, 40, 1);
    if (free.value > zero.value + 1e-9 * std::fabs(zero.value)) {
      const PyCounts::AtDiscount at = counts.at(discount_at(free.mode));
      const PeakRange strength = best_strength(at);
      out.discount = at.discount.value;
      out.strength = std::exp(strength.mode) - at.discount.value;
      out.loglik = strength.value;
      interior = true;
    }
  }
  // Scores and curvature by central differences in (d, a), at steps that are small beside the domain and large beside rounding.
  const double room = out.strength + out.discount;
  const double step_a = 1e-4 * room, step_d = interior ? 1e-4 * std::fmin(std::fmin(out.discount, 1 - out.discount), room) : 0;
  const auto value = [&](double i, double j) {
    const double d = out.discount + i * step_d;
    return counts.log_evidence(counts.at(Discount{d, 1 - d}), out.strength + j * step_a);
  };
  const double center = value(0, 0);
  const double aa = (value(0, 1) - 2 * center + value(0, -1)) / (step_a * step_a), score_a = (value(0, 1) - value(0, -1)) / (2 * step_a);
  out.se_discount = out.se_strength = out.covariance = nan;
  out.edge = !interior && !dirichlet;
  if (interior) {
    const double dd = (value(1, 0) - 2 * center + value(-1, 0)) / (step_d * step_d), score_d = (value(1, 0) - value(-1, 0)) / (2 * step_d);
    const double da = (value(1, 1) - value(1, -1) - value(-1, 1) + value(-1, -1)) / (4 * step_a * step_d);
    const double determinant = dd * aa - da * da;
    if (dd < 0 && determinant > 0) {
      out.se_discount = std::sqrt(-aa / determinant);
      out.se_strength = std::sqrt(-dd / determinant);
      out.covariance = da / determinant;
    } else {
      out.edge = true;
    }
    out.convergence.residual = std::fmax(std::fabs(score_d) / std::sqrt(std::fabs(dd)), std::fabs(score_a) / std::sqrt(std::fabs(aa)));
  } else {
    if (aa < 0) out.se_strength = std::sqrt(-1 / aa);
    out.convergence.residual = std::fabs(score_a) / std::sqrt(std::fabs(aa));
  }
  if (zero.cut_upper && !interior) out.edge = true;
  out.convergence.converged = out.convergence.residual < 1e-2 || out.edge;
  out.convergence.iterations = 1;
  if (out.edge) out.convergence.message = "the best law lies on the edge of the model, where standard errors do not hold";
  out.convergence.seconds = watch.seconds();
  return out;
}

}  // namespace granary::latent
