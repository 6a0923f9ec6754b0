// Active sets, sites, prediction and projection of latent variable models.
#include "eigen.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/random/rng.h"
#include "harness.h"
#include "process/gplvm.h"
#include "process/gplvm_sparse_likelihood.h"

using namespace granary;
using namespace granary::process;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

MatrixXd normals(Index n, Index d, std::uint64_t seed) {
  Rng rng(seed);
  MatrixXd x(n, d);
  for (Index k = 0; k < d; ++k)
    for (Index i = 0; i < n; ++i) x(i, k) = rng.normal();
  return x;
}

Kernel smooth(Index q, double white = 0.1) {
  KernelSpec sum, se, noise;
  se.type = "se";
  se.scales = VectorXd::Constant(1, 1);
  noise.type = "white";
  noise.variance = white;
  sum.type = "sum";
  sum.children = {se, noise};
  return Kernel(sum, q);
}

NoisyTargets curve(Index n, Index d, std::uint64_t seed, double noise = 0.05) {
  Rng rng(seed);
  NoisyTargets targets;
  targets.y.resize(n, d);
  for (Index k = 0; k < n; ++k) {
    const double t = -1.5 + 3.0 * static_cast<double>(k) / static_cast<double>(n - 1);
    for (Index i = 0; i < d; ++i)
      targets.y(k, i) = std::sin(t * (1 + 0.3 * static_cast<double>(i)) + 0.7 * static_cast<double>(i)) + noise * rng.normal();
  }
  return targets;
}

}  // namespace

TEST("ivm: under normal noise the largest posterior variance is next") {
  Monitor monitor;
  const MatrixXd x = normals(30, 2, 1);
  const Kernel kernel = smooth(2);
  NoisyTargets targets;
  targets.y = normals(30, 3, 2);
  IvmOptions options;
  options.size = 8;
  const IvmResult result = ivm_select(kernel, x, targets, options, monitor);
  const MatrixXd full = kernel.cross(x, x);
  std::vector<Index> chosen;
  for (Index step = 0; step < 8; ++step) {
    VectorXd v = full.diagonal();
    if (step > 0) {
      const MatrixXd xi = take_rows(x, chosen);
      const MatrixXd cross = kernel.cross(x, xi);
      v -= (cross * kernel.matrix(xi).inverse() * cross.transpose()).diagonal();
    }
    for (Index k : chosen) v[k] = -1;
    Index best;
    v.maxCoeff(&best);
    chosen.push_back(best);
    CHECK(result.active[static_cast<std::size_t>(step)] == best);
  }
  // missing cells that are all there are no different
  NoisyTargets zero = targets;
  zero.noise = MatrixXd::Zero(30, 3);
  CHECK(ivm_select(kernel, x, zero, options, monitor).active == result.active);
  // a row that has nothing to say is not asked while others are left
  zero.noise.row(result.active[0]).setConstant(infinity);
  const IvmResult other = ivm_select(kernel, x, zero, options, monitor);
  CHECK(std::find(other.active.begin(), other.active.end(), result.active[0]) == other.active.end());
}

TEST("ivm: a probit site has known moments, and inclusion updates mean and variance") {
  // f ~ N(-0.5, 1.5) and y = 1: a prior mean of -0.5 is an offset here.
  Monitor monitor;
  KernelSpec bias;
  bias.type = "bias";
  bias.variance = 1.5;
  NoisyTargets targets;
  targets.y = MatrixXd::Constant(1, 1, 1.0);
  IvmOptions options;
  options.noise = OutputNoise::bernoulli;
  options.offset = VectorXd::Constant(1, -0.5);
  const AdfResult pass = adf_pass(Kernel(bias, 1), MatrixXd::Zero(1, 1), targets, options, 1, monitor);
  const double m = pass.sites.y(0, 0), r = pass.sites.noise(0, 0);
  CHECK_NEAR(m - 0.5, 1.7806929, 1e-6);  // where fb = -0.5 is part of f
  CHECK_NEAR(1 / r, 0.4825882, 1e-6);
  const double variance = 1 / (1 / 1.5 + 1 / r);
  CHECK_NEAR(variance, 0.8701290, 1e-6);
  CHECK_NEAR(variance * m / r - 0.5, 0.4576949, 1e-6);
}

