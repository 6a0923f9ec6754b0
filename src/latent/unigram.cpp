#include "latent/unigram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "latent/good_turing.h"

namespace granary::latent {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// The sample, or the sample without one occurrence of a word that was seen `gone` times (0: nothing deleted).
class Sample {
 public:
  Sample(const FrequencyTable& table, double unseen, double gone)
      : total(table.total - (gone > 0)),
        distinct(table.distinct - (gone == 1)),
        unseen(unseen < 0 ? nan : unseen + (gone == 1)),
        table_(table),
        gone_(gone) {}

  double seen(double k) const { return table_.seen(k) + (gone_ > 0 ? (k == gone_ - 1 ? 1 : 0) - (k == gone_ ? 1 : 0) : 0); }  // k >= 1
  bool known() const { return !std::isnan(unseen); }

  double total, distinct, unseen;

 private:
  const FrequencyTable& table_;
  double gone_;
};

double tau_of(const FrequencyTable& t, double tau) { return tau > 0 ? tau : std::max(1.0, std::floor(std::pow(t.total, 0.4) * (1 + 1e-12))); }

class Smoother {
 public:
  Smoother(const FrequencyTable& table, const UnigramOptions& options) : table_(table), options_(options), tau_(tau_of(table, options.tau)) {
    for (Index i = 0; i < table.count.size() && table.count[i] <= tau_; ++i) low_ += table.times[i];
    const bool pools = options.method == UnigramMethod::absolute || options.method == UnigramMethod::good_turing;
    if (pools && options.unseen == 0) {
      rarest_ = table.count[0];
      rare_ = table.times[0];
    }
    if (options.method == UnigramMethod::good_turing) {
      for (int deleted = 0; deleted < 2; ++deleted) base_[deleted] = base_mass(table.total - deleted);
    }
  }

  double tau() const { return tau_; }

  // alpha of a sample
  double discount(const Sample& s, double gone) const {
    return options_.choice == DiscountChoice::gt ? s.seen(1) / low(s, gone) : options_.discount;
  }

  // What is left of one by the formulas as they stand: less than one where there is nothing unseen to give to.
  double scale(const Sample& s, double gone) const {
    switch (options_.method) {
      case UnigramMethod::good_turing: {
        double sum = base_[gone > 0];
        if (gone > 0) {
          const Sample whole(table_, options_.unseen, 0);
          for (double k = std::max({0.0, gone - 2, rarest_}); k <= gone; ++k) sum += term(s, k, gone) - term(whole, k, 0, s.total);
        }
        return sum;
      }
      case UnigramMethod::loo:
        return s.known() && s.unseen + s.seen(1) == 0 ? 1 - (s.distinct - 1) / (s.total - 1) : 1;
      default:
        return 1;
    }
  }

  // q of one word that was seen c times in the sample
  double probability(const Sample& s, double gone, double c) const {
    const double m = s.total;
    switch (options_.method) {
      case UnigramMethod::loo:
        return (c <= 1 ? (s.distinct - 1) / ((s.unseen + s.seen(1)) * (m - 1)) : (c - 1) / (m - 1)) / scale(s, gone);
      case UnigramMethod::absolute:
        if (c <= rarest_) return rare_mass(s, gone) / m;
        if (c == 0) return discount(s, gone) * low(s, gone) / (m * s.unseen);
        return (c <= tau_ ? c - discount(s, gone) : c) / m;
      case UnigramMethod::good_turing:
        if (c <= rarest_) return term(s, rarest_, gone) / rare_words(gone) / scale(s, gone);
        return mass(s, c, m) / (c == 0 ? s.unseen : s.seen(c)) / scale(s, gone);
      case UnigramMethod::ml:
        return c / m;
      default:
        return (c + options_.pseudo) / (m + (s.distinct + s.unseen) * options_.pseudo);
    }
  }

  double unseen_mass(const Sample& s) const {
    if (s.known() && s.unseen == 0) return 0;
    switch (options_.method) {
      case UnigramMethod::loo:
        return s.unseen * probability(s, 0, 0);
      case UnigramMethod::absolute:
        return discount(s, 0) * low(s, 0) / s.total;
      case UnigramMethod::good_turing:
        return mass(s, 0, s.total) / scale(s, 0);
      case UnigramMethod::ml:
        return 0;
      default:
        return s.unseen * probability(s, 0, 0);
    }
  }

