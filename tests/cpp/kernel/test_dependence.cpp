#include "eigen.h"
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/kernel/kernel_features.h"
#include "core/random/rng.h"
#include "kernel/dependence_fit.h"
#include "kernel/gaussian_information.h"
#include "kernel/dependence.h"
#include "kernel/dependence_test.h"
#include "kernel/dependence_variable.h"
#include "harness.h"

using namespace granary;
using namespace granary::kernel;

namespace {

constexpr double pi = 3.14159265358979323846;

// Gaussian density of standard deviation sd, with or without its factor.
Kernel gaussian(double sd, double factor = 1) {
  KernelSpec spec;
  spec.type = "se";
  spec.variance = factor;
  spec.scales = VectorXd::Constant(1, sd);
  return Kernel(spec, 1);
}
Kernel gaussian_density(double sd) { return gaussian(sd, 1 / (sd * std::sqrt(2 * pi))); }

MatrixXd centred_gram(const Kernel& kernel, const MatrixXd& x) {
  const MatrixXd k = kernel.matrix(x);
  const MatrixXd h = MatrixXd::Identity(x.rows(), x.rows()) - MatrixXd::Constant(x.rows(), x.rows(), 1.0 / x.rows());
  return h * k * h;
}

DependenceOptions with(Measure measure, Variances variances = Variances::none, double kappa = 0.02, double theta = 0,
                       double nu = 1) {
  DependenceOptions options;
  options.measure = measure;
  options.variances = variances;
  options.kappa = kappa;
  options.theta = theta;
  options.nu = nu;
  return options;
}

Features features_of(const Kernel& kernel, const std::vector<MatrixXd>& columns, double tol = 0) {
  Monitor monitor;
  KernelFeaturesOptions options;
  options.tol = tol;
  Features z;
  for (const MatrixXd& x : columns) z.push_back(kernel_features(kernel, x, options, monitor).values);
  return z;
}

std::vector<MatrixXd> related(Index m, std::uint64_t seed) {
  Rng rng(seed);
  const VectorXd a = rng.normals(m);
  return {a, a.cwiseAbs2() + 0.5 * rng.normals(m), rng.normals(m)};
}

const std::vector<MatrixXd> four = [] {
  MatrixXd x(4, 1), y(4, 1);
  x << -1, 0, 1, 2;
  y << 1, 0, 1, 4;
  return std::vector<MatrixXd>{x, y};
}();

}  // namespace

TEST("kernel_features: the residual trace is what it says, and zero tolerance is exact") {
  Monitor monitor;
  const std::vector<MatrixXd> x = related(80, 1);
  const Kernel k = gaussian(0.7);
  for (double tol : {0.0, 1e-8, 1e-3}) {
    KernelFeaturesOptions options;
    options.tol = tol;
    options.centred = false;
    const KernelFeatures f = kernel_features(k, x[1], options, monitor);
    const MatrixXd error = k.matrix(x[1]) - f.values * f.values.transpose();
    CHECK(error.trace() <= std::max(tol, 1e-12) * 80 * (1 + 1e-9));
    CHECK_NEAR(error.trace(), f.residual, 1e-10);
    CHECK_NEAR(f.left.sum(), f.residual, 1e-12);
    // root is the factor at the pivots, and coefficients turn weights into a function of the kernel
    const VectorXd w = VectorXd::LinSpaced(f.values.cols(), -1, 1), alpha = f.coefficients(w);
    VectorXd function = VectorXd::Zero(80);
    for (Index p = 0; p < alpha.size(); ++p) function += alpha[p] * k.cross(x[1], x[1].row(f.pivots[p]));
    CHECK_NEAR((function - f.values * w).cwiseAbs().maxCoeff(), 0, tol == 0 ? 1e-4 : 1e-6);
    options.centred = true;
    const KernelFeatures c = kernel_features(k, x[1], options, monitor);
    CHECK_NEAR(c.values.colwise().sum().cwiseAbs().maxCoeff(), 0, 1e-10);
    CHECK_NEAR((c.values.rowwise() + c.mean.transpose() - f.values).norm(), 0, 1e-12);
    const MatrixXd gram = k.matrix(x[1]);
    CHECK_NEAR((kernel_features(gram, options, monitor).values - c.values).norm(), 0, 1e-7);
    for (const KernelFeatures& g : {f, c}) {
      CHECK_NEAR(smallest_row_sum(g, k, x[1], monitor), gram.colwise().sum().minCoeff(), 1e-10);
    }
  }
}

