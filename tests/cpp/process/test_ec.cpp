// Expectation consistent inference: worked numbers, exact cases, enumeration, finite differences, the three loops.
#include "eigen.h"
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/infer/ep_sites.h"
#include "core/base/errors.h"
#include "core/math/logspace.h"
#include "core/random/rng.h"
#include "core/math/special.h"
#include "core/infer/spin_states.h"
#include "process/ec_baseline.h"
#include "process/ec_box.h"
#include "process/ec_ising.h"
#include "process/ec_wide.h"
#include "harness.h"

using namespace granary;
using namespace granary::process;

namespace {

MatrixXd three_couplings() {
  MatrixXd j = MatrixXd::Zero(3, 3);
  j(0, 1) = j(1, 0) = 0.5;
  j(0, 2) = j(2, 0) = -0.4;
  j(1, 2) = j(2, 1) = 0.3;
  return j;
}

VectorXd three_fields() { return Eigen::Vector3d(0.2, -0.1, 0.4); }

EcResult run(const MatrixXd& j, const VectorXd& theta, EcMethod method, EcAlgorithm algorithm = EcAlgorithm::automatic,
             double tol = 1e-20) {
  Monitor monitor;
  EcOptions options;
  options.method = method;
  options.algorithm = algorithm;
  options.tol = tol;
  options.max_iter = 3000;
  return ec_ising(j, theta, options, monitor);
}

MatrixXd random_couplings(Index n, double size, Rng& rng) {
  MatrixXd j = MatrixXd::Zero(n, n);
  for (Index b = 0; b < n; ++b) {
    for (Index a = 0; a < b; ++a) j(a, b) = j(b, a) = size * rng.normal();
  }
  return j;
}

SpinMoments exact(const MatrixXd& j, const VectorXd& theta) {
  Monitor monitor;
  return exact_moments(0.5 * j, theta, monitor);
}

}  // namespace

TEST("EC meets the worked numbers of three spins at every level, by every loop") {
  const MatrixXd j = three_couplings();
  const VectorXd theta = three_fields();
  for (const EcAlgorithm algorithm :
       {EcAlgorithm::automatic, EcAlgorithm::single, EcAlgorithm::greedy, EcAlgorithm::double_loop}) {
    const double tol = algorithm == EcAlgorithm::double_loop ? 1e-16 : 1e-20;
    const EcResult f = run(j, theta, EcMethod::factorized, algorithm, tol);
    CHECK(f.convergence.converged);
    CHECK_NEAR(f.log_z, 2.3371559, 1e-7);
    CHECK((f.mean - Eigen::Vector3d(0.0654281, 0.0242014, 0.3222516)).cwiseAbs().maxCoeff() < 1e-6);
    CHECK((f.r.lambda - Eigen::Vector3d(1.2744944, 1.2147624, 1.2615163)).cwiseAbs().maxCoeff() < 1e-6);
    CHECK((f.r.gamma - Eigen::Vector3d(0.00018769, 0.0000094566, 0.0254364)).cwiseAbs().maxCoeff() < 1e-6);
    CHECK_NEAR(f.covariance(0, 1), 0.3525767, 1e-6);
    // The quasi-Newton method of the restricted inner loop has no more digits to give.
    const EcResult r = run(j, theta, EcMethod::restricted, algorithm, std::max(tol, 1e-14));
    CHECK(r.convergence.converged);
    CHECK_NEAR(r.log_z, 2.3359203, 1e-7);
    CHECK((r.mean - Eigen::Vector3d(0.0744357, 0.0231407, 0.3028535)).cwiseAbs().maxCoeff() < 1e-6);
    CHECK_NEAR(r.r.lambda[0], 1.2467034, 1e-6);
    const EcResult t = run(j, theta, EcMethod::tree, algorithm, tol);
    CHECK(t.convergence.converged);
    CHECK(t.edges.size() == 2);
    CHECK_NEAR(t.log_z, 2.3408070, 1e-7);
    CHECK((t.mean - Eigen::Vector3d(0.0616379, 0.0245912, 0.3232234)).cwiseAbs().maxCoeff() < 1e-6);
  }
}

