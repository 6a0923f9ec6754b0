#include <cmath>

#include "core/math/logspace.h"
#include "harness.h"
#include "latent/concentration.h"
#include "latent/partition_exact.h"
#include "latent/partition_gibbs.h"
#include "latent/partition_prior.h"
#include "latent/richardson_green.h"

using namespace granary;
using namespace granary::latent;

namespace {

PartitionPrior dp(double theta) {
  PartitionPrior p;
  p.theta = theta;
  return p;
}
PartitionPrior py(double sigma, double theta) {
  PartitionPrior p;
  p.type = PriorType::py;
  p.sigma = sigma;
  p.theta = theta;
  return p;
}
PartitionPrior mfm(double gamma) {
  PartitionPrior p;
  p.type = PriorType::mfm;
  p.gamma = gamma;
  return p;
}
PartitionPrior mfm_law(double gamma, ComponentLaw law, double rate) {
  PartitionPrior p = mfm(gamma);
  p.law = law;
  p.rate = rate;
  return p;
}
std::vector<PartitionPrior> laws() {
  return {dp(1), dp(0.05), dp(40), py(0.25, 0.5), py(0.7, -0.3), py(0.4, 0), py(-0.5, 2), py(-2, 2), mfm(1), mfm(0.3), mfm_law(1, ComponentLaw::poisson, 2), mfm_law(0.5, ComponentLaw::geometric, 0.2)};
}

FamilySpec unit_normal() {
  FamilySpec s;
  s.type = FamilyType::normal_known;
  return s;
}
MatrixXd seven() {
  MatrixXd x(7, 1);
  x << -2.1, -1.9, -2.4, .3, 1.8, 2.2, 2.0;
  return x;
}
FamilySpec bernoulli() {
  FamilySpec s;
  s.type = FamilyType::binomial;
  return s;
}
MatrixXd column(const std::vector<double>& x) { return Eigen::Map<const VectorXd>(x.data(), static_cast<Index>(x.size())); }

void check_count(const VectorXd& ours, const std::vector<double>& card, double tol = 6e-7) {
  for (std::size_t t = 0; t < card.size(); ++t) CHECK_NEAR(ours[static_cast<Index>(t)], card[t], tol);
}

}  // namespace

TEST("laws of partitions sum to one over all set partitions, and the sequential law of the count is that of the enumeration") {
  Monitor monitor;
  for (const PartitionPrior& prior : laws()) {
    for (const Index n : {1, 2, 5, 9}) {
      const PartitionLaw law(prior, n);
      VectorXd count = VectorXd::Zero(n);
      for_each_partition(n, n, [&](const std::vector<unsigned>& block, int t) {
        std::vector<int> sizes;
        for (int b = 0; b < t; ++b) {
          sizes.push_back(0);
          for (unsigned bits = block[static_cast<std::size_t>(b)]; bits != 0; bits &= bits - 1) ++sizes.back();
        }
        const double log_p = law.log_partition(sizes);
        CHECK(!std::isnan(log_p));
        count[t - 1] += std::exp(log_p);
      });
      CHECK_NEAR(count.sum(), 1, 1e-10);
      const VectorXd sequential = prior_of_count(prior, n, monitor);
      for (Index t = 0; t < n; ++t) CHECK_NEAR(t < sequential.size() ? sequential[t] : 0, count[t], 1e-11);
      if (prior.type != PriorType::mfm) {
        double mean = 0;
        for (Index t = 0; t < n; ++t) mean += static_cast<double>(t + 1) * count[t];
        CHECK_NEAR(expected_count(prior, static_cast<double>(n)), mean, 1e-9 * mean);
      }
    }
  }
}

TEST("there are as many partitions as Bell's numbers") {
  for (const auto& [n, bell] : std::vector<std::pair<Index, long>>{{1, 1}, {4, 15}, {8, 4140}, {10, 115975}}) {
    long seen = 0;
    for_each_partition(n, n, [&](const std::vector<unsigned>&, int) { ++seen; });
    CHECK(seen == bell);
  }
}

