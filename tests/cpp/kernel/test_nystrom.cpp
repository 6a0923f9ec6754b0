#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"
#include "core/math/quadrature.h"
#include "harness.h"
#include "kernel/cur.h"
#include "kernel/kernel_pca.h"
#include "kernel/kernel_ridge.h"
#include "kernel/nystrom.h"

using namespace granary;
using namespace granary::kernel;

namespace {

MatrixXd random_matrix(Index m, Index n, std::uint64_t seed) {
  Rng rng(seed);
  MatrixXd a(m, n);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < m; ++i) a(i, j) = rng.normal();
  return a;
}

KernelSpec gaussian(double scale) {
  KernelSpec spec;
  spec.type = "se";
  spec.scales = VectorXd::Constant(1, scale);
  return spec;
}

MatrixView view(const MatrixXd& a) { return MatrixView(a.data(), a.rows(), a.cols()); }

}  // namespace

TEST("the worked example of the Nystrom approximation") {
  MatrixXd g(4, 4);
  g << 4, 2, 0, 1, 2, 3, 1, 0, 0, 1, 2, 1, 1, 0, 1, 1.5;
  Monitor monitor;
  Rng rng(1);
  NystromOptions options;
  options.sampling = Sampling::given;
  options.landmarks = {0, 2};
  const NystromResult two = nystrom(*matrix_gram(view(g)), options, rng, monitor);
  const MatrixXd z = two.features * two.features.transpose();
  CHECK_NEAR(z(1, 1), 1.5, 1e-12);
  CHECK_NEAR(z(1, 3), 1.0, 1e-12);
  CHECK_NEAR(z(3, 3), 0.75, 1e-12);
  options.landmarks = {0, 2, 3, 2};
  const NystromResult three = nystrom(*matrix_gram(view(g)), options, rng, monitor);
  CHECK_NEAR(three.trace_error, 1.0 / 6, 1e-12);
  CHECK((three.drawn == std::vector<int>{1, 2, 1}));
}

TEST("every sampling: columns of the landmarks exact, error positive semi-definite, features reproduced from kernel values") {
  const MatrixXd x = random_matrix(50, 2, 2);
  const Kernel kernel(gaussian(1), 2);
  const MatrixXd g = kernel.matrix(x);
  Monitor monitor;
  for (const auto& word : names(Sampling())) {
    if (word.first == Sampling::given || word.first == Sampling::prob) continue;
    NystromOptions options;
    options.c = 12;
    options.sampling = word.first;
    Rng rng(3);
    const auto source = kernel_gram(gaussian(1), view(x));
    const NystromResult found = nystrom(*source, options, rng, monitor);
    const MatrixXd error = g - found.features * found.features.transpose();
    for (const Index i : found.landmarks) CHECK_NEAR(error.col(i).norm(), 0, 1e-5);
    CHECK(SymmetricEigen(error, EigenParts::values).eigenvalues()[0] > -1e-9);
    CHECK_NEAR(found.trace_error, error.trace(), 1e-9);
    MatrixXd cross(50, static_cast<Index>(found.landmarks.size()));
    for (Index t = 0; t < cross.cols(); ++t) cross.col(t) = g.col(found.landmarks[static_cast<std::size_t>(t)]);
    CHECK_NEAR((cross * found.map - found.features).norm(), 0, 1e-9);
    const NystromError measured = nystrom_error(*source, found.features, {0, 2}, rng, monitor);
    CHECK_NEAR(measured.frobenius, error.norm(), 1e-9);
    CHECK(measured.frobenius >= measured.best_frobenius - 1e-10);
  }
}

TEST("dense, sparse and function sources are the same matrix") {
  MatrixXd x = random_matrix(30, 3, 4);
  x = (x.array() > 0).select(x, 0.0);
  const SparseMatrix s = x.sparseView();
  const MatrixXd g = Kernel(gaussian(2), 3).matrix(x);
  Monitor monitor;
  const Work work{2, monitor};
  const auto dense = kernel_gram(gaussian(2), view(x));
  const auto sparse = kernel_gram(
      gaussian(2), ConstSparseMap(s.rows(), s.cols(), s.nonZeros(), s.outerIndexPtr(), s.innerIndexPtr(), s.valuePtr()));
  const auto function = function_gram(30, [&](const VectorXd& i, const VectorXd& j) {
    MatrixXd out(i.size(), j.size());
    for (Index a = 0; a < i.size(); ++a)
      for (Index b = 0; b < j.size(); ++b) out(a, b) = g(static_cast<Index>(i[a]) - 1, static_cast<Index>(j[b]) - 1);
    return out;
  });
  for (const GramSource* source : {dense.get(), sparse.get(), function.get()}) {
    CHECK_NEAR((source->diagonal(work) - g.diagonal()).norm(), 0, 1e-12);
    CHECK_NEAR((source->columns({3, 29, 0}, work).col(1) - g.col(29)).norm(), 0, 1e-12);
    CHECK((residual_pivots(*source, 5, 0, nullptr, work) == residual_pivots(*dense, 5, 0, nullptr, work)));
  }
}