TEST("EC on a forest is exact: log Z, means and every covariance") {
  Rng rng(4);
  for (const double size : {0.3, 1.0, 3.0}) {
    const Index n = 9;
    MatrixXd j = MatrixXd::Zero(n, n);
    for (Index i = 1; i < n; ++i) {
      if (i == 5) continue;  // two trees
      const Index p = static_cast<Index>(rng.below(static_cast<std::uint64_t>(i)));
      j(i, p) = j(p, i) = size * rng.normal();
    }
    const VectorXd theta = 0.5 * rng.normals(n);
    const EcResult fit = run(j, theta, EcMethod::tree);
    const SpinMoments truth = exact(j, theta);
    CHECK_NEAR(fit.log_z, truth.log_partition, 1e-8);
    CHECK((fit.mean - truth.mean).cwiseAbs().maxCoeff() < 1e-8);
    CHECK((fit.covariance + fit.mean * fit.mean.transpose() - truth.second).cwiseAbs().maxCoeff() < 1e-7);
  }
}

TEST("EC on wide trees: exact where the couplings are one, and a spanning tree at width 1") {
  Rng rng(14);
  Monitor monitor;
  EcOptions options;
  options.tol = 1e-20;
  for (const int width : {1, 2, 3}) {
    // A model that is a tree of this width, and found to be one: variable i has couplings with the `width` before it, later ones
    // weaker ones.
    const Index n = 9;
    MatrixXd j = MatrixXd::Zero(n, n);
    for (Index i = 0; i < n; ++i) {
      for (Index p = std::max<Index>(0, i - width); p < i; ++p) j(i, p) = j(p, i) = 0.5 * std::pow(0.95, static_cast<double>(i));
    }
    const VectorXd theta = 0.5 * rng.normals(n);
    options.width = width;
    const EcResult fit = ec_ising(j, theta, options, monitor);
    const SpinMoments truth = exact(j, theta);
    CHECK(fit.convergence.converged);
    CHECK_NEAR(fit.log_z, truth.log_partition, 1e-8);
    CHECK((fit.mean - truth.mean).cwiseAbs().maxCoeff() < 1e-8);
    // Pairs outside the tree go through the Gaussian, which only at width 1 carries what spins carry.
    for (const auto& [a, b] : fit.edges) CHECK_NEAR(fit.covariance(a, b) + fit.mean[a] * fit.mean[b], truth.second(a, b), 1e-7);
  }
  const MatrixXd j = random_couplings(8, 0.5, rng);
  const VectorXd theta = 0.3 * rng.normals(8);
  // Width 1 by cliques is the spanning tree: the two codes meet.
  const EcForest cliques = wide_forest(j, 1), forest = maximum_spanning_forest(j);
  double by_cliques = 0, by_forest = 0;
  for (const auto& [a, b] : cliques.edges) by_cliques += std::abs(j(a, b));
  for (const auto& [a, b] : forest.edges) by_forest += std::abs(j(a, b));
  CHECK_NEAR(by_cliques, by_forest, 1e-12);
  EcParameters q{rng.normals(8), rng.normals(8), rng.normals(7)};
  const EcForest same(8, cliques.edges);
  const BinaryForest a = wide_binary_inference(q, cliques), b = binary_inference(q, same);
  CHECK_NEAR(a.log_z, b.log_z, 1e-10);
  CHECK((a.moments.edge - b.moments.edge).cwiseAbs().maxCoeff() < 1e-12);
  CHECK((a.moments.variance - b.moments.variance).cwiseAbs().maxCoeff() < 1e-12);
  const EcParameters ga = wide_gaussian_parameters(a.moments, cliques), gb = gaussian_parameters(b.moments, same);
  CHECK((ga.lambda - gb.lambda).norm() < 1e-8 * gb.lambda.norm());
  CHECK((ga.gamma - gb.gamma).norm() < 1e-8 * (1 + gb.gamma.norm()));
  CHECK_NEAR(wide_gaussian_log_z(a.moments, cliques), gaussian_log_z(b.moments, same), 1e-9);
  // Derivatives, isolated variables, one variable.
  options.width = 2;
  options.tol = 1e-24;
  const EcResult fit = ec_ising(j, theta, options, monitor);
  VectorXd up = theta, down = theta;
  up[2] += 1e-4;
  down[2] -= 1e-4;
  CHECK_NEAR((ec_ising(j, up, options, monitor).log_z - ec_ising(j, down, options, monitor).log_z) / 2e-4, fit.mean[2], 1e-6);
  MatrixXd apart = j;
  apart.row(3).setZero();
  apart.col(3).setZero();
  CHECK_NEAR(ec_ising(apart, theta, options, monitor).mean[3], std::tanh(theta[3]), 1e-10);
  CHECK_NEAR(ec_ising(MatrixXd::Zero(1, 1), VectorXd::Constant(1, 0.7), options, monitor).log_z, std::log(2 * std::cosh(0.7)),
             1e-10);
  options.algorithm = EcAlgorithm::double_loop;
  CHECK_THROWS(ec_ising(j, theta, options, monitor), InputError);
  CHECK_THROWS(wide_forest(j, 0), InputError);
}