 private:
  // n_{1..tau} of the sample
  double low(const Sample&, double gone) const { return low_ - (gone == 1 ? 1 : 0) + (gone > 1 && gone == tau_ + 1 ? 1 : 0); }

  // The rarest words where the whole vocabulary was seen. One that was of them, or becomes one, when an occurrence is deleted, counts.
  double rare_words(double gone) const { return rare_ + (gone == rarest_ + 1 ? 1 : 0); }
  double rare_occurrences(double gone) const { return rarest_ * rare_words(gone) - (gone == rarest_ ? 1 : 0); }

  // m times what each of them gets by "absolute"
  double rare_mass(const Sample& s, double gone) const {
    double payers = low_ - (rarest_ <= tau_ ? rare_ : 0);  // discounted words that are not of the rarest
    if (gone == rarest_ + 1 && gone <= tau_) payers -= 1;
    if (gone > rarest_ + 1 && gone == tau_ + 1) payers += 1;
    return (rare_occurrences(gone) + (payers > 0 ? discount(s, gone) * payers : 0)) / rare_words(gone);
  }

  // Combined mass of words seen k times, of m draws.
  double mass(const Sample& s, double k, double m) const {
    if (k <= std::pow(m, 0.4)) return m > k ? (k + 1) * s.seen(k + 1) / (m - k) : 0;
    return k * s.seen(k) / m;
  }
  // ... where there are words to take it. Of the rarest words of a vocabulary that was seen whole, those that fell below count as well.
  double term(const Sample& s, double k, double gone, double m) const {
    if (k == rarest_ && k > std::pow(m, 0.4)) return rare_occurrences(gone) / m;
    const bool takers = k == 0 ? !s.known() || s.unseen > 0 : k == rarest_ || s.seen(k) > 0;
    return takers ? mass(s, k, m) : 0;
  }
  double term(const Sample& s, double k, double gone) const { return term(s, k, gone, s.total); }
  double base_mass(double m) const {
    const Sample whole(table_, options_.unseen, 0);
    double sum = term(whole, 0, 0, m);
    for (Index i = 0; i < table_.count.size(); ++i) sum += term(whole, table_.count[i], 0, m);
    return sum;
  }

  const FrequencyTable& table_;
  const UnigramOptions& options_;
  double tau_, low_ = 0;
  double rarest_ = -1, rare_ = 0;  // the least count and how many words have it, where a discounted law has no unseen words
  double base_[2] = {1, 1};
};

struct LeaveOneOut {
  double loss = 0, std_error = 0;
};

double log_inverse(double q) { return q > 0 ? -std::log(q) : std::isnan(q) ? nan : infinity; }

LeaveOneOut leave_one_out(const FrequencyTable& t, const Smoother& smoother, double unseen, VectorXd* left_out = nullptr) {
  VectorXd loss(t.count.size());
  LeaveOneOut out;
  for (Index i = 0; i < t.count.size(); ++i) {
    const Sample less(t, unseen, t.count[i]);
    const double q = smoother.probability(less, t.count[i], t.count[i] - 1);
    if (left_out) (*left_out)[i] = q;
    loss[i] = log_inverse(q);
    out.loss += t.times[i] * t.count[i] / t.total * loss[i];
  }
  if (!std::isfinite(out.loss)) {
    out.std_error = nan;
    return out;
  }
  double variance = 0;
  for (Index i = 0; i < t.count.size(); ++i) variance += t.times[i] * t.count[i] / t.total * (loss[i] - out.loss) * (loss[i] - out.loss);
  out.std_error = std::sqrt(variance / t.total);
  return out;
}

// Golden section for the convex loss in (0, 1).
double best_discount(const FrequencyTable& t, UnigramOptions options) {
  options.choice = DiscountChoice::fixed;
  const auto loss = [&](double alpha) {
    options.discount = alpha;
    const Smoother smoother(t, options);
    const double value = leave_one_out(t, smoother, options.unseen).loss;
    return std::isnan(value) ? infinity : value;
  };
  constexpr double golden = 0.38196601125010515;
  double a = 1e-9, b = 1 - 1e-9, x = a + golden * (b - a), y = b - golden * (b - a), fx = loss(x), fy = loss(y);
  while (b - a > 1e-9) {
    if (fx <= fy) {
      b = y, y = x, fy = fx, x = a + golden * (b - a), fx = loss(x);
    } else {
      a = x, x = y, fx = fy, y = b - golden * (b - a), fy = loss(y);
    }
  }
  return 0.5 * (a + b);
}

void check_options(const FrequencyTable& t, const UnigramOptions& o) {
  if (t.total <= 2) throw InputError(message("leaving one out needs at least 3 draws, there are ", t.total, "."));
  if (o.method == UnigramMethod::absolute && o.choice == DiscountChoice::fixed && !(o.discount > 0 && o.discount < 1)) {
    throw InputError(message("`discount` must lie between 0 and 1, not ", o.discount, "."));
  }
  if (o.method == UnigramMethod::add && !(o.pseudo > 0)) throw InputError(message("`pseudo` must be above 0, not ", o.pseudo, "."));
  if (o.method == UnigramMethod::absolute && t.count[t.count.size() - 1] == 1) {
    throw InputError("every word was seen once: no discount below 1 can be learnt from them. Use method = \"loo\" or \"add\".");
  }
}

}  // namespace

