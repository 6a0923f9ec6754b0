#include <cmath>

#include "cluster/vmf.h"
#include "cluster/vmf_diagnostics.h"
#include "cluster/vmf_spherical.h"
#include "core/base/errors.h"
#include "core/math/bessel.h"
#include "core/math/special.h"
#include "harness.h"

using namespace granary;
using namespace granary::cluster;

namespace {

VmfDraws mixture_rows(Index n, const std::vector<double>& kappa, Index d, Rng& rng) {
  const Index k = static_cast<Index>(kappa.size());
  Monitor monitor;
  VmfParameters p{VectorXd::Constant(k, 1.0 / static_cast<double>(k)), MatrixXd(k, d), VectorXd(k)};
  for (Index h = 0; h < k; ++h) {
    p.directions.row(h) = rng.normals(d).normalized().transpose();
    p.concentration[h] = kappa[static_cast<std::size_t>(h)];
  }
  return vmf_draws(n, p, rng, monitor);
}

double sum_of_lengths(const MatrixXd& x, const VectorXi& label, Index k) {
  MatrixXd sums = MatrixXd::Zero(k, x.cols());
  for (Index i = 0; i < x.rows(); ++i) sums.row(label[i]) += x.row(i);
  return sums.rowwise().norm().sum();
}

}  // namespace

TEST("draws have the mean and variance along their direction that the law says, from 2 to 300 columns, and length 1") {
  Rng rng(1);
  Monitor monitor;
  const Index n = 20000;
  for (const auto& [d, kappa] : std::vector<std::pair<Index, double>>{{2, 0}, {2, 4}, {3, 1e-3}, {3, 500}, {10, 10}, {300, 200}, {20, 1e7}}) {
    VmfParameters p{VectorXd::Ones(1), MatrixXd(1, d), VectorXd::Constant(1, kappa)};
    p.directions.row(0) = rng.normals(d).normalized().transpose();
    const VmfDraws drawn = vmf_draws(d == 300 ? n / 10 : n, p, rng, monitor);
    const VectorXd along = drawn.x * p.directions.row(0).transpose();
    const double count = static_cast<double>(along.size()), mean = along.mean(), variance = (along.array() - mean).square().sum() / count;
    const double a = vmf_resultant(static_cast<double>(d), kappa), slope = vmf_resultant_slope(static_cast<double>(d), kappa);
    CHECK_NEAR(mean, a, 4.5 * std::sqrt(slope / count));
    CHECK_NEAR(variance / slope, 1, 0.12);
    CHECK_NEAR((drawn.x.rowwise().norm().array() - 1).abs().maxCoeff(), 0, 1e-14);
  }
}

TEST("one component is the law, and the law solves its equation") {
  Rng rng(2);
  Monitor monitor;
  const MatrixXd x = mixture_rows(300, {25}, 8, rng).x;
  const DataRows rows(x);
  const VmfLaw law = vmf_law(rows, VectorXd(), VmfEstimator::exact, 1e8);
  VmfOptions options;
  const VmfResult fit = vmf_mixture(rows, VectorXd(), options, rng, monitor);
  CHECK_NEAR(fit.parameters.concentration[0], law.concentration, 1e-9);
  CHECK_NEAR((fit.parameters.directions.row(0).transpose() - law.direction).norm(), 0, 1e-12);
  CHECK_NEAR(fit.loglik, law.loglik, 1e-8 * std::abs(law.loglik));
  CHECK_NEAR(vmf_resultant(8, law.concentration), law.resultant, 1e-14);
  CHECK_NEAR(law.concentration, 25, 4 * law.std_error);
}

TEST("the likelihood never falls, its equations hold at the end, and its three values stand in order") {
  Rng rng(3);
  Monitor monitor;
  const MatrixXd x = mixture_rows(600, {8, 15, 30}, 5, rng).x;
  const DataRows rows(x);
  VmfOptions options;
  options.k = 3;
  options.tol = 1e-13;
  options.max_iter = 5000;
  for (VmfStart start : {VmfStart::perturb, VmfStart::plusplus, VmfStart::sample}) {
    options.start = start;
    const VmfResult fit = vmf_mixture(rows, VectorXd(), options, rng, monitor);
    for (std::size_t t = 1; t < fit.trace.size(); ++t) CHECK(fit.trace[t] >= fit.trace[t - 1] - 1e-9 * std::abs(fit.trace[t]));
    CHECK(fit.convergence.converged);
    CHECK(fit.direction_residual < 1e-6 && fit.resultant_residual < 1e-6);
    CHECK(fit.complete <= fit.classification && fit.classification <= fit.loglik);
    CHECK_NEAR(fit.loglik, fit.objective, 1e-8 * std::abs(fit.loglik));
    CHECK_NEAR(fit.loglik, vmf_rows(rows, fit.parameters, 1, monitor).log_density.sum(), 1e-8 * std::abs(fit.loglik));
    CHECK(fit.loglik >= fit.values.maxCoeff() - 1e-9 * std::abs(fit.loglik));
  }
}