TEST("EC of one spin, and of spins without couplings, is exact at every level") {
  for (const EcMethod method : {EcMethod::factorized, EcMethod::tree}) {
    const EcResult one = run(MatrixXd::Zero(1, 1), VectorXd::Constant(1, 0.7), method);
    CHECK_NEAR(one.log_z, std::log(2 * std::cosh(0.7)), 1e-10);
    CHECK_NEAR(one.mean[0], std::tanh(0.7), 1e-10);
    const EcResult free = run(MatrixXd::Zero(3, 3), three_fields(), method);
    CHECK((free.mean.array() - three_fields().array().tanh()).abs().maxCoeff() < 1e-9);
  }
  CHECK_NEAR(run(MatrixXd::Zero(1, 1), VectorXd::Constant(1, -20.0), EcMethod::restricted).mean[0], -1, 1e-12);
}

TEST("EC's derivatives of log Z are its means and second moments") {
  Rng rng(8);
  const MatrixXd j = random_couplings(6, 0.3, rng);
  const VectorXd theta = 0.3 * rng.normals(6);
  for (const EcMethod method : {EcMethod::restricted, EcMethod::factorized}) {
    const EcResult fit = run(j, theta, method, EcAlgorithm::automatic, 1e-24);
    const double h = 1e-4;
    VectorXd up = theta, down = theta;
    up[2] += h;
    down[2] -= h;
    CHECK_NEAR((run(j, up, method).log_z - run(j, down, method).log_z) / (2 * h), fit.mean[2], 1e-6);
    MatrixXd j_up = j, j_down = j;
    j_up(1, 4) += h;
    j_up(4, 1) += h;
    j_down(1, 4) -= h;
    j_down(4, 1) -= h;
    CHECK_NEAR((run(j_up, theta, method).log_z - run(j_down, theta, method).log_z) / (2 * h),
               fit.covariance(1, 4) + fit.mean[1] * fit.mean[4], 1e-6);
  }
}

TEST("EC's double loop never raises F, and ends where the single loop ends") {
  Rng rng(21);
  for (int trial = 0; trial < 5; ++trial) {
    const MatrixXd j = random_couplings(8, 0.35, rng);
    const VectorXd theta = 0.2 * rng.normals(8);
    for (const EcMethod method : {EcMethod::restricted, EcMethod::factorized, EcMethod::tree}) {
      const EcResult one = run(j, theta, method, EcAlgorithm::single),
                     two = run(j, theta, method, EcAlgorithm::double_loop, 1e-14);
      CHECK(one.convergence.converged);
      CHECK(two.convergence.converged);
      CHECK_NEAR(one.log_z, two.log_z, 1e-8);
      CHECK((one.mean - two.mean).cwiseAbs().maxCoeff() < 1e-5);
      for (std::size_t k = 1; k < two.free_energy.size(); ++k) CHECK(two.free_energy[k] <= two.free_energy[k - 1] + 1e-9);
    }
  }
}

TEST("EC is closer to the truth with a tree, and its answer does not depend on where tree couplings are put") {
  Rng rng(3);
  double error_tree = 0, error_factorized = 0;
  for (int trial = 0; trial < 10; ++trial) {
    const MatrixXd j = random_couplings(10, 0.25, rng);
    const VectorXd theta = VectorXd::Constant(10, 0.1);
    const SpinMoments truth = exact(j, theta);
    error_tree += (run(j, theta, EcMethod::tree).mean - truth.mean).cwiseAbs().sum();
    error_factorized += (run(j, theta, EcMethod::factorized).mean - truth.mean).cwiseAbs().sum();
  }
  CHECK(error_tree < error_factorized);
  CHECK(error_factorized < 2);
  // gamma_r shifted at the start: the same fixed point.
  const MatrixXd j = random_couplings(6, 0.2, rng);
  Monitor monitor;
  EcOptions options;
  options.tol = 1e-20;
  const EcResult plain = ec_ising(j, VectorXd::Constant(6, 0.3), options, monitor);
  options.start = rng.normals(6);
  const EcResult shifted = ec_ising(j, VectorXd::Constant(6, 0.3), options, monitor);
  CHECK((plain.mean - shifted.mean).cwiseAbs().maxCoeff() < 1e-8);
}

