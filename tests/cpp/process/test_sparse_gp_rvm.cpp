#include "eigen.h"
#include <cmath>

#include "core/base/errors.h"
#include "core/random/rng.h"
#include "harness.h"
#include "process/rvm.h"

using namespace granary;
using namespace granary::process;

namespace {

struct Example {
  MatrixXd phi;
  VectorXd y;
  explicit Example(Index n, std::uint64_t seed) : phi(n, n + 1), y(n) {
    Rng rng(seed);
    VectorXd x(n);
    for (Index i = 0; i < n; ++i) x[i] = rng.uniform(-10, 10);
    for (Index i = 0; i < n; ++i) {
      phi(i, 0) = 1;
      for (Index j = 0; j < n; ++j) phi(i, j + 1) = std::exp(-0.125 * (x[i] - x[j]) * (x[i] - x[j]));
      y[i] = std::sin(x[i]) / x[i] + 0.1 * rng.normal();
    }
  }
};

double dense_evidence(const Example& e, const RvmResult& fit) {
  const Index n = e.y.size();
  MatrixXd c = fit.noise * MatrixXd::Identity(n, n);
  for (std::size_t k = 0; k < fit.relevant.size(); ++k) {
    const VectorXd column = e.phi.col(fit.relevant[k]);
    c += column * column.transpose() / fit.precision[static_cast<Index>(k)];
  }
  const Eigen::LLT<MatrixXd> factor(c);
  return -0.5 * (static_cast<double>(n) * std::log(2 * std::acos(-1.0)) + 2 * factor.matrixLLT().diagonal().array().log().sum() +
                 e.y.dot(factor.solve(e.y)));
}

}  // namespace

TEST("rvm: both algorithms end where a mu^2 = gamma = 1 - a S, with the evidence of the dense model") {
  Monitor monitor;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Example e(60, seed);
    for (const RvmAlgorithm algorithm : {RvmAlgorithm::fast, RvmAlgorithm::fixed_point}) {
      RvmOptions options;
      options.algorithm = algorithm;
      const RvmResult fit = rvm(e.phi, e.y, options, monitor);
      CHECK(fit.convergence.converged);
      CHECK(fit.relevant.size() >= 3 && fit.relevant.size() < 25);
      CHECK_NEAR(fit.log_evidence, dense_evidence(e, fit), 1e-6);
      CHECK_NEAR(fit.noise, 0.01, 0.006);
      for (Index k = 0; k < fit.mean.size(); ++k) {
        CHECK_NEAR(fit.precision[k] * fit.mean[k] * fit.mean[k], fit.gamma[k], 1e-4);
        CHECK_NEAR(1 - fit.precision[k] * fit.covariance(k, k), fit.gamma[k], 1e-9);
      }
      for (Index i = 1; i < fit.trace.size(); ++i) CHECK(fit.trace[i] >= fit.trace[i - 1] - 1e-7);
    }
  }
}

TEST("rvm: no column that is out would raise the evidence") {
  Monitor monitor;
  const Example e(50, 5);
  RvmOptions options;
  options.noise = 0.01;
  const RvmResult fit = rvm(e.phi, e.y, options, monitor);
  CHECK(fit.noise == 0.01);
  for (Index j = 0; j < e.phi.cols(); j += 7) {
    bool in = false;
    for (const Index k : fit.relevant) in = in || k == j;
    if (in) continue;
    for (const double precision : {0.01, 1.0, 100.0, 1e4}) {
      RvmResult more = fit;
      more.relevant.push_back(j);
      more.precision.conservativeResize(fit.precision.size() + 1);
      more.precision[fit.precision.size()] = precision;
      CHECK(dense_evidence(e, more) <= fit.log_evidence + 1e-6);
    }
  }
}

TEST("rvm: columns that nearly repeat one another end at a stationary point above equal precisions") {
  Monitor monitor;
  Rng rng(3);
  const Index n = 150;
  MatrixXd phi(n, n);
  VectorXd y(n);
  for (Index i = 0; i < n; ++i) {
    const double x = -15 + 30.0 * static_cast<double>(i) / static_cast<double>(n - 1);
    for (Index j = 0; j < n; ++j) {
      const double apart = 30.0 * static_cast<double>(i - j) / static_cast<double>(n - 1) / 4.5;
      phi(i, j) = std::exp(-0.5 * apart * apart);
    }
    y[i] = std::sin(x) / x + 0.02 * rng.normal();
  }
  for (const RvmAlgorithm algorithm : {RvmAlgorithm::fast, RvmAlgorithm::fixed_point}) {
    RvmOptions options;
    options.algorithm = algorithm;
    const RvmResult fit = rvm(phi, y, options, monitor);
    CHECK(fit.convergence.converged);
    CHECK(fit.convergence.residual <= 1e-4);
    CHECK(fit.relevant.size() < 40);
    for (Index i = 1; i < fit.trace.size(); ++i) CHECK(fit.trace[i] >= fit.trace[i - 1] - 1e-7);
    CHECK(fit.log_evidence >= fit.trace.maxCoeff() - 1e-7);
    for (const double precision : {1e-8, 1e-6, 1e-4, 1e-2, 1.0}) {  // equal precisions by brute force
      for (const double noise : {2e-4, 4e-4, 8e-4}) {
        const Eigen::LLT<MatrixXd> factor(MatrixXd(phi * phi.transpose() / precision + noise * MatrixXd::Identity(n, n)));
        const double evidence = -0.5 * (static_cast<double>(n) * std::log(2 * std::acos(-1.0)) +
                                        2 * factor.matrixLLT().diagonal().array().log().sum() + y.dot(factor.solve(y)));
        CHECK(fit.log_evidence > evidence);
      }
    }
  }
}

TEST("rvm: scales of y and columns change the units only") {
  Monitor monitor;
  const Example e(40, 7);
  const RvmResult base = rvm(e.phi, e.y, RvmOptions(), monitor);
  for (const double scale : {1e-8, 1e8}) {
    const RvmResult fit = rvm(e.phi / scale, scale * e.y, RvmOptions(), monitor);
    CHECK(fit.relevant == base.relevant);
    CHECK_NEAR((fit.mean / (scale * scale) - base.mean).norm(), 0, 1e-4 * base.mean.norm());
    CHECK_NEAR(fit.noise / (scale * scale), base.noise, 1e-4 * base.noise);
  }
}

TEST("rvm: columns of zeros, a zero response and one row are no trouble; wrong sizes are errors") {
  Monitor monitor;
  Example e(30, 9);
  e.phi.col(4).setZero();
  const RvmResult fit = rvm(e.phi, e.y, RvmOptions(), monitor);
  for (const Index k : fit.relevant) CHECK(k != 4);
  const RvmResult none = rvm(e.phi, VectorXd::Zero(30), RvmOptions(), monitor);
  CHECK(none.relevant.empty());
  CHECK(std::isfinite(none.log_evidence));
  CHECK(std::isfinite(rvm(MatrixXd::Ones(1, 1), VectorXd::Ones(1), RvmOptions(), monitor).log_evidence));
  CHECK_THROWS(rvm(e.phi, VectorXd::Zero(29), RvmOptions(), monitor), InputError);
  CHECK_THROWS(rvm(MatrixXd(30, 0), e.y, RvmOptions(), monitor), InputError);
  e.y[3] = std::nan("");
  CHECK_THROWS(rvm(e.phi, e.y, RvmOptions(), monitor), InputError);
}
