#include "core/math/marchenko_pastur.h"

#include <algorithm>
#include <boost/math/constants/constants.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <limits>

#include "core/base/errors.h"

namespace granary {

namespace {

constexpr double pi = boost::math::constants::pi<double>();

// Beyond this ratio the closed form of the distribution function cancels; two terms of its expansion in 1 / sqrt(alpha), of which
// the first is the semicircle law, are as good.
constexpr double semicircle_from = 1e8;

}  // namespace

MarchenkoPastur::MarchenkoPastur(double alpha) : alpha_(alpha) {
  if (!(alpha > 0) || !std::isfinite(alpha)) throw InputError("alpha, examples per weight, must be positive and finite.");
  const double s = std::sqrt(alpha);
  lower_ = (1 - s) * (1 - s);
  upper_ = (1 + s) * (1 + s);
}

double MarchenkoPastur::root(double l) const { return std::sqrt(std::max(0.0, (l + lower_) * (l + upper_))); }

double MarchenkoPastur::mean_shrinkage(double l) const { return 2 * alpha_ / (l + 1 + alpha_ + root(l)); }

double MarchenkoPastur::mean_curvature(double l) const {
  const double s = root(l);
  // S - l, which for l > 0 is a quotient rather than a difference: S^2 - l^2 = 2 l (1 + alpha) + (1 - alpha)^2.
  const double rest = l > 0 ? (2 * l * (1 + alpha_) + (1 - alpha_) * (1 - alpha_)) / (s + l) : s - l;
  return alpha_ * (1 + alpha_ + rest) / (l + 1 + alpha_ + s);
}

double MarchenkoPastur::mean_variance(double l) const {
  const double s = root(l);
  return s > 0 ? 2 * alpha_ / (s * (l + 1 + alpha_ + s)) : std::numeric_limits<double>::infinity();
}

double MarchenkoPastur::mean_squared_bias(double l) const {
  if (l == 0) return atom();
  // l^2/(a+l)^2 = l/(a+l) - l a/(a+l)^2
  return std::max(0.0, 1 - mean_shrinkage(l) - l * mean_variance(l));
}

Quadrature MarchenkoPastur::quadrature(int n) const {
  if (n < 2) throw InputError("a quadrature of the spectrum needs at least two nodes.");
  const double low = std::sqrt(lower_), high = std::sqrt(upper_);
  const double half = (high - low) / 2;
  const Index first = alpha_ < 1 ? 1 : 0;
  Quadrature rule;
  rule.nodes.resize(first + n);
  rule.weights.resize(first + n);
  for (int k = 0; k < n; ++k) {
    const double from_low = (k + 0.5) * pi / n;  // pi - theta
    const double sine = std::sin(from_low), tail = std::sin(from_low / 2);
    const double s = low + 2 * half * tail * tail;  // mid - half cos, without the difference
    rule.nodes[first + k] = s * s;
    rule.weights[first + k] = half * half * sine * sine * std::sqrt((high + s) * (s + low)) / (pi * s) * (pi / n);
  }
  // The rule is exact up to rounding except next to alpha = 1; scaling by its own total keeps the mass exact there too.
  const double total = rule.weights.tail(n).sum();
  rule.weights.tail(n) *= (1 - atom()) / total;
  if (first > 0) {
    rule.nodes[0] = 0;
    rule.weights[0] = atom();
  }
  return rule;
}

// For alpha < 1 by duality: the non-zero eigenvalues of X'X and XX' agree, so the mass is alpha times that of the law at 1/alpha.
double MarchenkoPastur::upper_mass(double phi) const {
  const double ratio = std::max(alpha_, 1 / alpha_), share = std::min(1.0, alpha_);
  if (ratio > semicircle_from) {
    const double sine = std::sin(phi);
    return share / pi * (phi - sine * std::cos(phi) - 4 * sine * sine * sine / (3 * std::sqrt(ratio)));
  }
  const double s = std::sqrt(ratio);
  const double angle = phi >= pi ? pi / 2 : std::atan((s - 1) / (s + 1) * std::tan(phi / 2));
  return share * (2 * ratio / pi) *
         (-std::sin(phi) / (2 * s) + (1 + ratio) * phi / (4 * ratio) - (ratio - 1) / (2 * ratio) * angle);
}

double MarchenkoPastur::upper_mean(double phi) const { return alpha_ * (phi - std::sin(phi) * std::cos(phi)) / pi; }

SpectrumBlocks spectrum_blocks(const MarchenkoPastur& law, int blocks) {
  if (blocks < 1) throw InputError("there must be at least one block.");
  const double mass = 1 - law.atom();
  VectorXd phi(blocks + 1);  // where block c ends, counted from the largest eigenvalues
  phi[0] = 0;
  for (int c = 1; c <= blocks; ++c) {
    const double wanted = static_cast<double>(c) / blocks;
    if (wanted >= mass || c == blocks) {
      phi[c] = pi;
      continue;
    }
    const auto excess = [&](double x) { return law.upper_mass(x) - wanted; };
    std::uintmax_t steps = 200;
    const double start = excess(phi[c - 1]);
    if (start >= 0) {
      phi[c] = phi[c - 1];
      continue;
    }
    const auto found = boost::math::tools::toms748_solve(excess, phi[c - 1], pi, start, mass - wanted,
                                                         boost::math::tools::eps_tolerance<double>(50), steps);
    phi[c] = (found.first + found.second) / 2;
  }
  const auto eigenvalue = [&](double x) {
    const double half_sine = std::sin((pi - x) / 2);
    return law.lower() + 4 * std::sqrt(law.alpha()) * half_sine * half_sine;
  };
  SpectrumBlocks result{VectorXd(blocks), VectorXd(blocks), VectorXd(blocks)};
  for (int c = 0; c < blocks; ++c) {
    const int from_below = blocks - 1 - c;
    const double a = phi[c], b = phi[c + 1];
    result.mean[from_below] = blocks * (law.upper_mean(b) - law.upper_mean(a));
    result.upper[from_below] = a >= pi ? 0 : eigenvalue(a);
    // A block that reaches into the atom starts at zero.
    result.lower[from_below] = static_cast<double>(c + 1) / blocks > mass ? 0 : eigenvalue(b);
  }
  return result;
}

SpectrumBlocks spectrum_blocks(ConstVectorRef eigenvalues, int blocks) {
  const Index n = eigenvalues.size();
  if (blocks < 1 || blocks > n)
    throw InputError(message("the number of blocks must lie between 1 and ", n, ", the number of eigenvalues."));
  std::vector<double> sorted(eigenvalues.data(), eigenvalues.data() + n);
  std::sort(sorted.begin(), sorted.end());
  SpectrumBlocks result{VectorXd::Zero(blocks), VectorXd(blocks), VectorXd(blocks)};
  const double size = static_cast<double>(n) / blocks;  // eigenvalues per block, not always whole
  for (int c = 0; c < blocks; ++c) {
    const double from = c * size, to = (c + 1) * size;
    const Index last = std::min<Index>(n, static_cast<Index>(std::ceil(to - 1e-9)));
    const Index first = static_cast<Index>(std::floor(from + 1e-9));
    for (Index i = first; i < last; ++i) {
      const double share = std::min(to, i + 1.0) - std::max(from, static_cast<double>(i));
      result.mean[c] += std::max(0.0, share) * sorted[i] / size;
    }
    result.lower[c] = sorted[first];
    result.upper[c] = sorted[last - 1];
  }
  return result;
}

}  // namespace granary
