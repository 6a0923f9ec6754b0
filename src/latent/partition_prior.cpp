#include "latent/partition_prior.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/math/logspace.h"
#include "core/math/rising.h"
#include "core/math/special.h"

namespace granary::latent {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool finite_positive(double x) { return std::isfinite(x) && x > 0; }

}  // namespace

int PartitionPrior::components() const {
  if (type == PriorType::py && sigma < 0) return static_cast<int>(std::lround(theta / -sigma));
  if (type == PriorType::sticks) return static_cast<int>(a.size()) + 1;
  if (type != PriorType::mfm || law != ComponentLaw::table) return 0;
  Index last = table.size();
  while (last > 0 && table[last - 1] == 0) --last;
  return static_cast<int>(last);
}

void check(const PartitionPrior& p) {
  if (p.type == PriorType::dp) {
    require(finite_positive(p.theta), message("`theta` must be positive for a Dirichlet process, not ", p.theta, "."));
    require(p.shape >= 0 && p.scale_rate >= 0 && (p.shape > 0) == (p.scale_rate > 0), "the gamma law of `theta` needs a positive shape and a positive rate.");
  }
  if (p.type == PriorType::py && p.sigma >= 0) {
    require(p.sigma < 1, message("`sigma` must be less than 1, not ", p.sigma, "."));
    require(std::isfinite(p.theta) && p.theta > -p.sigma, message("`theta` must be greater than -sigma, ", -p.sigma, ", not ", p.theta, "."));
  }
  if (p.type == PriorType::py && p.sigma < 0) {
    const double k = p.theta / -p.sigma;
    require(std::isfinite(k) && k > 0.5 && k < 1e9 && std::abs(k - std::round(k)) < 1e-8 * k,
            message("with a negative `sigma`, `theta` must be a whole multiple of -sigma, but theta / -sigma is ", k, "."));
  }
  if (p.type == PriorType::mfm) {
    require(finite_positive(p.gamma), message("`gamma` must be positive, not ", p.gamma, "."));
    if (p.law == ComponentLaw::table) {
      require(p.table.size() > 0 && p.table.allFinite() && p.table.minCoeff() >= 0 && std::abs(p.table.sum() - 1) < 1e-8,
              "the probabilities of the number of components must not be negative and sum to 1.");
    } else {
      require(finite_positive(p.rate) && (p.law == ComponentLaw::poisson || p.rate < 1), "the law of the number of components needs a positive parameter (below 1 for geometric).");
    }
  }
  if (p.type == PriorType::sticks) {
    require(p.a.size() > 0 && p.a.size() == p.b.size() && p.a.minCoeff() > 0 && p.b.minCoeff() > 0, "`a` and `b` of the sticks must be positive and of the same length.");
  }
}

double log_component_probability(const PartitionPrior& p, double k) {
  if (k < 1) return -infinity;
  if (p.law == ComponentLaw::table) return k <= static_cast<double>(p.table.size()) ? std::log(p.table[static_cast<Index>(k) - 1]) : -infinity;
  if (p.law == ComponentLaw::poisson) return (k - 1) * std::log(p.rate) - p.rate - log_factorial(k - 1);
  return std::log(p.rate) + (k - 1) * std::log1p(-p.rate);
}

double log_component_term(const PartitionPrior& p, Index n, Index t, double k) {
  if (k < static_cast<double>(t)) return -infinity;
  const double prior = log_component_probability(p, k);
  if (prior == -infinity) return prior;
  return log_rising(k - static_cast<double>(t) + 1, static_cast<double>(t)) + prior - log_rising(p.gamma * k, static_cast<double>(n));
}

PartitionLaw::PartitionLaw(const PartitionPrior& prior, Index n) : prior_(prior), n_(n) {
  check(prior);
  if (prior.type == PriorType::sticks) throw InputError("truncated sticks can be drawn from, but the law of their partitions has no closed form: use prior_dp(), prior_py() or prior_mfm().");
  if (n < 1) throw InputError("a partition needs at least one row.");
  if (prior_.type == PriorType::dp) prior_.sigma = 0;
  if (prior_.type == PriorType::py && prior_.sigma < 0) prior_.theta = -prior_.sigma * prior_.components();
  shift_ = prior_.type == PriorType::mfm ? prior_.gamma : -prior_.sigma;
}

void PartitionLaw::set_theta(double theta) { prior_.theta = theta; }

