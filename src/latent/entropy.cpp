#include "latent/entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/errors.h"
#include "core/math/special.h"

namespace granary::latent {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0; }

struct PluginMoments {
  double entropy, variance;  // variance of log p under p
};

PluginMoments plugin(const FrequencyTable& t) {
  const VectorXd share = t.count / t.total;
  const VectorXd log_share = share.unaryExpr([](double p) { return std::log(p); });
  const VectorXd mass = share.cwiseProduct(t.times);
  const double mean = mass.dot(log_share);
  double second = 0;
  for (Index i = 0; i < mass.size(); ++i) second += mass[i] * (log_share[i] - mean) * (log_share[i] - mean);
  return {std::max(-mean, 0.0), second};
}

// One draw is taken away from a symbol seen j times, for every j: the mean and the jackknife variance of value(j).
template <class Value>
std::pair<double, double> jackknife(const FrequencyTable& t, const Value& value) {
  VectorXd without(t.count.size());
  double mean = 0;
  for (Index i = 0; i < t.count.size(); ++i) {
    without[i] = value(t.count[i]);
    mean += t.times[i] * t.count[i] / t.total * without[i];
  }
  double variance = 0;
  for (Index i = 0; i < t.count.size(); ++i) variance += t.times[i] * t.count[i] * (without[i] - mean) * (without[i] - mean);
  return {mean, variance * (t.total - 1) / t.total};
}

// n log n - (n - 1) log(n - 1), without the cancellation that eats all digits of a large n.
double step_x_log_x(double n) { return n > 1 ? std::log(n) - (n - 1) * std::log1p(-1 / n) : 0; }

// With H = log N - S / N, S the sum of n log n, and s(n) = n log n - (n - 1) log(n - 1): N H - (N - 1) H without a draw of a symbol seen j times = s(N) - s(j).
void plugin_jackknife(const FrequencyTable& t, EntropyResult& out) {
  const auto [mean, variance] = jackknife(t, step_x_log_x);
  out.estimate = t.total > 1 ? std::max(0.0, step_x_log_x(t.total) - mean) : 0;
  out.sd = t.total > 1 ? std::sqrt(variance) / (t.total - 1) : nan;
}

// Horvitz and Thompson's sum of one symbol, of N draws with coverage C. Where N p > 40 the symbol was as good as certain to be seen: the divisor rounds to 1.
constexpr double certain = 40;
double covered_term(double n, double total, double coverage) {
  const double p = coverage * n / total;
  if (!(n > 0)) return 0;
  const double up = -p * std::log(p);
  return total * p > certain ? up : up / -std::expm1(total * std::log1p(-p));
}

double coverage_of(bool vu, double singletons, double total) {
  if (vu) return 1 - singletons / (total + 1);
  return singletons >= total && total > 1 ? 1 / total : 1 - std::min(singletons, total - 1) / total;
}

void coverage_adjusted(const FrequencyTable& t, bool vu, EntropyResult& out) {
  const double singletons = t.seen(1), total = t.total;
  const Index size = t.count.size();
  // A symbol of n > 2 `certain` / C draws is certain in all sums below, and C n log(C n / N) / N is linear in n and n log n: sums of those serve every C and N.
  const double coverage = coverage_of(vu, singletons, total), sure = 2 * certain / coverage;
  Index small = 0;
  while (small < size && t.count[small] <= sure) ++small;
  double draws = 0, logs = 0;
  for (Index i = small; i < size; ++i) {
    const double mass = t.times[i] * t.count[i];
    draws += mass;
    logs += mass * std::log(t.count[i]);
  }
  const auto sum = [&](double of, double c) {
    double value = -(c / of) * (logs + std::log(c / of) * draws);
    for (Index i = 0; i < small; ++i) value += t.times[i] * covered_term(t.count[i], of, c);
    return value;
  };
  out.estimate = sum(total, coverage);
  out.sd = nan;
  if (total < 3) return;
  if (t.distinct == 1) {
    out.sd = 0;
    return;
  }
  // Without a draw the singletons are one less (j = 1), one more (j = 2) or as many as before.
  double c[3], s[3];
  for (int k = 0; k < 3; ++k) {
    c[k] = coverage_of(vu, std::max(singletons + (k == 0 ? -1 : k == 1 ? 1 : 0), 0.0), total - 1);
    s[k] = sum(total - 1, c[k]);
  }
  const double part = c[2] / (total - 1), log_part = std::log(part);
  out.sd = std::sqrt(jackknife(t, [&](double j) {
                       if (j > sure) return s[2] + part * (step_x_log_x(j) + log_part);
                       const int k = j == 1 ? 0 : j == 2 ? 1 : 2;
                       return s[k] - covered_term(j, total - 1, c[k]) + covered_term(j - 1, total - 1, c[k]);
                     }).second);
}

