#include <numeric>
#include <algorithm>
#include <cmath>

#include "cluster/bregman_cluster.h"
#include "core/base/errors.h"
#include "core/cluster/interval_clusters.h"
#include "core/cluster/kmeans.h"
#include "harness.h"

using namespace granary;
using namespace granary::cluster;

namespace {

using K = DivergenceKind;

BregmanFamily family(K kind, double parameter = 1, double scale = 1) { return BregmanFamily({ColumnDivergence{kind, parameter, scale}}); }
Design view(const MatrixXd& x) { return Design(MatrixView(x.data(), x.rows(), x.cols())); }

const std::vector<std::pair<K, double>> all_kinds = {{K::gaussian, 0.5}, {K::poisson, 1},     {K::bernoulli, 1},   {K::binomial, 7}, {K::exponential, 1},
                                                     {K::gamma, 2.5},    {K::multinomial, 1}, {K::negbinomial, 3}, {K::exp_loss, 1}, {K::power, 3}};

// Rows inside the domain of the kind; equal sums for the multinomial.
MatrixXd rows_for(K kind, double parameter, Index n, Index d, Rng& rng) {
  MatrixXd x(n, d);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) {
      const double u = rng.uniform_open();
      x(i, j) = kind == K::gaussian || kind == K::exp_loss ? rng.normal() : kind == K::bernoulli ? u : kind == K::binomial ? parameter * u : 4 * u + 0.05;
    }
    if (kind == K::multinomial) x.row(i) /= x.row(i).sum();
  }
  return x;
}

}  // namespace

TEST("divergences: not negative, zero on the diagonal, the definition, the dual, and phi up to affine terms") {
  Rng rng(1);
  for (const auto& [kind, parameter] : all_kinds) {
    const BregmanFamily f = family(kind, parameter);
    const MatrixXd x = rows_for(kind, parameter, 6, 4, rng), y = rows_for(kind, parameter, 5, 4, rng);
    const MatrixXd d = f.between(x, y), theta = f.gradient(y), back = f.inverse(theta);
    CHECK_NEAR((back - y).norm(), 0, 1e-10);
    const VectorXd px = f.phi(x), py = f.phi(y);
    for (Index i = 0; i < 6; ++i) {
      for (Index j = 0; j < 5; ++j) {
        CHECK(d(i, j) > 0);
        CHECK_NEAR(d(i, j), px[i] - py[j] - (x.row(i) - y.row(j)).dot(theta.row(j)), 1e-11);
        // d_phi(x, y) = d_psi(theta_y, theta_x), psi(theta) = <m, theta> - phi(m), grad psi(theta) = m
        const Eigen::RowVectorXd tx = f.gradient(x.row(i)).row(0);
        const double psi_y = y.row(j).dot(theta.row(j)) - py[j], psi_x = x.row(i).dot(tx) - px[i];
        CHECK_NEAR(d(i, j), psi_y - psi_x - (theta.row(j) - tx).dot(x.row(i)), 1e-10);
      }
    }
    CHECK_NEAR(f.between(x, x).diagonal().norm(), 0, 1e-15);
    CHECK_NEAR((family(kind, parameter, 3).between(x, y) - 3 * d).norm(), 0, 1e-11);
    // Near the diagonal no digits are lost: d is quadratic there.
    MatrixXd close = x * (1 + 1e-7);
    if (kind != K::multinomial) {
      const double near = f.between(close, x)(0, 0), twice = f.between(MatrixXd(x * (1 + 2e-7)), x)(0, 0);
      if (kind != K::power) CHECK_NEAR(twice / near, 4, 1e-4);
    }
  }
}

