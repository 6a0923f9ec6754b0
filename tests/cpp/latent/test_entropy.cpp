#include <cmath>
#include <functional>
#include <vector>

#include "core/base/errors.h"
#include "core/math/rising.h"
#include "core/math/special.h"
#include "core/random/pitman_yor_draws.h"
#include "harness.h"
#include "latent/entropy.h"

using namespace granary;
using namespace granary::latent;

namespace {

VectorXd values(std::vector<double> x) { return VectorView(x.data(), static_cast<Index>(x.size())); }

EntropyResult estimate(const VectorXd& counts, EntropyMethod method, double alphabet = 0) {
  Monitor monitor;
  Rng rng(1);
  EntropyOptions options;
  options.method = method;
  options.alphabet = alphabet;
  options.tol = 1e-9;
  return entropy_estimate(counts, options, rng, monitor);
}

const VectorXd card = values({4, 2, 3, 0, 2, 4, 0, 0, 2, 1, 1});

// Second moment of the entropy given the counts as a sum over pairs of symbols.
EntropyMoments by_pairs(const std::vector<double>& n, double d, double a) {
  double total = 0;
  for (const double c : n) total += c;
  const double s = a + total, k = static_cast<double>(n.size()), tail = a + k * d, p2 = digamma(s + 2), t = trigamma(s + 2);
  double first = 0, second = 0, mean = digamma(s + 1) - tail / s * digamma(1 - d);
  for (std::size_t i = 0; i < n.size(); ++i) {
    const double ai = n[i] - d, xi = digamma(ai + 1) - p2;
    mean -= ai / s * digamma(ai + 1);
    first += ai * xi;
    second += ai * (ai + 1) * (std::pow(digamma(ai + 2) - p2, 2) + trigamma(ai + 2) - t);
    for (std::size_t j = 0; j < n.size(); ++j) {
      if (j != i) second += ai * (n[j] - d) * (xi * (digamma(n[j] - d + 1) - p2) - t);
    }
  }
  const double x = digamma(1 - d) - p2;
  second += 2 * tail * (x * first - t * (total - k * d)) + tail * (1 - d) * (std::pow(digamma(2 - d) - p2, 2) + trigamma(2 - d) - t) +
            tail * (tail + d) * (x * x - t);
  return {mean, second / (s * (s + 1)) - mean * mean};
}

}  // namespace

TEST("entropy given a Pitman-Yor law has the moments that a sum over pairs of symbols gives") {
  const std::vector<double> n = {9, 4, 4, 2, 1, 1, 1};
  const PyCounts counts(frequency_table(values(n)));
  for (const double d : {0.0, 0.2, 0.9}) {
    for (const double a : {0.01, 1.0, 300.0}) {
      const EntropyMoments pairs = by_pairs(n, d, a), ours = counts.entropy(counts.at(Discount{d, 1 - d}), a);
      CHECK_NEAR(ours.mean, pairs.mean, 1e-13);
      CHECK_NEAR(ours.variance, pairs.variance, 1e-11);
    }
  }
}

TEST("without counts the moments are those of the law") {
  for (const double d : {0.0, 0.3, 0.8}) {
    for (const double a : {0.5, 40.0}) {
      const EntropyMoments h = py_entropy(Discount{d, 1 - d}, a);
      CHECK_NEAR(h.mean, digamma(a + 1) - digamma(1 - d), 1e-14);
      CHECK_NEAR(h.variance, (a + d) / (std::pow(a + 1, 2) * (1 - d)) + (1 - d) / (a + 1) * trigamma(2 - d) - trigamma(2 + a), 1e-13);
    }
  }
  const EntropyMoments far = py_entropy(Discount{0, 1}, 1e12);  // the printed form has lost all of it
  CHECK_NEAR(far.variance * 1e12, trigamma(1) - 1, 1e-9);
}

TEST("the evidence sums to one over all partitions") {
  for (const double d : {0.0, 0.35}) {
    for (const double a : {-0.2, 0.7, 5.0}) {
      if (a <= -d) continue;
      const int n = 7;
      double sum = 0;
      std::vector<double> sizes;
      const std::function<void(int)> place = [&](int at) {
        if (at == n) {
          const PyCounts counts(frequency_table(values(sizes)));
          sum += std::exp(counts.log_evidence(counts.at(Discount{d, 1 - d}), a));
          return;
        }
        for (std::size_t i = 0; i < sizes.size(); ++i) {
          ++sizes[i];
          place(at + 1);
          --sizes[i];
        }
        sizes.push_back(1);
        place(at + 1);
        sizes.pop_back();
      };
      place(0);
      CHECK_NEAR(sum, 1.0, 1e-12);
    }
  }
}