TEST("a Pitman-Yor law without discount is a Dirichlet process, one with N components a finite mixture with N") {
  const std::vector<int> sizes = {4, 1, 2};
  CHECK_NEAR(PartitionLaw(py(0, 1.7), 7).log_partition(sizes), PartitionLaw(dp(1.7), 7).log_partition(sizes), 1e-12);
  PartitionPrior point = mfm(0.6);
  point.table = VectorXd::Zero(5);
  point.table[4] = 1;
  CHECK_NEAR(PartitionLaw(py(-0.6, 3), 7).log_partition(sizes), PartitionLaw(point, 7).log_partition(sizes), 1e-12);
  for (Index t = 1; t < 5; ++t) {  // sequential weights, up to one factor
    CHECK_NEAR(PartitionLaw(point, 9).open(t), PartitionLaw(py(-0.6, 3), 9).open(t), 1e-10);
  }
  CHECK(PartitionLaw(point, 9).open(5) == 0);
  CHECK(PartitionLaw(py(-0.6, 3), 9).open(5) == 0);
}

TEST("draws of partitions follow their law") {
  Rng rng(3);
  Monitor monitor;
  const Index n = 8;
  for (const PartitionPrior& prior : laws()) {
    const VectorXd p = prior_of_count(prior, n, monitor);
    VectorXd seen = VectorXd::Zero(n);
    double pair = 0;
    const int draws = 20000;
    for (int d = 0; d < draws; ++d) {
      const VectorXi label = draw_partition(prior, n, rng);
      seen[label.maxCoeff()] += 1.0 / draws;
      pair += (label[2] == label[6]) / static_cast<double>(draws);
    }
    for (Index t = 0; t < n; ++t) CHECK_NEAR(seen[t], t < p.size() ? p[t] : 0, 0.016);
    CHECK_NEAR(pair, prior_of_count(prior, 2, monitor)[0], 0.016);  // any two rows, by exchangeability
  }
}

TEST("two sticks with equal parameters are a Pitman-Yor law with two components") {
  Rng rng(4);
  PartitionPrior sticks;
  sticks.type = PriorType::sticks;
  sticks.a = sticks.b = VectorXd::Constant(1, 0.8);
  Monitor monitor;
  const VectorXd p = prior_of_count(py(-0.8, 1.6), 5, monitor);
  double one = 0;
  for (int d = 0; d < 20000; ++d) one += draw_partition(sticks, 5, rng).maxCoeff() == 0;
  CHECK_NEAR(one / 20000, p[0], 0.014);
  CHECK_THROWS(PartitionLaw(sticks, 5), InputError);
}

TEST("exact posteriors of the number of clusters: seven rows, three laws") {
  Monitor monitor;
  const auto family = make_family(seven(), unit_normal());
  const ExactPosterior a = enumerate_partitions(*family, dp(1), monitor);
  check_count(a.count, {.001792, .270640, .417001, .237821, .064093, .008244, .000408});
  CHECK_NEAR(a.log_evidence, -16.0681316, 1e-7);
  CHECK_NEAR(a.partitions, 877, 0);
  const ExactPosterior b = enumerate_partitions(*family, py(.25, .5), monitor);
  check_count(b.count, {.002320, .204671, .338438, .276331, .134809, .038363, .005069});
  CHECK_NEAR(b.log_evidence, -16.1229162, 1e-7);
  const ExactPosterior c = enumerate_partitions(*family, mfm(1), monitor);
  check_count(c.count, {.000343, .043266, .101582, .194539, .291580, .266698, .101992});
  check_count(c.components, {.000245, .015532, .022728, .026758, .029288});
  CHECK_NEAR(c.components.sum(), 1, 1e-10);
  for (Index i = 0; i < 7; ++i) CHECK_NEAR(a.similarity(i, i), 1, 1e-12);
  CHECK((a.similarity - a.similarity.transpose()).cwiseAbs().maxCoeff() < 1e-12);
  MatrixXd turned(7, 1);
  for (Index i = 0; i < 7; ++i) turned(i, 0) = seven()(6 - i, 0);
  const ExactPosterior d = enumerate_partitions(*make_family(turned, unit_normal()), dp(1), monitor);
  CHECK((a.count - d.count).cwiseAbs().maxCoeff() < 1e-12);
  CHECK((a.similarity - d.similarity.reverse()).cwiseAbs().maxCoeff() < 1e-12);
  CHECK_NEAR(enumerate_partitions(*family, dp(1e-9), monitor).count[0], 1, 1e-5);
  CHECK_NEAR(enumerate_partitions(*family, dp(1e9), monitor).count[6], 1, 1e-5);
}