void dirichlet_plugin(const FrequencyTable& t, double alphabet, double pseudo, EntropyResult& out) {
  const auto term = [&](double n) { return x_log_x(n + pseudo); };
  const double unseen = (alphabet - t.distinct) * term(0);
  const VectorXd terms = t.count.unaryExpr(term);
  const double sum = unseen + t.times.dot(terms);
  const auto value = [&](double total, double s) { return std::log(total + alphabet * pseudo) - s / (total + alphabet * pseudo); };
  out.estimate = std::max(0.0, value(t.total, sum));
  Index at = 0;  // of the count asked for: they come in their order
  const auto without = [&](double j) {
    const double before = at > 0 && t.count[at - 1] == j - 1 ? terms[at - 1] : term(j - 1);
    return value(t.total - 1, sum - terms[at++] + before);
  };
  out.sd = t.total > 1 ? std::sqrt(jackknife(t, without).second) : nan;
}

struct Shrunk {
  double entropy, lambda;
};
Shrunk shrink(const WeightedCounts& counts, double total, double distinct, double alphabet, double change_from = 0, double change_to = 0) {
  double squares = 0;  // sum p^2
  const auto each = [&](const auto& use) {
    for (Index i = 0; i < counts.count.size(); ++i) use(counts.count[i], counts.times[i]);
    if (change_from > 0) {
      use(change_from, -1.0);
      use(change_to, 1.0);
    }
  };
  each([&](double n, double times) { squares += times * (n / total) * (n / total); });
  const double target = 1 / alphabet, distance = squares - target;  // sum (t - p)^2 = sum p^2 - 1 / A
  const double lambda = total > 1 && distance > 0 ? std::min(1.0, std::max(0.0, (1 - squares) / ((total - 1) * distance))) : 1;
  double sum = (alphabet - distinct) * x_log_x(lambda * target);
  each([&](double n, double times) { sum += times * x_log_x(lambda * target + (1 - lambda) * n / total); });
  return {std::max(-sum, 0.0), lambda};
}

void shrink_plugin(const FrequencyTable& t, double alphabet, EntropyResult& out) {
  WeightedCounts all;
  all.count = t.count;
  all.times = t.times;
  const Shrunk found = shrink(all, t.total, t.distinct, alphabet);
  out.estimate = found.entropy;
  out.shrinkage = found.lambda;
  out.sd = nan;
  if (t.total < 3) return;
  // The value without a draw is analytic in the count it came from: the condensed table serves both sums. A symbol that is left at zero counts as unseen.
  const WeightedCounts few = condense(t);
  double mean = 0, second = 0;
  for (Index i = 0; i < few.count.size(); ++i) {
    const double j = few.count[i], w = few.times[i] * j / t.total;
    const double value = shrink(few, t.total - 1, t.distinct, alphabet, j, j - 1).entropy - found.entropy;
    mean += w * value;
    second += w * value * value;
  }
  out.sd = std::sqrt(std::max(0.0, (second - mean * mean) * (t.total - 1)));
}

double grassberger_g(double n) {
  const double sign = std::fmod(n, 2) == 0 ? 0.5 : -0.5;
  return digamma(n) + sign * (digamma((n + 1) / 2) - digamma(n / 2));
}

bool bayesian(EntropyMethod m) { return m == EntropyMethod::pym || m == EntropyMethod::dpm || m == EntropyMethod::nsb; }

