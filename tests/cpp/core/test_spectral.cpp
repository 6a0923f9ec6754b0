#include "eigen.h"
#include <random>

#include "core/linalg/spectral.h"
#include "harness.h"

using namespace granary;

namespace {

struct Source {
  std::mt19937_64 engine;
  explicit Source(unsigned seed) : engine(seed) {}
  double uniform() { return (static_cast<double>(engine() >> 11) + 0.5) * 0x1p-53; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()); }
  MatrixXd matrix(Index rows, Index cols) {
    return MatrixXd::NullaryExpr(rows, cols, [this](Index, Index) { return normal(); });
  }
  MatrixXd orthonormal(Index rows, Index cols) {
    return Eigen::HouseholderQR<MatrixXd>(matrix(rows, cols)).householderQ() * MatrixXd::Identity(rows, cols);
  }
};

MatrixXd symmetric(const VectorXd& values, Source& source) {
  const MatrixXd q = source.orthonormal(values.size(), values.size());
  const MatrixXd a = q * values.asDiagonal() * q.transpose();
  return 0.5 * (a + a.transpose());
}

SparseMatrix path_laplacian(Index n) {
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < n; ++i) {
    entries.emplace_back(i, i, i == 0 || i == n - 1 ? 1.0 : 2.0);
    if (i > 0) {
      entries.emplace_back(i, i - 1, -1.0);
      entries.emplace_back(i - 1, i, -1.0);
    }
  }
  SparseMatrix a(n, n);
  a.setFromTriplets(entries.begin(), entries.end());
  return a;
}

}  // namespace

TEST("top eigenpairs of dense matrices match the full decomposition, at any scale and either side of the dense switch") {
  Source source(1);
  Monitor monitor;
  for (double scale : {1e-8, 1.0, 1e8, 1e-30}) {
    for (Index n : {10, 120}) {
      const MatrixXd half = scale * source.matrix(n, n), a = half + half.transpose();
      const VectorXd all = Eigen::SelfAdjointEigenSolver<MatrixXd>(a).eigenvalues();
      const double norm = all.cwiseAbs().maxCoeff();
      for (Index k : {1, 4, 9}) {
        const EigenPairs top = top_eigenpairs(a, k, Which::largest, {}, monitor);
        const EigenPairs low = top_eigenpairs(a, k, Which::smallest, {}, monitor);
        CHECK((top.values - all.reverse().head(k)).norm() < 1e-9 * norm);
        CHECK((low.values - all.head(k)).norm() < 1e-9 * norm);
        CHECK((a * top.vectors - top.vectors * top.values.asDiagonal()).norm() < 1e-8 * norm);
        CHECK((top.vectors.transpose() * top.vectors - MatrixXd::Identity(k, k)).norm() < 1e-9);
        CHECK(top.convergence.converged && top.convergence.residual < 1e-9);
        const EigenPairs big = top_eigenpairs(a, k, Which::largest_magnitude, {}, monitor);
        VectorXd sizes = all.cwiseAbs();
        std::sort(sizes.data(), sizes.data() + n, std::greater<double>());
        CHECK((big.values.cwiseAbs() - sizes.head(k)).norm() < 1e-9 * norm);
        for (Index j = 0; j < k; ++j) {
          Index where;
          top.vectors.col(j).cwiseAbs().maxCoeff(&where);
          CHECK(top.vectors(where, j) > 0);
        }
      }
    }
  }
}

TEST("the smallest eigenpairs of a sparse Laplacian include the exact zero") {
  Monitor monitor;
  const Index n = 200;
  const SparseMatrix a = path_laplacian(n);
  const EigenPairs low = top_eigenpairs(a, 3, Which::smallest, {}, monitor);
  for (Index j = 0; j < 3; ++j) CHECK_NEAR(low.values[j], 2 - 2 * std::cos(M_PI * static_cast<double>(j) / n), 1e-9);
  CHECK((low.vectors.col(0).array() - 1 / std::sqrt(200.0)).abs().maxCoeff() < 1e-6);
  const EigenPairs again = top_eigenpairs(a, 3, Which::smallest, {}, monitor);
  CHECK_NEAR((again.vectors - low.vectors).norm(), 0, 0);
}