TEST("coordinates of the prior go there and back, from tiny to huge") {
  for (const double u : {1e-18, 1e-6, 0.0499, 0.0501, 1.0, 30.0}) {
    const double a = strength_of(u);
    CHECK_NEAR((u < 1e-5 ? a * 1.6449340668482264 : digamma(a + 1) - digamma(1)) / u, 1.0, u < 1e-5 ? 2e-6 : 1e-12);
    const Discount d = discount_of(u);
    CHECK_NEAR((u < 1e-5 ? d.value * 1.6449340668482264 : digamma(1) - digamma(d.rest)) / u, 1.0, u < 1e-5 ? 2e-6 : 1e-12);
  }
  CHECK_NEAR(discount_of(1e20).rest * 1e20, 1.0, 1e-12);
}

TEST("simple estimators have the values of the entropy package's example") {
  using M = EntropyMethod;
  CHECK_NEAR(estimate(card, M::plugin).estimate, 1.968382, 5e-7);
  CHECK_NEAR(estimate(card, M::miller_madow).estimate, 2.152593, 5e-7);
  CHECK_NEAR(estimate(card, M::chao_shen).estimate, 2.201137, 5e-7);
  CHECK_NEAR(estimate(card, M::zhang).estimate, 2.170547, 5e-7);
  CHECK_NEAR(estimate(card, M::grassberger).estimate, 2.144626, 5e-7);
  const EntropyResult nsb = estimate(card, M::nsb, 11);
  CHECK_NEAR(nsb.estimate, 2.187774, 5e-7);
  CHECK_NEAR(nsb.sd, 0.140893, 5e-7);
  CHECK(nsb.convergence.converged);
}

TEST("the posterior means and spreads under the default prior are those of fine quadrature") {
  const VectorXd four = values({4, 3, 2, 1}), ten = values({10, 8, 5, 4, 2, 1, 1, 1, 1, 1});
  const EntropyResult a = estimate(four, EntropyMethod::pym), b = estimate(four, EntropyMethod::dpm);
  CHECK_NEAR(a.estimate, 1.736844, 2e-6);
  CHECK_NEAR(a.sd, 0.428270, 2e-6);
  CHECK_NEAR(b.estimate, 1.712414, 2e-6);
  CHECK_NEAR(b.sd, 0.409227, 2e-6);
  const EntropyResult c = estimate(ten, EntropyMethod::pym), d = estimate(ten, EntropyMethod::dpm);
  CHECK_NEAR(c.estimate, 2.229264, 2e-6);
  CHECK_NEAR(c.sd, 0.239951, 2e-6);
  CHECK_NEAR(d.estimate, 2.207375, 2e-6);
  CHECK_NEAR(d.sd, 0.226330, 2e-6);
  CHECK(a.convergence.converged && b.convergence.converged && c.convergence.converged && d.convergence.converged);
}

TEST("the grid agrees with a plain double integral over discount and strength") {
  // Midpoint rule in (d, log a) with the prior q(g) trigamma(1 + a) trigamma(1 - d) / h.
  const std::vector<double> n = {12, 5, 3, 1, 1, 1, 1};
  const PyCounts counts(frequency_table(values(n)));
  const int side = 900;
  double total = 0, first = 0, second = 0;
  for (int i = 0; i < side; ++i) {
    const double d = (i + 0.5) / side;
    const PyCounts::AtDiscount at = counts.at(Discount{d, 1 - d});
    for (int j = 0; j < side; ++j) {
      const double a = std::exp(-20 + 40 * (j + 0.5) / side);
      const double h = digamma(a + 1) - digamma(1 - d), g = (digamma(1) - digamma(1 - d)) / h;
      const double weight = std::exp(counts.log_evidence(at, a) - 10 / (1 - g) + 60) * trigamma(1 + a) * trigamma(1 - d) / h * a;
      const EntropyMoments m = counts.entropy(at, a);
      total += weight;
      first += weight * m.mean;
      second += weight * (m.variance + m.mean * m.mean);
    }
  }
  const EntropyResult ours = estimate(values(n), EntropyMethod::pym);
  CHECK_NEAR(ours.estimate, first / total, 2e-5);
  CHECK_NEAR(ours.sd, std::sqrt(second / total - std::pow(first / total, 2)), 2e-5);
}

TEST("with a huge alphabet, NSB is the Dirichlet-process mixture") {
  const VectorXd counts = values({2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3});
  CHECK_NEAR(estimate(counts, EntropyMethod::nsb, 1e9).estimate, estimate(counts, EntropyMethod::dpm).estimate, 0.05);
  CHECK_NEAR(estimate(counts, EntropyMethod::nsb, 1e9).sd, estimate(counts, EntropyMethod::dpm).sd, 0.05);
}

