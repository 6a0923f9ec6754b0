#include <cmath>
#include <vector>

#include "core/base/errors.h"
#include "harness.h"
#include "latent/good_turing.h"
#include "latent/good_turing_bounds.h"
#include "latent/unigram.h"

using namespace granary;
using namespace granary::latent;

namespace {

VectorXd values(std::vector<double> x) { return VectorView(x.data(), static_cast<Index>(x.size())); }

const VectorXd names_list = values({2, 1, 1, 1, 2, 1, 1, 1});  // six names once, two twice

VectorXd zipf(Index n, double s = 1) {
  Rng rng(1);
  return word_law(WordLaw::zipf, n, s, rng);
}

UnigramResult model(const VectorXd& counts, UnigramMethod method, double unseen, DiscountChoice choice = DiscountChoice::loo, double discount = 0.5, double tau = 0) {
  UnigramOptions o;
  o.method = method;
  o.unseen = unseen;
  o.choice = choice;
  o.discount = discount;
  o.tau = tau;
  o.pseudo = 0.7;
  return unigram_model(counts, o);
}

}  // namespace

TEST("hitting masses of the list of names") {
  HittingOptions o;
  o.method = HittingMethod::good_turing;
  const HittingResult r = good_turing(names_list, o);
  CHECK_NEAR(r.missing, 0.6, 1e-15);
  CHECK_NEAR(r.good_turing[0], 0.6, 1e-15);
  CHECK_NEAR(r.good_turing[1], 4.0 / 9, 1e-15);
  CHECK_NEAR(r.good_turing[2], 0.0, 1e-15);
  CHECK_NEAR(r.empirical[1], 0.6, 1e-15);
  CHECK_NEAR(r.empirical[2], 0.4, 1e-15);
  CHECK(r.sure_lower <= 0.6 && r.sure_upper >= 0.6);
  o.full_denominator = true;
  CHECK_NEAR(good_turing(names_list, o).good_turing[1], 0.4, 1e-15);
  o.full_denominator = false;
  o.method = HittingMethod::combined;
  const HittingResult c = good_turing(names_list, o);
  CHECK_NEAR(c.crossover, std::pow(10, 0.4), 1e-12);
  CHECK_NEAR(c.normalised.sum(), 1.0, 1e-12);
}

TEST("a mass is not defined for k = m") {
  HittingOptions o;
  o.method = HittingMethod::good_turing;
  o.k = values({0, 3, 4});
  const HittingResult r = good_turing(values({4}), o);
  CHECK(r.missing == 0);
  CHECK_NEAR(r.good_turing[1], 4.0, 1e-15);  // (k + 1) n_{k+1} / (m - k) = 4 * 1 / 1: raw values may pass 1
  CHECK(std::isnan(r.good_turing[2]));
}

TEST("simple Good-Turing keeps n_1 / m for the unseen and sums to one") {
  Monitor monitor;
  Rng rng(2);
  const VectorXd counts = draw_counts(zipf(2000), 5000, rng, monitor);
  HittingOptions o;
  o.method = HittingMethod::simple;
  const HittingResult r = good_turing(counts, o);
  CHECK_NEAR(r.mass[0], r.singletons / 5000, 1e-14);
  CHECK_NEAR(r.mass.sum(), 1.0, 1e-12);
  CHECK(r.slope < -1);
}

TEST("the leave-one-out law of the list of names") {
  const UnigramResult r = model(names_list, UnigramMethod::loo, 12);
  CHECK_NEAR(r.prob[0], 7.0 / 162, 1e-15);
  CHECK_NEAR(r.unseen_prob, 7.0 / 162, 1e-15);
  CHECK_NEAR(r.prob[1], 1.0 / 9, 1e-15);
  CHECK_NEAR(r.log_loss, 3.138020447, 1e-9);
}