TEST("kernel_features: the rank can be bounded, and what is not positive semi-definite is refused") {
  Monitor monitor;
  const std::vector<MatrixXd> x = related(50, 2);
  KernelFeaturesOptions options;
  options.max_rank = 3;
  CHECK(kernel_features(gaussian(1), x[0], options, monitor).values.cols() == 3);
  MatrixXd indefinite = MatrixXd::Identity(4, 4);
  indefinite(0, 1) = indefinite(1, 0) = 2;
  options.max_rank = 0;
  CHECK_THROWS(kernel_features(indefinite, options, monitor), InputError);
  // every pivot of this one looks fine: its negative eigenvalue hides behind a diagonal that is used up at once
  MatrixXd hidden = MatrixXd::Identity(6, 6);
  hidden.array() -= 0.5;
  CHECK_THROWS(kernel_features(hidden, options, monitor), InputError);
  CHECK_THROWS(kernel_features(MatrixXd(MatrixXd::Zero(2, 3)), options, monitor), InputError);
  options.tol = 1;
  CHECK_THROWS(kernel_features(gaussian(1), x[0], options, monitor), InputError);
  options.tol = 1e-5;
  CHECK(kernel_features(MatrixXd(MatrixXd::Zero(3, 3)), options, monitor).values.cols() == 0);
  // duplicated rows add nothing
  MatrixXd twice(6, 1);
  twice << 1, 2, 3, 1, 2, 3;
  CHECK(kernel_features(gaussian(1), twice, options, monitor).values.cols() == 3);
}

TEST("dependence: worked examples on four points") {
  Monitor monitor;
  KernelSpec line;
  line.type = "linear";
  line.scales = VectorXd::Ones(1);
  CHECK_NEAR(dependence(features_of(Kernel(line, 1), four), with(Measure::coco), monitor).value, 1.25, 1e-12);
  CHECK_NEAR(dependence(features_of(gaussian_density(1), four), with(Measure::coco), monitor).value, 0.1067699, 1e-7);
  // Parzen windows of standard deviation 1/2
  std::vector<DependenceVariable> variables;
  for (const MatrixXd& x : four) {
    DependenceVariable v;
    v.x = x;
    v.kernel = std::make_unique<Kernel>(gaussian_density(0.5 * std::sqrt(2.0)));
    v.window = std::make_unique<Kernel>(gaussian_density(0.5));
    variables.push_back(std::move(v));
  }
  KernelFeaturesOptions exact;
  exact.tol = 0;
  std::vector<KernelFeatures> features = variable_features(variables, exact, 1, monitor);
  const double nu = choose_nu(variables, features, NuRule::parzen, exact, monitor);
  CHECK_NEAR(nu, 0.7978846, 1e-7);
  const double gram = choose_nu(variables, features, NuRule::gram, exact, monitor);
  CHECK_NEAR(gram,
             std::min(variables[0].kernel->matrix(four[0]).colwise().sum().minCoeff(),
                      variables[1].kernel->matrix(four[1]).colwise().sum().minCoeff()),
             1e-12);
  const double safe = choose_nu(variables, features, NuRule::safe, exact, monitor);
  const Features z = centred_values(features);
  CHECK_NEAR(dependence(z, with(Measure::kmi, Variances::none, 0, 0, nu), monitor).value, 0.5563216, 1e-7);
  const double thetas[] = {0, 0.1, 0.5, 0.9}, values[] = {0.5563216, 0.6004657, 0.8938438, 2.069573};
  for (int k = 0; k < 4; ++k) {
    CHECK_NEAR(dependence(z, with(Measure::kgv, Variances::mixed, 0, thetas[k], nu), monitor).value, values[k], 1e-6);
  }
  const Dependence result = dependence(z, with(Measure::kmi, Variances::none, 0, 0, safe), monitor);
  CHECK(std::isfinite(result.value) && safe > result.norms.maxCoeff());
  CHECK(std::isinf(dependence(z, with(Measure::kmi, Variances::none, 0, 0, 0.9 * result.spectrum[0]), monitor).value));
}

