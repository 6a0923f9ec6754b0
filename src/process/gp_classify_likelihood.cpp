#include "process/gp_classify_likelihood.h"

#include <algorithm>
#include <boost/math/special_functions/owens_t.hpp>
#include <cmath>

#include "core/math/special.h"

namespace granary::process {

namespace {

double log_logistic(double z) { return z > 0 ? -std::log1p(std::exp(-z)) : z - std::log1p(std::exp(z)); }

}  // namespace

LikelihoodAt class_likelihood(Link link, double y, double f) {
  const double z = y * f;
  LikelihoodAt at;
  if (link == Link::logit) {
    const double miss = z > 0 ? std::exp(-z) / (1 + std::exp(-z)) : 1 / (1 + std::exp(z)), hit = 1 - miss;
    at.log_p = log_logistic(z);
    at.first = y * miss;
    at.curvature = z > 0 ? miss * hit : miss * std::exp(log_logistic(z));
    at.slope = y * at.curvature * (miss - hit);
    return at;
  }
  const double rho = inverse_mills(z);
  at.log_p = normal_log_cdf(z);
  at.first = y * rho;
  if (z < -200) {  // rho + z cancels: the series of Mills' ratio
    const double q = 1 / (z * z);
    at.curvature = 1 - q * (1 - q * (6 - 50 * q));
    at.slope = y * 2 * q / z * (1 - 12 * q);
  } else {
    at.curvature = rho * (rho + z);
    at.slope = y * rho * (1 - z * z - 3 * z * rho - 2 * rho * rho);
  }
  return at;
}

double class_log_likelihood(Link link, double y, double f) {
  return link == Link::probit ? normal_log_cdf(y * f) : log_logistic(y * f);
}

double class_log_likelihood(Link link, ConstVectorRef y, ConstVectorRef f) {
  double sum = 0;
  for (Index i = 0; i < y.size(); ++i) sum += class_log_likelihood(link, y[i], f[i]);
  return sum;
}

std::unique_ptr<EpSites> class_sites(Link link, ConstVectorRef y) {
  if (link == Link::probit) return std::make_unique<ProbitSites>(y);
  return std::make_unique<LogitSites>(y);
}

double class_probability_sd(Link link, double m, double v, double mean) {
  double square = 0;
  if (link == Link::probit) {  // E Phi(f)^2 = P(two standard normals below f) = Phi(h) - 2 T(h, 1 / sqrt(1 + 2 v))
    square = mean - 2 * boost::math::owens_t(m / std::sqrt(1 + v), 1 / std::sqrt(1 + 2 * v));
  } else {
    static const Quadrature rule = gauss_hermite(64);
    for (Index k = 0; k < rule.nodes.size(); ++k) {
      square += rule.weights[k] * std::exp(2 * log_logistic(m + std::sqrt(v) * rule.nodes[k]));
    }
  }
  return std::sqrt(std::max(0.0, square - mean * mean));
}

}  // namespace granary::process