TEST("a hard mixture of equal shares and one kappa is spherical k-means, and so is a soft one of huge kappa") {
  Rng rng(4);
  Monitor monitor;
  const MatrixXd x = mixture_rows(300, {10, 10, 10, 10}, 6, rng).x;
  const DataRows rows(x);
  SphericalOptions plain;
  plain.k = 4;
  plain.local_search = false;
  plain.centers = x.topRows(4);
  const SphericalResult means = spherical_kmeans(rows, VectorXd(), plain, rng, monitor);
  VmfOptions options;
  options.k = 4;
  options.type = VmfType::hard;
  options.kappa = VmfKappa::common;
  options.equal_share = true;
  options.centers = x.topRows(4);
  CHECK(vmf_mixture(rows, VectorXd(), options, rng, monitor).cluster == means.cluster);
  options.type = VmfType::soft;
  options.kappa = VmfKappa::fixed;
  options.fixed_kappa = 1e7;
  CHECK(vmf_mixture(rows, VectorXd(), options, rng, monitor).cluster == means.cluster);
  CHECK_NEAR(means.objective, sum_of_lengths(x, means.cluster, 4), 1e-9);
}

TEST("the local search never loses, ends where no single move gains, and finds the best partition of few rows") {
  Monitor monitor;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Rng rng(seed);
    const MatrixXd x = mixture_rows(9, {3, 3}, 4, rng).x;
    const DataRows rows(x);
    double best = 0;
    for (int code = 0; code < 512; ++code) {
      VectorXi label(9);
      for (int i = 0; i < 9; ++i) label[i] = (code >> i) & 1;
      best = std::max(best, sum_of_lengths(x, label, 2));
    }
    SphericalOptions options;
    options.k = 2;
    options.n_starts = 5;
    const SphericalResult fit = spherical_kmeans(rows, VectorXd(), options, rng, monitor);
    CHECK_NEAR(fit.objective, best, 1e-10);
    options.k = 3;
    options.n_starts = 1;
    Rng one(seed), two(seed);
    const SphericalResult with = spherical_kmeans(rows, VectorXd(), options, one, monitor);
    options.local_search = false;
    const SphericalResult without = spherical_kmeans(rows, VectorXd(), options, two, monitor);
    CHECK(with.objective >= without.objective - 1e-12);
    for (Index i = 0; i < 9; ++i) {
      for (int h = 0; h < 3; ++h) {
        VectorXi moved = with.cluster;
        if ((moved.array() == moved[i]).count() < 2) continue;
        moved[i] = h;
        CHECK(sum_of_lengths(x, moved, 3) <= with.objective + 1e-9);
      }
    }
  }
}

TEST("components that collapse stop at the cap, rows that cancel have kappa zero, and weights are repeated rows") {
  Rng rng(5);
  Monitor monitor;
  MatrixXd x(40, 3);
  x.topRows(20) = Eigen::RowVector3d(1, 0, 0).replicate(20, 1);
  x.bottomRows(20) = mixture_rows(20, {5}, 3, rng).x;
  VmfOptions options;
  options.k = 2;
  options.labels = VectorXi::Zero(40);
  options.labels.tail(20).setOnes();
  const VmfResult fit = vmf_mixture(DataRows(x), VectorXd(), options, rng, monitor);
  CHECK(fit.degenerate[0] && !fit.degenerate[1] && fit.parameters.concentration[0] == 1e8 && std::isfinite(fit.loglik));

  MatrixXd cancel(4, 2);
  cancel << 1, 0, -1, 0, 0, 1, 0, -1;
  const VmfLaw law = vmf_law(DataRows(cancel), VectorXd(), VmfEstimator::exact, 1e8);
  CHECK(law.concentration == 0 && law.resultant == 0);
  CHECK_NEAR(law.loglik, -4 * std::log(2 * 3.14159265358979323846), 1e-12);
  VmfOptions one;
  const VmfResult flat = vmf_mixture(DataRows(cancel), VectorXd(), one, rng, monitor);
  CHECK(flat.parameters.concentration[0] < 1e-6 && flat.parameters.directions.allFinite());

  const MatrixXd y = mixture_rows(60, {10, 20}, 4, rng).x;
  MatrixXd twice(120, 4);
  twice << y, y;
  VmfOptions two;
  two.k = 2;
  two.centers = y.topRows(2);
  two.tol = 1e-13;
  const VmfResult a = vmf_mixture(DataRows(y), VectorXd::Constant(60, 2.0), two, rng, monitor), b = vmf_mixture(DataRows(twice), VectorXd(), two, rng, monitor),
                  c = vmf_mixture(DataRows(y), VectorXd(), two, rng, monitor);
  CHECK_NEAR(a.loglik, b.loglik, 1e-8 * std::abs(b.loglik));
  CHECK_NEAR(a.loglik, 2 * c.loglik, 1e-8 * std::abs(b.loglik));
  CHECK_NEAR((a.parameters.concentration - b.parameters.concentration).norm(), 0, 1e-6);
}