TEST("ivm: filtering all rows in order agrees with the informative vector machine's updates") {
  Monitor monitor;
  const Index n = 150;  // more than two blocks
  const MatrixXd x = normals(n, 2, 4);
  const Kernel kernel = smooth(2, 1e-3);
  NoisyTargets targets;
  targets.y = normals(n, 2, 5).unaryExpr([](double v) { return v > 0 ? 1.0 : -1.0; });
  targets.noise = MatrixXd::Zero(n, 2);
  targets.noise(10, 1) = targets.noise(100, 1) = infinity;
  IvmOptions options;
  options.noise = OutputNoise::bernoulli;
  options.offset = VectorXd::Constant(2, 0.2);
  options.size = n;
  const IvmResult chosen = ivm_select(kernel, x, targets, options, monitor);
  // the same order, now by the other algorithm
  const AdfResult pass = adf_pass(kernel, take_rows(x, chosen.active), targets.rows(chosen.active), options, 2, monitor);
  for (Index i = 0; i < 2; ++i) {
    for (Index k = 0; k < n; ++k) {
      if (chosen.sites.noise(k, i) == infinity) {
        CHECK(pass.sites.noise(k, i) == infinity);
      } else {
        CHECK_NEAR(pass.sites.y(k, i), chosen.sites.y(k, i), 1e-6 * (1 + std::abs(chosen.sites.y(k, i))));
        CHECK_NEAR(pass.sites.noise(k, i), chosen.sites.noise(k, i), 1e-6 * (1 + chosen.sites.noise(k, i)));
      }
    }
  }
  CHECK_NEAR(pass.log_evidence, chosen.log_evidence, 1e-7 * std::abs(pass.log_evidence));
  const AdfResult serial = adf_pass(kernel, take_rows(x, chosen.active), targets.rows(chosen.active), options, 1, monitor);
  CHECK(serial.sites.y == pass.sites.y && serial.log_evidence == pass.log_evidence);
}

TEST("gplvm: predictions are conditional normal laws") {
  Monitor monitor;
  const Kernel kernel = smooth(2);
  const MatrixXd x = normals(12, 2, 6), at = normals(5, 2, 7);
  NoisyTargets targets;
  targets.y = normals(12, 3, 8);
  targets.noise = MatrixXd::Zero(12, 3);
  targets.noise(4, 1) = infinity;
  targets.noise.col(2).setConstant(0.2);
  const GplvmPosterior posterior({kernel, x, targets, 0.01, OutputNoise::gaussian, VectorXd(), true});
  MatrixXd mean, variance;
  posterior.predict(at, true, mean, variance, monitor);
  for (Index i = 0; i < 3; ++i) {
    std::vector<Index> rows;
    for (Index k = 0; k < 12; ++k)
      if (targets.observed(k, i)) rows.push_back(k);
    const MatrixXd xi = take_rows(x, rows);
    MatrixXd a = kernel.matrix(xi);
    VectorXd y(a.rows());
    for (Index k = 0; k < a.rows(); ++k) {
      a(k, k) += 0.01 + targets.noise(rows[static_cast<std::size_t>(k)], i);
      y[k] = targets.y(rows[static_cast<std::size_t>(k)], i);
    }
    const MatrixXd cross = kernel.cross(xi, at), inverse = a.inverse();
    const VectorXd expected = cross.transpose() * inverse * y;
    const VectorXd left = kernel.diagonal(at, true) - (cross.transpose() * inverse * cross).diagonal();
    for (Index k = 0; k < 5; ++k) {
      CHECK_NEAR(mean(k, i), expected[k], 1e-10);
      CHECK_NEAR(variance(k, i), left[k] + 0.01, 1e-10);
    }
  }
}