TEST("every smoothed law sums to one, and leaving out by formula is deleting and learning again") {
  Monitor monitor;
  Rng rng(3);
  for (const Index words : {60, 4000}) {
    const VectorXd counts = draw_counts(zipf(words), 300, rng, monitor);
    const FrequencyTable t = frequency_table(counts);
    for (const double extra : {0.0, 25.0}) {
      const double unseen = words == 60 && extra == 0 ? 0 : static_cast<double>(words) + extra - t.distinct;
      for (const UnigramMethod method : {UnigramMethod::absolute, UnigramMethod::loo, UnigramMethod::good_turing, UnigramMethod::ml, UnigramMethod::add}) {
        for (const DiscountChoice choice : {DiscountChoice::fixed, DiscountChoice::gt}) {
          for (const double tau : {1.0, 3.0, 1000.0}) {
            if (method != UnigramMethod::absolute && (tau != 3 || choice == DiscountChoice::gt)) continue;
            if (method == UnigramMethod::absolute && tau == 1 && choice == DiscountChoice::gt) continue;  // the discount would be 1
            // Where all were seen, "absolute" has a law of its own (below), and Good-Turing's deleted words stay among the rarest.
            if ((method == UnigramMethod::absolute || method == UnigramMethod::good_turing) && unseen == 0) continue;
            const UnigramResult r = model(counts, method, unseen, choice, 0.4, tau);
            CHECK_NEAR(r.prob.dot(r.times) + (unseen > 0 ? unseen * r.unseen_prob : 0), 1.0, 1e-12);
            CHECK_NEAR(r.unseen_mass, unseen > 0 ? unseen * r.unseen_prob : 0, 1e-13);
            double loss = 0;
            for (Index i = 0; i < t.count.size(); ++i) {
              VectorXd less = counts;
              Index word = 0;
              while (less[word] != t.count[i]) ++word;
              --less[word];
              const double k = t.count[i];
              UnigramOptions o;
              o.method = method;
              o.unseen = unseen + (k == 1);
              o.choice = choice;
              o.discount = 0.4;
              o.tau = tau;
              o.pseudo = 0.7;
              const UnigramResult again = unigram_model(less, o);
              double q = again.unseen_prob;
              for (Index j = 0; j < again.count.size(); ++j)
                if (again.count[j] == k - 1) q = again.prob[j];
              CHECK_NEAR(r.left_out[i], q, 1e-13);
              loss += t.times[i] * k / t.total * -std::log(q);
            }
            CHECK_NEAR(r.log_loss, loss, 1e-10);
          }
        }
      }
    }
  }
}

TEST("Good-Turing laws of a vocabulary that was seen whole are judged without an unseen word") {
  VectorXd counts(30);
  for (Index i = 0; i < 30; ++i) counts[i] = i < 12 ? 1 : i < 20 ? 2 : i < 26 ? 3 : 4;
  const UnigramResult r = model(counts, UnigramMethod::good_turing, 0);
  CHECK_NEAR(r.prob.dot(r.times), 1.0, 1e-13);
  // A deleted singleton is still one of 12. Of the 61 draws left the masses of 1, 2 and 3 are 2 8 / 60, 3 6 / 59 and 4 4 / 58; that of 4 is nothing, for no word was seen 5 times.
  const double one = 2 * 8 / 60.0, two = 3 * 6 / 59.0, three = 4 * 4 / 58.0;
  CHECK_NEAR(r.left_out[0], one / 12 / (one + two + three), 1e-13);
}

TEST("the Good-Turing discount leaves n_1 / m to the unseen; the best discount is no worse than others") {
  Monitor monitor;
  Rng rng(4);
  const VectorXd counts = draw_counts(zipf(3000), 2000, rng, monitor);
  const FrequencyTable t = frequency_table(counts);
  CHECK_NEAR(model(counts, UnigramMethod::absolute, 1000, DiscountChoice::gt, 0, 10).unseen_mass, t.seen(1) / t.total, 1e-14);
  const UnigramResult best = model(counts, UnigramMethod::absolute, 1000, DiscountChoice::loo, 0, 10);
  for (const double at : {0.1, 0.3, 0.5, 0.7, 0.9, best.discount - 0.01, best.discount + 0.01}) {
    CHECK(model(counts, UnigramMethod::absolute, 1000, DiscountChoice::fixed, at, 10).log_loss >= best.log_loss - 1e-12);
  }
  CHECK_NEAR(model(counts, UnigramMethod::absolute, -1, DiscountChoice::loo, 0, 10).discount, best.discount, 1e-6);  // vocabulary unknown
  CHECK(std::isnan(model(counts, UnigramMethod::absolute, -1).unseen_prob));
  UnigramOptions o;
  o.unseen = 1000;
  const UnigramPath path = unigram_path(counts, o, values({1, 3, 10, 100}));
  CHECK_NEAR(path.discount[2], best.discount, 1e-6);
  CHECK_NEAR(path.log_loss[2], best.log_loss, 1e-10);
}