TEST("draws of the entropy have the moments of its posterior, and do not depend on threads") {
  Monitor monitor;
  EntropyOptions options;
  options.n_draws = 20000;
  for (const EntropyMethod method : {EntropyMethod::pym, EntropyMethod::dpm, EntropyMethod::nsb}) {
    options.method = method;
    options.alphabet = 40;
    options.threads = 1;
    Rng one(3), two(3);
    const EntropyResult a = entropy_estimate(values({10, 8, 5, 4, 2, 1, 1, 1, 1, 1}), options, one, monitor);
    const VectorXd h = a.draws.col(0);
    CHECK_NEAR(h.mean(), a.estimate, 5 * a.sd / std::sqrt(20000.0));
    CHECK_NEAR(std::sqrt((h.array() - h.mean()).square().mean()), a.sd, 0.03 * a.sd);
    options.threads = 2;
    const EntropyResult b = entropy_estimate(values({10, 8, 5, 4, 2, 1, 1, 1, 1, 1}), options, two, monitor);
    CHECK(a.draws == b.draws);
    CHECK_NEAR(a.draws.col(2).mean(), method == EntropyMethod::nsb ? a.draws.col(2).mean() : 0.1, 0.08);
  }
}

TEST("entropy by stick-breaking agrees with the moments of the law") {
  Monitor monitor;
  Rng rng(4);
  const double d = 0.3, a = 2;
  double first = 0, second = 0;
  const int n = 3000;
  for (int i = 0; i < n; ++i) {
    const StickWeights w = pitman_yor_weights(d, a, 1e-4, 20000, rng, monitor);
    double h = 0;
    for (Index k = 0; k < w.weights.size(); ++k) h -= w.weights[k] > 0 ? w.weights[k] * std::log(w.weights[k]) : 0;
    first += h / n;
    second += h * h / n;
  }
  const EntropyMoments law = py_entropy(Discount{d, 1 - d}, a);
  CHECK_NEAR(first, law.mean, 4 * std::sqrt(law.variance / n) + 2e-3);
  CHECK_NEAR(second - first * first, law.variance, 0.1 * law.variance);
}

TEST("the numbers of symbols are those of the restaurant") {
  Monitor monitor;
  for (const double d : {0.0, 1e-6, 0.4}) {
    Rng rng(5);
    double sum = 0;
    for (int i = 0; i < 2000; ++i) sum += pitman_yor_labels(60, d, 3, rng, monitor).maxCoeff() + 1;
    CHECK_NEAR(sum / 2000, py_distinct(60, d, 3), 0.35);
    CHECK_NEAR(py_distinct(60, d, 3) + 0.0, [&] {  // sum over draws of the chance of a new symbol
      double k = 0;
      for (int i = 0; i < 60; ++i) k += (3 + k * d) / (3 + i);
      return k;
    }(), 1e-9);
    CHECK_NEAR(py_new(40, 20, py_distinct(20, d, 3), d, 3), py_distinct(60, d, 3) - py_distinct(20, d, 3), 1e-9);
  }
  CHECK_NEAR(py_distinct(10, 1e-5 * 1.0001, 2), py_distinct(10, 1e-5 * 0.9999, 2), 1e-6);
}

TEST("the best Pitman-Yor law is found, and its scores vanish") {
  Monitor monitor;
  Rng rng(6);
  double worst = 0;
  for (int rep = 0; rep < 5; ++rep) {
    const VectorXi label = pitman_yor_labels(20000, 0.5, 20, rng, monitor);
    VectorXd counts = VectorXd::Zero(label.maxCoeff() + 1);
    for (Index i = 0; i < label.size(); ++i) ++counts[label[i]];
    const PyFit fit = py_fit(frequency_table(counts), false, monitor);
    CHECK(fit.convergence.converged && !fit.edge);
    CHECK_NEAR(fit.discount, 0.5, 5 * fit.se_discount);
    CHECK_NEAR(fit.strength, 20.0, 5 * fit.se_strength);
    worst = std::max(worst, fit.se_discount);
    const PyFit dp = py_fit(frequency_table(counts), true, monitor);
    CHECK(dp.loglik < fit.loglik - 10);
    CHECK(dp.discount == 0);
  }
  CHECK(worst < 0.03);
  CHECK_THROWS(py_fit(frequency_table(values({5})), false, monitor), InputError);
  CHECK_THROWS(py_fit(frequency_table(values({1, 1, 1})), false, monitor), InputError);
}

TEST("estimates do not depend on the order of the symbols, nor most of them on zeros") {
  const VectorXd one = values({7, 1, 3, 1, 2, 0, 0}), two = values({1, 2, 7, 3, 1});
  for (const auto& [method, name] : names(EntropyMethod::pym)) {
    CHECK(estimate(one, method, 9).estimate == estimate(two, method, 9).estimate);
    CHECK(estimate(one, method, 9).sd == estimate(two, method, 9).sd);
  }
}