TEST("repeated eigenvalues and rank-deficient matrices give complete orthonormal answers") {
  Source source(2);
  Monitor monitor;
  VectorXd values = VectorXd::Zero(90);
  values.head(5) << 3, 3, 3, 2, -4;
  const MatrixXd a = symmetric(values, source);
  const EigenPairs top = top_eigenpairs(a, 7, Which::largest, {}, monitor);
  VectorXd expected(7);
  expected << 3, 3, 3, 2, 0, 0, 0;
  CHECK((top.values - expected).norm() < 1e-9);
  CHECK((top.vectors.transpose() * top.vectors - MatrixXd::Identity(7, 7)).norm() < 1e-8);
  const EigenPairs big = top_eigenpairs(a, 2, Which::largest_magnitude, {}, monitor);
  CHECK_NEAR(big.values[0], -4, 1e-9);
  CHECK_NEAR(big.values[1], 3, 1e-9);
  const EigenPairs zero = top_eigenpairs(MatrixXd(MatrixXd::Zero(60, 60)), 2, Which::largest, {}, monitor);
  CHECK_NEAR(zero.values.norm(), 0, 0);
  const EigenPairs identity = top_eigenpairs(MatrixXd(MatrixXd::Identity(60, 60)), 3, Which::largest, {}, monitor);
  CHECK((identity.values - VectorXd::Ones(3)).norm() < 1e-12);
}

TEST("eigen errors tell what to do") {
  Source source(3);
  Monitor monitor;
  const MatrixXd a = symmetric(VectorXd::LinSpaced(300, 0, 1), source);
  EigenOptions hasty;
  hasty.max_iter = 1;
  hasty.subspace = 5;
  CHECK_THROWS(top_eigenpairs(a, 3, Which::largest, hasty, monitor), NumericalError);
  CHECK_THROWS(top_eigenpairs(a, 0, Which::largest, {}, monitor), InputError);
  CHECK_THROWS(top_eigenpairs(a, 301, Which::largest, {}, monitor), InputError);
  CHECK_THROWS(top_eigenpairs(MatrixXd(MatrixXd::Zero(3, 4)), 1, Which::largest, {}, monitor), InputError);
  MatrixXd holed = a;
  holed(5, 2) = std::nan("");
  CHECK_THROWS(top_eigenpairs(holed, 2, Which::largest, {}, monitor), NumericalError);
}

TEST("truncated SVD of dense, sparse and sparse plus low-rank matches the full one") {
  Source source(4);
  Monitor monitor;
  for (double scale : {1e-8, 1.0, 1e8}) {
    for (bool tall : {true, false}) {
      const Index rows = tall ? 90 : 50, cols = tall ? 50 : 90, k = 4;
      const MatrixXd u = std::sqrt(scale) * source.matrix(rows, 2), v = std::sqrt(scale) * source.matrix(cols, 2);
      MatrixXd thin = scale * source.matrix(rows, cols);
      for (Index i = 0; i < thin.size(); ++i) {
        if (source.uniform() < 0.9) thin.data()[i] = 0;
      }
      const SparseMatrix s = thin.sparseView(0, 0);
      const MatrixXd dense = thin + u * v.transpose();
      const Eigen::JacobiSVD<MatrixXd> full(dense, Eigen::ComputeThinU | Eigen::ComputeThinV);
      const double norm = full.singularValues()[0];
      for (const TruncatedSvd& svd :
           {truncated_svd(dense, k, {}, monitor), truncated_svd(sparse_plus_low_rank(s, u, v), k, {}, monitor)}) {
        CHECK((svd.values - full.singularValues().head(k)).norm() < 1e-10 * norm);
        CHECK((dense * svd.v - svd.u * svd.values.asDiagonal()).norm() < 1e-7 * norm);
        CHECK((dense.transpose() * svd.u - svd.v * svd.values.asDiagonal()).norm() < 1e-7 * norm);
        for (Index j = 0; j < k; ++j) CHECK_NEAR(std::abs(svd.v.col(j).dot(full.matrixV().col(j))), 1, 1e-8);
        Index where;
        svd.v.col(0).cwiseAbs().maxCoeff(&where);
        CHECK(svd.v(where, 0) > 0);
      }
      const TruncatedSvd sparse = truncated_svd(s, 2, {}, monitor);
      CHECK((sparse.values - Eigen::JacobiSVD<MatrixXd>(thin).singularValues().head(2)).norm() < 1e-10 * sparse.values[0]);
    }
  }
}

TEST("truncated SVD of a matrix of low rank, and of all components") {
  Source source(5);
  Monitor monitor;
  const MatrixXd low = source.matrix(80, 2) * source.matrix(2, 60);
  const TruncatedSvd svd = truncated_svd(low, 5, {}, monitor);
  CHECK(svd.values.tail(3).norm() < 1e-10 * svd.values[0]);
  CHECK((svd.u * svd.values.asDiagonal() * svd.v.transpose() - low).norm() < 1e-9 * low.norm());
  CHECK((svd.u.transpose() * svd.u - MatrixXd::Identity(5, 5)).norm() < 1e-8);
  CHECK((svd.v.transpose() * svd.v - MatrixXd::Identity(5, 5)).norm() < 1e-8);
  const MatrixXd small = source.matrix(6, 9);
  const TruncatedSvd all = truncated_svd(small, 6, {}, monitor);
  CHECK((all.u * all.values.asDiagonal() * all.v.transpose() - small).norm() < 1e-12);
  CHECK_THROWS(truncated_svd(small, 7, {}, monitor), InputError);
}