TEST("dependence: against the full matrices") {
  Monitor monitor;
  const std::vector<MatrixXd> x = related(40, 3);
  const Kernel kernel = gaussian_density(0.8);
  const MatrixXd k = centred_gram(kernel, x[0]), l = centred_gram(kernel, x[1]);
  const Features z = features_of(kernel, {x[0], x[1]});
  const double m = 40;
  const Dependence h = dependence(z, with(Measure::hsic), monitor), c = dependence(z, with(Measure::coco), monitor);
  CHECK_NEAR(h.value, (k * l).trace() / (m * m), 1e-12);
  CHECK_NEAR(h.spectrum.squaredNorm() / (m * m), h.value, 1e-14);
  CHECK(c.value * c.value <= h.value * (1 + 1e-12));
  CHECK(h.value <= h.spectrum.size() * c.value * c.value * (1 + 1e-12));
  // the witness functions have unit norm, mean zero and attain the value
  const VectorXd f = z[0] * c.weights[0], g = z[1] * c.weights[1];
  CHECK_NEAR(c.weights[0].norm(), 1, 1e-12);
  CHECK_NEAR(f.dot(g) / m, c.value, 1e-12);
  CHECK_NEAR(f.sum(), 0, 1e-9);
  // KGV and KCC by the generalised eigenproblem: rho^2 are eigenvalues of R(K)^-1 K L R(L)^-1 L K
  const MatrixXd eye = MatrixXd::Identity(40, 40);
  const double ridge = m * 0.05 / 2;
  const MatrixXd a = (k + ridge * eye).inverse() * k, b = (l + ridge * eye).inverse() * l;
  const MatrixXd product = eye - a * a * b * b;  // up to similarity: (K+c)^-2 K L (L+c)^-2 L K
  const MatrixXd exact = eye - (k + ridge * eye).inverse() * (k + ridge * eye).inverse() * k * l * (l + ridge * eye).inverse() *
                                   (l + ridge * eye).inverse() * l * k;
  CHECK_NEAR(product.determinant(), exact.determinant(), 1e-9);
  const DependenceOptions squared = with(Measure::kgv, Variances::squared, 0.05);
  CHECK_NEAR(dependence(z, squared, monitor).value, -0.5 * std::log(exact.determinant()), 1e-4);  // small directions are dropped
  const MatrixXd rk = (k + m * 0.05 * eye).inverse(), rl = (l + m * 0.05 * eye).inverse();
  const MatrixXd ridged = eye - rk * l * rl * k;
  CHECK_NEAR(dependence(z, with(Measure::kgv, Variances::ridge, 0.05), monitor).value, -0.5 * std::log(ridged.determinant()),
             1e-8);
  const Dependence canonical = dependence(z, with(Measure::kcc, Variances::ridge, 0.05), monitor);
  CHECK(canonical.value > 0 && canonical.value < 1);
  CHECK_NEAR(canonical.value, canonical.spectrum[0], 1e-12);
  // nearly unregularised: every pair of distinct samples correlates perfectly
  CHECK_NEAR(dependence(z, with(Measure::kcc, Variances::ridge, 1e-12), monitor).value, 1, 1e-3);
}

