#include "core/random/rng.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"

namespace granary {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void require_positive(double value, const char* sampler, const char* what) {
  if (!(value > 0 && value < infinity)) {
    throw InputError(message("Rng::", sampler, " needs a positive, finite ", what, ", not ", value, "."));
  }
}

// Layers of equal area under exp(-x^2 / 2), x > 0 (Marsaglia, Tsang 2000, with 256 layers). Layer i spans [0, x[i]) and lies
// wholly under the curve on [0, x[i + 1]); the lowest one carries the tail beyond x[1].
struct Ziggurat {
  static constexpr int layers = 256;
  static constexpr double tail_start = 3.6541528853610087716;
  static constexpr double area = 0.0049286732339746553474;
  double x[layers + 1], height[layers + 1];

  Ziggurat() {
    height[1] = std::exp(-0.5 * tail_start * tail_start);
    x[0] = area / height[1];
    height[0] = 0;
    x[1] = tail_start;
    for (int i = 2; i < layers; ++i) {
      height[i] = height[i - 1] + area / x[i - 1];
      x[i] = std::sqrt(-2 * std::log(height[i]));
    }
    x[layers] = 0;
    height[layers] = 1;
  }
};

const Ziggurat& ziggurat() {
  static const Ziggurat tables;
  return tables;
}

// Standard normal on [a, b] with 0 <= a < b. The hat is exponential with rate a, cut at b: its ratio to the density is
// exp(-(x - a)^2 / 2), so it is good in far tails and in narrow intervals alike, and only fails for wide ones near zero.
double upper_tail_normal(Rng& rng, double a, double b) {
  const double width = b - a;
  if (a < 0.5 && width > 2) {
    for (;;) {
      const double x = std::abs(rng.normal());
      if (x >= a && x <= b) return x;
    }
  }
  for (;;) {
    const double u = rng.uniform_open();
    const double step = a * width > 0 ? -std::log1p(u * std::expm1(-a * width)) / a : u * width;
    if (0.5 * step * step <= rng.exponential()) return std::min(a + step, b);
  }
}

double standard_truncated_normal(Rng& rng, double a, double b) {
  if (a >= 0) return upper_tail_normal(rng, a, b);
  if (b <= 0) return -upper_tail_normal(rng, -b, -a);
  if (b - a > 2) {
    for (;;) {
      const double x = rng.normal();
      if (x >= a && x <= b) return x;
    }
  }
  for (;;) {
    const double x = a + (b - a) * rng.uniform_open();
    if (0.5 * x * x <= rng.exponential()) return std::min(std::max(x, a), b);
  }
}

void require_factor(Index p, ConstMatrixRef cholesky, const char* sampler) {
  if (cholesky.rows() != p || cholesky.cols() != p) {
    throw InputError(message("Rng::", sampler, " needs a ", p, " x ", p, " Cholesky factor, not ", cholesky.rows(), " x ",
                             cholesky.cols(), "."));
  }
}

}  // namespace

double Rng::uniform(double lower, double upper) {
  if (!(lower <= upper && lower > -infinity && upper < infinity)) {
    throw InputError(message("Rng::uniform needs finite bounds in order, not [", lower, ", ", upper, "]."));
  }
  const double u = uniform();
  return std::min(std::max((1 - u) * lower + u * upper, lower), upper);  // upper - lower might overflow
}

double Rng::normal() {
  const Ziggurat& table = ziggurat();
  for (;;) {
    const std::uint64_t bits = bits_();  // layer, sign and position come from separate bits
    const int layer = static_cast<int>(bits & 255);
    const double sign = bits & 256 ? -1 : 1;
    const double x = to_unit(bits) * table.x[layer];
    if (x < table.x[layer + 1]) return sign * x;
    if (layer == 0) {
      for (;;) {
        const double beyond = exponential() / Ziggurat::tail_start;
        if (2 * exponential() > beyond * beyond) return sign * (Ziggurat::tail_start + beyond);
      }
    }
    const double y = table.height[layer] + uniform() * (table.height[layer + 1] - table.height[layer]);
    if (y < std::exp(-0.5 * x * x)) return sign * x;
  }
}

double Rng::normal(double mean, double sd) {
  if (!(sd >= 0 && sd < infinity) || !std::isfinite(mean)) {
    throw InputError(message("Rng::normal needs a finite mean and sd >= 0, not ", mean, " and ", sd, "."));
  }
  return mean + sd * normal();
}

double Rng::exponential() { return -std::log(uniform_open()); }

double Rng::exponential(double rate) {
  require_positive(rate, "exponential", "rate");
  return exponential() / rate;
}

double Rng::gumbel() { return -std::log(exponential()); }