UnigramResult unigram_model(const FrequencyTable& t, const UnigramOptions& asked) {
  check_options(t, asked);
  UnigramOptions options = asked;
  if (options.method == UnigramMethod::absolute && options.choice == DiscountChoice::loo) {
    // Without the vocabulary the loss of the deleted singletons has an unknown constant, log(n_0 + 1), which does not move the best discount.
    UnigramOptions search = options;
    if (search.unseen < 0) search.unseen = 1;
    options.discount = best_discount(t, search);
    options.choice = DiscountChoice::fixed;
  }
  const Smoother smoother(t, options);
  const Sample whole(t, options.unseen, 0);
  UnigramResult out;
  out.count = t.count;
  out.times = t.times;
  out.total = t.total;
  out.distinct = t.distinct;
  out.unseen = whole.unseen;
  out.discount = options.method == UnigramMethod::absolute ? smoother.discount(whole, 0) : nan;
  if (options.method == UnigramMethod::absolute && !(out.discount < 1)) {
    throw InputError("the words seen up to `tau` times were all seen once, so the Good-Turing discount is 1. Use a larger `tau` or another `discount`.");
  }
  out.tau = smoother.tau();
  out.scale = smoother.scale(whole, 0);
  out.prob.resize(t.count.size());
  out.left_out.resize(t.count.size());
  for (Index i = 0; i < t.count.size(); ++i) out.prob[i] = smoother.probability(whole, 0, t.count[i]);
  out.unseen_mass = smoother.unseen_mass(whole);
  out.unseen_prob = whole.known() ? (whole.unseen > 0 ? smoother.probability(whole, 0, 0) : 0) : nan;
  const LeaveOneOut left = leave_one_out(t, smoother, options.unseen, &out.left_out);
  out.log_loss = left.loss;
  out.std_error = left.std_error;
  // L'(k + 1) - L(k): what the same count costs with and without one more draw elsewhere.
  out.worst = whole.known() && whole.unseen > 0 ? log_inverse(out.unseen_prob) : 0;
  for (Index i = 0; i < t.count.size(); ++i) {
    out.worst = std::max(out.worst, log_inverse(out.prob[i]));
    const double k = t.count[i] - 1;
    if (k > 0 && t.seen(k) == 0) continue;
    if (k == 0 && !(whole.known() && whole.unseen > 0)) continue;
    const double gap = std::fabs(log_inverse(out.left_out[i]) - log_inverse(k == 0 ? out.unseen_prob : smoother.probability(whole, 0, k)));
    if (!(gap <= out.stability)) out.stability = gap;
  }
  return out;
}

UnigramResult unigram_model(ConstVectorRef counts, const UnigramOptions& options) { return unigram_model(frequency_table(counts), options); }

UnigramPath unigram_path(ConstVectorRef counts, const UnigramOptions& options, ConstVectorRef tau) {
  const FrequencyTable t = frequency_table(counts);
  check_options(t, options);
  UnigramPath out;
  out.tau = tau;
  for (VectorXd* v : {&out.discount, &out.log_loss, &out.std_error}) v->resize(tau.size());
  for (Index i = 0; i < tau.size(); ++i) {
    UnigramOptions one = options;
    one.tau = tau[i];
    if (one.choice == DiscountChoice::loo) one.discount = best_discount(t, one);
    if (one.choice == DiscountChoice::loo) one.choice = DiscountChoice::fixed;
    const Smoother smoother(t, one);
    out.discount[i] = smoother.discount(Sample(t, one.unseen, 0), 0);
    const LeaveOneOut left = leave_one_out(t, smoother, one.unseen);
    out.log_loss[i] = out.discount[i] < 1 ? left.loss : nan;
    out.std_error[i] = left.std_error;
  }
  return out;
}