TEST("dependence: more variables, symmetry, order of rows, low rank") {
  Monitor monitor;
  const std::vector<MatrixXd> x = related(60, 4);
  const Kernel kernel = gaussian(0.8);
  const Features z = features_of(kernel, x);
  const double nu = 100;
  for (Measure measure : {Measure::hsic, Measure::coco, Measure::kmi, Measure::kgv}) {
    const Variances v = measure == Measure::kgv ? Variances::squared : Variances::none;
    const DependenceOptions options = with(measure, v, 0.02, 0, nu);
    // two variables as a pair and as blocks agree, in either order
    const Features pair = {z[0], z[1]}, scaled = scaled_features(pair, options);
    const double value = dependence(pair, options, monitor).value;
    CHECK_NEAR(dependence_value(dependence_blocks(scaled), false, 60, options), value, 1e-10 * (1 + value));
    CHECK_NEAR(dependence({z[1], z[0]}, options, monitor).value, value, 1e-10 * (1 + value));
    // reversing all rows changes nothing
    const Features reversed = {z[0].colwise().reverse(), z[1].colwise().reverse()};
    CHECK_NEAR(dependence(reversed, options, monitor).value, value, 1e-10 * (1 + value));
    // a third variable without dependence on the others adds little, and an exact copy much
    const double three = dependence(z, options, monitor).value;
    CHECK(three >= value * (1 - 1e-10));
    CHECK(dependence({z[0], z[1], z[0]}, options, monitor).value > three);
    // low rank tends to the exact value
    const double rough = dependence(features_of(kernel, {x[0], x[1]}, 1e-2), options, monitor).value;
    const double fine = dependence(features_of(kernel, {x[0], x[1]}, 1e-7), options, monitor).value;
    CHECK(std::abs(fine - value) <= 1e-3 * value);
    CHECK(std::abs(fine - value) <= std::abs(rough - value));
  }
  double pairs = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = i + 1; j < 3; ++j) pairs += dependence({z[i], z[j]}, with(Measure::hsic), monitor).value;
  }
  CHECK_NEAR(dependence(z, with(Measure::hsic), monitor).value, pairs, 1e-12);
  CHECK(dependence(z, with(Measure::kcc, Variances::squared, 0.02), monitor).value > 0);
  // a constant variable depends on nothing
  const Features flat = features_of(kernel, {x[0], MatrixXd::Constant(60, 1, 3)}, 1e-5);
  for (Measure measure : {Measure::hsic, Measure::coco, Measure::kmi}) {
    CHECK_NEAR(dependence(flat, with(measure), monitor).value, 0, 1e-12);
  }
  CHECK_THROWS(dependence({z[0]}, with(Measure::hsic), monitor), InputError);
  CHECK_THROWS(dependence({z[0], MatrixXd::Zero(3, 2)}, with(Measure::hsic), monitor), InputError);
}

TEST("gamma_test: mean and variance are those over all 720 permutations of six rows") {
  const std::vector<MatrixXd> x = related(6, 5);
  const Features z = features_of(gaussian(0.9), {x[0], x[1]});
  std::vector<int> order(6);
  std::iota(order.begin(), order.end(), 0);
  double sum = 0, squares = 0;
  int count = 0;
  do {
    MatrixXd y(6, z[1].cols());
    for (int i = 0; i < 6; ++i) y.row(i) = z[1].row(order[i]);
    const double value = (z[0].transpose() * y).squaredNorm() / 36;
    sum += value;
    squares += value * value;
    ++count;
  } while (std::next_permutation(order.begin(), order.end()));
  const GammaTest test = gamma_test(z[0], z[1]);
  const double mean = sum / count;
  CHECK(count == 720);
  CHECK_NEAR(test.mean, mean, 1e-12);
  CHECK_NEAR(test.variance, squares / count - mean * mean, 1e-13);
  CHECK_NEAR(test.shape * test.scale, mean, 1e-12);
  CHECK_THROWS(gamma_test(MatrixXd::Zero(6, 2), z[1]), InputError);
  CHECK_THROWS(gamma_test(MatrixXd::Zero(4, 2), MatrixXd::Zero(4, 2)), InputError);
}