double Rng::gamma(double shape, double scale) {
  require_positive(shape, "gamma", "shape");
  require_positive(scale, "gamma", "scale");
  if (shape < 1) return scale * std::exp(log_gamma_draw(shape));
  // Marsaglia, Tsang (2000): d v with v = (1 + c z)^3. Writing v = 1 + t keeps log v - (v - 1) accurate for huge shapes.
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double z = normal(), step = c * z;
    if (step <= -1) continue;
    const double t = step * (3 + step * (3 + step));
    const double u = uniform_open(), square = z * z;
    if (u < 1 - 0.0331 * square * square || std::log(u) < 0.5 * square + d * (std::log1p(t) - t)) return scale * d * (1 + t);
  }
}

double Rng::log_gamma_draw(double shape) {
  require_positive(shape, "log_gamma_draw", "shape");
  if (shape >= 1) return std::log(gamma(shape));
  // gamma(a) = gamma(a + 1) U^(1/a) in distribution.
  const double log_larger = std::log(gamma(shape + 1));
  return log_larger - exponential() / shape;
}

double Rng::beta(double a, double b) {
  require_positive(a, "beta", "first shape");
  require_positive(b, "beta", "second shape");
  if (a >= 1 && b >= 1) {
    const double x = gamma(a), y = gamma(b);
    return x / (x + y);
  }
  const double log_x = log_gamma_draw(a), log_y = log_gamma_draw(b);
  return log_x < log_y ? std::exp(log_x - log_y) / (1 + std::exp(log_x - log_y)) : 1 / (1 + std::exp(log_y - log_x));
}

double Rng::chi_square(double df) {
  require_positive(df, "chi_square", "df");
  return gamma(0.5 * df, 2);
}

double Rng::student_t(double df) {
  if (!(df > 0)) throw InputError(message("Rng::student_t needs positive degrees of freedom, not ", df, "."));
  const double z = normal();
  if (df == infinity) return z;
  if (df >= 2) return z / std::sqrt(gamma(0.5 * df) / (0.5 * df));
  return z * std::exp(0.5 * (std::log(0.5 * df) - log_gamma_draw(0.5 * df)));
}

double Rng::truncated_normal(double lower, double upper, double mean, double sd) {
  if (!(lower <= upper && lower < infinity && upper > -infinity)) {
    throw InputError(message("Rng::truncated_normal needs lower <= upper, not [", lower, ", ", upper, "]."));
  }
  if (!(sd > 0 && sd < infinity) || !std::isfinite(mean)) {
    throw InputError(message("Rng::truncated_normal needs a finite mean and a positive sd, not ", mean, " and ", sd, "."));
  }
  if (lower == upper) return lower;
  const double a = (lower - mean) / sd, b = (upper - mean) / sd;
  if (!(a < b)) return lower;  // the interval is narrower than the rounding of its distance from the mean
  return std::min(std::max(mean + sd * standard_truncated_normal(*this, a, b), lower), upper);
}

VectorXd Rng::dirichlet(ConstVectorRef alpha) {
  if (alpha.size() == 0) throw InputError("Rng::dirichlet needs at least one concentration.");
  VectorXd draw(alpha.size());
  for (Index i = 0; i < alpha.size(); ++i) {
    require_positive(alpha[i], "dirichlet", "concentration");
    draw[i] = log_gamma_draw(alpha[i]);
  }
  draw = (draw.array() - draw.maxCoeff()).exp();
  return draw / draw.sum();
}

VectorXd Rng::normals(Index n) {
  VectorXd z(n);
  for (Index i = 0; i < n; ++i) z[i] = normal();
  return z;
}

VectorXd Rng::multivariate_normal(ConstVectorRef mean, ConstMatrixRef cholesky) {
  require_factor(mean.size(), cholesky, "multivariate_normal");
  return mean + cholesky.triangularView<Eigen::Lower>() * normals(mean.size());
}

VectorXd Rng::multivariate_normal_precision(ConstVectorRef mean, ConstMatrixRef cholesky) {
  require_factor(mean.size(), cholesky, "multivariate_normal_precision");
  VectorXd z = normals(mean.size());
  cholesky.transpose().triangularView<Eigen::Upper>().solveInPlace(z);
  return mean + z;
}

MatrixXd Rng::wishart_factor(double df, ConstMatrixRef cholesky) {
  const Index p = cholesky.rows();
  require_factor(p, cholesky, "wishart");
  if (!(df > static_cast<double>(p) - 1 && df < infinity)) {
    throw InputError(message("Rng::wishart needs more than ", p - 1, " degrees of freedom for ", p, " variables, not ", df, "."));
  }
  MatrixXd factor = MatrixXd::Zero(p, p);
  for (Index j = 0; j < p; ++j) {
    factor(j, j) = std::sqrt(chi_square(df - static_cast<double>(j)));
    for (Index i = j + 1; i < p; ++i) factor(i, j) = normal();
  }
  return cholesky.triangularView<Eigen::Lower>() * factor;
}

MatrixXd Rng::wishart(double df, ConstMatrixRef cholesky) {
  const MatrixXd factor = wishart_factor(df, cholesky);
  MatrixXd draw = factor.triangularView<Eigen::Lower>() * factor.transpose();
  draw.triangularView<Eigen::StrictlyUpper>() = draw.transpose();  // symmetric to the last bit
  return draw;
}

}  // namespace granary