TEST("exact posteriors with Bernoulli rows, by enumeration and by the recursion for two values") {
  Monitor monitor;
  const MatrixXd x = column({0, 0, 1, 1, 1});
  const auto family = make_family(x, bernoulli());
  const ExactPosterior a = enumerate_partitions(*family, dp(1), monitor);
  check_count(a.count, {.146008, .401521, .334601, .106464, .011407});
  for (const PartitionPrior& prior : laws()) {
    for (const MatrixXd& rows : {x, column({1, 1, 1, 1, 1, 1}), column({0, 1, 1, 0, 1, 0, 0, 0, 1})}) {
      const auto f = make_family(rows, bernoulli());
      const ExactPosterior listed = enumerate_partitions(*f, prior, monitor), quick = two_valued(*f, two_values(rows), prior, monitor);
      CHECK_NEAR(quick.log_evidence, listed.log_evidence, 1e-10);
      for (Index t = 0; t < std::min(quick.count.size(), listed.count.size()); ++t) CHECK_NEAR(quick.count[t], listed.count[t], 1e-11);
    }
  }
  CHECK_NEAR(enumerate_partitions(*make_family(column({1, 1, 1, 1, 1, 1}), bernoulli()), dp(1), monitor).count[0], .339284, 6e-7);
  CHECK(two_values(column({1, 2, 3})).size() == 0);
  // continuous rows of two values far apart, where nothing must overflow
  MatrixXd two(120, 1);
  for (Index i = 0; i < 120; ++i) two(i, 0) = i % 3 == 0 ? 30 : -30;
  const ExactPosterior far = two_valued(*make_family(two, unit_normal()), two_values(two), dp(1), monitor);
  CHECK(std::isfinite(far.log_evidence));
  CHECK_NEAR(far.count.sum(), 1, 1e-12);
  CHECK(far.count[0] < 1e-12);
}