TEST("permutation_test: the same at one and two threads, from factors and from matrices, with the right p-values") {
  Monitor monitor;
  const std::vector<MatrixXd> x = related(60, 6);
  const Features high = features_of(gaussian(0.2), {x[0], x[1]}), low = features_of(gaussian(0.2), {x[0], x[1]}, 0.05);
  CHECK(high[0].cols() * high[1].cols() > 60);
  const PermutationTest one = permutation_test(high, with(Measure::hsic), 99, Rng(1), 1, monitor);
  const PermutationTest two = permutation_test(high, with(Measure::hsic), 99, Rng(1), 2, monitor);
  CHECK_NEAR((one.permuted - two.permuted).norm(), 0, 0);
  CHECK_NEAR(one.statistic, dependence(high, with(Measure::hsic), monitor).value, 1e-14);
  CHECK_NEAR(one.p_value, 0.01, 1e-12);
  // the mean over permutations is known exactly
  const GammaTest gamma = gamma_test(high[0], high[1]);
  CHECK(std::abs(one.permuted.mean() - gamma.mean) < 4 * std::sqrt(gamma.variance / 99));
  const Features wide = features_of(gaussian(3), {x[0], x[2]}, 1e-3);
  CHECK(wide[0].cols() * wide[1].cols() <= 60);
  const PermutationTest products = permutation_test(wide, with(Measure::hsic), 99, Rng(1), 2, monitor);
  const GammaTest law = gamma_test(wide[0], wide[1]);
  CHECK(std::abs(products.permuted.mean() - law.mean) < 4 * std::sqrt(law.variance / 99));
  // independent variables
  CHECK(permutation_test({low[0], features_of(gaussian(1), {x[2]}, 1e-4)[0]}, with(Measure::coco), 199, Rng(2), 1, monitor)
            .p_value > 0.01);
  for (Measure measure : {Measure::coco, Measure::kcc, Measure::kgv, Measure::kmi}) {
    const Variances v = measure == Measure::kgv || measure == Measure::kcc ? Variances::squared : Variances::none;
    const DependenceOptions options = with(measure, v, 0.02, 0, 100);
    const Features z = features_of(gaussian(1), x, 1e-4);
    const PermutationTest test = permutation_test(z, options, 49, Rng(3), 2, monitor);
    CHECK_NEAR(test.statistic, dependence(z, options, monitor).value, 1e-9);
    CHECK_NEAR(test.p_value, 0.02, 1e-12);
  }
  // a sample whose every order is the same: all ties
  const Features flat = features_of(gaussian(1), {x[0], MatrixXd::Constant(60, 1, 1)}, 1e-5);
  CHECK_NEAR(permutation_test(flat, with(Measure::hsic), 19, Rng(1), 1, monitor).p_value, 1, 0);
  CHECK_THROWS(permutation_test({high[0].topRows(4), high[1].topRows(4)}, with(Measure::hsic), 9, Rng(1), 1, monitor),
               InputError);
  CHECK_THROWS(permutation_test(high, with(Measure::hsic), 0, Rng(1), 1, monitor), InputError);
  CHECK_THROWS(permutation_test({high[0]}, with(Measure::hsic), 9, Rng(1), 1, monitor), InputError);
}

TEST("pair_input: kernel matrices where ranks are high, features where they are low, and the same numbers from both") {
  Monitor monitor;
  const std::vector<MatrixXd> x = related(200, 7);
  const auto variables = [&](double width) {
    std::vector<DependenceVariable> v(2);
    for (std::size_t i = 0; i < 2; ++i) {
      v[i].x = x[i];
      v[i].kernel = std::make_unique<Kernel>(gaussian(width));
    }
    return v;
  };
  KernelFeaturesOptions options;
  CHECK(pair_input(variables(2), options, 1, monitor).matrices.empty());
  const PairInput full = pair_input(variables(0.02), options, 1, monitor);
  CHECK(full.matrices.size() == 2 && full.features.empty());
  CHECK_NEAR((full.matrices[0] - centred_gram(gaussian(0.02), x[0])).cwiseAbs().maxCoeff(), 0, 1e-13);
  options.max_rank = 5;  // asked for: kept
  CHECK(pair_input(variables(0.02), options, 1, monitor).features[0].cols() == 5);
  const Features z = features_of(gaussian(0.02), {x[0], x[1]});
  const GammaTest a = gamma_test(z[0], z[1]), b = gamma_test_matrices(full.matrices[0], full.matrices[1]);
  CHECK_NEAR(a.statistic / b.statistic, 1, 1e-9);
  CHECK_NEAR(a.variance / b.variance, 1, 1e-7);
  CHECK_NEAR(a.p_value, b.p_value, 1e-8);
  const PermutationTest c = permutation_test(full.matrices[0], full.matrices[1], 19, Rng(1), 2, monitor);
  const PermutationTest d = permutation_test(z, with(Measure::hsic), 19, Rng(1), 1, monitor);
  CHECK_NEAR((c.permuted - d.permuted).cwiseAbs().maxCoeff(), 0, 1e-12);
  CHECK_NEAR(c.p_value, d.p_value, 0);
}

TEST("median_distance: odd and even numbers of pairs, ties") {
  MatrixXd x(3, 1);
  x << 0, 1, 5;
  CHECK_NEAR(median_distance(x), 4, 0);
  MatrixXd y(4, 2);
  y << 0, 0, 3, 4, 0, 0, 6, 8;  // distances 5 0 10 5 5 10
  CHECK_NEAR(median_distance(y), 5, 0);
  MatrixXd four(4, 1);
  four << 0, 1, 3, 7;  // 1 3 7 2 6 4
  CHECK_NEAR(median_distance(four), 3.5, 1e-15);
  CHECK_NEAR(median_distance(x.topRows(1)), 0, 0);
}

