#include <cmath>

#include "core/cluster/pair_agreement.h"
#include "harness.h"
#include "latent/partition_bounds.h"
#include "latent/partition_estimate.h"
#include "latent/partition_exact.h"
#include "latent/partition_gibbs.h"
#include "latent/partition_predict.h"
#include "latent/supervised_baseline.h"
#include "latent/supervised_cluster.h"

using namespace granary;
using namespace granary::latent;

namespace {

MatrixXd seven() {
  MatrixXd x(7, 1);
  x << -2.1, -1.9, -2.4, .3, 1.8, 2.2, 2.0;
  return x;
}
FamilySpec unit_normal() {
  FamilySpec s;
  s.type = FamilyType::normal_known;
  return s;
}
PartitionPrior prior(PriorType type, double sigma, double theta) {
  PartitionPrior p;
  p.type = type;
  p.sigma = sigma;
  p.theta = theta;
  return p;
}
VectorXi labels(std::initializer_list<int> x) {
  VectorXi out(static_cast<Index>(x.size()));
  Index i = 0;
  for (const int v : x) out[i++] = v;
  return out;
}

}  // namespace

TEST("the bound of Lemma 13 holds for every enumerated posterior, with the share of Theorem 7 and with the exact one") {
  Monitor monitor;
  FamilySpec bernoulli;
  bernoulli.type = FamilyType::binomial;
  MatrixXd coins(8, 1);
  coins << 0, 1, 1, 0, 1, 1, 1, 0;
  FamilySpec counts;
  counts.type = FamilyType::poisson;
  MatrixXd many(7, 1);
  many << 0, 3, 1, 7, 2, 2, 12;
  FamilySpec gamma;
  gamma.type = FamilyType::normal;
  const std::vector<std::pair<MatrixXd, FamilySpec>> data = {{seven(), unit_normal()}, {coins, bernoulli}, {many, counts}, {seven(), gamma}};
  for (const auto& [x, spec] : data) {
    const auto family = make_family(x, spec);
    for (const PartitionPrior& law : {prior(PriorType::dp, 0, 1), prior(PriorType::dp, 0, 10), prior(PriorType::py, .25, .5), prior(PriorType::py, -1, 3), prior(PriorType::mfm, 0, 1)}) {
      const ExactPosterior exact = enumerate_partitions(*family, law, monitor);
      for (Index t = 1; t < std::min<Index>(x.rows(), exact.count.size()); ++t) {
        const CountBound loose = count_bound(*family, law, t, false, monitor), tight = count_bound(*family, law, t, true, monitor);
        if (spec.type != FamilyType::normal) CHECK(loose.bound >= exact.count[t - 1]);
        CHECK(tight.bound >= exact.count[t - 1]);
        if (spec.type != FamilyType::normal) CHECK(tight.bound <= loose.bound + 1e-12);
        if (spec.type == FamilyType::normal) CHECK(std::isnan(loose.bound));
      }
    }
  }
  // Bernoulli, DP(1): c = 2, phi = 1 and C = 4 (n - 1) / n / (1 - 1/n) = 4
  const CountBound coin = count_bound(*make_family(coins, bernoulli), prior(PriorType::dp, 0, 1), 1, false, monitor);
  CHECK_NEAR(coin.bound, 0.8, 1e-12);
  CHECK_NEAR(coin.c, 2, 1e-12);
  CHECK_NEAR(growth_constant(prior(PriorType::py, .25, .5), 20, 3), 4 / 1.25 * (20 - 3 - .25) / 20, 1e-10);
  CHECK(std::isnan(count_bound(*make_family(coins, bernoulli), prior(PriorType::py, -1, 3), 3, false, monitor).bound));
  CHECK(growth_constant(prior(PriorType::mfm, 0, 1), 2000, 2) > 50 * growth_constant(prior(PriorType::mfm, 0, 1), 20, 2));
}