// Terms rise and then fall in k; they are summed from k = t until a term is negligible and past the largest.
double PartitionLaw::log_v(Index t) const {
  const double theta = prior_.theta, sigma = prior_.sigma;
  if (t < 1 || t > n_) return -infinity;
  const int most = prior_.components();
  if (most > 0 && t > most) return -infinity;
  if (prior_.type == PriorType::dp) return static_cast<double>(t) * std::log(theta) - log_rising(theta, static_cast<double>(n_));
  if (prior_.type == PriorType::py) {
    return log_rising(theta + sigma, static_cast<double>(t) - 1, sigma) - log_rising(theta + 1, static_cast<double>(n_) - 1);
  }
  const auto at = static_cast<std::size_t>(t);
  if (log_v_.size() <= at) log_v_.resize(at + 1, std::numeric_limits<double>::quiet_NaN());
  if (!std::isnan(log_v_[at])) return log_v_[at];
  LogSumExp sum;
  double last = -infinity;
  for (double k = static_cast<double>(t); most == 0 || k <= most; k += 1) {
    const double term = log_component_term(prior_, n_, t, k);
    sum.add(term);
    // Past the mode a ratio of terms bounds the tail as a geometric series would.
    if (most == 0 && term < last && term - sum.value() < -33 && term - last < -1e-3) {
      if (term - std::log(-std::expm1(term - last)) - sum.value() < -32.2) break;
    }
    if (most == 0 && k > 1e7) break;
    last = term;
  }
  return log_v_[at] = sum.value();
}

double PartitionLaw::log_size(double s) const {
  return prior_.type == PriorType::mfm ? log_rising(prior_.gamma, s) : log_rising(1 - prior_.sigma, s - 1);
}

double PartitionLaw::log_partition(const std::vector<int>& sizes) const {
  double value = log_v(static_cast<Index>(sizes.size()));
  for (const int s : sizes) value += log_size(s);
  return value;
}

double PartitionLaw::open(Index t) const {
  if (prior_.type != PriorType::mfm) {
    const double weight = prior_.theta + static_cast<double>(t) * prior_.sigma;
    return prior_.sigma < 0 && t >= prior_.components() ? 0 : weight;
  }
  const double ratio = log_v(t + 1) - log_v(t);
  return std::isnan(ratio) ? 0 : prior_.gamma * std::exp(ratio);
}

VectorXd prior_of_count(const PartitionPrior& prior, Index n, Monitor& monitor) {
  const PartitionLaw law(prior, n);
  const int components = prior.components();
  const Index most = components > 0 ? std::min<Index>(n, components) : n;
  VectorXd out = VectorXd::Zero(most);
  if (prior.type == PriorType::mfm) {
    // log of the sum over partitions of m rows into t blocks of prod gamma^(s_i)
    VectorXd sum = VectorXd::Constant(most, -infinity);
    sum[0] = std::log(prior.gamma);
    for (Index m = 1; m < n; ++m) {
      monitor.check();
      for (Index t = std::min(m + 1, most); t >= 1; --t) {
        const double stay = sum[t - 1] == -infinity ? -infinity : sum[t - 1] + std::log(static_cast<double>(m) + static_cast<double>(t) * prior.gamma);
        sum[t - 1] = t > 1 ? log_sum_exp(stay, sum[t - 2] + std::log(prior.gamma)) : stay;
      }
    }
    for (Index t = 1; t <= most; ++t) out[t - 1] = std::exp(sum[t - 1] + law.log_v(t));
    return out;
  }
  const double sigma = law.prior().sigma, theta = law.prior().theta;
  out[0] = 1;
  for (Index m = 1; m < n; ++m) {
    monitor.check();
    const double total = static_cast<double>(m) + theta;
    for (Index t = std::min(m + 1, most); t >= 1; --t) {
      const double tt = static_cast<double>(t);
      const double stay = t <= m ? out[t - 1] * (static_cast<double>(m) - tt * sigma) / total : 0;
      out[t - 1] = stay + (t > 1 ? out[t - 2] * (theta + (tt - 1) * sigma) / total : 0);
    }
  }
  return out;
}

double expected_count(const PartitionPrior& p, double n) {
  const double sigma = p.type == PriorType::dp ? 0 : p.sigma;
  if (sigma == 0) return p.theta * digamma_difference(p.theta, n);
  // (theta + sigma)^(n) / theta^(n) - 1, times theta / sigma; at theta = 0 its limit
  if (p.theta == 0) return std::exp(log_rising(sigma, n) - log_rising(1, n - 1)) / sigma;
  if (p.theta > 0) return p.theta / sigma * std::expm1(log_rising(p.theta + sigma, n) - log_rising(p.theta, n));
  const double ratio = std::exp(log_rising(p.theta + sigma, n) - log_rising(p.theta + 1, n - 1));
  return (ratio - p.theta) / sigma;
}

VectorXd components_given_count(const PartitionPrior& prior, Index n, Index t) {
  if (prior.type != PriorType::mfm) throw InputError("only a mixture of finite mixtures has a law of the number of components.");
  std::vector<double> terms;
  LogSumExp sum;
  const int most = prior.components();
  double last = -infinity;
  for (double k = 1; most == 0 || k <= most; k += 1) {
    const double term = log_component_term(prior, n, t, k);
    terms.push_back(term);
    sum.add(term);
    if (most == 0 && k > static_cast<double>(t) && term < last && term - sum.value() < -28) break;
    if (most == 0 && k > 1e6) break;
    last = term;
  }
  VectorXd out(static_cast<Index>(terms.size()));
  for (Index k = 0; k < out.size(); ++k) out[k] = std::exp(terms[static_cast<std::size_t>(k)] - sum.value());
  return out;
}