TEST("EC survives couplings and fields of any size") {
  Rng rng(5);
  for (const double size : {1e-8, 1e-3, 10.0, 1e4, 1e8}) {
    const MatrixXd j = random_couplings(6, size, rng);
    const VectorXd theta = size * rng.normals(6);
    for (const EcMethod method : {EcMethod::restricted, EcMethod::factorized, EcMethod::tree}) {
      Monitor monitor;
      EcOptions options;
      options.method = method;
      options.max_iter = 200;
      const EcResult fit = ec_ising(j, theta, options, monitor);
      CHECK(fit.mean.allFinite());
      CHECK(fit.mean.cwiseAbs().maxCoeff() <= 1);
      CHECK(fit.covariance.allFinite());
      if (size < 1) {
        CHECK(fit.convergence.converged);
        CHECK_NEAR(fit.log_z, exact(j, theta).log_partition, 1e-6);
      }
    }
  }
}

TEST("EC refuses what is no model") {
  Monitor monitor;
  EcOptions options;
  MatrixXd j = three_couplings();
  CHECK_THROWS(ec_ising(j, VectorXd::Zero(2), options, monitor), InputError);
  CHECK_THROWS(ec_ising(MatrixXd(), VectorXd(), options, monitor), InputError);
  j(0, 1) = 9;
  CHECK_THROWS(ec_ising(j, three_fields(), options, monitor), InputError);
  j = three_couplings();
  j(1, 1) = 1;
  CHECK_THROWS(ec_ising(j, three_fields(), options, monitor), InputError);
  options.own_forest = true;
  options.forest = {{0, 1}, {1, 2}, {0, 2}};
  CHECK_THROWS(ec_ising(three_couplings(), three_fields(), options, monitor), InputError);
}

TEST("EC's maps between moments and parameters on a forest are inverse to each other") {
  Rng rng(12);
  const EcForest forest(5, {{0, 1}, {1, 3}, {1, 4}});
  EcParameters p{rng.normals(5), VectorXd::Zero(5), rng.normals(3)};
  const BinaryForest binary = binary_inference(p, forest);
  const EcParameters back = binary_parameters(binary.moments, forest);
  CHECK((back.gamma - p.gamma).cwiseAbs().maxCoeff() < 1e-8);
  CHECK((back.edge - p.edge).cwiseAbs().maxCoeff() < 1e-8);
  const EcParameters gauss = gaussian_parameters(binary.moments, forest);
  MatrixXd precision = gauss.lambda.asDiagonal();
  for (int e = 0; e < 3; ++e) {
    precision(forest.edges[e].first, forest.edges[e].second) = precision(forest.edges[e].second, forest.edges[e].first) =
        gauss.edge[e];
  }
  CHECK((precision * binary.moments.mean - gauss.gamma).cwiseAbs().maxCoeff() < 1e-8);
}

TEST("EC's generic factors have the same moments with 20 and with 150 nodes") {
  // The outer weights of Gauss-Hermite rules are far below rounding relative to the largest, and are multiplied by large numbers.
  const auto log_t = [](double f) { return 2 * f - std::exp(f); };
  for (const int nodes : {24, 64, 150}) {
    const SiteMoments t = quadrature_moments(log_t, gauss_hermite(nodes), 0.4, 1.5);
    CHECK_NEAR(t.log_z, -1.2929515841, 1e-6);
    CHECK_NEAR(t.mean, 0.4752166457, 1e-6);
    CHECK_NEAR(t.variance, 0.4204390803, 1e-5);
  }
  const Quadrature rule = gauss_hermite(64);
  double fourth = 0;
  for (Index k = 0; k < 64; ++k) fourth += rule.weights[k] * std::pow(rule.nodes[k], 4);
  CHECK_NEAR(fourth, 3, 1e-12);
  // w exp(x^2 / 2) falls smoothly to the ends.
  CHECK(rule.weights[0] * std::exp(0.5 * rule.nodes[0] * rule.nodes[0]) < 1);
}