VectorXd word_law(WordLaw law, Index size, double shape, Rng& rng) {
  VectorXd p(size);
  for (Index i = 0; i < size; ++i) {
    const double at = static_cast<double>(i);
    p[i] = law == WordLaw::zipf        ? std::pow(at + 1, -shape)
           : law == WordLaw::geometric ? std::exp(at * std::log1p(-shape))
           : law == WordLaw::uniform   ? 1
                                       : 0;
  }
  if (law == WordLaw::dirichlet) p = rng.dirichlet(VectorXd::Constant(size, shape));
  return p / p.sum();
}

VectorXd draw_counts(ConstVectorRef prob, double n, Rng& rng, Monitor& monitor) {
  VectorXd counts = VectorXd::Zero(prob.size());
  if (n < static_cast<double>(prob.size())) {
    const AliasTable alias(prob);
    for (double i = 0; i < n; ++i) {
      if (static_cast<Index>(i) % 65536 == 0) monitor.check();
      ++counts[alias.draw(rng)];
    }
    return counts;
  }
  double left = prob.sum();
  auto draws = static_cast<std::int64_t>(n);
  for (Index i = 0; i < prob.size() && draws > 0; ++i) {
    if (i % 16384 == 0) monitor.check();
    const double share = left > 0 ? std::min(1.0, prob[i] / left) : 1;
    const std::int64_t here = i + 1 == prob.size() ? draws : rng.binomial(draws, share);
    counts[i] = static_cast<double>(here);
    draws -= here;
    left -= prob[i];
  }
  return counts;
}

UnigramTrial unigram_trials(ConstVectorRef prob, double n, Index replicates, ConstVectorRef k, const UnigramOptions& options, int threads, Rng& rng,
                            Monitor& monitor) {
  UnigramTrial out;
  for (MatrixXd* m : {&out.good_turing, &out.empirical, &out.combined}) m->resize(replicates, k.size());
  out.log_loss.resize(replicates);
  out.left_out.resize(replicates);
  const Rng root = rng.stream(rng());
  parallel_for(replicates, threads, monitor, [&](Index rep) {
    Rng mine = root.stream(static_cast<std::uint64_t>(rep));
    const VectorXd counts = draw_counts(prob, n, mine, monitor);
    const FrequencyTable t = frequency_table(counts);
    VectorXd mass = VectorXd::Zero(t.count.size());  // true mass of every count there is
    double unseen_mass = 0, unseen = 0;
    for (Index w = 0; w < prob.size(); ++w) {
      if (counts[w] == 0) {
        unseen_mass += prob[w];
        unseen += prob[w] > 0;
      } else {
        mass[std::lower_bound(t.count.data(), t.count.data() + t.count.size(), counts[w]) - t.count.data()] += prob[w];
      }
    }
    for (Index j = 0; j < k.size(); ++j) {
      const double* end = t.count.data() + t.count.size();
      const double* at = std::lower_bound(t.count.data(), end, k[j]);
      const double truth = k[j] == 0 ? unseen_mass : at != end && *at == k[j] ? mass[at - t.count.data()] : 0;
      out.good_turing(rep, j) = std::fabs(good_turing_mass(t, k[j]) - truth);
      out.empirical(rep, j) = std::fabs(empirical_mass(t, k[j]) - truth);
      out.combined(rep, j) = std::fabs(combined_mass(t, k[j]) - truth);
    }
    UnigramOptions own = options;
    own.unseen = unseen;
    const UnigramResult model = unigram_model(t, own);
    out.left_out[rep] = model.log_loss;
    out.log_loss[rep] = unseen_mass > 0 ? unseen_mass * log_inverse(model.unseen_prob) : 0;
    for (Index i = 0; i < t.count.size(); ++i) out.log_loss[rep] += mass[i] * log_inverse(model.prob[i]);
  });
  return out;
}

}  // namespace granary::latent
