#include "core/infer/ep_sites.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>
#include <limits>

#include "core/base/errors.h"
#include "core/math/special.h"

namespace granary {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// log(Phi(b) - Phi(a)) for a < b, without cancellation in either tail.
double log_normal_interval(double a, double b) {
  if (a > 0) return log_normal_interval(-b, -a);
  const double upper = normal_log_cdf(b), lower = normal_log_cdf(a);
  return upper + std::log1p(-std::exp(lower - upper));
}

SiteMoments mixture(const SiteMoments& a, const SiteMoments& b) {
  const double top = std::max(a.log_z, b.log_z);
  SiteMoments result;
  result.log_z = top + std::log(std::exp(a.log_z - top) + std::exp(b.log_z - top));
  const double wa = std::exp(a.log_z - result.log_z), wb = std::exp(b.log_z - result.log_z);
  result.mean = wa * a.mean + wb * b.mean;
  result.variance = wa * a.variance + wb * b.variance + wa * wb * (a.mean - b.mean) * (a.mean - b.mean);
  return result;
}

}  // namespace

SiteMoments probit_moments(double y, double m, double v) {
  const double root = std::sqrt(1 + v), z = y * m / root, r = inverse_mills(z);
  SiteMoments result;
  result.log_z = normal_log_cdf(z);
  result.mean = m + y * v * r / root;
  result.variance = v - v * v * r * (z + r) / (1 + v);
  return result;
}

// With a, b the bounds in standard units, r_a = phi(a) / P, r_b = phi(b) / P and P the probability of the interval:
//   mean = r_a - r_b,   variance = 1 + a r_a - b r_b - mean^2.
// The interval is mirrored so that the density is largest at b. Far out, or where it is narrow, these differences lose all
// digits; there s = b - f has a density near exp(b s), and mean and variance are taken from it.
SiteMoments truncation_moments(double lower, double upper, double m, double v) {
  const double sd = std::sqrt(v), a = (lower - m) / sd, b = (upper - m) / sd, width = b - a;
  if (std::isinf(lower) && std::isinf(upper)) return {0, m, v};
  if (a + b > 0) {
    SiteMoments result = truncation_moments(-upper, -lower, -m, v);
    result.mean = -result.mean;
    return result;
  }
  SiteMoments result;
  result.log_z = log_normal_interval(a, b);
  const auto from_upper = [&](double distance, double variance) {
    result.mean = std::max(lower, upper - sd * distance);
    result.variance = v * variance;
    return result;
  };
  if (b < -1e3 && -b * width > 700) {  // expansion of Mills' ratio
    const double q = 1 / (b * b);
    return from_upper(-(1 - q * (2 - 10 * q)) / b, q * (1 - q * (6 - q * (50 - 518 * q))));
  }
  if (width < 1e-4) {
    const double x = -b * width;  // density exp(-x t) on 0 < t < 1 in units of the width
    if (std::abs(x) < 1e-3) return from_upper(width * (0.5 - x / 12), width * width * (1.0 / 12 - x * x / 240));
    const double e = std::expm1(x);
    return from_upper(width * (1 / x - 1 / e), width * width * (1 / (x * x) - (e + 1) / (e * e)));
  }
  if (std::isinf(a) && b < -30) {
    const double q = 1 / (b * b);
    return from_upper(inverse_mills(b) + b, q * (1 - q * (6 - q * (50 - 518 * q))));
  }
  const double at_a = std::isinf(a) ? 0 : std::exp(normal_log_pdf(a) - result.log_z);
  const double at_b = std::exp(normal_log_pdf(b) - result.log_z), mean = at_a - at_b;
  const double variance = 1 + (std::isinf(a) ? 0 : a * at_a) - b * at_b - mean * mean;
  const double reach = std::min(width, 40 / std::max(1.0, -b));  // beyond it the density has died out
  if (b > -100 && variance > 1e-3 * std::min(1.0, reach * reach)) {
    result.mean = m + sd * mean;
    result.variance = v * variance;
    return result;
  }
  // Too few digits are left: Simpson's rule for s = b - f.
  const int n = 400;
  double sum = 0, first = 0, second = 0;
  for (int k = 0; k <= n; ++k) {
    const double s = reach * k / n, weight = (k == 0 || k == n ? 1 : k % 2 == 1 ? 4 : 2) * std::exp(b * s - 0.5 * s * s);
    sum += weight;
    first += weight * s;
    second += weight * s * s;
  }
  return from_upper(first / sum, second / sum - first / sum * first / sum);
}

