#include <algorithm>
#include <cmath>

#include "core/base/parallel.h"
#include "core/math/special.h"
#include "latent/entropy.h"

namespace granary::latent {
namespace {

constexpr Index most_sticks = 100000;

struct Sums {
  double total = 0, plog = 0, square = 0;  // of gamma draws y: sum y, sum y log y, sum y^2
  void add(double y) {
    if (!(y > 0)) return;
    total += y;
    plog += y * std::log(y);
    square += y * y;
  }
};

// Entropy and sum of squares of a Pitman-Yor law, by sticks until what is left hardly matters.
struct Tail {
  double entropy, square;
};
Tail tail_draw(const Discount& d, double strength, double precision, Rng& rng, Monitor& monitor) {
  double left = 1, entropy = 0, square = 0;
  for (Index i = 0; i <= most_sticks; ++i) {
    if (i % 4096 == 4095) monitor.check();
    const double now = strength + static_cast<double>(i) * d.value;
    const EntropyMoments rest = py_entropy(d, now);
    if (left * std::sqrt(rest.variance) < precision || left < 1e-300 || i == most_sticks) {
      const double drawn = std::max(0.0, rest.mean + std::sqrt(rest.variance) * rng.normal());
      if (left > 0) entropy += left * drawn - left * std::log(left);
      square += left * left * d.rest / (now + 1);
      break;
    }
    const double piece = rng.beta(d.rest, now + d.value), p = left * piece;
    if (p > 0) entropy -= p * std::log(p);
    square += p * p;
    left *= 1 - piece;
  }
  return {entropy, square};
}

// A point of the mixture, for each draw one of its own stream.
Index pick(const VectorXd& cumulative, Rng& rng) {
  const double* end = cumulative.data() + cumulative.size();
  return std::min<Index>(std::upper_bound(cumulative.data(), end, rng.uniform() * cumulative[cumulative.size() - 1]) - cumulative.data(),
                         cumulative.size() - 1);
}

VectorXd running_sum(const VectorXd& weight) {
  VectorXd out = weight;
  for (Index i = 1; i < out.size(); ++i) out[i] += out[i - 1];
  return out;
}

}  // namespace

MatrixXd pym_draws(const FrequencyTable& table, const EntropyPosterior& posterior, Index n, double precision, int threads, Rng& rng, Monitor& monitor) {
  const EntropyMixture& m = posterior.mixture;
  const VectorXd cumulative = running_sum(m.weight);
  const Rng root = rng.stream(rng());
  MatrixXd out(n, 5);
  parallel_for(n, threads, monitor, [&](Index i) {
    Rng mine = root.stream(static_cast<std::uint64_t>(i));
    const Index at = pick(cumulative, mine);
    Discount d{m.discount[at], m.rest[at]};
    double strength = m.strength[at];
    if (m.width_v[at] > 0) d = discount_of(std::max(0.0, digamma(1) - digamma(d.rest)) * std::exp(m.width_v[at] * (mine.uniform() - 0.5)));
    if (m.width_u[at] > 0) {
      const double jitter = std::exp(m.width_u[at] * (mine.uniform() - 0.5));
      strength = strength < 1e-3 ? strength * jitter : strength_of((digamma(strength + 1) - digamma(1)) * jitter);
    }
    Sums sums;
    for (Index j = 0; j < table.count.size(); ++j) {
      const double shape = (table.count[j] - 1) + d.rest;
      for (double k = 0; k < table.times[j]; ++k) {
        sums.add(mine.gamma(shape));
        if (static_cast<Index>(k) % 4096 == 4095) monitor.check();
      }
    }
    const double law = strength + table.distinct * d.value;
    const double unseen = law > 0 ? mine.gamma(law) : 0, whole = sums.total + unseen, p = unseen / whole;
    double entropy = std::log(whole) * (sums.total / whole) - sums.plog / whole, square = sums.square / (whole * whole);
    if (p > 0) {
      const Tail tail = tail_draw(d, law, precision / p, mine, monitor);
      entropy += p * tail.entropy - p * std::log(p);
      square += p * p * tail.square;
    }
    out.row(i) << std::max(entropy, 0.0), square, p, d.value, strength;
  });
  return out;
}

MatrixXd nsb_draws(const FrequencyTable& table, double alphabet, const EntropyPosterior& posterior, Index n, int threads, Rng& rng, Monitor& monitor) {
  const EntropyMixture& m = posterior.mixture;
  MatrixXd out = MatrixXd::Zero(n, 5);
  if (m.weight.size() == 0) {  // an alphabet of one symbol
    out.col(1).setOnes();
    return out;
  }
  const VectorXd cumulative = running_sum(m.weight);
  const Rng root = rng.stream(rng());
  // More unseen symbols than can be drawn one by one are summed up by their Dirichlet moments.
  const double unseen_symbols = alphabet - table.distinct;
  const bool one_by_one = unseen_symbols <= 1e5;
  parallel_for(n, threads, monitor, [&](Index i) {
    Rng mine = root.stream(static_cast<std::uint64_t>(i));
    const Index at = pick(cumulative, mine);
    const double b = m.strength[at] * std::exp(m.width_u[at] * (mine.uniform() - 0.5));
    Sums sums;
    for (Index j = 0; j < table.count.size(); ++j) {
      for (double k = 0; k < table.times[j]; ++k) {
        sums.add(mine.gamma(table.count[j] + b));
        if (static_cast<Index>(k) % 4096 == 4095) monitor.check();
      }
    }
    const double seen = sums.total;
    if (one_by_one) {
      for (double k = 0; k < unseen_symbols; ++k) sums.add(mine.gamma(b));
    }
    const double unseen = one_by_one ? sums.total - seen : mine.gamma(unseen_symbols * b);
    const double whole = seen + unseen, p = unseen / whole;
    double entropy = std::log(whole) * (sums.total / whole) - sums.plog / whole, square = sums.square / (whole * whole);
    if (!one_by_one && p > 0) {
      const EntropyMoments rest = dirichlet_entropy(WeightedCounts(), 0, 0, unseen_symbols, b);
      entropy += p * std::max(0.0, rest.mean + std::sqrt(rest.variance) * mine.normal()) - p * std::log(p);
      square += p * p * (b + 1) / (unseen_symbols * b + 1);
    }
    out.row(i) << std::max(entropy, 0.0), square, p, 0.0, b;
  });
  return out;
}

}  // namespace granary::latent