TEST("edges: one draw, one symbol, all different, one coincidence, huge counts") {
  using M = EntropyMethod;
  for (const auto& [method, name] : names(M::pym)) {
    const EntropyResult single = estimate(values({1}), method, 4);
    CHECK(method == M::pym || method == M::dpm || method == M::ansb ? std::isinf(single.estimate) : single.estimate >= 0);
    const EntropyResult constant = estimate(values({50}), method, 4);
    CHECK(std::isfinite(constant.estimate) && constant.estimate >= 0);
    CHECK(method == M::ansb || constant.estimate < 0.5);
    CHECK_THROWS(estimate(VectorXd::Zero(3), method, 4), InputError);
  }
  const EntropyResult all = estimate(VectorXd::Ones(20), M::pym);
  CHECK(std::isinf(all.estimate) && all.convergence.why() == Stop::unbounded);
  CHECK(std::isfinite(estimate(VectorXd::Ones(20), M::chao_shen).estimate));
  VectorXd once = VectorXd::Ones(20);
  once[0] = 2;
  const EntropyResult prior_driven = estimate(once, M::pym);
  CHECK(std::isfinite(prior_driven.estimate) && prior_driven.sd > 0.5);
  const VectorXd huge = values({4e8, 3e8, 2e8, 1e8, 5e3, 12, 1});
  for (const M method : {M::pym, M::dpm}) {
    const EntropyResult big = estimate(huge, method);
    CHECK_NEAR(big.estimate, estimate(huge, M::plugin).estimate, 1e-6);
    CHECK_NEAR(big.sd / estimate(huge, M::plugin).sd, 1.0, 0.01);
  }
  CHECK_NEAR(estimate(huge, M::nsb, 10).sd / estimate(huge, M::plugin).sd, 1.0, 0.01);
}

TEST("jackknife estimate and spread are those of leaving out one draw at a time") {
  const VectorXd counts = values({5, 3, 2, 1, 1, 1});
  const auto plug = [](const VectorXd& c) {
    double h = 0;
    for (Index i = 0; i < c.size(); ++i) h -= c[i] > 0 ? c[i] / c.sum() * std::log(c[i] / c.sum()) : 0;
    return h;
  };
  const double n = counts.sum();
  for (const EntropyMethod method : {EntropyMethod::jackknife, EntropyMethod::chao_shen, EntropyMethod::coverage_adjusted,
                                     EntropyMethod::dirichlet, EntropyMethod::shrink}) {
    VectorXd value(counts.size());
    double mean = 0, variance = 0;
    for (Index i = 0; i < counts.size(); ++i) {
      VectorXd less = counts;
      --less[i];
      value[i] = method == EntropyMethod::jackknife ? plug(less) : estimate(less, method, 8).estimate;
      mean += counts[i] / n * value[i];
    }
    for (Index i = 0; i < counts.size(); ++i) variance += (n - 1) / n * counts[i] * std::pow(value[i] - mean, 2);
    const EntropyResult ours = estimate(counts, method, 8);
    CHECK_NEAR(ours.sd, std::sqrt(variance), 1e-12);
    if (method == EntropyMethod::jackknife) CHECK_NEAR(ours.estimate, n * plug(counts) - (n - 1) * mean, 1e-12);
  }
}

TEST("the user's density of g is used, and refused where it is none") {
  Monitor monitor;
  Rng rng(1);
  EntropyOptions options;
  options.prior = PymPrior::custom;
  options.tol = 1e-9;
  options.density = [](double g) { return 7 * std::exp(-10 / (1 - g)); };
  const VectorXd counts = values({10, 8, 5, 4, 2, 1, 1, 1, 1, 1});
  CHECK_NEAR(entropy_estimate(counts, options, rng, monitor).estimate, 2.229264, 2e-6);
  options.density = [](double) { return -1.0; };
  CHECK_THROWS(entropy_estimate(counts, options, rng, monitor), InputError);
  options.density = nullptr;
  CHECK_THROWS(entropy_estimate(counts, options, rng, monitor), InputError);
  options.prior = PymPrior::pd;
  const EntropyResult pd = entropy_estimate(counts, options, rng, monitor);
  CHECK(pd.mode_strength == 0 && pd.mode_discount > 0);
  // the same by a plain sum over v
  const PyCounts c(frequency_table(counts));
  double total = 0, first = 0;
  for (int i = 0; i < 20000; ++i) {
    const double v = std::exp(-25 + 50 * (i + 0.5) / 20000);
    const PyCounts::AtDiscount at = c.at(discount_of(v));
    const double w = std::exp(c.log_evidence(at, 0) + 60) * v;
    total += w;
    first += w * c.entropy(at, 0).mean;
  }
  CHECK_NEAR(pd.estimate, first / total, 1e-4);
}