SiteMoments laplace_moments(double b, double m, double v) {
  // Each side is a truncated normal with a shifted mean: exp(-+f / b) N(f | m, v) = exp(-+m / b + v / (2 b^2)) N(f | m -+ v / b,
  // v).
  const double shift = v / b, constant = 0.5 * v / (b * b) - std::log(2 * b);
  SiteMoments right = truncation_moments(0, infinity, m - shift, v), left = truncation_moments(-infinity, 0, m + shift, v);
  right.log_z += constant - m / b;
  left.log_z += constant + m / b;
  return mixture(left, right);
}

SiteMoments gaussian_moments(double y, double w, double m, double v) {
  const double total = v + w;
  return {normal_log_pdf((y - m) / std::sqrt(total)) - 0.5 * std::log(total), m + v * (y - m) / total, v * w / total};
}

SiteMoments spike_slab_moments(double p, double w, double m, double v) {
  SiteMoments spike{normal_log_pdf(m / std::sqrt(v)) - 0.5 * std::log(v), 0, 0}, slab = gaussian_moments(0, w, m, v);
  spike.log_z += p < 1 ? std::log1p(-p) : -infinity;
  slab.log_z += p > 0 ? std::log(p) : -infinity;
  if (p >= 1) return slab;
  if (p <= 0) return spike;
  return mixture(spike, slab);
}

SiteMoments discrete_moments(ConstVectorRef values, ConstVectorRef log_weights, double m, double v) {
  const Eigen::ArrayXd terms = log_weights.array() - 0.5 * (values.array() - m).square() / v;
  const double top = terms.maxCoeff();
  const Eigen::ArrayXd weight = (terms - top).exp();
  const double sum = weight.sum();
  SiteMoments result;
  result.log_z = top + std::log(sum) + normal_log_pdf(0) - 0.5 * std::log(v);
  result.mean = (weight * values.array()).sum() / sum;
  result.variance = (weight * (values.array() - result.mean).square()).sum() / sum;
  return result;
}

SiteMoments quadrature_moments(const std::function<double(double)>& log_t, const Quadrature& rule, double m, double v) {
  const double s = std::sqrt(v);
  const auto log_tilted = [&](double z) { return log_t(m + s * z) - 0.5 * z * z; };
  // Mode and curvature in units of the cavity.
  double z = 0, best = log_tilted(0), curvature = 1;
  for (int step = 0; step < 100; ++step) {
    const double h = 1e-3 * (1 + std::abs(z)), up = log_tilted(z + h), down = log_tilted(z - h);
    const double slope = (up - down) / (2 * h);
    curvature = std::max(1e-3, -(up - 2 * best + down) / (h * h));
    double move = slope / curvature;
    double found = log_tilted(z + move);
    while (!(found >= best) && std::abs(move) > 1e-10) {
      move *= 0.5;
      found = log_tilted(z + move);
    }
    if (!(found >= best)) break;
    z += move;
    best = found;
    if (std::abs(move) < 1e-6) break;
  }
  const double width = 1 / std::sqrt(curvature);
  double sum = 0, first = 0, second = 0;
  for (Index k = 0; k < rule.nodes.size(); ++k) {
    const double at = z + width * rule.nodes[k];
    const double weight = rule.weights[k] * std::exp(log_tilted(at) - best + 0.5 * rule.nodes[k] * rule.nodes[k]);
    sum += weight;
    first += weight * at;
    second += weight * at * at;
  }
  SiteMoments result;
  const double mean = first / sum;
  result.log_z = best + std::log(sum * width);
  result.mean = m + s * mean;
  result.variance = v * std::max(second / sum - mean * mean, 1e-14);
  return result;
}

