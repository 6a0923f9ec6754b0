#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/linalg/dense.h"
#include "core/lowrank/selection.h"
#include "core/lowrank/sketch.h"
#include "harness.h"

using namespace granary;

namespace {

MatrixXd random_matrix(Index m, Index n, std::uint64_t seed) {
  Rng rng(seed);
  MatrixXd a(m, n);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < m; ++i) a(i, j) = rng.normal();
  return a;
}

MatrixXd decaying(Index m, Index n, std::uint64_t seed) {
  const Index k = std::min(m, n);
  VectorXd d(k);
  for (Index i = 0; i < k; ++i) d[i] = 1.0 / static_cast<double>(i + 1);
  return Qr(random_matrix(m, k, seed)).thin_q() * d.asDiagonal() * Qr(random_matrix(n, k, seed + 1)).thin_q().transpose();
}

MatrixView view(const MatrixXd& a) { return MatrixView(a.data(), a.rows(), a.cols()); }

// Every kind of source of the same matrix, each of which must answer alike.
std::vector<std::unique_ptr<MatrixSource>> sources(const MatrixXd& a, const MatrixXd& turned, const SparseMatrix& sparse) {
  std::vector<std::unique_ptr<MatrixSource>> all;
  all.push_back(dense_source(view(a)));
  all.push_back(sparse_source(ConstSparseMap(sparse.rows(), sparse.cols(), sparse.nonZeros(), sparse.outerIndexPtr(),
                                             sparse.innerIndexPtr(), sparse.valuePtr())));
  const auto blocks = [](const MatrixXd& x, bool by_rows, Index width) {
    auto at = std::make_shared<Index>(0);
    return [&x, by_rows, width, at](bool restart) {
      if (restart) *at = 0;
      const Index size = std::min(width, (by_rows ? x.rows() : x.cols()) - *at);
      MatrixXd block = by_rows ? MatrixXd(x.middleRows(*at, size)) : MatrixXd(x.middleCols(*at, size));
      *at += size;
      return block;
    };
  };
  all.push_back(block_source(a.rows(), a.cols(), false, blocks(a, false, 3)));
  all.push_back(block_source(a.rows(), a.cols(), true, blocks(a, true, 4)));
  static std::unique_ptr<MatrixSource> inner;
  inner = dense_source(view(turned));
  all.push_back(transposed_source(*inner));
  return all;
}

}  // namespace

TEST("every source of a matrix gives the same products, parts and sums, on one thread and on two") {
  MatrixXd a = random_matrix(13, 9, 1);
  a = (a.array() > 0.3).select(a, 0.0);
  const MatrixXd turned = a.transpose();
  const SparseMatrix sparse = a.sparseView();
  const MatrixXd b = random_matrix(9, 2, 2), c = random_matrix(13, 3, 3), left = random_matrix(13, 2, 4),
                 right = random_matrix(9, 2, 5);
  Monitor monitor;
  for (const int threads : {1, 2}) {
    const Work work{threads, monitor};
    for (const auto& source : sources(a, turned, sparse)) {
      CHECK(source->rows() == 13 && source->cols() == 9);
      CHECK_NEAR((source->times(b, work) - a * b).norm(), 0, 1e-13);
      CHECK_NEAR((source->transposed_times(c, work) - a.transpose() * c).norm(), 0, 1e-13);
      CHECK((source->some_columns({8, 0, 8}, work).col(2) - a.col(8)).norm() == 0);
      CHECK((source->some_rows({12, 3}, work).row(0) - a.row(12)).norm() == 0);
      CHECK_NEAR((source->column_squares(work) - a.colwise().squaredNorm().transpose()).norm(), 0, 1e-13);
      CHECK_NEAR((source->row_squares(work) - a.rowwise().squaredNorm()).norm(), 0, 1e-13);
      const MatrixXd rest = a - left * right.transpose();
      CHECK_NEAR((source->residual_column_squares(left, right, work) - rest.colwise().squaredNorm().transpose()).norm(), 0,
                 1e-12);
      CHECK_NEAR((source->residual_row_squares(left, right, work) - rest.rowwise().squaredNorm()).norm(), 0, 1e-12);
    }
  }
}