TEST("gplvm: the gradient of a row's likelihood agrees with differences, for all kinds of rows") {
  const Kernel kernel = smooth(2);
  const MatrixXd x = normals(6, 2, 9);
  const double nan = std::nan("");
  for (int kind = 0; kind < 4; ++kind) {
    NoisyTargets targets;
    const Index d = kind == 0 ? 20 : 4;  // more columns than rows: through inner products
    targets.y = normals(6, d, 10);
    if (kind == 3) {
      targets.y = targets.y.unaryExpr([](double v) { return v > 0 ? 1.0 : -1.0; });
      targets.noise = MatrixXd::Constant(6, d, 0.7);
    }
    const GplvmPosterior posterior(
        {kernel, x, targets, 0.01, kind == 3 ? OutputNoise::bernoulli : OutputNoise::gaussian, VectorXd::Constant(d, 0.1), true});
    VectorXd y = normals(d, 1, 11).col(0), noise;
    if (kind == 3) y = y.unaryExpr([](double v) { return v > 0 ? 1.0 : -1.0; });
    if (kind == 2) noise = VectorXd::Constant(d, 0.3);
    if (kind >= 1) y[1] = nan;
    const GplvmPosterior::Row row = posterior.prepare(y, noise);
    VectorXd at = normals(2, 1, 12).col(0), gradient;
    const double value = posterior.log_likelihood(row, at, &gradient);
    CHECK(std::isfinite(value));
    for (Index k = 0; k < 2; ++k) {
      VectorXd up = at, down = at;
      up[k] += 1e-5;
      down[k] -= 1e-5;
      const double slope = (posterior.log_likelihood(row, up, nullptr) - posterior.log_likelihood(row, down, nullptr)) / 2e-5;
      CHECK_NEAR(gradient[k], slope, 1e-6 * (1 + std::abs(slope)));
    }
    if (kind == 0) {  // against the sum over the columns
      Monitor monitor;
      MatrixXd mean, variance;
      posterior.predict(at.transpose(), true, mean, variance, monitor);
      double direct = 0;
      for (Index i = 0; i < d; ++i)
        direct -= 0.5 * (1.8378770664093454836 + std::log(variance(0, i)) + std::pow(y[i] - mean(0, i), 2) / variance(0, i));
      CHECK_NEAR(value, direct, 1e-9 * std::abs(direct));
    }
  }
}

TEST("gplvm: the sparse objective is that of the active rows and of the others given them; gradients agree with differences") {
  Monitor monitor;
  const MatrixXd x = normals(12, 2, 6);
  const Kernel kernel = smooth(2);
  const std::vector<Index> active{7, 1, 4, 10};
  for (const bool plain : {true, false}) {
    NoisyTargets targets;
    targets.y = normals(12, 4, 5);
    if (!plain) {  // columns 0 and 3 share a covariance matrix; a cell is missing in an active row, one in another
      targets.noise = normals(12, 4, 8).array().square();
      for (Index k : active) targets.noise(k, 3) = targets.noise(k, 0);
      targets.noise(4, 1) = targets.noise(3, 0) = targets.noise(3, 2) = infinity;
    }
    const GplvmSparseLikelihood sparse(targets, active, 1e-3);
    GplvmModel model{kernel, take_rows(x, active), targets.rows(active), 1e-3, OutputNoise::gaussian, VectorXd(), false};
    const GplvmPosterior posterior(model);
    double sum = GplvmLikelihood(model.targets, 1e-3)(kernel, model.latent, nullptr, nullptr, monitor);
    for (Index j = 0; j < 12; ++j) {
      if (std::find(active.begin(), active.end(), j) != active.end()) continue;
      const VectorXd noise = plain ? VectorXd() : VectorXd(targets.noise.row(j).transpose());
      sum += posterior.log_likelihood(posterior.prepare(targets.y.row(j).transpose(), noise), x.row(j).transpose(), nullptr);
    }
    VectorXd dp;
    MatrixXd dx;
    CHECK_NEAR(sparse(kernel, x, &dp, &dx, monitor), sum, 1e-9);
    for (Index k = 0; k < x.size(); ++k) {
      MatrixXd up = x, down = x;
      up.data()[k] += 1e-5;
      down.data()[k] -= 1e-5;
      const double slope =
          (sparse(kernel, up, nullptr, nullptr, monitor) - sparse(kernel, down, nullptr, nullptr, monitor)) / 2e-5;
      CHECK_NEAR(dx.data()[k], slope, 1e-6 * (1 + std::abs(slope)));
    }
    for (Index k = 0; k < dp.size(); ++k) {
      Kernel up = kernel, down = kernel;
      VectorXd step = VectorXd::Zero(dp.size());
      step[k] = 1e-5;
      up.set_parameters(kernel.parameters() + step);
      down.set_parameters(kernel.parameters() - step);
      const double slope = (sparse(up, x, nullptr, nullptr, monitor) - sparse(down, x, nullptr, nullptr, monitor)) / 2e-5;
      CHECK_NEAR(dp[k], slope, 1e-6 * (1 + std::abs(slope)));
    }
  }
}