void posterior(const FrequencyTable& t, const EntropyOptions& options, EntropyResult& out, Rng& rng, Monitor& monitor) {
  const bool known = options.method == EntropyMethod::nsb;
  if (!known && t.coincidences() < 1) {
    out.estimate = out.sd = out.upper = infinity;
    out.mode_discount = out.mode_strength = nan;
    out.convergence.reason = Stop::unbounded;
    out.convergence.message = "every symbol was seen once, so nothing bounds the entropy from above";
    return;
  }
  const PymPrior prior = options.method == EntropyMethod::dpm ? PymPrior::dp : options.prior;
  const EntropyPosterior found =
      known ? nsb_posterior(t, options.alphabet, options.tol, monitor) : pym_posterior(t, prior, options.density, options.tol, monitor);
  out.estimate = found.mean;
  out.sd = found.sd;
  out.mode_discount = found.mode_discount;
  out.mode_strength = found.mode_strength;
  out.mixture = found.mixture;
  out.convergence = found.convergence;
  const double tail = (1 - options.level) / 2;
  if (found.mixture.weight.size() > 0) {
    out.lower = mixture_quantile(found.mixture, tail);
    out.upper = mixture_quantile(found.mixture, 1 - tail);
  }
  if (options.n_draws < 1) return;
  out.draws = known ? nsb_draws(t, options.alphabet, found, options.n_draws, options.threads, rng, monitor)
                    : pym_draws(t, found, options.n_draws, 0.02 * found.sd, options.threads, rng, monitor);
  VectorXd sorted = out.draws.col(0);
  std::sort(sorted.data(), sorted.data() + sorted.size());
  const auto quantile = [&](double p) {  // type 7 of R
    const double at = p * static_cast<double>(sorted.size() - 1), floor = std::floor(at);
    const Index i = static_cast<Index>(floor), j = std::min<Index>(i + 1, sorted.size() - 1);
    return sorted[i] + (at - floor) * (sorted[j] - sorted[i]);
  };
  out.lower = quantile(tail);
  out.upper = quantile(1 - tail);
}

void closed_form(const FrequencyTable& t, const EntropyOptions& options, EntropyResult& out) {
  using M = EntropyMethod;
  const auto simple = [&] {
    const PluginMoments found = plugin(t);
    out.sd = std::sqrt(found.variance / t.total);
    return found.entropy;
  };
  switch (options.method) {
    case M::plugin:
      out.estimate = simple();
      break;
    case M::miller_madow:
      out.estimate = simple() + (t.distinct - 1) / (2 * t.total);
      break;
    case M::jackknife:
      plugin_jackknife(t, out);
      break;
    case M::chao_shen:
    case M::coverage_adjusted:
      coverage_adjusted(t, options.method == M::coverage_adjusted, out);
      break;
    case M::grassberger: {
      simple();
      double sum = 0;
      for (Index i = 0; i < t.count.size(); ++i) sum += t.times[i] * t.count[i] / t.total * grassberger_g(t.count[i]);
      out.estimate = std::max(0.0, std::log(t.total) - sum);
      break;
    }
    case M::zhang: {
      simple();
      double sum = 0;
      for (Index i = 0; i < t.count.size(); ++i) sum += t.times[i] * t.count[i] / t.total * digamma(t.count[i]);
      out.estimate = std::max(0.0, digamma(t.total) - sum);
      break;
    }
    case M::dirichlet:
      dirichlet_plugin(t, options.alphabet, options.pseudo, out);
      break;
    case M::shrink:
      shrink_plugin(t, options.alphabet, out);
      break;
    default:  // ansb
      out.estimate = t.coincidences() < 1 ? infinity : 2 * std::log(t.total) - digamma(t.coincidences()) - digamma(1) - std::log(2.0);
      out.sd = t.coincidences() < 1 ? infinity : std::sqrt(trigamma(t.coincidences()));
  }
  const double z = normal_quantile(0.5 + options.level / 2);
  out.lower = std::isfinite(out.estimate) ? std::max(0.0, out.estimate - z * out.sd) : 0;
  out.upper = out.estimate + z * out.sd;
  out.convergence.converged = true;
}

}  // namespace

EntropyResult entropy_estimate(ConstVectorRef counts, const EntropyOptions& options, Rng& rng, Monitor& monitor) {
  using M = EntropyMethod;
  const Stopwatch watch;
  FrequencyTable t = frequency_table(counts);
  if (t.total < 1) throw InputError("there are no counts above 0: nothing was drawn.");
  if (!(options.level > 0 && options.level < 1)) throw InputError("`level` must lie between 0 and 1.");
  const bool alphabet = options.method == M::nsb || options.method == M::dirichlet || options.method == M::shrink;
  if (alphabet && !(options.alphabet >= t.distinct)) {
    throw InputError(message("`alphabet` must be at least ", t.distinct, ", the number of symbols seen, not ", options.alphabet, "."));
  }
  EntropyResult out;
  out.total = t.total;
  out.distinct = t.distinct;
  out.coverage = good_turing_coverage(t);
  out.mode_discount = out.mode_strength = out.shrinkage = nan;
  if (bayesian(options.method)) {
    posterior(t, options, out, rng, monitor);
  } else {
    closed_form(t, options, out);
  }
  out.count = std::move(t.count);
  out.times = std::move(t.times);
  out.convergence.seconds = watch.seconds();
  return out;
}

}  // namespace granary::latent