TEST("joint_permutation_test: the sum over all pairs of rows, HSIC for two variables, and dependence that no pair shows") {
  Monitor monitor;
  const std::vector<MatrixXd> x = related(40, 8);
  const Kernel kernel = gaussian(0.8);
  const std::vector<MatrixXd> two = {kernel.matrix(x[0]), kernel.matrix(x[1])};
  const PermutationTest pair = joint_permutation_test(two, 49, Rng(1), 1, monitor);
  MatrixXd k = two[0], l = two[1];
  centre(k);
  centre(l);
  const PermutationTest hsic = permutation_test(k, l, 49, Rng(1), 1, monitor);
  CHECK_NEAR(pair.statistic, hsic.statistic, 1e-13);
  CHECK_NEAR((pair.permuted - hsic.permuted).cwiseAbs().maxCoeff(), 0, 1e-13);

  std::vector<MatrixXd> three;
  for (const MatrixXd& v : x) three.push_back(kernel.matrix(v));
  const Index n = 40;
  double together = 0, marginal = 0;
  for (Index i = 0; i < n; ++i) {
    double rows = 1;
    for (const MatrixXd& g : three) rows *= g.row(i).mean();
    marginal += rows / n;
    for (Index j = 0; j < n; ++j) together += three[0](i, j) * three[1](i, j) * three[2](i, j) / (n * n);
  }
  const double all = three[0].mean() * three[1].mean() * three[2].mean();
  CHECK_NEAR(joint_permutation_test(three, 9, Rng(1), 1, monitor).statistic, together + all - 2 * marginal, 1e-14);
  CHECK_NEAR((joint_permutation_test(three, 49, Rng(2), 1, monitor).permuted -
              joint_permutation_test(three, 49, Rng(2), 2, monitor).permuted)
                 .norm(),
             0, 0);

  // the product of two signs is independent of either
  MatrixXd signs(100, 3);
  for (Index i = 0; i < 100; ++i) {
    signs(i, 0) = i % 2 == 0 ? 1 : -1;
    signs(i, 1) = i % 4 < 2 ? 1 : -1;
    signs(i, 2) = signs(i, 0) * signs(i, 1);
  }
  std::vector<MatrixXd> grams;
  std::vector<MatrixXd> columns;
  for (Index j = 0; j < 3; ++j) {
    columns.push_back(signs.col(j));
    grams.push_back(gaussian(1).matrix(signs.col(j)));
  }
  CHECK_NEAR(joint_permutation_test(grams, 99, Rng(3), 1, monitor).p_value, 0.01, 1e-12);
  CHECK(permutation_test(features_of(gaussian(1), columns), with(Measure::hsic), 99, Rng(3), 1, monitor).p_value > 0.9);
  CHECK_THROWS(joint_permutation_test({grams[0]}, 9, Rng(1), 1, monitor), InputError);
  CHECK_THROWS(joint_permutation_test({MatrixXd::Ones(4, 4), MatrixXd::Ones(4, 4)}, 9, Rng(1), 1, monitor), InputError);
}

TEST("Gaussian information of a table is the mutual information near independence, and infinite where rows are determined") {
  MatrixXd counts(2, 2);
  counts << 26, 24, 24, 26;
  const double chi2 = 4 * 1.0 / 25;  // sum of (observed - expected)^2 / expected
  CHECK_NEAR(table_information(counts), chi2 / 200, 1e-6);
  CHECK(table_information(MatrixXd::Ones(3, 4)) < 1e-15);
  CHECK(std::isinf(table_information(MatrixXd::Identity(2, 2))));
  MatrixXd wide = MatrixXd::Zero(2, 3);
  wide.leftCols(2) = counts;  // a column without counts has no part
  CHECK_NEAR(table_information(wide), table_information(counts), 1e-12);
  CHECK_THROWS(table_information(MatrixXd::Zero(2, 2)), InputError);
  CHECK_THROWS(table_information(-counts), InputError);
}

TEST("a kernel whose rank is the number of many rows is refused") {
  Rng rng(5);
  std::vector<DependenceVariable> variables(2);
  KernelSpec spec;
  spec.type = "se";
  spec.scales = VectorXd::Constant(1, 1e-9);
  for (DependenceVariable& v : variables) {
    v.x = rng.normals(30000);
    v.kernel = std::make_unique<Kernel>(spec, 1);
  }
  Monitor monitor;
  DependenceFitOptions options;
  CHECK_THROWS(measure_dependence(variables, options, monitor), InputError);
}