TEST("one partition from draws has the least mean loss of all partitions, by brute force") {
  Monitor monitor;
  const auto family = make_family(seven(), unit_normal());
  ChainOptions options;
  options.n_draws = 150;
  options.burn_in = 50;
  Rng rng(3);
  const ChainResult chain = collapsed_gibbs(*family, prior(PriorType::dp, 0, 1), options, rng, monitor);
  for (const PartitionLoss loss : {PartitionLoss::vi, PartitionLoss::binder}) {
    EstimateOptions o;
    o.loss = loss;
    const PartitionEstimate found = estimate_partition(chain.partitions, o, monitor);
    double least = 1e9;
    for_each_partition(7, 7, [&](const std::vector<unsigned>& block, int t) {
      VectorXi c(7);
      for (int b = 0; b < t; ++b)
        for (Index i = 0; i < 7; ++i)
          if (block[static_cast<std::size_t>(b)] >> i & 1u) c[i] = b;
      least = std::min(least, mean_loss(c, chain.partitions, loss));
    });
    CHECK_NEAR(found.loss, least, 1e-9);
    CHECK_NEAR(mean_loss(found.cluster, chain.partitions, loss), found.loss, 1e-12);
    CHECK(found.loss <= found.draw_loss + 1e-12);
    CHECK(found.convergence.converged);
  }
  const MatrixXd s = similarity(chain.partitions, monitor);
  CHECK_NEAR(s(2, 2), 1, 1e-15);
  CHECK_NEAR((s - s.transpose()).norm(), 0, 0);
  // Binder's loss is the squared distance from the similarities, up to a constant
  const VectorXi c = labels({0, 0, 0, 1, 2, 2, 2}), e = labels({0, 0, 0, 1, 1, 1, 1});
  const auto squared = [&](const VectorXi& x) {
    double v = 0;
    for (Index i = 0; i < 7; ++i)
      for (Index j = 0; j < 7; ++j) v += std::pow((x[i] == x[j]) - s(i, j), 2) / 49;
    return v;
  };
  CHECK_NEAR(mean_loss(c, chain.partitions, PartitionLoss::binder) - mean_loss(e, chain.partitions, PartitionLoss::binder), squared(c) - squared(e), 1e-10);
  Eigen::MatrixXi renamed = chain.partitions;
  for (Index d = 0; d < renamed.rows(); ++d) renamed.row(d) = renamed.row(d).array() * -1 + renamed.row(d).maxCoeff();
  CHECK_NEAR((similarity(renamed, monitor) - s).norm(), 0, 0);
  const SizeProfile sizes = size_profile(chain.partitions, 0.2);
  double rows = 0;
  for (Index k = 0; k < 7; ++k) rows += static_cast<double>(k + 1) * sizes.expected[k];
  CHECK_NEAR(rows, 7, 1e-10);
}

TEST("the predictive density integrates to one, and new rows go where they belong") {
  Monitor monitor;
  MatrixXd x(607, 1);
  x.topRows(7) = seven();
  for (Index g = 0; g < 600; ++g) x(7 + g, 0) = -15 + 0.05 * static_cast<double>(g);
  ChainOptions options;
  options.n_draws = 200;
  Rng rng(3);
  for (const PartitionPrior& law : {prior(PriorType::dp, 0, 1), prior(PriorType::mfm, 0, 1)}) {
    const ChainResult chain = collapsed_gibbs(*make_family(seven(), unit_normal()), law, options, rng, monitor);
    const auto family = make_family(x, unit_normal());
    const VectorXd one = predictive_density(*family, law, chain.partitions, chain.theta, 1, monitor), two = predictive_density(*family, law, chain.partitions, chain.theta, 2, monitor);
    CHECK_NEAR(one.sum() * 0.05, 1, 1e-6);
    CHECK(one == two);
    const MatrixXd membership = predictive_membership(*family, law, labels({0, 0, 0, 1, 2, 2, 2}));
    for (Index g = 0; g < 600; g += 100) CHECK_NEAR(membership.row(g).sum(), 1, 1e-12);
    Index at;
    membership.row(340).maxCoeff(&at);  // 2.0
    CHECK(at == 2);
  }
}

