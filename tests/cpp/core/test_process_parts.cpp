// Small parts behind the Gaussian-process methods: designs, quadrature, chains, greedy choice, several starts.
#include "eigen.h"
#include <cmath>

#include "core/linalg/greedy_variance.h"
#include "core/infer/mcmc.h"
#include "core/optim/multistart.h"
#include "core/math/quadrature.h"
#include "core/cluster/space_filling.h"
#include "harness.h"

using namespace granary;

TEST("a Latin hypercube has one point per strip, Sobol's points halve every cell, and boxes are reached") {
  Rng rng(1);
  const MatrixXd x = latin_hypercube(20, 3, rng, 5);
  for (int j = 0; j < 3; ++j) {
    std::vector<int> seen(20, 0);
    for (int i = 0; i < 20; ++i) ++seen[static_cast<int>(20 * x(i, j))];
    for (const int count : seen) CHECK(count == 1);
  }
  const MatrixXd s = sobol(255, 4);
  CHECK(s.minCoeff() > 0 && s.maxCoeff() < 1);
  for (int j = 0; j < 4; ++j) {
    CHECK_NEAR(s.col(j).mean(), 0.5, 1e-12);  // with the origin: all multiples of 1/256
    CHECK((s.col(j).array() < 0.25).count() == 63);
  }
  CHECK_NEAR(s(0, 0), 0.5, 0);
  const MatrixXd shifted = sobol_shifted(64, 2, rng);
  CHECK(shifted.minCoeff() >= 0 && shifted.maxCoeff() < 1);
  // Scrambled: still one point in each strip of 1/256, and one in each cell of 16 x 16; not the same points, and uniform.
  const SobolNumbers numbers(3, 8);
  ScrambledSobol first(numbers, rng), second(numbers, rng);
  std::vector<int> strips(256, 0), cells(256, 0);
  double point[3], other[3], apart = 0;
  for (int i = 0; i < 256; ++i) {
    first.next(point);
    second.next(other);
    for (int j = 0; j < 3; ++j) CHECK(point[j] > 0 && point[j] < 1);
    ++strips[static_cast<int>(256 * point[2])];
    ++cells[16 * static_cast<int>(16 * point[0]) + static_cast<int>(16 * point[1])];
    apart += std::abs(point[0] - other[0]);
  }
  for (int k = 0; k < 256; ++k) CHECK(strips[k] == 1 && cells[k] == 1);
  CHECK(apart > 1);
  double mean = 0, square = 0;
  for (int i = 0; i < 4000; ++i) {
    ScrambledSobol one(SobolNumbers(1, 0), rng);
    one.next(point);
    mean += point[0] / 4000;
    square += point[0] * point[0] / 4000;
  }
  CHECK_NEAR(mean, 0.5, 0.02);
  CHECK_NEAR(square, 1.0 / 3, 0.02);
  CHECK_THROWS(SobolNumbers(0, 3), InputError);
  CHECK_THROWS(SobolNumbers(2, 40), InputError);
  VectorXd lower(2), upper(2);
  lower << -5, 0;
  upper << 10, 15;
  const MatrixXd box = to_box(MatrixXd::Constant(1, 2, 0.5), lower, upper);
  CHECK_NEAR(box(0, 0), 2.5, 0);
  CHECK_NEAR(box(0, 1), 7.5, 0);
  CHECK_THROWS(sobol(3, 0), InputError);
  CHECK_THROWS(to_box(MatrixXd::Zero(1, 3), lower, upper), InputError);
}

TEST("Gauss-Hermite quadrature is exact for polynomials") {
  const Quadrature q = gauss_hermite(10);
  double moment = 1;
  for (int k = 0; k <= 18; k += 2) {
    double sum = 0;
    for (int i = 0; i < 10; ++i) sum += q.weights[i] * std::pow(q.nodes[i], k);
    CHECK_NEAR(sum, moment, 1e-11 * moment);
    moment *= k + 1;  // E Z^(k+2) = (k + 1) E Z^k
  }
  CHECK_NEAR(gauss_hermite(1).nodes[0], 0, 0);
  CHECK(gauss_hermite(200).weights.allFinite());
  CHECK_THROWS(gauss_hermite(0), InputError);
}