TEST("what is not positive semi-definite is refused with its size, or clipped") {
  MatrixXd g = MatrixXd::Identity(3, 3);
  g(0, 1) = g(1, 0) = 2;
  Monitor monitor;
  Rng rng(1);
  NystromOptions options;
  options.c = 3;
  CHECK_THROWS(nystrom(*matrix_gram(view(g)), options, rng, monitor), InputError);
  options.clip = true;
  CHECK(nystrom(*matrix_gram(view(g)), options, rng, monitor).rank == 2);
  const MatrixXd negative = -MatrixXd::Identity(2, 2);
  CHECK_THROWS(nystrom(*matrix_gram(view(negative)), options, rng, monitor), InputError);
}

TEST("kernel ridge: normal equations, exact leave-one-out, and a minimum of its criterion") {
  const MatrixXd z = random_matrix(40, 6, 5), p = random_matrix(40, 2, 6);
  VectorXd y = z.col(0) + 2 * p.col(1) + 0.3 * random_matrix(40, 1, 7).col(0), w(40);
  Rng rng(8);
  for (Index i = 0; i < 40; ++i) w[i] = 0.5 + rng.uniform();
  for (const RidgeRule rule : {RidgeRule::gcv, RidgeRule::loo, RidgeRule::reml, RidgeRule::ml}) {
    RidgeOptions options;
    options.rule = rule;
    const RidgeResult fit = kernel_ridge(z, p, y, w, options);
    const VectorXd e = y - z * fit.weights - p * fit.parametric;
    CHECK_NEAR((e - fit.residuals).norm(), 0, 1e-9);
    CHECK_NEAR((z.transpose() * w.cwiseProduct(e) - fit.chosen.lambda * fit.weights).norm(), 0, 1e-7);
    CHECK_NEAR((p.transpose() * w.cwiseProduct(e)).norm(), 0, 1e-8);
    CHECK(fit.convergence.converged);
    MatrixXd both(40, 8), a = MatrixXd::Zero(8, 8);
    both << z, p;
    a.topLeftCorner(6, 6).diagonal().setConstant(fit.chosen.lambda);
    a += both.transpose() * w.asDiagonal() * both;
    CHECK_NEAR((a * fit.covariance - MatrixXd::Identity(8, 8)).norm(), 0, 1e-7);
    options.lambda = VectorXd::Constant(1, fit.chosen.lambda);
    VectorXd one = w;
    one[11] = 1e-12;  // as good as left out
    const RidgeResult without = kernel_ridge(z, p, y, one, options);
    CHECK_NEAR(fit.loo_residuals[11], y[11] - without.fitted[11], 1e-6);
  }
  MatrixXd twice(40, 2);
  twice << p.col(0), p.col(0);
  CHECK_THROWS(kernel_ridge(z, twice, y, w, RidgeOptions()), InputError);
}

TEST("Gauss-Legendre: exact for polynomials, weights sum to one, many nodes") {
  for (const int n : {1, 2, 5, 40, 1001}) {
    const Quadrature rule = gauss_legendre(n);
    CHECK_NEAR(rule.weights.sum(), 1, 1e-13);
    CHECK(rule.nodes.minCoeff() > 0 && rule.nodes.maxCoeff() < 1);
    for (int power = 0; power < std::min(2 * n, 30); ++power)
      CHECK_NEAR(rule.weights.dot(rule.nodes.array().pow(power).matrix()), 1.0 / (power + 1), 1e-13);
  }
  CHECK_THROWS(gauss_legendre(0), InputError);
}

TEST("components of features are those of the centred matrix, and new points fall where they belong") {
  const MatrixXd z = random_matrix(30, 4, 9).array() + 1;
  for (const Embedding type : {Embedding::covariance, Embedding::laplacian}) {
    const MatrixXd features = type == Embedding::covariance ? z : MatrixXd(z.cwiseAbs());
    const PcaResult fit = kernel_pca(features, 3, type);
    CHECK_NEAR((pca_scores(features, fit.rotation, fit.mean, type) - fit.scores).norm(), 0, 1e-9);
    if (type == Embedding::laplacian) CHECK_NEAR(fit.values[0], 1, 1e-12);
  }
}

TEST("CUR: the optimal middle has a residual orthogonal to the columns and rows chosen, whatever the method") {
  const MatrixXd a = random_matrix(30, 5, 10) * random_matrix(5, 25, 11) + 0.1 * random_matrix(30, 25, 12);
  Monitor monitor;
  for (const auto& word : names(CurMethod())) {
    if (word.first == CurMethod::given) continue;
    CurOptions options;
    options.k = 3;
    options.c = 8;
    options.r = 9;
    options.method = word.first;
    options.parts = true;
    Rng rng(13);
    const CurResult fit = cur(*dense_source(view(a)), options, rng, monitor);
    const MatrixXd rest = a - fit.c * fit.u * fit.r;
    CHECK_NEAR(rest.norm(), fit.error, 1e-10);
    CHECK_NEAR((fit.c.transpose() * rest * fit.r.transpose()).norm(), 0, 1e-8);
  }
}