TEST("the total information is what is within and between, for every divergence and any labels") {
  Rng rng(2);
  for (const auto& [kind, parameter] : all_kinds) {
    const MatrixXd x = rows_for(kind, parameter, 40, 3, rng);
    VectorXi label(40);
    VectorXd weights(40);
    for (Index i = 0; i < 40; ++i) {
      label[i] = static_cast<int>(rng.below(4));
      weights[i] = rng.uniform();
    }
    const BregmanInformation info = bregman_information(view(x), weights, family(kind, parameter), label);
    CHECK_NEAR(info.total, info.within + info.between, 1e-12 * std::max(1.0, info.total));
    CHECK(info.within > 0 && info.between > 0);
  }
  // phi = sum x^3 on (1,1,1) .. (5,5,5): the mean is the minimum although the loss is not convex, and the information is 54.
  MatrixXd cube(5, 3);
  for (Index i = 0; i < 5; ++i) cube.row(i).setConstant(static_cast<double>(i + 1));
  CHECK_NEAR(bregman_information(view(cube), VectorXd(), family(K::power, 3), VectorXi::Zero(5)).total, 54, 1e-10);
}

TEST("hard clusters: a fixed point, a falling loss, exact labels of squared distances, weights as repeated rows") {
  Monitor monitor;
  Rng rng(3);
  for (const auto& [kind, parameter] : all_kinds) {
    const MatrixXd x = rows_for(kind, parameter, 120, 3, rng);
    const BregmanFamily f = family(kind, parameter);
    BregmanOptions options;
    options.k = 4;
    options.n_starts = 3;
    Rng draw(1);
    const BregmanResult fit = bregman_cluster(view(x), VectorXd(), f, options, draw, monitor);
    CHECK(fit.convergence.converged);
    CHECK_NEAR(fit.total, fit.within + fit.between, 1e-10 * std::max(1.0, fit.total));
    const MatrixXd d = f.between(x, fit.centers);
    for (Index i = 0; i < 120; ++i) CHECK(d(i, fit.cluster[i]) <= d.row(i).minCoeff() + 1e-9);
    const BregmanInformation info = bregman_information(view(x), VectorXd(), f, fit.cluster);
    CHECK_NEAR(info.within, fit.within, 1e-11);
    CHECK_NEAR((info.centers - fit.centers).norm(), 0, 1e-9);
    for (std::size_t t = 1; t < fit.trace.size(); ++t) CHECK(fit.trace[t] <= fit.trace[t - 1] + 1e-10);
    options.threads = 2;
    Rng again(1);
    CHECK(bregman_cluster(view(x), VectorXd(), f, options, again, monitor).cluster == fit.cluster);
  }
  const MatrixXd x = rows_for(K::gaussian, 1, 200, 2, rng);
  BregmanOptions options;
  options.k = 5;
  options.centers = x.topRows(5);
  Rng draw(1);
  const BregmanResult fit = bregman_cluster(view(x), VectorXd(), family(K::gaussian, 0.5), options, draw, monitor);
  KMeansOptions lloyd;
  lloyd.k = 5;
  lloyd.tol = 0;
  const KMeansResult means = kmeans_from(x, VectorXd(), x.topRows(5), lloyd, monitor);
  CHECK(fit.cluster == means.cluster);
  CHECK_NEAR(fit.within * 200, means.objective, 1e-9);
}