TEST("all three chains have the moments of their target") {
  // Two correlated normals with means 1 and -2.
  MatrixXd cov(2, 2);
  cov << 1, 0.6, 0.6, 2;
  const MatrixXd precision = cov.inverse();
  VectorXd mean(2);
  mean << 1, -2;
  const auto log_density = [&](const VectorXd& x) { return -0.5 * (x - mean).dot(precision * (x - mean)); };
  const auto with_gradient = [&](const VectorXd& x, VectorXd& g) {
    g = -precision * (x - mean);
    return log_density(x);
  };
  const int draws = 20000;
  for (int kind = 0; kind < 3; ++kind) {
    Rng rng(5 + kind);
    VectorXd x = VectorXd::Zero(2), gradient(2), sum = VectorXd::Zero(2);
    MatrixXd square = MatrixXd::Zero(2, 2);
    double value = with_gradient(x, gradient);
    Hamiltonian chain(8, 0.3);
    // For the ellipse: prior N(0, 4 I), the likelihood is the rest.
    const auto likelihood = [&](const VectorXd& f) { return log_density(f) + 0.125 * f.squaredNorm(); };
    if (kind == 1) value = likelihood(x);
    for (int s = -1000; s < draws; ++s) {
      if (s == 0) chain.end_warm_up();
      if (kind == 0) slice_sweep(log_density, x, value, VectorXd::Constant(2, 2.0), rng);
      if (kind == 1) elliptical_slice(likelihood, x, value, 2 * rng.normals(2), rng);
      if (kind == 2) chain.move(with_gradient, x, value, gradient, rng);
      if (s < 0) continue;
      sum += x;
      square += (x - mean) * (x - mean).transpose();
    }
    CHECK_NEAR((sum / draws - mean).norm(), 0, 0.08);
    CHECK_NEAR((square / draws - cov).norm(), 0, 0.2);
    if (kind == 2) CHECK(chain.acceptance() > 0.6 && chain.step_size() > 0);
  }
  Rng rng(1);
  VectorXd x(1);
  double bad = -1.0 / 0.0;
  CHECK_THROWS(slice_sweep(log_density, x, bad, VectorXd::Ones(1), rng), NumericalError);
  CHECK_THROWS(Hamiltonian(0), InputError);
}

TEST("greedy variance is pivoted Cholesky without noise and conditioning with it") {
  Rng rng(3);
  Monitor monitor;
  const MatrixXd x = latin_hypercube(30, 2, rng);
  KernelSpec spec;
  spec.type = "se";
  spec.scales = VectorXd::Constant(1, 0.4);
  const Kernel kernel(spec, 2);
  const MatrixXd k = kernel.matrix(x);
  const GreedyVariance full = greedy_variance(kernel, x, {}, monitor);
  CHECK_NEAR((full.rows.transpose() * full.rows - k).norm(), 0, 1e-9);
  for (Index i = 1; i < full.variances.size(); ++i) CHECK(full.variances[i] <= full.variances[i - 1] + 1e-12);
  GreedyVarianceOptions options;
  options.max_picks = 6;
  options.noise = 0.1;
  const GreedyVariance noisy = greedy_variance(kernel, x, options, monitor);
  MatrixXd picked(6, 6), cross(6, 30);
  for (int a = 0; a < 6; ++a) {
    cross.row(a) = k.row(noisy.picks[a]);
    for (int b = 0; b < 6; ++b) picked(a, b) = k(noisy.picks[a], noisy.picks[b]) + (a == b ? 0.1 : 0);
  }
  const MatrixXd rest = k - cross.transpose() * picked.inverse() * cross;
  CHECK_NEAR((rest.diagonal() - noisy.left).norm(), 0, 1e-10);
  CHECK_NEAR(noisy.information(0.1), 0.5 * std::log((picked / 0.1).determinant()), 1e-9);
  options.repeated = true;
  options.max_picks = 40;
  CHECK(greedy_variance(kernel, x, options, monitor).picks.size() == 40);
  options.noise = 0;
  CHECK_THROWS(greedy_variance(kernel, x, options, monitor), InputError);
}

TEST("several starts find the lower of two valleys, on any number of threads") {
  const Objective f = [](const VectorXd& x, VectorXd& g) {
    g.resize(1);
    if (x[0] > 2.5) return std::numeric_limits<double>::quiet_NaN();
    g[0] = 4 * x[0] * x[0] * x[0] - 4 * x[0] + 0.2;
    return std::pow(x[0], 4) - 2 * x[0] * x[0] + 0.2 * x[0];
  };
  MatrixXd starts(3, 1);
  starts << 1.5, -1.5, 2.9;
  Monitor monitor;
  const VectorXd lower = VectorXd::Constant(1, -3), upper = VectorXd::Constant(1, 3);
  const MultistartResult one = multistart_box(f, starts, lower, upper, {}, 1, monitor);
  const MultistartResult two = multistart_box(f, starts, lower, upper, {}, 2, monitor);
  CHECK(one.x[0] < -0.9 && one.x == two.x && one.convergence.converged);
  CHECK(std::isinf(one.starts[2].value));
  CHECK(on_bound(VectorXd::Constant(1, 3), lower, upper).size() == 1);
  CHECK(on_bound(one.x, lower, upper).empty());
  CHECK_THROWS(multistart_box(f, starts.bottomRows(1), lower, upper, {}, 1, monitor), NumericalError);
}