TEST("laws that cannot be learnt are refused, and infinite losses are told") {
  CHECK_THROWS(model(values({1, 1}), UnigramMethod::loo, 3), InputError);
  CHECK_THROWS(model(values({1, 1, 1, 1}), UnigramMethod::absolute, 3), InputError);
  CHECK_THROWS(model(values({3, 1, 1}), UnigramMethod::absolute, 3, DiscountChoice::fixed, 1.5), InputError);
  CHECK_THROWS(model(values({3, 1, 1}), UnigramMethod::absolute, 3, DiscountChoice::gt, 0, 1), InputError);
  CHECK(std::isinf(model(values({3, 1, 1}), UnigramMethod::ml, 3).log_loss));
}

TEST("exact means and variances of hitting masses") {
  Monitor monitor;
  const VectorXd p = zipf(50);
  const double mass[] = {.292525, .186306, .109438, .073314}, turing[] = {.297183, .191918, .115226, .079193};
  GtBoundOptions o;
  o.what = GtBound::hitting;
  o.n = values({40});
  o.k = values({0, 1, 2, 3});
  o.prob = p;
  const GtBoundTable table = good_turing_bounds(o, monitor);
  for (Index k = 0; k < 4; ++k) {
    CHECK_NEAR(table.values(k, 1), mass[k], 5.1e-7);
    CHECK_NEAR(table.values(k, 2), turing[k], 5.1e-7);
    CHECK_NEAR(table.values(k, 3), table.values(k, 2) - table.values(k, 1), 1e-13);
  }
  CHECK_NEAR(hitting_mass_variance(VectorXd::Constant(20, 0.05), 200, 10, monitor), .0056157733, 5e-11);
  Rng rng(5);
  double first = 0, second = 0;
  const int reps = 40000;
  for (int r = 0; r < reps; ++r) {
    const VectorXd c = draw_counts(p, 40, rng, monitor);
    double m2 = 0;
    for (Index w = 0; w < 50; ++w) m2 += c[w] == 2 ? p[w] : 0;
    first += m2 / reps;
    second += m2 * m2 / reps;
  }
  CHECK_NEAR(first, mass[2], 5 * table.values(2, 4) / std::sqrt(1.0 * reps));
  CHECK_NEAR(std::sqrt(second - first * first), table.values(2, 4), 0.02 * table.values(2, 4));
}