TEST("one column: the exact optimum is that of enumeration, for every divergence and both sides") {
  Monitor monitor;
  Rng rng(4);
  for (const auto& [kind, parameter] : all_kinds) {
    if (kind == K::multinomial) continue;
    const BregmanFamily f = family(kind, parameter);
    const MatrixXd x = rows_for(kind, parameter, 9, 1, rng);
    for (const auto side : {BregmanSide::right, BregmanSide::left}) {
      BregmanOptions options;
      options.k = 3;
      options.side = side;
      Rng draw(1);
      const BregmanResult fit = bregman_cluster(view(x), VectorXd(), f, options, draw, monitor);
      CHECK(fit.exact);
      double best = 1e300;
      for (int code = 0; code < 19683; ++code) {  // 3^9 labellings
        VectorXi z(9);
        for (int i = 0, rest = code; i < 9; ++i, rest /= 3) z[i] = rest % 3;
        double loss = 0;
        for (int h = 0; h < 3; ++h) {
          double sum = 0;
          int count = 0;
          for (Index i = 0; i < 9; ++i) {
            if (z[i] != h) continue;
            sum += side == BregmanSide::right ? x(i, 0) : f.gradient(x.row(i))(0, 0);
            ++count;
          }
          if (count == 0) continue;
          const MatrixXd mean = MatrixXd::Constant(1, 1, sum / count), centre = side == BregmanSide::right ? mean : f.inverse(mean);
          for (Index i = 0; i < 9; ++i) {
            if (z[i] != h) continue;
            const MatrixXd row = x.row(i);
            loss += (side == BregmanSide::right ? f.between(row, centre) : f.between(centre, row))(0, 0) / 9;
          }
        }
        best = std::min(best, loss);
      }
      CHECK_NEAR(fit.within, best, 1e-10 * std::max(1.0, best));
      options.exact = false;
      options.n_starts = 20;
      const BregmanResult lloyd = bregman_cluster(view(x), VectorXd(), f, options, draw, monitor);
      CHECK(lloyd.within >= fit.within - 1e-10);
    }
  }
  VectorXd same = VectorXd::Constant(5, 2.0);
  const IntervalClusters one = interval_clusters(same, VectorXd::Ones(5), 3, [](double m) { return (m - 2) * (m - 2); }, monitor);
  CHECK(one.losses.size() == 1 && one.loss == 0);
}

TEST("the best division of numbers is that of the plain recursion, for every number of groups") {
  Monitor monitor;
  Rng rng(11);
  for (int trial = 0; trial < 60; ++trial) {
    const Index n = 1 + static_cast<Index>(rng.below(60)), k = 1 + static_cast<Index>(rng.below(9));
    VectorXd x(n), w(n);
    for (Index i = 0; i < n; ++i) {
      x[i] = trial % 3 == 0 ? static_cast<double>(1 + rng.below(12)) : std::exp(2 * rng.normal());  // ties in one of three
      w[i] = trial % 2 == 0 ? 1 : rng.uniform();
    }
    const bool square = trial % 4 < 2;
    const auto g = [&](double m) { return square ? (m - 1) * (m - 1) : m - 1 - std::log(m); };
    const IntervalClusters found = interval_clusters(x, w, k, g, monitor);
    std::vector<Index> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), Index{0});
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return x[a] < x[b]; });
    const auto cost = [&](Index from, Index to) {
      double weight = 0, sum = 0, loss = 0;
      for (Index r = from; r < to; ++r) {
        const Index i = order[static_cast<std::size_t>(r)];
        weight += w[i], sum += w[i] * x[i], loss += w[i] * g(x[i]);
      }
      return loss - weight * g(sum / weight);
    };
    MatrixXd best = MatrixXd::Constant(n + 1, found.losses.size() + 1, 1e300);
    best(0, 0) = 0;
    for (Index h = 1; h <= found.losses.size(); ++h)
      for (Index j = 1; j <= n; ++j)
        for (Index c = 0; c < j; ++c)
          if (best(c, h - 1) < 1e299) best(j, h) = std::min(best(j, h), best(c, h - 1) + cost(c, j));
    const double scale = 1e-10 * (1 + std::abs(found.losses[0]));
    for (Index h = 1; h <= found.losses.size(); ++h) CHECK_NEAR(found.losses[h - 1], best(n, h), scale);
    if (square) {
      const IntervalClusters fast = interval_squares(x, w, k, monitor);
      CHECK(fast.losses.size() == found.losses.size());
      for (Index h = 1; h <= fast.losses.size(); ++h) CHECK_NEAR(fast.losses[h - 1], best(n, h), scale);
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < i; ++j) CHECK(x[i] != x[j] || fast.cluster[i] == fast.cluster[j]);
    }
    double reached = 0;  // the labels have the loss that is reported
    for (int h = 0; h <= found.cluster.maxCoeff(); ++h) {
      double weight = 0, sum = 0, loss = 0;
      for (Index i = 0; i < n; ++i)
        if (found.cluster[i] == h) weight += w[i], sum += w[i] * x[i], loss += w[i] * g(x[i]);
      if (weight > 0) reached += loss - weight * g(sum / weight);
    }
    CHECK_NEAR(reached, found.loss, scale);
  }
}