namespace {

// int w, int w z, int w z^2 of w(z) = exp(log_tilted(z) - top) over an interval, by the 15 points of Gauss and Kronrod.
struct Integrals {
  double sum[3] = {0, 0, 0};
  double error = 0;  // of the first: difference to the 7 points of Gauss
};

template <class Density>
Integrals kronrod(const Density& density, double low, double high) {
  static const double nodes[8] = {0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
                                  0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
                                  0.586087235467691130294144691693013, 0.405845151377397166906606412076961,
                                  0.207784955007898467600689403773245, 0};
  static const double wide[8] = {0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
                                 0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
                                 0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
                                 0.204432940075298892414161999234649, 0.209482141084727828012999174891714};
  static const double gauss[4] = {0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
                                  0.381830050505118944950369775488975, 0.417959183673469387755102040816327};
  const double middle = 0.5 * (low + high), half = 0.5 * (high - low);
  Integrals out;
  double coarse = 0;
  for (int k = 0; k < 8; ++k) {
    for (const double side : {-1.0, 1.0}) {
      if (k == 7 && side > 0) continue;
      const double z = middle + side * half * nodes[k], w = half * density(z);
      out.sum[0] += wide[k] * w;
      out.sum[1] += wide[k] * w * z;
      out.sum[2] += wide[k] * w * z * z;
      if (k % 2 == 1) coarse += gauss[k / 2] * w;
    }
  }
  out.error = std::abs(out.sum[0] - coarse);
  return out;
}

template <class Density>
Integrals adaptive(const Density& density, double low, double high, double tol, int depth) {
  const Integrals whole = kronrod(density, low, high);
  if (depth == 0 || whole.error <= tol) return whole;
  const double middle = 0.5 * (low + high);
  const Integrals left = adaptive(density, low, middle, 0.7 * tol, depth - 1), right = adaptive(density, middle, high, 0.7 * tol, depth - 1);
  Integrals out;
  for (int k = 0; k < 3; ++k) out.sum[k] = left.sum[k] + right.sum[k];
  out.error = left.error + right.error;
  return out;
}

}  // namespace

SiteMoments general_moments(const std::function<double(double)>& log_t, double m, double v) {
  constexpr double negligible = 40;  // exp(-40) of the highest point
  const double s = std::sqrt(v);
  const auto log_tilted = [&](double z) {
    const double value = log_t(m + s * z) - 0.5 * z * z;
    return std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
  };
  double z = 0, top = log_tilted(0), low = 0, high = 0;
  std::vector<std::pair<double, double>> seen;
  for (double at = -8; at <= 8; at += 0.5) {
    const double value = log_tilted(at);
    seen.push_back({at, value});
    if (value > top) {
      top = value;
      z = at;
    }
  }
  for (double step = 0.5; step > 1e-10 * (1 + std::abs(z));) {
    const double up = log_tilted(z + step), down = log_tilted(z - step);
    if (up > top || down > top) {
      z += up >= down ? step : -step;
      top = std::max(up, down);
      step *= 2;
    } else {
      step *= 0.5;
    }
  }
  SiteMoments result;
  if (!std::isfinite(top)) {  // the factor is zero wherever the cavity has mass
    result.log_z = -std::numeric_limits<double>::infinity();
    result.mean = m;
    result.variance = v;
    return result;
  }
  const auto reach = [&](double side) {
    double away = 0.5;
    while (away < 1e8 && log_tilted(z + side * away) > top - negligible) away *= 2;
    return z + side * away;
  };
  low = reach(-1);
  high = reach(1);
  for (const auto& [at, value] : seen) {  // other modes
    if (value <= top - negligible) continue;
    low = std::min(low, at - 1);
    high = std::max(high, at + 1);
  }
  const auto density = [&](double at) { return std::exp(log_tilted(at) - top); };
  const Integrals rough_left = kronrod(density, low, z), rough_right = kronrod(density, z, high);
  const double tol = 1e-9 * std::max(rough_left.sum[0] + rough_right.sum[0], 1e-6 * (high - low));
  const Integrals left = adaptive(density, low, z, tol, 30), right = adaptive(density, z, high, tol, 30);
  const double sum = left.sum[0] + right.sum[0], mean = (left.sum[1] + right.sum[1]) / sum;
  result.log_z = top + std::log(sum) - 0.5 * std::log(2 * std::acos(-1.0));
  result.mean = m + s * mean;
  result.variance = v * std::max((left.sum[2] + right.sum[2]) / sum - mean * mean, 1e-14);
  return result;
}

SiteMoments LogitSites::moments(Index i, double m, double v) const {
  const double y = y_[i];
  return quadrature_moments(
      [y](double f) {
        const double z = y * f;
        return z > 0 ? -std::log1p(std::exp(-z)) : z - std::log1p(std::exp(z));
      },
      rule_, m, v);
}

}  // namespace granary