TEST("families: predictive densities are ratios of marginals, blocks forget removed rows, and densities integrate to one") {
  Monitor monitor;
  Rng rng(8);
  struct Case {
    FamilySpec spec;
    MatrixXd x;
  };
  std::vector<Case> cases;
  const auto counts = column({0, 3, 1, 7, 2, 2, 12, 0, 5});
  const auto reals = column({.3, 1.2, 4.1, 2.2, .05, 3, 9.5, 1.1, .7});
  for (const FamilyType type : {FamilyType::poisson, FamilyType::geometric, FamilyType::negative_binomial, FamilyType::binomial, FamilyType::exponential, FamilyType::weibull,
                                FamilyType::normal, FamilyType::lognormal, FamilyType::normal_known}) {
    FamilySpec s;
    s.type = type;
    s.a = 1.3;
    s.b = 0.7;
    s.k0 = 0.4;
    s.m0[0] = 0.5;
    s.successes = 2.5;
    s.power = 1.7;
    s.s2 = 0.6;
    s.t2 = 3;
    s.size = VectorXd::Constant(1, 14);
    const bool whole = type == FamilyType::poisson || type == FamilyType::geometric || type == FamilyType::negative_binomial || type == FamilyType::binomial;
    cases.push_back({s, whole ? counts : reals});
  }
  FamilySpec s;
  s.type = FamilyType::mvnormal;
  s.m0 = VectorXd::Constant(3, 0.2);
  s.psi0 = MatrixXd::Identity(3, 3) * 1.5;
  s.psi0(0, 1) = s.psi0(1, 0) = 0.4;
  s.nu0 = 3.5;
  s.k0 = 0.3;
  MatrixXd x(9, 3);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = rng.normal(0, 2);
  cases.push_back({s, x});
  FamilySpec c;
  c.type = FamilyType::categorical;
  c.levels.resize(2);
  c.levels << 3, 2;
  c.weight.resize(5);
  c.weight << .5, 1, 2, .3, .7;
  MatrixXd codes(9, 2);
  for (Index i = 0; i < 9; ++i) codes.row(i) << static_cast<double>(i % 3), static_cast<double>(i % 2);
  cases.push_back({c, codes});
  for (const Case& one : cases) {
    const auto family = make_family(one.x, one.spec);
    family->slots(2);
    for (const Index i : {1, 4, 6}) family->add(i, 0);
    const double before = family->log_marginal(0), predictive = family->log_predictive(2, 0);
    family->add(2, 0);
    CHECK_NEAR(family->log_marginal(0) - before, predictive, 1e-9);
    CHECK(family->remove(2, 0));
    CHECK_NEAR(family->log_marginal(0), before, 1e-9);
    for (const Index i : {6, 1, 4}) CHECK(family->remove(i, 0));
    CHECK_NEAR(family->log_marginal(0), 0, 1e-9);
    CHECK_NEAR(family->log_predictive(3, 0), family->log_predictive(3, 1), 1e-9);
    family->add(3, 1);
    CHECK_NEAR(family->log_marginal(1), family->log_predictive(3, 0), 1e-9);
    CHECK(family->log_supremum(3) >= family->log_marginal(1) - 1e-12);
  }
  // sums over all counts of a binomial row and over all codes
  const Case& binomial = cases[3];
  double total = 0;
  for (int k = 0; k <= 14; ++k) {
    MatrixXd rows = binomial.x;
    rows(0, 0) = k;
    const auto f = make_family(rows, binomial.spec);
    f->slots(1);
    f->add(3, 0);
    f->add(5, 0);
    total += std::exp(f->log_predictive(0, 0));
  }
  CHECK_NEAR(total, 1, 1e-10);
  // and integrals of continuous ones, on a grid over a block
  for (const std::size_t which : {4u, 5u, 6u, 7u, 8u}) {
    const int grid = 40000;
    MatrixXd rows(grid + 3, 1);
    rows.topRows(3) = cases[which].x.topRows(3);
    const double low = which < 6 || which == 7 ? -12 : -400, high = which < 6 || which == 7 ? 9 : 400, step = (high - low) / grid;
    const bool logs = which < 6 || which == 7;
    for (int g = 0; g < grid; ++g) rows(g + 3, 0) = logs ? std::exp(low + (g + .5) * step) : low + (g + .5) * step;
    const auto f = make_family(rows, cases[which].spec);
    f->slots(1);
    for (Index i = 0; i < 3; ++i) f->add(i, 0);
    double sum = 0;
    for (int g = 0; g < grid; ++g) sum += std::exp(f->log_predictive(g + 3, 0)) * step * (logs ? rows(g + 3, 0) : 1);
    CHECK_NEAR(sum, 1, 2e-3);
  }
}