TEST("cohesion by its definition, and the bound on labels by enumeration") {
  Rng rng(6);
  const MatrixXd x = mixture_rows(30, {10, 10}, 4, rng).x;
  VectorXi label(30);
  for (Index i = 0; i < 30; ++i) label[i] = static_cast<int>(i % 3);
  const Cohesion c = cohesion(DataRows(x), label, 3);
  MatrixXd mu = MatrixXd::Zero(3, 4);
  for (Index i = 0; i < 30; ++i) mu.row(label[i]) += x.row(i);
  for (Index h = 0; h < 3; ++h) mu.row(h).normalize();
  double mean = 0, least = 2;
  for (Index i = 0; i < 30; ++i) {
    mean += x.row(i).dot(mu.row(label[i])) / 30;
    least = std::min(least, x.row(i).dot(mu.row(label[i])));
  }
  CHECK_NEAR(c.h_mean, mean, 1e-12);
  CHECK_NEAR(c.h_min, least, 1e-12);
  CHECK_NEAR(c.s_mean, (mu.row(0).dot(mu.row(1)) + mu.row(0).dot(mu.row(2)) + mu.row(1).dot(mu.row(2))) / 3, 1e-12);
  CHECK(std::isnan(cohesion(DataRows(x), VectorXi::Zero(30), 1).s_mean));

  for (const auto& [errors, labelled, unlabelled] : std::vector<std::array<int, 3>>{{0, 5, 10}, {2, 8, 20}, {8, 8, 5}}) {
    const double delta = 0.1, classes = 3, clusters = 1;
    int largest = errors;
    for (int b = errors; b <= labelled + unlabelled; ++b) {
      double p = 0;
      for (int j = 0; j <= errors; ++j)
        if (j <= b && labelled - j <= labelled + unlabelled - b && labelled >= j)
          p += std::exp(log_choose(b, j) + log_choose(labelled + unlabelled - b, labelled - j) - log_choose(labelled + unlabelled, labelled));
      if (p >= delta * std::pow(classes, -clusters)) largest = b;
    }
    CHECK(pac_mdl(errors, labelled, unlabelled, classes, clusters, delta).errors == largest);
  }
}

TEST("what is asked of a mixture that cannot be is refused") {
  Rng rng(7);
  Monitor monitor;
  const MatrixXd x = mixture_rows(10, {10}, 3, rng).x;
  VmfOptions options;
  options.k = 11;
  CHECK_THROWS(vmf_mixture(DataRows(x), VectorXd(), options, rng, monitor), InputError);
  options.k = 2;
  options.centers = MatrixXd::Ones(3, 3);
  CHECK_THROWS(vmf_mixture(DataRows(x), VectorXd(), options, rng, monitor), InputError);
  options.centers.resize(0, 0);
  CHECK_THROWS(vmf_mixture(DataRows(x), VectorXd::Ones(3), options, rng, monitor), InputError);
  CHECK_THROWS(vmf_mixture(DataRows(x.leftCols(1).eval()), VectorXd(), options, rng, monitor), InputError);
  const MatrixXd same = x.row(0).replicate(10, 1);
  CHECK_THROWS(vmf_mixture(DataRows(same), VectorXd(), options, rng, monitor), InputError);
  SphericalOptions means;
  means.k = 2;
  CHECK_THROWS(spherical_kmeans(DataRows(same), VectorXd(), means, rng, monitor), InputError);
}