TEST("EC's boxes: quasi-Monte Carlo meets closed forms, at any number of threads") {
  Monitor monitor;
  const Index n = 6;
  MatrixXd sigma = MatrixXd::Constant(n, n, 0.5);
  sigma.diagonal().setOnes();
  const VectorXd zero = VectorXd::Zero(n), above = VectorXd::Constant(n, std::numeric_limits<double>::infinity());
  Rng one(7), two(7);
  const BoxEstimate a = box_monte_carlo(zero, above, zero, sigma, 24000, 12, 1, one, monitor);
  const BoxEstimate b = box_monte_carlo(zero, above, zero, sigma, 24000, 12, 2, two, monitor);
  CHECK(a.log_probability == b.log_probability);
  CHECK(a.standard_error > 0);
  CHECK(std::abs(a.log_probability + std::log(7.0)) < 5 * a.standard_error);
  // Independent variables need no sampling.
  Rng three(1);
  const BoxEstimate c = box_monte_carlo(zero, above, zero, MatrixXd::Identity(n, n), 24, 12, 1, three, monitor);
  CHECK_NEAR(c.log_probability, -6 * std::log(2.0), 1e-12);
  CHECK_THROWS(box_monte_carlo(zero, above, zero, sigma, 0, 12, 1, three, monitor), InputError);
  CHECK_THROWS(box_monte_carlo(zero, above, VectorXd::Zero(2), sigma, 10, 12, 1, three, monitor), InputError);
}

TEST("EC's boxes: tilting keeps the error small in the tails, and scrambled points make it shrink faster than chance") {
  Monitor monitor;
  const Index n = 20;
  const double infinity = std::numeric_limits<double>::infinity(), root = std::sqrt(0.5);
  MatrixXd sigma = MatrixXd::Constant(n, n, 0.5);
  sigma.diagonal().setOnes();
  const VectorXd zero = VectorXd::Zero(n), above = VectorXd::Constant(n, infinity);
  for (double from : {0.0, 3.0, 8.0}) {
    // P(all X > from) = E Phi((z sqrt(1/2) - from) / sqrt(1/2))^20
    double sum = -infinity;
    for (double z = -10; z < 30; z += 1e-3)
      sum = log_sum_exp(sum, normal_log_pdf(z) + n * normal_log_cdf((z * root - from) / root));
    const double exact = sum + std::log(1e-3);
    Rng rng(3);
    const BoxEstimate few = box_monte_carlo(VectorXd::Constant(n, from), above, zero, sigma, 12 * 256, 12, 1, rng, monitor);
    const BoxEstimate many = box_monte_carlo(VectorXd::Constant(n, from), above, zero, sigma, 12 * 16384, 12, 1, rng, monitor);
    CHECK(std::abs(few.log_probability - exact) < 5 * few.standard_error);
    CHECK(std::abs(many.log_probability - exact) < 5 * many.standard_error);
    CHECK(few.standard_error < 0.01);
    CHECK(many.standard_error < few.standard_error / 12);  // 8 by chance alone
  }
}

TEST("EC's inverse and the TAP equations") {
  Rng rng(2);
  Monitor monitor;
  const MatrixXd j = random_couplings(6, 0.05, rng);
  const VectorXd theta = 0.2 * rng.normals(6);
  const SpinMoments truth = exact(j, theta);
  const TapResult fit = tap(j, theta, TapOptions(), monitor);
  CHECK(fit.convergence.converged);
  CHECK(fit.stable);
  CHECK_NEAR(fit.log_z, truth.log_partition, 1e-3);
  CHECK((fit.mean - truth.mean).cwiseAbs().maxCoeff() < 1e-3);
  // J = Lambda_r - C^-1 with the moments of EC itself gives J back.
  const EcResult ec = run(j, theta, EcMethod::factorized);
  const EcParameters r = ec_inverse({ec.mean, (1 - ec.mean.array().square()).matrix(), VectorXd()}, EcForest(6, {}));
  const MatrixXd back = -MatrixXd(ec.covariance.inverse());
  CHECK((back - j - MatrixXd((back - j).diagonal().asDiagonal())).cwiseAbs().maxCoeff() < 1e-8);
  CHECK((ec.covariance.inverse() * ec.mean - r.gamma - theta).cwiseAbs().maxCoeff() < 1e-7);
  CHECK((r.gamma - ec.r.gamma).cwiseAbs().maxCoeff() < 1e-7);
}
