// Counts, categories and orders.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "core/base/errors.h"
#include "core/random/rng.h"
#include "core/math/saddle_point.h"

namespace granary {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t largest_count = std::int64_t{1} << 52;  // beyond this a double no longer separates k and k + 1/2

void require_probability(double p, const char* sampler) {
  if (!(p >= 0 && p <= 1)) throw InputError(message("Rng::", sampler, " needs a probability in [0, 1], not ", p, "."));
}

void require_count(std::int64_t n, const char* sampler) {
  if (n < 0 || n > largest_count) throw InputError(message("Rng::", sampler, " needs counts in 0 .. 2^52, not ", n, "."));
}

// Walks the probabilities up from zero: for means below ten. `ratio(k)` is f(k) / f(k - 1).
template <class Ratio>
std::int64_t invert(Rng& rng, double at_zero, std::int64_t most, Ratio&& ratio) {
  for (;;) {
    double u = rng.uniform(), mass = at_zero;
    for (std::int64_t k = 0; k <= most; ++k) {
      if (k > 0) mass *= ratio(static_cast<double>(k));
      if (u < mass) return k;
      u -= mass;
      if (mass < 1e-30 && k > 10) break;  // u was left over by rounding alone
    }
  }
}

// BTRS: transformed rejection with squeeze (Hormann 1993); p <= 1/2 and n p >= 10.
std::int64_t binomial_rejection(Rng& rng, double n, double p) {
  const double q = 1 - p, sd = std::sqrt(n * p * q);
  const double b = 1.15 + 2.53 * sd, a = -0.0873 + 0.0248 * b + 0.01 * p, centre = n * p + 0.5;
  const double v_squeeze = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * sd;
  double log_mode = 1;  // a log probability once it is needed: six draws in seven end before
  for (;;) {
    const double u = rng.uniform_open() - 0.5, v = rng.uniform_open();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + centre);
    if (us >= 0.07 && v <= v_squeeze) return static_cast<std::int64_t>(k);
    if (k < 0 || k > n) continue;
    if (log_mode > 0) log_mode = log_binomial_pmf(std::floor((n + 1) * p), n, p, q);
    if (std::log(v * alpha / (a / (us * us) + b)) <= log_binomial_pmf(k, n, p, q) - log_mode) return static_cast<std::int64_t>(k);
  }
}

// PTRS: the same idea for the Poisson (Hormann 1993); mean >= 10. His hat falls short of the probabilities by up to 0.6 % and his
// squeeze exceeds them by up to 0.3 % at some means; the factors 1.01 and 0.985 make both bounds hold.
std::int64_t poisson_rejection(Rng& rng, double mean) {
  const double b = 0.931 + 2.53 * std::sqrt(mean), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.01 * (1.1239 + 1.1328 / (b - 3.4)), v_squeeze = 0.985 * (0.9277 - 3.6224 / (b - 2));
  for (;;) {
    const double u = rng.uniform_open() - 0.5, v = rng.uniform_open();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= v_squeeze) return static_cast<std::int64_t>(k);
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v * inverse_alpha / (a / (us * us) + b)) <= log_poisson_pmf(k, mean)) return static_cast<std::int64_t>(k);
  }
}

// HRUA: ratio of uniforms with a table mountain hat (Stadlober 1990); draws at most half of the urn.
double hypergeometric_rejection(Rng& rng, double marked, double others, double draws) {
  const double total = marked + others, share = marked / total;
  const double centre = draws * share + 0.5;
  const double sd = std::sqrt((total - draws) * draws * share * (1 - share) / (total - 1) + 0.5);
  const double spread = 1.7155277699214135 * sd + 0.8989161620588988;  // 2 sqrt(2 / e), 3 - 2 sqrt(3 / e)
  const double p = draws / total, q = (total - draws) / total;
  const auto log_weight = [&](double k) {  // the log probability, less what does not depend on k
    return log_binomial_pmf(k, marked, p, q) + log_binomial_pmf(draws - k, others, p, q);
  };
  const double log_mode = log_weight(std::floor((draws + 1) * (marked + 1) / (total + 2)));
  const double lowest = std::max(0.0, draws - others), highest = std::min(draws, marked);
  for (;;) {
    const double x = rng.uniform_open(), y = rng.uniform_open();
    const double k = std::floor(centre + spread * (y - 0.5) / x);
    if (k < lowest || k > highest) continue;
    if (2 * std::log(x) <= log_weight(k) - log_mode) return k;
  }
}