TEST("data that end early or hold what is no number are refused") {
  Monitor monitor;
  const Work work{1, monitor};
  const auto source =
      block_source(3, 4, false, [](bool restart) { return restart ? MatrixXd(MatrixXd::Ones(3, 2)) : MatrixXd(0, 0); });
  CHECK_THROWS(source->column_squares(work), InputError);
  const auto wrong = block_source(3, 4, false, [](bool) { return MatrixXd(MatrixXd::Ones(2, 4)); });
  CHECK_THROWS(wrong->column_squares(work), InputError);
  const auto holes = block_source(3, 4, false, [](bool) { return MatrixXd(MatrixXd::Constant(3, 4, std::nan(""))); });
  CHECK_THROWS(holes->column_squares(work), InputError);
}

TEST("leading singular triplets: exactly, and by a sketch with power iterations") {
  Monitor monitor;
  const Work work{2, monitor};
  for (const auto& size : {std::pair<Index, Index>{60, 40}, {40, 60}}) {
    const MatrixXd a = decaying(size.first, size.second, 7);
    const auto source = dense_source(view(a));
    const PartialSvd exact = exact_svd(*source, 5, work);
    Rng rng(8);
    const PartialSvd sketch = sketched_svd(*source, 5, {10, 6}, rng, work);
    for (Index i = 0; i < 5; ++i) {
      CHECK_NEAR(exact.values[i], 1.0 / static_cast<double>(i + 1), 1e-12);
      CHECK_NEAR(sketch.values[i], exact.values[i], 1e-6);
      CHECK(sketch.values[i] <= exact.values[i] + 1e-12);
    }
    CHECK_NEAR((a * exact.v - exact.u * exact.values.asDiagonal()).norm(), 0, 1e-12);
    CHECK_NEAR((sketch.u.transpose() * sketch.u - MatrixXd::Identity(5, 5)).norm(), 0, 1e-12);
    CHECK_NEAR((sketch.u * sketch.values.asDiagonal() * sketch.v.transpose() - sketch.u * sketch.u.transpose() * a).norm(), 0,
               1e-12);
  }
}

TEST("a basis of the range knows its rank, duplicates and zeros included") {
  MatrixXd c = random_matrix(20, 3, 9);
  MatrixXd more(20, 6);
  more << c, c.col(1), VectorXd::Zero(20), c.col(0) + c.col(2);
  for (const double scale : {1e-8, 1.0, 1e8}) {
    const RangeBasis basis = range_basis(scale * more);
    CHECK(basis.rank() == 3);
    CHECK_NEAR((basis.q * basis.t - scale * more).norm() / scale, 0, 1e-12);
    const MatrixXd inverse = basis.pseudo_inverse() * basis.q.transpose();
    CHECK_NEAR((scale * more * inverse * more - more).norm(), 0, 1e-10);
  }
  CHECK(range_basis(MatrixXd::Zero(5, 2)).rank() == 0);
}

TEST("draws follow their weights") {
  VectorXd w(4);
  w << 0, 1, 2, 5;
  Rng rng(10);
  VectorXd first = VectorXd::Zero(4), second = VectorXd::Zero(4);
  const int n = 40000;
  for (int i = 0; i < n; ++i) {
    const auto two = draw_distinct(w, 2, rng);
    CHECK(two.size() == 2 && two[0] != two[1]);
    first[two[0]] += 1.0 / n;
    second[two[1]] += 1.0 / n;
  }
  CHECK(first[0] == 0 && second[0] == 0);
  for (Index i = 1; i < 4; ++i) CHECK_NEAR(first[i], w[i] / 8, 0.01);
  CHECK_NEAR(second[3], 1.0 / 8 * 5 / 7 + 2.0 / 8 * 5 / 6, 0.01);
  CHECK(draw_distinct(w, 9, rng).size() == 3);
  CHECK(draw_repeated(w, 9, rng).size() == 9);
  double mean = 0;
  for (int i = 0; i < 4000; ++i) mean += static_cast<double>(draw_independent(w, 1.6, rng).size()) / 4000;
  CHECK_NEAR(mean, 1.6, 0.05);
  CHECK((largest_places(w, 2) == std::vector<Index>{3, 2}));
}

TEST("pivots are those of pivoted QR, and stop where nothing is left") {
  Monitor monitor;
  const Work work{1, monitor};
  const MatrixXd a = decaying(30, 20, 11);
  const std::vector<Index> pivots = pivot_columns(*dense_source(view(a)), 8, work);
  const PivotedQr qr(a);
  for (std::size_t k = 0; k < 8; ++k) CHECK(pivots[k] == qr.pivots()[static_cast<Index>(k)]);
  const MatrixXd low = random_matrix(30, 3, 12) * random_matrix(3, 20, 13);
  CHECK(pivot_columns(*dense_source(view(low)), 8, work).size() == 3);
  CHECK(pivot_columns(*dense_source(view(MatrixXd(1e-8 * low))), 8, work).size() == 3);
}