TEST("bounds hold in simulations at least as often as they say") {
  Monitor monitor;
  Rng rng(6);
  const VectorXd p = zipf(500);
  const double m = 20000, delta = 0.1;
  GtBoundOptions o;
  o.delta = delta;
  o.n = values({m});
  o.prob = p;
  o.k = values({1, 5});
  o.what = GtBound::hitting;
  const MatrixXd hit = good_turing_bounds(o, monitor).values;
  o.what = GtBound::unseen;
  const double unseen = good_turing_bounds(o, monitor).values(0, 1);
  o.what = GtBound::missing;
  const MatrixXd missing = good_turing_bounds(o, monitor).values;
  int bad_hit = 0, bad_unseen = 0, bad_missing = 0, bad_counts = 0, bad_loss = 0;
  const int reps = 200;
  for (int r = 0; r < reps; ++r) {
    const VectorXd c = draw_counts(p, m, rng, monitor);
    const FrequencyTable t = frequency_table(c);
    double m0 = 0, m1 = 0, m5 = 0;
    bool high = false;
    for (Index w = 0; w < p.size(); ++w) {
      m0 += c[w] == 0 ? p[w] : 0;
      m1 += c[w] == 1 ? p[w] : 0;
      m5 += c[w] == 5 ? p[w] : 0;
      high = high || (c[w] == 0 && p[w] >= unseen);
    }
    bad_unseen += high;
    bad_hit += std::abs(good_turing_mass(t, 1) - m1) > hit(0, 5) || std::abs(good_turing_mass(t, 5) - m5) > hit(1, 5);
    bad_missing += m0 < good_turing_mass(t, 0) - missing(0, 1) || m0 > good_turing_mass(t, 0) + missing(0, 2);
    o.what = GtBound::counts;
    o.counts = c;
    const MatrixXd band = good_turing_bounds(o, monitor).values;
    bool outside = false;
    for (Index w = 0; w < p.size(); ++w) outside = outside || p[w] < band(w, 1) || p[w] > band(w, 2);
    bad_counts += outside;
    if (r < 20) {
      o.what = GtBound::log_loss;
      o.discount = 0.5;
      o.tau = 20;
      const double bound = good_turing_bounds(o, monitor).values(0, 2);
      UnigramOptions u;
      u.unseen = static_cast<double>(p.size()) - t.distinct;
      u.choice = DiscountChoice::fixed;
      u.tau = 20;
      const UnigramResult law = unigram_model(t, u);
      double kl = 0;
      for (Index w = 0; w < p.size(); ++w) {
        double q = law.unseen_prob;
        for (Index j = 0; j < law.count.size() && c[w] > 0; ++j)
          if (law.count[j] == c[w]) q = law.prob[j];
        kl += p[w] * std::log(p[w] / q);
      }
      bad_loss += kl > bound;
      CHECK(std::isfinite(bound) && bound > 0);
    }
  }
  CHECK(bad_hit <= 0.2 * reps && bad_unseen <= 0.15 * reps && bad_missing <= 0.15 * reps && bad_counts <= 0.15 * reps && bad_loss == 0);
  o.what = GtBound::log_loss;
  o.lambda = 3.1;
  o.tau = 100;
  CHECK_THROWS(good_turing_bounds(o, monitor), InputError);
}

TEST("trials are the same on one and two threads, and errors fall with the sample") {
  Monitor monitor;
  const VectorXd p = zipf(400);
  UnigramOptions o;
  o.method = UnigramMethod::loo;
  Rng a(7), b(7), c(8), d(9);
  const UnigramTrial one = unigram_trials(p, 500, 20, values({0, 1, 2}), o, 1, a, monitor), two = unigram_trials(p, 500, 20, values({0, 1, 2}), o, 2, b, monitor);
  CHECK(one.good_turing == two.good_turing && one.log_loss == two.log_loss);
  const UnigramTrial more = unigram_trials(p, 500, 200, values({0}), o, 1, c, monitor), most = unigram_trials(p, 50000, 200, values({0}), o, 1, d, monitor);
  CHECK((most.log_loss - most.left_out).cwiseAbs().mean() < 0.3 * (more.log_loss - more.left_out).cwiseAbs().mean());
  CHECK(most.good_turing.mean() < 0.3 * more.good_turing.mean());
}

