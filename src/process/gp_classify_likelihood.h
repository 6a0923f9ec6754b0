// The likelihood of a class label y = +-1 given the latent value f: probit Phi(y f) or logit 1 / (1 + exp(-y f)), with the
// derivatives of its logarithm in f, stable far into the tails.
#pragma once

#include <memory>

#include "core/base/fields.h"
#include "core/infer/ep_sites.h"
#include "core/base/types.h"

namespace granary::process {

enum class Link { probit, logit };
inline Names<Link> names(Link) { return {{Link::probit, "probit"}, {Link::logit, "logit"}}; }

struct LikelihoodAt {
  double log_p = 0;
  double first = 0;      // d log p / df
  double curvature = 0;  // W = -d^2 log p / df^2, positive
  double slope = 0;      // dW / df
};

LikelihoodAt class_likelihood(Link link, double y, double f);
double class_log_likelihood(Link link, double y, double f);
double class_log_likelihood(Link link, ConstVectorRef y, ConstVectorRef f);  // summed

std::unique_ptr<EpSites> class_sites(Link link, ConstVectorRef y);

// Standard deviation of p(y = 1 | f) for f ~ N(m, v), given its mean.
double class_probability_sd(Link link, double m, double v, double mean);

}  // namespace granary::process