namespace {

// Rows join the block of an earlier one (its weight s), or, where the weight is s + shift, one of the blocks alike.
VectorXi draw_urn(double sigma, double theta, int components, Index n, Rng& rng) {
  VectorXi label(n);
  std::vector<double> size;
  label[0] = 0;
  size.push_back(1);
  for (Index m = 1; m < n; ++m) {
    const double t = static_cast<double>(size.size()), done = static_cast<double>(m);
    const double fresh = components > 0 && t >= components ? 0 : theta + t * sigma;
    int at = -1;
    if (rng.uniform() * (done + theta) >= fresh) {
      if (sigma >= 0) {
        do at = label[static_cast<Index>(rng.below(static_cast<std::uint64_t>(m)))];
        while (sigma > 0 && rng.uniform() * size[static_cast<std::size_t>(at)] < sigma);
      } else {
        at = rng.uniform() * (done - t * sigma) < done ? label[static_cast<Index>(rng.below(static_cast<std::uint64_t>(m)))]
                                                       : static_cast<int>(rng.below(static_cast<std::uint64_t>(size.size())));
      }
    }
    if (at < 0) {
      at = static_cast<int>(size.size());
      size.push_back(0);
    }
    size[static_cast<std::size_t>(at)] += 1;
    label[m] = at;
  }
  return label;
}

double draw_components(const PartitionPrior& prior, Rng& rng) {
  if (prior.law == ComponentLaw::poisson) return 1 + static_cast<double>(rng.poisson(prior.rate));
  if (prior.law == ComponentLaw::geometric) return 1 + static_cast<double>(rng.geometric(prior.rate));
  return 1 + rng.categorical(prior.table);
}

VectorXi draw_sticks(const PartitionPrior& prior, Index n, Rng& rng) {
  const Index k = prior.a.size() + 1;
  VectorXd weight(k);
  double left = 1;
  for (Index i = 0; i + 1 < k; ++i) {
    const double v = rng.beta(prior.a[i], prior.b[i]);
    weight[i] = left * v;
    left *= 1 - v;
  }
  weight[k - 1] = left;
  const AliasTable table(weight);
  VectorXi label(n);
  for (Index i = 0; i < n; ++i) label[i] = table.draw(rng);
  relabel(label);
  return label;
}

}  // namespace

VectorXi draw_partition(const PartitionPrior& prior, Index n, Rng& rng) {
  check(prior);
  if (n < 1) return VectorXi();
  if (prior.type == PriorType::sticks) return draw_sticks(prior, n, rng);
  if (prior.type == PriorType::mfm) {
    const double k = draw_components(prior, rng);
    return draw_urn(-prior.gamma, prior.gamma * k, static_cast<int>(std::min(k, 2e9)), n, rng);
  }
  const double theta = prior.learns_theta() ? rng.gamma(prior.shape, 1 / prior.scale_rate) : prior.theta;
  return draw_urn(prior.type == PriorType::py ? prior.sigma : 0, theta, prior.components(), n, rng);
}

int relabel(VectorXi& labels) {
  std::vector<int> seen;
  int next = 0;
  for (Index i = 0; i < labels.size(); ++i) {
    const auto at = static_cast<std::size_t>(labels[i]);
    if (at >= seen.size()) seen.resize(at + 1, -1);
    if (seen[at] < 0) seen[at] = next++;
    labels[i] = seen[at];
  }
  return next;
}

PriorCount prior_count(const PartitionPrior& prior, Index n, Monitor& monitor) {
  PriorCount out;
  out.probability = prior_of_count(prior, n, monitor);
  double square = 0;
  for (Index t = 1; t <= out.probability.size(); ++t) out.mean += static_cast<double>(t) * out.probability[t - 1];
  for (Index t = 1; t <= out.probability.size(); ++t) square += std::pow(static_cast<double>(t) - out.mean, 2) * out.probability[t - 1];
  out.sd = std::sqrt(square);
  if (prior.type != PriorType::mfm) return out;
  std::vector<double> p;
  double sum = 0;
  const int most = prior.components();
  for (double k = 1; most == 0 ? sum < 1 - 1e-10 && k < 1e6 : k <= most; k += 1) {
    p.push_back(std::exp(log_component_probability(prior, k)));
    sum += p.back();
  }
  out.components = Eigen::Map<const VectorXd>(p.data(), static_cast<Index>(p.size()));
  return out;
}

Eigen::MatrixXi draw_partitions(const PartitionPrior& prior, Index n, Index draws, Rng& rng, Monitor& monitor) {
  Eigen::MatrixXi out(draws, n);
  for (Index d = 0; d < draws; ++d) {
    monitor.check();
    Rng mine = rng.stream(static_cast<std::uint64_t>(d));
    out.row(d) = draw_partition(prior, n, mine).transpose();
  }
  return out;
}

}  // namespace granary::latent