TEST("gplvm: the sparse objective with all rows active is the full one; a curve is recovered by both") {
  Monitor monitor;
  const NoisyTargets targets = curve(40, 4, 3);
  MatrixXd start(40, 1);
  for (Index k = 0; k < 40; ++k) start(k, 0) = targets.y(k, 0) + 0.1 * targets.y(k, 1);
  GplvmOptions options;
  options.max_iter = 2000;
  options.tol = 1e-6;
  const GplvmResult full = gplvm_full(targets, start, smooth(1), options, monitor);
  CHECK(full.convergence.converged);
  options.active = 40;
  options.rounds = 1;
  const GplvmResult sparse = gplvm_sparse(targets, start, smooth(1), options, monitor);
  CHECK_NEAR(sparse.log_likelihood, full.log_likelihood, 1e-2 * std::abs(full.log_likelihood));
  CHECK(sparse.active.size() == 40);
  Kernel learnt = smooth(1);
  learnt.set_parameters(sparse.parameters);
  const double direct = GplvmLikelihood(targets, options.nugget)(learnt, sparse.latent, nullptr, nullptr, monitor);
  CHECK_NEAR(sparse.log_likelihood, direct, 1e-7 * std::abs(direct));

  options.active = 15;
  options.rounds = 5;
  const GplvmResult few = gplvm_sparse(targets, start, smooth(1), options, monitor);
  options.threads = 2;
  const GplvmResult threaded = gplvm_sparse(targets, start, smooth(1), options, monitor);
  CHECK(few.latent == threaded.latent && few.objective == threaded.objective);
  CHECK(few.objective > few.trace[0] - 1e-9);
  for (const GplvmResult* fit : {&full, &few}) {
    int wrong = 0;
    for (Index k = 2; k < 40; ++k)
      wrong += (fit->latent(k, 0) - fit->latent(k - 2, 0)) * (fit->latent(39, 0) - fit->latent(0, 0)) <= 0;
    CHECK(wrong <= 4);
  }
}

