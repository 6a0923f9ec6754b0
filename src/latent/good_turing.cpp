#include "latent/good_turing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/errors.h"
#include "core/math/special.h"

namespace granary::latent {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Gale and Sampson: probability of one word of each count of the table, and of all unseen ones together.
struct SimpleGoodTuring {
  VectorXd word;
  double unseen = 0, slope = nan;
};

SimpleGoodTuring simple_good_turing(const FrequencyTable& t) {
  SimpleGoodTuring out;
  const Index size = t.count.size();
  out.unseen = t.seen(1) / t.total;
  out.word = t.count / t.total * (1 - out.unseen);
  if (size < 2) return out;
  // Averaging transform: n_k over half the gap between its neighbours.
  VectorXd x(size), y(size);
  for (Index i = 0; i < size; ++i) {
    const double before = i > 0 ? t.count[i - 1] : 0, after = i + 1 < size ? t.count[i + 1] : 2 * t.count[i] - before;
    x[i] = std::log(t.count[i]);
    y[i] = std::log(2 * t.times[i] / (after - before));
  }
  const VectorXd centred = (x.array() - x.mean()).matrix();
  out.slope = centred.dot(y) / centred.squaredNorm();
  bool line = false;
  VectorXd adjusted(size);
  for (Index i = 0; i < size; ++i) {
    const double k = t.count[i];
    const double smooth = (k + 1) * std::exp(out.slope * std::log1p(1 / k));
    const double next = i + 1 < size && t.count[i + 1] == k + 1 ? t.times[i + 1] : 0;
    if (!line && next > 0) {
      const double turing = (k + 1) * next / t.times[i];
      const double sd = (k + 1) / t.times[i] * std::sqrt(next * (1 + next / t.times[i]));
      line = !(std::fabs(turing - smooth) > 1.65 * sd);
      adjusted[i] = line ? smooth : turing;
    } else {
      line = true;
      adjusted[i] = smooth;
    }
  }
  const double scale = adjusted.dot(t.times);
  out.word = (1 - out.unseen) * adjusted / scale;
  return out;
}

}  // namespace

double empirical_mass(const FrequencyTable& t, double k) { return k * t.seen(k) / t.total; }

double good_turing_mass(const FrequencyTable& t, double k, bool full_denominator) {
  const double from = full_denominator ? t.total : t.total - k;
  return from > 0 ? (k + 1) * t.seen(k + 1) / from : nan;
}

double combined_mass(const FrequencyTable& t, double k, bool full_denominator) {
  return k <= std::pow(t.total, 0.4) ? good_turing_mass(t, k, full_denominator) : empirical_mass(t, k);
}

MissingBounds missing_mass_bounds(double m, double delta) {
  const double both = std::sqrt(2 * std::log(4 / delta) / m) + std::sqrt(std::log(4 / delta) / m);
  return {both + 1 / m, both};
}

HittingResult good_turing(ConstVectorRef counts, const HittingOptions& options) {
  const FrequencyTable t = frequency_table(counts);
  if (t.total < 1) throw InputError("there are no counts above 0: nothing was drawn.");
  HittingResult out;
  out.total = t.total;
  out.distinct = t.distinct;
  out.singletons = t.seen(1);
  out.doubletons = t.seen(2);
  out.count = t.count;
  out.times = t.times;
  out.crossover = std::pow(t.total, 0.4);
  out.slope = nan;
  const bool simple = options.method == HittingMethod::simple;
  const SimpleGoodTuring smooth = simple ? simple_good_turing(t) : SimpleGoodTuring();
  if (simple) out.slope = smooth.slope;
  const auto mass = [&](double k) {
    switch (options.method) {
      case HittingMethod::combined:
        return combined_mass(t, k, options.full_denominator);
      case HittingMethod::good_turing:
        return good_turing_mass(t, k, options.full_denominator);
      case HittingMethod::empirical:
        return empirical_mass(t, k);
      default:
        break;
    }
    if (k == 0) return smooth.unseen;
    const double* end = t.count.data() + t.count.size();
    const double* at = std::lower_bound(t.count.data(), end, k);
    return at != end && *at == k ? smooth.word[at - t.count.data()] * t.times[at - t.count.data()] : 0.0;
  };
  if (options.k.size() > 0) {
    out.k = options.k;
  } else {
    out.k.resize(t.count.size() + 1);
    out.k << 0.0, t.count;
  }
  // Every k with a mass: 0, the counts there are, and one below each of them.
  std::vector<double> all = {0};
  for (Index i = 0; i < t.count.size(); ++i) {
    if (t.count[i] - 1 > all.back()) all.push_back(t.count[i] - 1);
    all.push_back(t.count[i]);
  }
  double sum = 0;
  for (const double k : all) {
    const double one = mass(k);
    if (!std::isnan(one)) sum += one;
  }
  const Index size = out.k.size();
  for (VectorXd* v : {&out.words, &out.empirical, &out.good_turing, &out.mass, &out.normalised}) v->resize(size);
  for (Index i = 0; i < size; ++i) {
    const double k = out.k[i];
    out.words[i] = k == 0 ? nan : t.seen(k);
    out.empirical[i] = empirical_mass(t, k);
    out.good_turing[i] = good_turing_mass(t, k, options.full_denominator);
    out.mass[i] = mass(k);
    out.normalised[i] = sum > 0 ? out.mass[i] / sum : nan;
  }
  const double m = t.total, n1 = out.singletons;
  out.missing = n1 / m;
  out.missing_sd = std::sqrt(std::max(0.0, n1 * (1 - n1 / m) + 2 * out.doubletons)) / m;
  const double z = normal_quantile(0.5 + options.level / 2);
  out.lower = std::max(0.0, out.missing - z * out.missing_sd);
  out.upper = std::min(1.0, out.missing + z * out.missing_sd);
  const MissingBounds sure = missing_mass_bounds(m, 1 - options.level);
  out.sure_lower = std::max(0.0, out.missing - sure.below);
  out.sure_upper = std::min(1.0, out.missing + sure.above);
  return out;
}

}  // namespace granary::latent