double checked_total(ConstVectorRef weights, const char* who) {
  double total = 0;
  for (Index i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0 && weights[i] < infinity)) {
      throw InputError(message(who, " needs finite weights >= 0; weight ", i + 1, " is ", weights[i], "."));
    }
    total += weights[i];
  }
  if (!(total > 0 && total < infinity)) {
    throw InputError(
        message(who, " needs weights with a positive, finite sum, not ", total, "; rescale them or use log weights."));
  }
  return total;
}

}  // namespace

std::uint64_t Rng::below(std::uint64_t n) {
  if (n == 0) throw InputError("Rng::below needs n >= 1: there is no number below zero to draw.");
  if (n <= 0xffffffffu) {  // Lemire (2019): the high half of a product, rejecting the few low halves that are over-represented
    std::uint64_t product = (bits_() >> 32) * n;
    if ((product & 0xffffffffu) < n) {
      const std::uint64_t threshold = (std::uint64_t{1} << 32) % n;
      while ((product & 0xffffffffu) < threshold) product = (bits_() >> 32) * n;
    }
    return product >> 32;
  }
  std::uint64_t mask = n - 1;
  for (int shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
  for (;;) {
    const std::uint64_t draw = bits_() & mask;
    if (draw < n) return draw;
  }
}

bool Rng::bernoulli(double p) {
  require_probability(p, "bernoulli");
  return uniform() < p;
}

std::int64_t Rng::binomial(std::int64_t n, double p) {
  require_count(n, "binomial");
  require_probability(p, "binomial");
  if (n == 0 || p == 0) return 0;
  if (p > 0.5) return n - binomial(n, 1 - p);
  const auto trials = static_cast<double>(n);
  if (trials * p >= 10) return binomial_rejection(*this, trials, p);
  const double odds = p / (1 - p);
  return invert(*this, std::exp(trials * std::log1p(-p)), n, [&](double k) { return odds * (trials - k + 1) / k; });
}

std::int64_t Rng::poisson(double mean) {
  if (!(mean >= 0 && mean <= static_cast<double>(largest_count) / 2)) {
    throw InputError(message("Rng::poisson needs a mean in [0, 2^51], not ", mean, "."));
  }
  if (mean >= 10) return poisson_rejection(*this, mean);
  return invert(*this, std::exp(-mean), largest_count, [&](double k) { return mean / k; });
}

std::int64_t Rng::geometric(double p) {
  if (!(p >= 1e-14 && p <= 1)) throw InputError(message("Rng::geometric needs a probability in [1e-14, 1], not ", p, "."));
  if (p == 1) return 0;
  return static_cast<std::int64_t>(std::floor(exponential() / -std::log1p(-p)));
}

std::int64_t Rng::hypergeometric(std::int64_t marked, std::int64_t others, std::int64_t draws) {
  require_count(marked, "hypergeometric");
  require_count(others, "hypergeometric");
  require_count(marked + others, "hypergeometric");
  if (draws < 0 || draws > marked + others) {
    throw InputError(message("Rng::hypergeometric cannot take ", draws, " from ", marked + others, " without replacement."));
  }
  const std::int64_t total = marked + others;
  if (draws > total - draws) return marked - hypergeometric(marked, others, total - draws);  // count those left behind instead
  if (marked > others) return draws - hypergeometric(others, marked, draws);
  if (draws <= 12) {
    std::int64_t left = marked;
    for (std::int64_t i = 0; i < draws; ++i) left -= below(total - i) < static_cast<std::uint64_t>(left);
    return marked - left;
  }
  if (marked == 0) return 0;
  return static_cast<std::int64_t>(
      hypergeometric_rejection(*this, static_cast<double>(marked), static_cast<double>(others), static_cast<double>(draws)));
}

int Rng::categorical(ConstVectorRef weights) {
  double left = uniform() * checked_total(weights, "Rng::categorical");
  Index last = 0;
  for (Index i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    if (left < weights[i]) return static_cast<int>(i);
    left -= weights[i];
    last = i;
  }
  return static_cast<int>(last);  // reached only by rounding of the sum
}

int Rng::categorical_log(ConstVectorRef log_weights) {
  int best = -1;
  double highest = -infinity;
  for (Index i = 0; i < log_weights.size(); ++i) {
    if (!(log_weights[i] < infinity)) {
      throw InputError(
          message("Rng::categorical_log needs log weights below infinity; number ", i + 1, " is ", log_weights[i], "."));
    }
    const double score = log_weights[i] + gumbel();  // drawn for zero weights too: one draw per place, whatever the weights
    if (score > highest) {
      highest = score;
      best = static_cast<int>(i);
    }
  }
  if (best < 0) throw InputError("Rng::categorical_log needs at least one log weight above -infinity.");
  return best;
}

std::vector<int> Rng::permutation(int n) {
  if (n < 0) throw InputError(message("Rng::permutation needs n >= 0, not ", n, "."));
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  shuffle(order);
  return order;
}

std::vector<int> Rng::sample_without_replacement(int n, int k) {
  if (k < 0 || k > n) throw InputError(message("Rng::sample_without_replacement cannot take ", k, " out of ", n, "."));
  std::vector<int> chosen(k);
  if (k > n / 16) {
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    for (int i = 0; i < k; ++i) {
      std::swap(order[i], order[i + static_cast<int>(below(n - i))]);
      chosen[i] = order[i];
    }
    return chosen;
  }
  std::unordered_map<int, int> moved;  // the places of that same array whose content is no longer their index
  const auto content = [&](int place) {
    const auto found = moved.find(place);
    return found == moved.end() ? place : found->second;
  };
  for (int i = 0; i < k; ++i) {
    const int place = i + static_cast<int>(below(n - i));
    chosen[i] = content(place);
    moved[place] = content(i);
  }
  return chosen;
}

AliasTable::AliasTable(ConstVectorRef weights) : keep_(weights.size()), alias_(weights.size()) {
  const double total = checked_total(weights, "AliasTable");
  const auto n = static_cast<int>(weights.size());
  std::vector<int> poor, rich;
  int heaviest = 0;
  for (int i = 0; i < n; ++i) {
    keep_[i] = weights[i] / total * n;
    alias_[i] = i;
    (keep_[i] < 1 ? poor : rich).push_back(i);
    if (weights[i] > weights[heaviest]) heaviest = i;
  }
  while (!poor.empty() && !rich.empty()) {
    const int low = poor.back(), high = rich.back();
    poor.pop_back();
    alias_[low] = high;
    keep_[high] = (keep_[high] + keep_[low]) - 1;
    if (keep_[high] < 1) {
      rich.pop_back();
      poor.push_back(high);
    }
  }
  for (int i : rich) keep_[i] = 1;
  for (int i : poor) {  // left over by rounding: full columns, except that a weight of zero must never be drawn
    keep_[i] = weights[i] > 0 ? 1 : 0;
    alias_[i] = heaviest;
  }
}

int AliasTable::draw(Rng& rng) const {
  const auto column = static_cast<int>(rng.below(alias_.size()));
  return rng.uniform() < keep_[column] ? column : alias_[column];
}

}  // namespace granary