TEST("left-sided centres are geometric means for I-divergence and harmonic means for Itakura-Saito") {
  Monitor monitor;
  Rng rng(5);
  const MatrixXd x = rows_for(K::poisson, 1, 10, 2, rng);
  BregmanOptions options;
  options.side = BregmanSide::left;
  Rng draw(1);
  const BregmanResult geometric = bregman_cluster(view(x), VectorXd(), family(K::poisson), options, draw, monitor);
  const BregmanResult harmonic = bregman_cluster(view(x), VectorXd(), family(K::exponential), options, draw, monitor);
  for (Index j = 0; j < 2; ++j) {
    CHECK_NEAR(geometric.centers(0, j), std::exp(x.col(j).array().log().mean()), 1e-12);
    CHECK_NEAR(harmonic.centers(0, j), 1 / x.col(j).array().inverse().mean(), 1e-12);
  }
}

TEST("soft clusters: the likelihood of the mixture, rising; one cluster is the family; a large beta is hard; below the critical beta there is one centre") {
  Monitor monitor;
  Rng rng(6);
  MatrixXd counts(150, 2);
  for (Index i = 0; i < 150; ++i)
    for (Index j = 0; j < 2; ++j) counts(i, j) = static_cast<double>(rng.poisson(i % 2 == 0 ? 3 : 11));
  const BregmanFamily poisson = family(K::poisson);
  BregmanOptions options;
  options.k = 2;
  options.type = ClusterType::soft;
  options.smooth = 1e-10;
  options.tol = 1e-12;
  options.max_iter = 2000;
  Rng draw(2);
  const BregmanResult fit = bregman_cluster(view(counts), VectorXd(), poisson, options, draw, monitor);
  CHECK(fit.convergence.converged);
  CHECK(fit.convergence.residual < 1e-5);
  double loglik = 0;
  for (Index i = 0; i < 150; ++i) {
    double sum = 0;
    for (Index h = 0; h < 2; ++h) {
      double term = std::log(fit.share[h]);
      for (Index j = 0; j < 2; ++j) term += counts(i, j) * std::log(fit.centers(h, j)) - fit.centers(h, j) - std::lgamma(counts(i, j) + 1);
      sum += std::exp(term);
    }
    loglik += std::log(sum);
  }
  CHECK_NEAR(150 * fit.value + poisson.log_base(view(counts)).sum(), loglik, 1e-8 * std::abs(loglik));
  for (std::size_t t = 1; t < fit.trace.size(); ++t) CHECK(fit.trace[t] >= fit.trace[t - 1] - 1e-12);
  CHECK_NEAR((fit.membership.rowwise().sum().array() - 1).abs().maxCoeff(), 0, 1e-12);
  // D = I(Z) - I(Zhat) at a fixed point (Theorem 9)
  CHECK_NEAR(fit.within, fit.total - fit.between, 1e-5 * fit.total);
  options.beta = 1e4;
  options.centers = fit.centers;
  const BregmanResult sharp = bregman_cluster(view(counts), VectorXd(), poisson, options, draw, monitor);
  BregmanOptions hard = options;
  hard.type = ClusterType::hard;
  hard.smooth = 0;
  const BregmanResult labels = bregman_cluster(view(counts), VectorXd(), poisson, hard, draw, monitor);
  CHECK_NEAR(sharp.within, labels.within, 1e-6);
  const double critical = critical_beta(view(counts), VectorXd(), poisson, monitor);
  BregmanOptions curve = options;
  curve.centers = MatrixXd();
  curve.max_iter = 20000;
  curve.tol = 1e-14;
  const RateCurve found = rate_curve(view(counts), VectorXd(), poisson, {0.8 * critical, 1.5 * critical, 4 * critical}, MatrixXd(), curve, draw, monitor);
  CHECK(found.points[0].rate < 1e-6 && found.points[0].k == 1);
  CHECK(found.points[1].rate > 1e-3 && found.points[1].k == 2);
  CHECK(found.points[2].rate > found.points[1].rate && found.points[2].distortion < found.points[1].distortion);
  CHECK_NEAR(found.critical, critical, 1e-10 * critical);
}

