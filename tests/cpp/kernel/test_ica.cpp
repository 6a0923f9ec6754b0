#include <cmath>

#include "core/random/rng.h"
#include "kernel/ica.h"
#include "kernel/ica_contrast.h"
#include "kernel/ica_start.h"
#include "harness.h"

using namespace granary;
using namespace granary::kernel;

namespace {

Kernel kernel_of(const std::string& type, double scale, double shape = 0) {
  KernelSpec spec;
  spec.type = type;
  spec.variance = 0.4;
  spec.scales = VectorXd::Constant(1, scale);
  spec.shape = shape;
  spec.learn_variance = spec.learn_scales = spec.learn_shape = false;
  return Kernel(spec, 1);
}

// Uniform, exponential, two-peaked and Laplace sources of unit variance.
MatrixXd sources(Index m, Index n, std::uint64_t seed) {
  Rng rng(seed);
  MatrixXd s(m, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) {
      const double sign = rng.bernoulli(0.5) ? 1 : -1;
      s(i, j) = j % 4 == 0   ? std::sqrt(3.0) * rng.uniform(-1, 1)
                : j % 4 == 1 ? rng.exponential() - 1
                : j % 4 == 2 ? (sign + 0.3 * rng.normal()) / std::sqrt(1.09)
                             : sign * rng.exponential() / std::sqrt(2.0);
    }
  }
  return s;
}

double amari(const MatrixXd& d) {
  const MatrixXd a = d.cwiseAbs();
  const double n = static_cast<double>(a.rows());
  double sum = 0;
  for (Index i = 0; i < a.rows(); ++i) sum += a.row(i).sum() / a.row(i).maxCoeff() + a.col(i).sum() / a.col(i).maxCoeff() - 2;
  return 100 * sum / (2 * n * (n - 1));
}

MatrixXd mixing(Index n) {
  MatrixXd b = MatrixXd::Identity(n, n);
  for (Index i = 0; i < n; ++i) b(i, (i + 1) % n) += 0.6;
  return b;
}

DependenceOptions with(Measure measure, double nu = 1) {
  DependenceOptions options;
  options.measure = measure;
  options.variances = measure == Measure::kcc || measure == Measure::kgv ? Variances::squared : Variances::none;
  options.nu = nu;
  return options;
}

}  // namespace

TEST("whiten: unit covariance, exact inverse, any scale, and columns that add nothing are left out") {
  for (double scale : {1e-8, 1.0, 1e8}) {
    MatrixXd x = sources(300, 3, 1) * mixing(3).transpose() * scale;
    x.col(1) *= 1e5;
    x.array() += 3 * scale;
    const Whitening w = whiten(x, 3);
    CHECK_NEAR((w.z.transpose() * w.z / 300 - MatrixXd::Identity(3, 3)).norm(), 0, 1e-9);
    CHECK_NEAR((w.whitener * w.colourer - MatrixXd::Identity(3, 3)).norm(), 0, 1e-9);
    CHECK_NEAR(((x.rowwise() - w.mean.transpose()) * w.whitener.transpose() - w.z).norm(), 0, 1e-7);
    MatrixXd more(300, 5);
    more << x, x.col(0) + 1e-5 * x.col(1), VectorXd::Constant(300, 7);
    CHECK(whiten(more, 5).z.cols() == 3);
    CHECK(whiten(more, 2).z.cols() == 2);
  }
  CHECK_THROWS(whiten(MatrixXd::Constant(10, 2, 4), 2), InputError);
  CHECK_THROWS(whiten(MatrixXd::Zero(1, 2), 2), InputError);
}