TEST("what columns leave of the others is what brute force says") {
  Monitor monitor;
  const Work work{1, monitor};
  const MatrixXd a = decaying(30, 20, 14);
  const auto source = dense_source(view(a));
  const MatrixXd q = range_basis(source->some_columns({1, 4, 7}, work)).q;
  const VectorXd left = residual_squares(*source, source->column_squares(work), q, work);
  const VectorXd brute = (a - q * (q.transpose() * a)).colwise().squaredNorm();
  CHECK_NEAR((left - brute).norm(), 0, 1e-13);
  CHECK(left[1] == 0 && left[4] == 0 && left[7] == 0);
}

TEST("dual sets keep both promises, and refuse what they cannot") {
  Monitor monitor;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Rng rng(seed);
    const Index k = 1 + static_cast<Index>(rng.below(6)), n = k + static_cast<Index>(rng.below(40)),
                r = k + 1 + static_cast<Index>(rng.below(10));
    const MatrixXd v = Qr(random_matrix(n, k, seed)).thin_q();
    VectorXd x(n);
    for (Index i = 0; i < n; ++i) x[i] = seed % 3 == 0 ? 0 : rng.exponential();
    const DualSet set = dual_set(x, v, r, monitor);
    CHECK((set.weights.array() > 0).count() <= r);
    CHECK(set.smallest >= set.smallest_bound - 1e-10);
    CHECK(set.sum <= set.sum_bound * (1 + 1e-10));
  }
  const MatrixXd v = Qr(random_matrix(9, 3, 3)).thin_q();
  CHECK_THROWS(dual_set(VectorXd::Ones(9), v, 3, monitor), InputError);
  CHECK_THROWS(dual_set(VectorXd::Ones(8), v, 5, monitor), InputError);
  CHECK_THROWS(dual_set(-VectorXd::Ones(9), v, 5, monitor), InputError);
  CHECK_THROWS(dual_set(VectorXd::Ones(9), 2 * v, 5, monitor), InputError);
}

TEST("splits minimise their bound") {
  CHECK(split_columns(5, 10).dual == 8);
  CHECK(split_columns(5, 20).dual == 12);
  CHECK(split_columns(5, 40).dual == 19);
  CHECK(split_columns(5, 100).dual == 32);
  for (Index c = 8; c < 60; ++c)
    for (Index dual = 6; dual < c; ++dual) CHECK(split_bound(5, c, dual) >= split_columns(5, c).eps);
  CHECK(std::isinf(split_columns(5, 6).eps));
}

TEST("singular values of matrices with many equal rows and columns are numbers, and right") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {  // seed 6 made divide and conquer fail
    Rng rng(seed);
    MatrixXd g(12, 12), h(15, 12);
    for (Index i = 0; i < g.size(); ++i) g.data()[i] = rng.normal();
    for (Index i = 0; i < h.size(); ++i) h.data()[i] = rng.normal();
    VectorXd d(12);
    for (Index i = 0; i < 12; ++i) d[i] = 1.0 / static_cast<double>(i + 1);
    const MatrixXd a = Qr(g).thin_q() * d.asDiagonal() * Qr(h).thin_q().transpose();
    std::vector<Index> rows(200), columns(200);
    for (std::size_t i = 0; i < 200; ++i) {
      rows[i] = static_cast<Index>(rng.below(12));
      columns[i] = static_cast<Index>(rng.below(15));
    }
    MatrixXd s(200, 200);
    for (Index j = 0; j < 200; ++j)
      for (Index i = 0; i < 200; ++i) s(i, j) = a(rows[static_cast<std::size_t>(i)], columns[static_cast<std::size_t>(j)]);
    const MatrixXd r = Qr(s).r();
    const Svd svd(r, SvdParts::thin);
    CHECK(svd.singularValues().allFinite());
    CHECK_NEAR((svd.matrixU() * svd.singularValues().asDiagonal() * svd.matrixV().transpose() - r).norm(), 0, 1e-10);
    CHECK(Svd(r, SvdParts::values).singularValues().allFinite());
  }
}