TEST("a column without a count in a cluster does not break it, and what the domain forbids is refused by name") {
  Monitor monitor;
  MatrixXd x(6, 3);
  x << 3, 1, 0, 4, 2, 0, 5, 1, 0, 0, 1, 4, 0, 2, 3, 0, 1, 5;
  BregmanOptions options;
  options.k = 2;
  Rng draw(1);
  const BregmanResult fit = bregman_cluster(view(x), VectorXd(), family(K::poisson), options, draw, monitor);
  CHECK(fit.convergence.converged && std::isfinite(fit.within));
  CHECK(fit.cluster[0] == fit.cluster[1] && fit.cluster[0] == fit.cluster[2] && fit.cluster[3] == fit.cluster[4] && fit.cluster[0] != fit.cluster[3]);
  CHECK(std::isinf(family(K::poisson).between(x.topRows(1), fit.centers)(0, fit.cluster[3])));
  MatrixXd bad = x;
  bad(4, 1) = -2;
  CHECK_THROWS(bregman_cluster(view(bad), VectorXd(), family(K::poisson), options, draw, monitor), InputError);
  CHECK_THROWS(bregman_cluster(view(x), VectorXd(), family(K::exponential), options, draw, monitor), InputError);
  CHECK_THROWS(bregman_cluster(view(x), VectorXd(), family(K::multinomial), options, draw, monitor), InputError);
  CHECK_THROWS(bregman_cluster(view(x), VectorXd(), family(K::binomial, 4), options, draw, monitor), InputError);
  options.k = 7;
  CHECK_THROWS(bregman_cluster(view(x), VectorXd(), family(K::poisson), options, draw, monitor), InputError);
  options.k = 4;  // only three distinct rows
  MatrixXd few(8, 2);
  for (Index i = 0; i < 8; ++i) few.row(i) << static_cast<double>(i % 3), 1;
  const BregmanResult equal = bregman_cluster(view(few), VectorXd(), family(K::gaussian), options, draw, monitor);
  CHECK(equal.convergence.converged && equal.within < 1e-20);
}

TEST("sparse counts are clustered as dense ones") {
  Monitor monitor;
  Rng rng(8);
  MatrixXd x(80, 12);
  for (Index i = 0; i < 80; ++i)
    for (Index j = 0; j < 12; ++j) x(i, j) = static_cast<double>(rng.poisson((j < 6) == (i < 40) ? 1.5 : 0.1));
  const SparseMatrix s = x.sparseView();
  const Design sparse(ConstSparseMap(s.rows(), s.cols(), s.nonZeros(), s.outerIndexPtr(), s.innerIndexPtr(), s.valuePtr()));
  for (const auto type : {ClusterType::hard, ClusterType::soft}) {
    BregmanOptions options;
    options.k = 2;
    options.type = type;
    options.smooth = 1e-6;
    Rng a(1), b(1);
    const BregmanResult one = bregman_cluster(view(x), VectorXd(), family(K::poisson), options, a, monitor);
    const BregmanResult two = bregman_cluster(sparse, VectorXd(), family(K::poisson), options, b, monitor);
    CHECK_NEAR(one.within, two.within, 1e-9);
    CHECK(one.cluster == two.cluster);
  }
}