TEST("drawn mixtures have the law's number of blocks, and more rows follow those given") {
  Monitor monitor;
  Rng rng(7);
  FamilySpec counts;
  counts.type = FamilyType::poisson;
  const MixtureDraw sim = draw_mixture(counts, prior(PriorType::dp, 0, 3), 200, 1, rng, monitor);
  CHECK(sim.cluster.maxCoeff() > 3);
  CHECK(sim.x.minCoeff() >= 0);
  MatrixXd x = MatrixXd::Zero(207, 1);
  x.topRows(7) = seven();
  const auto family = make_family(x, unit_normal());
  const MixtureDraw more = draw_more(*family, labels({0, 0, 0, 1, 2, 2, 2}), prior(PriorType::dp, 0, 1e-6), rng, monitor);
  CHECK(more.x.rows() == 200);
  CHECK(more.cluster.maxCoeff() <= 2);
}

TEST("pairs, information and edits: identical, coarse and fine partitions, and a small case by hand") {
  const VectorXi g = labels({0, 0, 0, 1, 1, 2});
  const PairAgreement same = pair_agreement(g, labels({2, 2, 2, 0, 0, 1}));
  for (const double v : {same.rand, same.f, same.nes, same.nvi, same.nes_text}) CHECK_NEAR(v, 1, 1e-15);
  CHECK_NEAR(same.vi, 0, 1e-15);
  const PairAgreement fine = pair_agreement(g, labels({0, 1, 2, 3, 4, 5})), coarse = pair_agreement(g, labels({0, 0, 0, 0, 0, 0}));
  CHECK_NEAR(fine.precision, 1, 0);
  CHECK_NEAR(fine.recall, 0, 0);
  CHECK_NEAR(fine.nes, 3.0 / 6, 1e-15);  // K / N
  CHECK_NEAR(coarse.recall, 1, 0);
  CHECK_NEAR(fine.vi + coarse.vi, std::log(6.0), 1e-12);
  const PairAgreement hand = pair_agreement(g, labels({0, 0, 1, 1, 1, 1}));
  CHECK_NEAR(hand.n11, 2, 0);
  CHECK_NEAR(hand.n10, 2, 0);
  CHECK_NEAR(hand.n01, 5, 0);
  CHECK_NEAR(hand.n00, 6, 0);
  CHECK_NEAR(hand.ced, 2.0 / 6, 1e-15);
  CHECK_NEAR(hand.ced_back, 1.0 / 6, 1e-15);
  CHECK_NEAR(hand.creates, 1, 0);
  CHECK_NEAR(pair_agreement(labels({0, 0, 1, 1, 1, 1}), g).vi, hand.vi, 1e-15);
  CHECK_THROWS(pair_agreement(g, labels({0})), InputError);
}

TEST("one fixed type and no labels is a Dirichlet process mixture of unit normals, collapsed or not") {
  Monitor monitor;
  const auto family = make_family(seven(), unit_normal());
  PartitionPrior law = prior(PriorType::dp, 0, 1);
  const ExactPosterior exact = enumerate_partitions(*family, law, monitor);
  for (const bool collapse : {false, true}) {
    SupervisedOptions o;
    o.one_type = true;
    o.collapse = collapse;
    o.alpha_cluster = 1;
    o.n_draws = 20000;
    o.burn_in = 200;
    Rng rng(5);
    const SupervisedResult found = supervised_cluster(seven(), VectorXi::Constant(7, -1), VectorXi::Zero(7), o, rng, monitor);
    VectorXd share = VectorXd::Zero(7);
    for (Index d = 0; d < found.n_clusters.size(); ++d) share[found.n_clusters[d] - 1] += 1.0 / static_cast<double>(found.n_clusters.size());
    for (Index t = 0; t < 7; ++t) CHECK_NEAR(share[t], exact.count[t], 0.015);
  }
}

