#include "eigen.h"
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/errors.h"
#include "core/random/rng.h"
#include "harness.h"
#include "process/gplvm.h"
#include "process/gplvm_dual.h"

using namespace granary;
using namespace granary::process;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double log_two_pi = 1.8378770664093454836;

MatrixXd normals(Index n, Index d, std::uint64_t seed) {
  Rng rng(seed);
  MatrixXd x(n, d);
  for (Index k = 0; k < d; ++k)
    for (Index i = 0; i < n; ++i) x(i, k) = rng.normal();
  return x;
}

KernelSpec leaf(const std::string& type, double variance, double scale = 0) {
  KernelSpec spec;
  spec.type = type;
  spec.variance = variance;
  if (scale > 0) spec.scales = VectorXd::Constant(1, scale);
  return spec;
}

Kernel kernel_of(const std::string& type, Index q, double white = 0.3) {
  KernelSpec sum;
  sum.type = "sum";
  KernelSpec main = leaf(type, 1.2, 0.9);
  if (type == "mlp") {
    main.scales.resize(2);
    main.scales << 4, 3;
  }
  sum.children.push_back(main);
  sum.children.push_back(leaf("bias", 0.4));
  sum.children.push_back(leaf("white", white));
  return Kernel(sum, q);
}

// log N(y | 0, a) the slow way.
double log_normal(const MatrixXd& a, const VectorXd& y) {
  return -0.5 * (static_cast<double>(y.size()) * log_two_pi + std::log(a.determinant()) + y.dot(a.inverse() * y));
}

NoisyTargets with_holes(Index n, Index d, std::uint64_t seed) {
  NoisyTargets targets;
  targets.y = normals(n, d, seed);
  targets.noise = MatrixXd::Zero(n, d);
  targets.noise(0, 0) = targets.noise(3, 0) = targets.noise(0, 1) = targets.noise(3, 1) = infinity;
  for (Index k = 0; k < n; ++k) targets.noise(k, d - 1) = 0.1 * static_cast<double>(k + 1);
  targets.noise(2, d - 1) = infinity;
  return targets;
}

double brute_force(const Kernel& kernel, const MatrixXd& x, const NoisyTargets& targets, double nugget) {
  const MatrixXd k = kernel.matrix(x);
  double value = 0;
  for (Index i = 0; i < targets.y.cols(); ++i) {
    std::vector<Index> rows;
    for (Index n = 0; n < x.rows(); ++n)
      if (targets.observed(n, i)) rows.push_back(n);
    const Index size = static_cast<Index>(rows.size());
    MatrixXd a(size, size);
    VectorXd y(size);
    for (Index r = 0; r < size; ++r) {
      y[r] = targets.y(rows[r], i);
      for (Index c = 0; c < size; ++c) a(r, c) = k(rows[r], rows[c]);
      a(r, r) += nugget + targets.noise_at(rows[r], i);
    }
    value += log_normal(a, y);
  }
  return value;
}

void check_gradient(const Kernel& kernel, const MatrixXd& x, const NoisyTargets& targets) {
  Monitor monitor;
  const GplvmLikelihood likelihood(targets, 1e-3, 2);
  VectorXd dp;
  MatrixXd dx;
  likelihood(kernel, x, &dp, &dx, monitor);
  const double step = 1e-5;
  for (Index k = 0; k < x.size(); ++k) {
    MatrixXd up = x, down = x;
    up.data()[k] += step;
    down.data()[k] -= step;
    const double slope =
        (likelihood(kernel, up, nullptr, nullptr, monitor) - likelihood(kernel, down, nullptr, nullptr, monitor)) / (2 * step);
    CHECK_NEAR(dx.data()[k], slope, 1e-6 * (1 + std::abs(slope)));
  }
  for (Index k = 0; k < dp.size(); ++k) {
    Kernel up = kernel, down = kernel;
    VectorXd p = kernel.parameters();
    p[k] += step;
    up.set_parameters(p);
    p[k] -= 2 * step;
    down.set_parameters(p);
    const double slope =
        (likelihood(up, x, nullptr, nullptr, monitor) - likelihood(down, x, nullptr, nullptr, monitor)) / (2 * step);
    CHECK_NEAR(dp[k], slope, 1e-6 * (1 + std::abs(slope)));
  }
}

}  // namespace

TEST("gplvm: the likelihood is that of the definition, plain, with more columns than rows, and with holes") {
  Monitor monitor;
  const MatrixXd x = normals(8, 2, 1);
  const Kernel kernel = kernel_of("se", 2);
  NoisyTargets narrow, wide;
  narrow.y = normals(8, 3, 2);
  wide.y = normals(8, 20, 3);
  for (const NoisyTargets& targets : {narrow, wide, with_holes(8, 5, 4), with_holes(8, 30, 5)}) {
    const double value = GplvmLikelihood(targets, 0.01)(kernel, x, nullptr, nullptr, monitor);
    CHECK_NEAR(value, brute_force(kernel, x, targets, 0.01), 1e-8 * std::abs(value));
  }
}

TEST("gplvm: columns of equal noise share a group, columns without cells are left out") {
  NoisyTargets targets = with_holes(8, 5, 4);
  CHECK(group_columns(targets).size() == 3);
  targets.noise.col(2).setConstant(infinity);
  CHECK(group_columns(targets).size() == 3);  // column 4 is still plain
  targets.noise.col(3).setConstant(infinity);
  CHECK(group_columns(targets).size() == 2);
  CHECK(targets.cells() == 40 - 4 - 16 - 1);
  // no holes and no noise given explicitly: the same value as without the matrix
  Monitor monitor;
  NoisyTargets plain, zero;
  plain.y = zero.y = normals(9, 4, 7);
  zero.noise = MatrixXd::Zero(9, 4);
  const MatrixXd x = normals(9, 2, 8);
  const Kernel kernel = kernel_of("se", 2);
  CHECK_NEAR(GplvmLikelihood(plain, 0)(kernel, x, nullptr, nullptr, monitor),
             GplvmLikelihood(zero, 0)(kernel, x, nullptr, nullptr, monitor), 1e-12);
}