TEST("randomised SVD is exact on low rank and close to optimal on decaying spectra") {
  Monitor monitor;
  for (double scale : {1e-8, 1.0, 1e8}) {
    Source source(6);
    const MatrixXd low = scale * source.matrix(70, 3) * source.matrix(3, 50);
    const TruncatedSvd exact = randomized_svd(dense_operator(low), 3, {}, source, monitor);
    CHECK((exact.u * exact.values.asDiagonal() * exact.v.transpose() - low).norm() < 1e-12 * low.norm());
    VectorXd spectrum(50);
    for (Index i = 0; i < 50; ++i) spectrum[i] = scale / static_cast<double>((i + 1) * (i + 1));
    const MatrixXd a = source.orthonormal(70, 50) * spectrum.asDiagonal() * source.orthonormal(50, 50).transpose();
    const TruncatedSvd svd = randomized_svd(dense_operator(a), 5, {}, source, monitor);
    const double best = spectrum.tail(45).norm();
    CHECK((svd.u * svd.values.asDiagonal() * svd.v.transpose() - a).norm() < 1.001 * best);
    CHECK((svd.values - spectrum.head(5)).cwiseAbs().maxCoeff() < 1e-5 * scale);
    RandomizedSvdOptions plain;
    plain.power_iterations = 0;
    plain.oversample = 0;
    const TruncatedSvd rough = randomized_svd(dense_operator(a), 5, plain, source, monitor);
    CHECK((rough.u * rough.values.asDiagonal() * rough.v.transpose() - a).norm() > 1.01 * best);
  }
}

TEST("pivoted Cholesky finds the rank, its error is the trace it reports, and it meets kernels by columns") {
  Source source(7);
  Monitor monitor;
  for (double scale : {1e-8, 1.0, 1e8}) {
    const MatrixXd f = std::sqrt(scale) * source.matrix(40, 6), a = f * f.transpose();
    const PivotedCholesky full = pivoted_cholesky(a, 40, 0, monitor);
    CHECK(full.factor.cols() == 6);
    CHECK((full.factor * full.factor.transpose() - a).norm() < 1e-12 * a.norm());
    const PivotedCholesky part = pivoted_cholesky(a, 3, 0, monitor);
    const MatrixXd rest = a - part.factor * part.factor.transpose();
    CHECK_NEAR(rest.trace() / part.residual_trace, 1, 1e-9);
    for (Index j : part.pivots) CHECK(rest.col(j).norm() < 1e-10 * a.norm());
    Index biggest;
    a.diagonal().maxCoeff(&biggest);
    CHECK(part.pivots[0] == biggest);
    const PivotedCholesky loose = pivoted_cholesky(a, 40, 0.3, monitor);
    CHECK(loose.residual_trace <= 0.3 * a.trace() && loose.factor.cols() < 6);
  }
  CHECK(pivoted_cholesky(MatrixXd(MatrixXd::Zero(4, 4)), 4, 0, monitor).factor.cols() == 0);
  CHECK_THROWS(pivoted_cholesky(-MatrixXd::Identity(3, 3), 3, 0, monitor), InputError);
}

TEST("the smallest Ritz value is the smallest eigenvalue after n steps and an upper bound before") {
  Source source(8);
  for (double scale : {1e-8, 1.0, 1e8}) {
    for (Index n : {1, 2, 5, 40}) {
      const MatrixXd g = source.matrix(n, n), a = scale * (g + g.transpose());
      const double smallest = Eigen::SelfAdjointEigenSolver<MatrixXd>(a).eigenvalues()[0];
      CHECK_NEAR(smallest_ritz_value(a, n) / scale, smallest / scale, 1e-11);
      CHECK(smallest_ritz_value(a, 3) >= smallest - 1e-11 * scale);
      const MatrixXd gram = scale * g * g.transpose();
      for (Index steps : {1, 5, 100}) CHECK(smallest_ritz_value(gram, steps) >= -1e-12 * gram.norm());
    }
    CHECK_NEAR(smallest_ritz_value(scale * MatrixXd::Identity(6, 6), 6), scale, 1e-14 * scale);
    CHECK(smallest_ritz_value(MatrixXd::Zero(4, 4), 4) == 0);
  }
  // a Wigner matrix shows its negative half after a few steps
  const MatrixXd g = source.matrix(200, 200);
  CHECK(smallest_ritz_value(g + g.transpose(), 5) < -1);
}