TEST("draws of rows have the predictive law of their block") {
  Rng rng(11);
  const MatrixXd x = column({2, 3, 1, 0, 0});
  for (const FamilyType type : {FamilyType::poisson, FamilyType::geometric, FamilyType::binomial}) {
    FamilySpec s;
    s.type = type;
    s.a = 2;
    s.b = 3;
    s.size = VectorXd::Constant(1, 6);
    const auto f = make_family(x, s);
    f->slots(1);
    for (Index i = 0; i < 3; ++i) f->add(i, 0);
    VectorXd seen = VectorXd::Zero(4);
    for (int d = 0; d < 20000; ++d) {
      f->draw_row(4, 0, rng);
      const double v = f->row(4)[0];
      if (v < 4) seen[static_cast<Index>(v)] += 1.0 / 20000;
    }
    for (int v = 0; v < 4; ++v) {
      MatrixXd y = x;
      y(4, 0) = v;
      const auto g = make_family(y, s);
      g->slots(1);
      for (Index i = 0; i < 3; ++i) g->add(i, 0);
      CHECK_NEAR(seen[v], std::exp(g->log_predictive(4, 0)), 0.015);
    }
  }
}

TEST("chains agree with the enumeration, with and without split-merge moves, for every law") {
  Monitor monitor;
  const auto family = make_family(seven(), unit_normal());
  for (const PartitionPrior& prior : {dp(1), py(.25, .5), py(-0.5, 2), mfm(1), mfm_law(0.5, ComponentLaw::geometric, 0.2)}) {
    const ExactPosterior exact = enumerate_partitions(*family, prior, monitor);
    for (const double moves : {0.0, 0.25, 2.0}) {
      ChainOptions options;
      options.n_draws = 20000;
      options.burn_in = 100;
      options.split_merge = moves;
      Rng rng(17);
      const ChainResult found = collapsed_gibbs(*family, prior, options, rng, monitor);
      VectorXd share = VectorXd::Zero(exact.count.size());
      double together = 0, far = 0;
      for (Index d = 0; d < found.count.size(); ++d) {
        share[found.count[d] - 1] += 1.0 / static_cast<double>(found.count.size());
        together += (found.partitions(d, 0) == found.partitions(d, 2)) / static_cast<double>(found.count.size());
        far += (found.partitions(d, 0) == found.partitions(d, 3)) / static_cast<double>(found.count.size());
      }
      for (Index t = 0; t < share.size(); ++t) CHECK_NEAR(share[t], exact.count[t], 0.014);
      CHECK_NEAR(together, exact.similarity(0, 2), 0.014);
      CHECK_NEAR(far, exact.similarity(0, 3), 0.014);
      for (Index i = 0; i < 7; ++i) CHECK(found.best[i] == exact.best[i]);
      CHECK_NEAR(found.best_value - exact.log_evidence, std::log(exact.best_probability), 1e-8);
    }
  }
}

TEST("split-merge moves alone keep the posterior of the normal-Wishart family") {
  Monitor monitor;
  MatrixXd x(6, 2);
  x << 0, 0, .2, -.1, 3, 3.2, 2.8, 3, 1.5, 1, -.3, .4;
  FamilySpec s;
  s.type = FamilyType::mvnormal;
  s.m0 = VectorXd::Constant(2, 1);
  s.psi0 = MatrixXd::Identity(2, 2);
  s.nu0 = 4;
  s.k0 = 0.2;
  const auto family = make_family(x, s);
  const ExactPosterior exact = enumerate_partitions(*family, dp(1), monitor);
  ChainOptions options;
  CollapsedChain chain(*family, dp(1), VectorXi::Zero(6), options);
  Rng rng(5);
  VectorXd share = VectorXd::Zero(6);
  const int draws = 60000;
  for (int d = 0; d < draws; ++d) {
    chain.split_merge(rng);
    chain.split_merge(rng);
    share[chain.count() - 1] += 1.0 / draws;
  }
  for (Index t = 0; t < 6; ++t) CHECK_NEAR(share[t], exact.count[t], 0.015);
}

TEST("the draws are the same on one thread and on two") {
  Monitor monitor;
  const auto family = make_family(seven(), unit_normal());
  ChainOptions options;
  options.n_draws = 50;
  options.burn_in = 10;
  options.chains = 3;
  Rng a(2), b(2);
  const ChainResult one = collapsed_gibbs(*family, dp(1), options, a, monitor);
  options.threads = 2;
  const ChainResult two = collapsed_gibbs(*family, dp(1), options, b, monitor);
  CHECK(one.partitions == two.partitions);
  CHECK(one.partitions.topRows(50) != one.partitions.middleRows(50, 50));
}