TEST("gplvm: gradients agree with differences at N = 10, D = 3, for each kernel of the paper") {
  const MatrixXd x = normals(10, 2, 11);
  NoisyTargets plain;
  plain.y = normals(10, 3, 12);
  for (const char* type : {"se", "linear", "mlp"}) {
    check_gradient(kernel_of(type, 2), x, plain);
    check_gradient(kernel_of(type, 2), x, with_holes(10, 4, 13));
  }
}

TEST("gplvm: a covariance that is a multiple of the identity gives the closed form; L adds up over columns") {
  Monitor monitor;
  KernelSpec sum;
  sum.type = "sum";
  sum.children = {leaf("se", 1.5, 1e-6), leaf("white", 0.5)};
  const Kernel kernel(sum, 2);
  const MatrixXd x = normals(12, 2, 1);
  NoisyTargets targets;
  targets.y = normals(12, 4, 2);
  const double value = GplvmLikelihood(targets, 0)(kernel, x, nullptr, nullptr, monitor), s2 = 2;
  CHECK_NEAR(value, -24 * (log_two_pi + std::log(s2)) - targets.y.squaredNorm() / (2 * s2), 1e-9);
  const Kernel smooth = kernel_of("se", 2);
  double parts = 0;
  for (Index i = 0; i < 4; ++i) {
    NoisyTargets one;
    one.y = targets.y.col(i);
    parts += GplvmLikelihood(one, 0)(smooth, x, nullptr, nullptr, monitor);
  }
  CHECK_NEAR(parts, GplvmLikelihood(targets, 0)(smooth, x, nullptr, nullptr, monitor), 1e-9);
}

TEST("gplvm: threads do not change the likelihood of many groups") {
  Monitor monitor;
  NoisyTargets targets;
  targets.y = normals(15, 20, 3);
  targets.noise = normals(15, 20, 4).cwiseAbs();
  const MatrixXd x = normals(15, 2, 5);
  const Kernel kernel = kernel_of("se", 2);
  VectorXd p1, p2;
  MatrixXd x1, x2;
  const double one = GplvmLikelihood(targets, 0, 1)(kernel, x, &p1, &x1, monitor);
  const double two = GplvmLikelihood(targets, 0, 2)(kernel, x, &p2, &x2, monitor);
  CHECK(one == two);
  CHECK(p1 == p2 && x1 == x2);
  CHECK_NEAR(one, brute_force(kernel, x, targets, 0), 1e-9 * std::abs(one));
}

TEST("gplvm: dual PCA is the maximum for a linear kernel, from either eigenproblem") {
  Monitor monitor;
  for (Index d : {4, 40}) {
    MatrixXd y = normals(20, d, 21);
    y.col(0) *= 5;
    y.col(1) *= 3;
    y.rowwise() -= y.colwise().mean().eval();
    const DualPca fit = dual_pca(y, 2, monitor);
    const MatrixXd s = y * y.transpose() / static_cast<double>(d);
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(s);
    for (Index j = 0; j < 2; ++j) {
      const double value = eigen.eigenvalues()[19 - j];
      CHECK_NEAR(fit.eigenvalues[j], value, 1e-9 * value);
      CHECK_NEAR(std::abs(fit.x.col(j).dot(eigen.eigenvectors().col(19 - j))), std::sqrt(value - fit.noise), 1e-7);
    }
    CHECK_NEAR(fit.noise, eigen.eigenvalues().head(18).sum() / 18, 1e-9);
    const MatrixXd k = fit.x * fit.x.transpose() + fit.noise * MatrixXd::Identity(20, 20);
    double direct = 0;
    for (Index i = 0; i < d; ++i) direct += log_normal(k, y.col(i));
    CHECK_NEAR(fit.log_likelihood, direct, 1e-7 * std::abs(direct));

    KernelSpec sum, linear = leaf("linear", 1, 1);
    linear.learn_scales = linear.learn_variance = false;
    sum.type = "sum";
    sum.children = {linear, leaf("white", 1)};
    GplvmOptions options;
    options.prior = false;
    options.nugget = 0;
    options.tol = 1e-12;
    options.max_iter = 2000;
    NoisyTargets targets;
    targets.y = y;
    const GplvmResult climbed = gplvm_full(targets, normals(20, 2, 22), Kernel(sum, 2), options, monitor);
    CHECK(climbed.log_likelihood <= fit.log_likelihood + 1e-7 * std::abs(direct));
    CHECK_NEAR(climbed.log_likelihood, fit.log_likelihood, 1e-5 * std::abs(direct));
  }
  MatrixXd flat = normals(10, 2, 3) * normals(2, 6, 4);
  CHECK_THROWS(dual_pca(flat, 2, monitor), InputError);
  CHECK_THROWS(dual_pca(flat, 7, monitor), InputError);
}

TEST("gplvm: principal components of data with holes come back when the data have low rank") {
  Monitor monitor;
  const MatrixXd y = normals(40, 2, 5) * normals(2, 10, 6);
  MatrixXd holes = y;
  for (Index k = 0; k < 40; k += 5) holes(k, k % 10) = std::nan("");
  const MatrixXd whole = pca_scores(y, 2, monitor), found = pca_scores(holes, 2, monitor);
  CHECK((whole - found).norm() < 0.02 * whole.norm());
  CHECK_THROWS(pca_scores(y, 11, monitor), InputError);
}