TEST("gplvm: a training row is projected to where it is, on one thread and on two; its modes are sorted") {
  Monitor monitor;
  const NoisyTargets targets = curve(30, 5, 3, 0.001);
  MatrixXd start(30, 1);
  for (Index k = 0; k < 30; ++k) start(k, 0) = -1.5 + 3.0 * static_cast<double>(k) / 29;
  GplvmOptions options;
  const GplvmResult fit = gplvm_full(targets, start, smooth(1, 0.01), options, monitor);
  Kernel kernel = smooth(1);
  kernel.set_parameters(fit.parameters);
  const GplvmPosterior posterior({kernel, fit.latent, fit.targets, options.nugget, OutputNoise::gaussian, VectorXd(), true});
  ProjectOptions project;
  project.samples = 200;
  Rng rng(1), again(1);
  const Projection one = project_rows(posterior, targets.y, fit.latent, targets.y, project, rng, monitor);
  project.threads = 2;
  const Projection two = project_rows(posterior, targets.y, fit.latent, targets.y, project, again, monitor);
  CHECK(one.x == two.x && one.log_marginal == two.log_marginal);
  for (Index k = 0; k < 30; ++k) {
    CHECK_NEAR(one.x(k, 0), fit.latent(k, 0), 0.02);
    const VectorXd& values = one.mode_objectives[static_cast<std::size_t>(k)];
    for (Index m = 1; m < values.size(); ++m) CHECK(values[m] <= values[m - 1]);
  }
}

TEST("gplvm: importance sampling finds the integral over a one-dimensional latent space") {
  Monitor monitor;
  const NoisyTargets targets = curve(12, 3, 5, 0.1);
  MatrixXd latent(12, 1);
  for (Index k = 0; k < 12; ++k) latent(k, 0) = -1.5 + 3.0 * static_cast<double>(k) / 11;
  const GplvmPosterior posterior({smooth(1, 0.05), latent, targets, 0, OutputNoise::gaussian, VectorXd(), true});
  const MatrixXd y = targets.y.topRows(4);
  ProjectOptions project;
  project.samples = 20000;
  Rng rng(3);
  const Projection found = project_rows(posterior, y, latent, targets.y, project, rng, monitor);
  for (Index r = 0; r < 4; ++r) {
    const GplvmPosterior::Row row = posterior.prepare(y.row(r).transpose());
    double sum = 0;
    const double step = 0.005;
    for (double x = -7; x <= 7; x += step)
      sum += step *
             std::exp(posterior.log_likelihood(row, VectorXd::Constant(1, x), nullptr) - 0.5 * (1.8378770664093454836 + x * x));
    CHECK_NEAR(found.log_marginal[r], std::log(sum), 5 * found.log_marginal_se[r] + 1e-3);
    CHECK(found.log_marginal_se[r] < 0.05);
  }
}

TEST("gplvm: binary columns with a latent order give it back, full and sparse") {
  Monitor monitor;
  const Index n = 50, d = 12;
  NoisyTargets targets;
  targets.y.resize(n, d);
  for (Index k = 0; k < n; ++k)
    for (Index i = 0; i < d; ++i) targets.y(k, i) = k * d > (i + 0.5) * n ? 1 : -1;  // a ladder of thresholds
  MatrixXd start = 0.3 * normals(n, 1, 6);
  for (Index k = 0; k < n; ++k) start(k, 0) += (static_cast<double>(k) - 25) / 15;
  GplvmOptions options;
  options.noise = OutputNoise::bernoulli;
  options.offset = VectorXd::Zero(d);
  options.max_iter = 30;
  options.rounds = 4;
  options.active = 25;
  for (bool sparse : {false, true}) {
    const GplvmResult fit = sparse ? gplvm_sparse(targets, start, smooth(1), options, monitor)
                                   : gplvm_full(targets, start, smooth(1), options, monitor);
    CHECK(fit.objective > fit.trace[0] || fit.trace.size() == 1 || fit.objective == fit.trace.maxCoeff());
    Kernel kernel = smooth(1);
    kernel.set_parameters(fit.parameters);
    MatrixXd active = take_rows(fit.latent, fit.active);
    const GplvmPosterior posterior({kernel, active, fit.targets, options.nugget, OutputNoise::bernoulli, options.offset, true});
    MatrixXd mean, variance;
    posterior.predict(fit.latent, true, mean, variance, monitor);
    const Index right = (mean.array() * targets.y.array() > 0).count();
    CHECK(right > 0.95 * static_cast<double>(n * d));
  }
}