TEST("jade and fast_ica: recover rotations") {
  Monitor monitor;
  const MatrixXd s = sources(3000, 4, 2), b = mixing(4);
  const Whitening white = whiten(s * b.transpose(), 4);
  const IcaRotation first = jade(white.z, 200, monitor);
  CHECK(first.convergence.converged);
  CHECK(amari(first.w * white.whitener * b) < 4);
  for (Contrast contrast : {Contrast::tanh, Contrast::cubic}) {
    FastIcaOptions options;
    options.contrast = contrast;
    Rng rng(3);
    const IcaRotation found = fast_ica(white.z, random_rotation(4, rng), options, monitor);
    CHECK(found.convergence.converged);
    CHECK(amari(found.w * white.whitener * b) < 8);
    CHECK_NEAR((found.w * found.w.transpose() - MatrixXd::Identity(4, 4)).norm(), 0, 1e-10);
  }
  const MatrixXd ordered = order_components(first.w, white), a = white.colourer * ordered.transpose();
  for (Index j = 0; j < 4; ++j) {
    Index at;
    a.col(j).cwiseAbs().maxCoeff(&at);
    CHECK(a(at, j) > 0);
    if (j > 0) CHECK(a.col(j).squaredNorm() <= a.col(j - 1).squaredNorm());
  }
  Rng rng(4);
  const MatrixXd q = random_rotation(5, rng);
  CHECK_NEAR((q * q.transpose() - MatrixXd::Identity(5, 5)).norm(), 0, 1e-12);
}

TEST("IcaContrast: gradients are those of differences, for every measure and several kernels") {
  Monitor monitor;
  const MatrixXd y = sources(60, 3, 5) * mixing(3).transpose();
  KernelFeaturesOptions rank;
  rank.tol = 1e-12;  // the pivots stay the same under small changes, and so does what they leave out
  const std::vector<Kernel> kernels = {kernel_of("se", 1.3), kernel_of("matern", 1.5, 1.5), kernel_of("rq", 1, 2)};
  for (const Kernel& kernel : kernels) {
    rank.max_rank = 12;
    for (Measure measure : {Measure::hsic, Measure::coco, Measure::kmi, Measure::kcc, Measure::kgv}) {
      for (Index n : {2, 3}) {
        const MatrixXd at = y.leftCols(n);
        const IcaContrast contrast(kernel, with(measure, 40), rank, 1);
        MatrixXd dy;
        const double f = contrast.value_and_gradient(at, dy, monitor);
        CHECK_NEAR(f, contrast.value(at, monitor), 1e-12);
        Rng rng(6);
        for (int trial = 0; trial < 2; ++trial) {
          MatrixXd direction(at.rows(), n);
          for (Index j = 0; j < n; ++j) direction.col(j) = rng.normals(at.rows());
          const double h = 1e-6;
          const double numeric =
              (contrast.value(at + h * direction, monitor) - contrast.value(at - h * direction, monitor)) / (2 * h);
          CHECK_NEAR(dy.cwiseProduct(direction).sum() / (1e-3 + std::abs(numeric)), numeric / (1e-3 + std::abs(numeric)), 2e-4);
        }
      }
    }
  }
}

TEST("IcaContrast: values are those of dependence(), and nu follows its rules") {
  Monitor monitor;
  const MatrixXd y = sources(80, 3, 7) * mixing(3).transpose();
  KernelFeaturesOptions rank;
  const Kernel kernel = kernel_of("se", 1);
  Features z;
  for (Index j = 0; j < 3; ++j) z.push_back(kernel_features(kernel, y.col(j), rank, monitor).values);
  for (Measure measure : {Measure::hsic, Measure::coco, Measure::kmi, Measure::kcc, Measure::kgv}) {
    const DependenceOptions options = with(measure, 50);
    const double expected = dependence(z, options, monitor).value;
    CHECK_NEAR(IcaContrast(kernel, options, rank, 2).value(y, monitor), expected,
               1e-3 * expected);  // KCC and KGV drop nothing here
    CHECK_NEAR(IcaContrast(kernel, options, rank, 1).value(y.leftCols(2), monitor),
               dependence({z[0], z[1]}, options, monitor).value, 1e-3);
  }
  const IcaContrast contrast(kernel, with(Measure::kmi), rank, 1);
  double row = 1e300;
  for (Index j = 0; j < 3; ++j) row = std::min(row, kernel.matrix(y.col(j)).colwise().sum().minCoeff());
  CHECK_NEAR(contrast.nu_at(y, NuRule::gram, monitor), row, 1e-9);
  CHECK(contrast.nu_at(y, NuRule::safe, monitor) > row);
}