TEST("draws of the concentration have the density that integration gives, for one and for several partitions") {
  Rng rng(21);
  for (const auto& [n, k] : std::vector<std::pair<VectorXd, VectorXd>>{{VectorXd::Constant(1, 40), VectorXd::Constant(1, 6)},
                                                                      {(VectorXd(3) << 10, 25, 60).finished(), (VectorXd(3) << 1, 4, 7).finished()}}) {
    const double shape = 1.5, rate = 0.7;
    const VectorXd draws = concentration_draws(n, k, shape, rate, 40000, rng);
    const int grid = 20000;
    VectorXd at(grid);
    for (int g = 0; g < grid; ++g) at[g] = (g + .5) * 30.0 / grid;
    VectorXd p = concentration_log_density(at, n, k, shape, rate);
    p = (p.array() - p.maxCoeff()).exp();
    p /= p.sum();
    const double mean = p.dot(at), var = p.dot(at.cwiseAbs2()) - mean * mean;
    CHECK_NEAR(draws.mean(), mean, 0.03 * mean);
    CHECK_NEAR((draws.array() - draws.mean()).square().mean(), var, 0.08 * var);
  }
}

TEST("the prior of Richardson and Green: without data beyond the hyperparameters the count is that of the prior, three groups are found") {
  Rng rng(9), sim(10);
  Monitor monitor;
  VectorXd x(150);
  for (Index i = 0; i < 150; ++i) x[i] = i < 50 ? sim.normal(0, .5) : i < 100 ? sim.normal(6, .5) : sim.normal(12, 1);
  ChainOptions options;
  options.n_draws = 2000;
  options.burn_in = 500;
  const ChainResult found = richardson_green(x, mfm(1), options, rng, monitor);
  Index best;
  found.components.maxCoeff(&best);
  CHECK(best == 2);
  CHECK_NEAR(found.components.sum(), 1, 1e-8);
  VectorXd at = VectorXd::LinSpaced(2000, -30, 42);
  const VectorXd density = richardson_green_density(at, x, mfm(1), found.partitions, found.theta, found.parameters, rng, monitor);
  CHECK_NEAR(density.sum() * 72 / 1999, 1, 0.03);
  CHECK_THROWS(richardson_green(VectorXd::Ones(5), dp(1), options, rng, monitor), InputError);
}

TEST("laws and families outside their domain are refused") {
  CHECK_THROWS(PartitionLaw(dp(0), 3), InputError);
  CHECK_THROWS(PartitionLaw(py(1, 1), 3), InputError);
  CHECK_THROWS(PartitionLaw(py(.2, -.2), 3), InputError);
  CHECK_THROWS(PartitionLaw(py(-1, 2.5), 3), InputError);
  CHECK_THROWS(PartitionLaw(mfm(0), 3), InputError);
  FamilySpec s;
  s.type = FamilyType::poisson;
  CHECK_THROWS(make_family(column({1.5}), s), InputError);
  CHECK_THROWS(make_family(MatrixXd::Zero(3, 2), s), InputError);
  s.type = FamilyType::mvnormal;
  s.m0 = VectorXd::Zero(2);
  s.nu0 = 1;
  CHECK_THROWS(make_family(MatrixXd::Zero(3, 2), s), InputError);
  s.nu0 = 4;
  s.psi0 = -MatrixXd::Identity(2, 2);
  CHECK_THROWS(make_family(MatrixXd::Zero(3, 2), s), InputError);
  s.type = FamilyType::exponential;
  CHECK_THROWS(make_family(column({-1}), s), InputError);
  s.type = FamilyType::binomial;
  CHECK_THROWS(make_family(column({3}), s), InputError);
}