TEST("with all rows labelled the clusters stay, and one type has the conjugate posterior of its precision") {
  Monitor monitor;
  Rng rng(6), sim(8);
  const Index n = 600;
  MatrixXd r(n, 2);
  VectorXi label(n);
  for (Index i = 0; i < n; ++i) {
    label[i] = static_cast<int>(i % 6);
    r(i, 0) = label[i] - 2.5 + sim.normal(0, 0.2);
    r(i, 1) = sim.normal(0, 1.5);
  }
  for (const SupervisedType type : {SupervisedType::scdp1, SupervisedType::scdp2, SupervisedType::scdp3}) {
    SupervisedOptions o;
    o.type = type;
    o.alpha_type = 1e-9;
    o.n_draws = 400;
    o.burn_in = 100;
    const SupervisedResult found = supervised_cluster(r, label, VectorXi::Zero(n), o, rng, monitor);
    CHECK(found.clusters.cols() == 0);
    CHECK(found.n_types.maxCoeff() == 1);
    CHECK_NEAR(found.mean_weights[0] / 25, 1, type == SupervisedType::scdp3 ? 0.9 : 0.15);
    CHECK_NEAR(found.mean_weights[1] * 2.25, 1, 0.15);
  }
}

TEST("every type of supervised clustering groups new rows as the training rows were grouped, on one thread and on two") {
  Monitor monitor;
  Rng sim(12);
  const Index n = 90;
  MatrixXd r(n, 3);
  VectorXi label(n), truth(n);
  for (Index i = 0; i < n; ++i) {
    truth[i] = static_cast<int>(i % 9);
    label[i] = truth[i] < 5 ? truth[i] : -1;
    r(i, 0) = (truth[i] % 3 - 1) * 1.2 + sim.normal(0, .08);
    r(i, 1) = (truth[i] / 3 - 1) * 1.2 + sim.normal(0, .08);
    r(i, 2) = sim.normal();
  }
  VectorXi gold(40);
  Index k = 0;
  for (Index i = 0; i < n; ++i)
    if (label[i] < 0) gold[k++] = truth[i];
  for (const SupervisedType type : {SupervisedType::scdp1, SupervisedType::scdp2, SupervisedType::scdp3}) {
    for (const bool collapse : {false, true}) {
      if (collapse && type == SupervisedType::scdp3) continue;
      SupervisedOptions o;
      o.type = type;
      o.collapse = collapse;
      o.n_draws = 150;
      o.burn_in = 250;
      if (type == SupervisedType::scdp3) o.lambda = 0.001;  // at 1 the printed law wipes out the weights, see below
      Rng a(3), b(3);
      const SupervisedResult one = supervised_cluster(r, label, VectorXi::Zero(n), o, a, monitor);
      o.threads = 2;
      const SupervisedResult two = supervised_cluster(r, label, VectorXi::Zero(n), o, b, monitor);
      CHECK(one.clusters == two.clusters);
      CHECK(one.loglik == two.loglik);
      Eigen::MatrixXi relabelled = one.clusters;
      const PartitionEstimate estimate = estimate_partition(relabelled, EstimateOptions(), monitor);
      CHECK(pair_agreement(gold, estimate.cluster).f > 0.9);
    }
  }
  SupervisedOptions o;
  o.n_draws = 100;
  double weight[3];
  for (const SupervisedType type : {SupervisedType::scdp1, SupervisedType::scdp2, SupervisedType::scdp3}) {
    o.type = type;
    Rng a(3);
    weight[static_cast<int>(type)] = supervised_cluster(r, label, VectorXi::Zero(n), o, a, monitor).mean_weights[0];
  }
  CHECK(weight[1] > 1.2 * weight[0]);
  CHECK(weight[2] < 0.2 * weight[0]);
  Rng rng(4);
  MatrixXd train(50, 3), fresh(40, 3);
  VectorXi known(50);
  Index in = 0, out = 0;
  for (Index i = 0; i < n; ++i) {
    if (label[i] >= 0) {
      known[in] = label[i];
      train.row(in++) = r.row(i);
    } else {
      fresh.row(out++) = r.row(i);
    }
  }
  const PairwiseResult pairs = pairwise_cluster(train, known, fresh, 5, 100000, rng, monitor);
  CHECK(pair_agreement(gold, pairs.cluster).f > 0.7);
  CHECK(pairs.coefficients[1] < 0);
  CHECK_THROWS(pairwise_cluster(train, VectorXi::Zero(50), fresh, 5, 1000, rng, monitor), InputError);
}