TEST("kernel_ica: recovers sources, never goes up, stays orthogonal, and does not depend on threads") {
  Monitor monitor;
  const MatrixXd s = sources(500, 3, 8), b = mixing(3);
  const Whitening white = whiten(s * b.transpose(), 3);
  const std::vector<Kernel> kernels = {kernel_of("se", 1), kernel_of("se", 0.5)};
  for (Measure measure : {Measure::hsic, Measure::kmi, Measure::coco, Measure::kgv, Measure::kcc}) {
    KernelIcaOptions options;
    options.dependence = with(measure);
    const KernelIcaResult found = kernel_ica(white.z, jade(white.z, 200, monitor).w, kernels, options, monitor);
    CHECK(found.convergence.converged);
    CHECK(amari(found.w * white.whitener * b) < 8);
    CHECK_NEAR((found.w * found.w.transpose() - MatrixXd::Identity(3, 3)).norm(), 0, 1e-10);
    for (std::size_t k = 1; k < found.trace.size(); ++k) {
      if (found.stage[k] == found.stage[k - 1]) CHECK(found.trace[k] <= found.trace[k - 1]);
    }
    if (measure == Measure::hsic) {
      options.threads = 2;
      CHECK_NEAR((kernel_ica(white.z, jade(white.z, 200, monitor).w, kernels, options, monitor).w - found.w).norm(), 0, 0);
    }
  }
}

TEST("kernel_ica: two components from a bad start, one component, and wrong input") {
  Monitor monitor;
  const MatrixXd s = sources(400, 2, 9), b = mixing(2);
  const Whitening white = whiten(s * b.transpose(), 2);
  KernelIcaOptions options;
  options.dependence = with(Measure::hsic);
  const std::vector<Kernel> kernels = {kernel_of("se", 1)};
  double values[3];
  for (int k = 0; k < 3; ++k) {
    MatrixXd start(2, 2);
    const double angle = 0.5 * k;
    start << std::cos(angle), std::sin(angle), -std::sin(angle), std::cos(angle);
    const KernelIcaResult found = kernel_ica(white.z, start, kernels, options, monitor);
    values[k] = found.value;
    CHECK(amari(found.w * white.whitener * b) < 8);
  }
  CHECK_NEAR(values[0], values[1], 1e-3 * values[0]);
  CHECK_NEAR(values[0], values[2], 1e-3 * values[0]);
  const KernelIcaResult single = kernel_ica(white.z.leftCols(1), MatrixXd::Identity(1, 1), kernels, options, monitor);
  CHECK(single.convergence.converged);
  CHECK_THROWS(kernel_ica(white.z, MatrixXd::Identity(3, 3), kernels, options, monitor), InputError);
  CHECK_THROWS(kernel_ica(white.z, MatrixXd::Identity(2, 2), {}, options, monitor), InputError);
}

TEST("kernel_ica: a kernel without derivatives is minimised by differences") {
  Monitor monitor;
  const MatrixXd s = sources(120, 3, 10), b = mixing(3);
  const Whitening white = whiten(s * b.transpose(), 3);
  KernelSpec own;
  own.type = "user";
  own.function = [](const MatrixXd& x, const MatrixXd& z, const VectorXd&) {
    MatrixXd k(x.rows(), z.rows());
    for (Index j = 0; j < z.rows(); ++j) k.col(j) = (-0.5 * (x.col(0).array() - z(j, 0)).square()).exp();
    return k;
  };
  KernelIcaOptions options;
  options.dependence = with(Measure::hsic);
  options.rank.tol = 1e-6;
  const MatrixXd start = jade(white.z, 100, monitor).w;
  const KernelIcaResult differences = kernel_ica(white.z, start, {Kernel(own, 1)}, options, monitor);
  KernelSpec smooth;
  smooth.type = "se";
  smooth.scales = VectorXd::Ones(1);
  const KernelIcaResult exact = kernel_ica(white.z, start, {Kernel(smooth, 1)}, options, monitor);
  CHECK_NEAR(differences.value, exact.value, 0.01 * exact.value);
}

TEST("skew_exponential: rotations, and expm(0) = I") {
  MatrixXd d(3, 3);
  d << 0, 0.4, -0.2, -0.4, 0, 0.7, 0.2, -0.7, 0;
  MatrixXd series = MatrixXd::Identity(3, 3), term = series;
  for (int k = 1; k < 30; ++k) {
    term = (term * d / k).eval();
    series += term;
  }
  CHECK_NEAR((skew_exponential(d) - series).norm(), 0, 1e-13);
  CHECK_NEAR((skew_exponential(MatrixXd::Zero(3, 3)) - MatrixXd::Identity(3, 3)).norm(), 0, 1e-15);
}