TEST("a discounted law of a vocabulary that was all seen sums to one, and its log-loss is its own") {
  // The law of the header, word by word; b is the least count of the whole sample.
  const auto law = [](const std::vector<double>& words, double b, double alpha, double tau) {
    double m = 0, share = 0, rare = 0;
    for (const double c : words) {
      m += c;
      rare += c <= b;
      share += c <= b ? c : c <= tau ? alpha : 0;
    }
    std::vector<double> q;
    for (const double c : words) q.push_back((c <= b ? share / rare : c <= tau ? c - alpha : c) / m);
    return q;
  };
  const std::vector<std::vector<double>> samples = {{2, 1, 1}, {4, 3, 1, 1, 2}, {9, 7, 5, 4, 3, 3, 2, 2, 2, 1, 1}, {6, 5, 4, 3, 2, 2, 3}, {3, 3, 3}, {30, 4, 4, 3, 3}};
  for (const auto& words : samples) {
    const VectorXd counts = Eigen::Map<const VectorXd>(words.data(), static_cast<Index>(words.size()));
    const double b = counts.minCoeff(), m = counts.sum();
    for (const double tau : {0.0, 1.0, 2.0, 3.0, 8.0}) {
      UnigramOptions o;
      o.unseen = 0;
      o.tau = tau;
      const UnigramResult best = unigram_model(counts, o);
      o.choice = DiscountChoice::fixed;
      for (const double alpha : {best.discount, 0.1, 0.5, 0.9}) {
        o.discount = alpha;
        const UnigramResult fit = unigram_model(counts, o);
        const std::vector<double> q = law(words, b, alpha, fit.tau);
        double sum = 0, loss = 0;
        for (std::size_t w = 0; w < words.size(); ++w) {
          sum += q[w];
          for (Index i = 0; i < fit.count.size(); ++i)
            if (fit.count[i] == words[w]) CHECK_NEAR(fit.prob[i], q[w], 1e-14);
          std::vector<double> less = words;
          less[w] -= 1;
          loss -= words[w] / m * std::log(law(less, b, alpha, fit.tau)[w]);
        }
        CHECK_NEAR(sum, 1, 1e-14);
        CHECK_NEAR(fit.log_loss, loss, 1e-12);
        CHECK(fit.unseen_mass == 0 && fit.unseen_prob == 0 && fit.scale == 1);
        CHECK(best.log_loss <= fit.log_loss + 1e-12);
      }
    }
  }
  // The Good-Turing discount changes when an occurrence is deleted.
  const auto share_once = [](const std::vector<double>& words) {
    double once = 0, low = 0;
    for (const double c : words) once += c == 1, low += c >= 1 && c <= 3;
    return once / low;
  };
  UnigramOptions turing;
  turing.unseen = 0;
  turing.tau = 3;
  turing.choice = DiscountChoice::gt;
  const std::vector<double>& words = samples[2];
  const UnigramResult fit = unigram_model(Eigen::Map<const VectorXd>(words.data(), 11), turing);
  for (std::size_t w = 0; w < words.size(); ++w) {
    std::vector<double> less = words;
    less[w] -= 1;
    const double q = law(less, 1, share_once(less), 3)[w];
    for (Index i = 0; i < fit.count.size(); ++i)
      if (fit.count[i] == words[w]) CHECK_NEAR(fit.left_out[i], q, 1e-14);
  }
  // Two singletons and a word seen twice: nothing but the shares can be learnt, and no word gets next to nothing.
  UnigramOptions o;
  o.unseen = 0;
  const UnigramResult few = unigram_model(values({2, 1, 1}), o);
  CHECK_NEAR(few.prob[0], 0.25, 1e-9);
  CHECK_NEAR(few.prob[1], 0.5, 1e-9);
  CHECK_NEAR(few.log_loss, 0.5 * std::log(6) + 0.5 * std::log(3), 1e-9);
  CHECK_NEAR(unigram_model(values({4, 3, 1, 1, 2}), o).discount, 0.2, 1e-7);
}

TEST("the log-loss of a discounted law of a vocabulary that was all seen is near the exact one") {
  Monitor monitor;
  Rng rng(11);
  const VectorXd p = word_law(WordLaw::zipf, 25, 1, rng);
  double gap = 0;
  int n = 0;
  while (n < 60) {
    const VectorXd c = draw_counts(p, 150, rng, monitor);
    if (c.minCoeff() < 1 || c.minCoeff() > 1) continue;
    ++n;
    UnigramOptions o;
    o.unseen = 0;
    const UnigramResult fit = unigram_model(c, o);
    double loss = 0;
    for (Index w = 0; w < p.size(); ++w)
      for (Index i = 0; i < fit.count.size(); ++i)
        if (fit.count[i] == c[w]) loss -= p[w] * std::log(fit.prob[i]);
    gap += (fit.log_loss - loss) / 60;
  }
  CHECK(std::abs(gap) < 0.1);
}
