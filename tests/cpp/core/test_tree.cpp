// The tree engine against brute force.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "core/random/rng.h"
#include "core/tree/grow.h"
#include "core/tree/scores.h"
#include "harness.h"

using namespace granary;

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

Design view(const MatrixXd& x) { return Design(MatrixView(x.data(), x.rows(), x.cols())); }
std::vector<std::uint32_t> all_rows(Index n) {
  std::vector<std::uint32_t> rows(n);
  std::iota(rows.begin(), rows.end(), 0u);
  return rows;
}

template <class Score>
Trees grow_all(const MatrixXd& x, const VectorXi& levels, Score score, const GrowOptions& options, bool orders, std::uint64_t seed = 1) {
  const TreeColumns columns(view(x), levels, 1);
  std::unique_ptr<TreeOrders> sorted = orders ? std::make_unique<TreeOrders>(columns) : nullptr;
  TreeGrower<Score> grower(columns, sorted.get(), options);
  Rng rng(seed);
  Monitor monitor;
  return grower.grow(all_rows(x.rows()), nullptr, score, rng, monitor);
}

// Sum of squares about the mean of rows chosen by `keep`.
template <class Keep>
double within(const VectorXd& w, const VectorXd& y, Keep keep) {
  double sw = 0, sy = 0, ss = 0;
  for (Index i = 0; i < y.size(); ++i)
    if (keep(i)) {
      sw += w[i];
      sy += w[i] * y[i];
    }
  for (Index i = 0; i < y.size(); ++i)
    if (keep(i)) ss += w[i] * (y[i] - sy / sw) * (y[i] - sy / sw);
  return ss;
}

}  // namespace

TEST("the first split of a regression tree is the best of all thresholds, weights and ties included") {
  Monitor monitor;
  for (int seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    const Index n = 5 + static_cast<Index>(rng.below(40)), p = 3;
    MatrixXd x(n, p);
    VectorXd y(n), w(n);
    for (Index i = 0; i < n; ++i) {
      x(i, 0) = rng.normal();
      x(i, 1) = std::floor(4 * rng.uniform());
      x(i, 2) = 1e8 + std::floor(10 * rng.uniform()) * 1e-3;
      y[i] = rng.normal() + (x(i, 1) > 1 ? 1 : 0);
      w[i] = 0.1 + rng.uniform();
    }
    const int min_leaf = 1 + seed % 3;
    double best = std::numeric_limits<double>::infinity();
    for (Index j = 0; j < p; ++j)
      for (Index cut = 0; cut < n; ++cut) {
        const auto left = [&](Index i) { return x(i, j) <= x(cut, j); };
        Index count = 0;
        for (Index i = 0; i < n; ++i) count += left(i);
        if (count < min_leaf || n - count < min_leaf) continue;
        best = std::min(best, within(w, y, left) + within(w, y, [&](Index i) { return !left(i); }));
      }
    GrowOptions options;
    options.max_leaves = 2;
    options.min_leaf = min_leaf;
    const Trees tree = grow_all(x, VectorXi(), SquareScore(w, y), options, false);
    CHECK(tree.nodes() == 3);
    const double whole = within(w, y, [](Index) { return true; });
    CHECK_NEAR(whole - tree.gain[0], best, 1e-9 * whole);
    const int j = tree.feature[0];
    CHECK_NEAR(within(w, y, [&](Index i) { return x(i, j) <= tree.threshold[0]; }) + within(w, y, [&](Index i) { return x(i, j) > tree.threshold[0]; }), best,
               1e-9 * whole);
  }
}

TEST("rows sorted once and rows sorted at every node grow the same tree") {
  for (int seed = 1; seed <= 5; ++seed) {
    Rng rng(seed);
    const Index n = 700, p = 4;
    MatrixXd x(n, p);
    VectorXd y(n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < p; ++j) x(i, j) = j == 3 ? std::floor(20 * rng.uniform()) : rng.normal();
      if (seed > 2 && rng.uniform() < 0.1) x(i, 1) = none;
      y[i] = std::sin(3 * x(i, 0)) + x(i, 3) / 10 + rng.normal() / 5;
    }
    const VectorXd w = VectorXd::Ones(n);
    for (const int leaves : {0, 2, 9}) {
      GrowOptions options;
      options.max_leaves = leaves;
      options.min_leaf = 3;
      const Trees a = grow_all(x, VectorXi(), SquareScore(w, y), options, true);
      const Trees b = grow_all(x, VectorXi(), SquareScore(w, y), options, false);
      CHECK(a.feature == b.feature);
      CHECK(a.threshold == b.threshold);
      CHECK(a.missing_left == b.missing_left);
      CHECK(a.rows == b.rows);
      CHECK((a.value - b.value).cwiseAbs().maxCoeff() < 1e-12);
      if (leaves > 0) CHECK(a.value.cols() == leaves);
    }
  }
}

TEST("a classification tree without limits tells every distinct row, and gini gains add up to the impurity of the root") {
  Rng rng(3);
  const Index n = 400;
  MatrixXd x(n, 2);
  VectorXi y(n);
  for (Index i = 0; i < n; ++i) {
    x(i, 0) = rng.normal();
    x(i, 1) = rng.normal();
    y[i] = static_cast<int>(rng.below(3));
  }
  const VectorXd w = VectorXd::Ones(n);
  for (const bool entropy : {false, true}) {
    const Trees tree = entropy ? grow_all(x, VectorXi(), EntropyScore(w, y, 3), {}, false) : grow_all(x, VectorXi(), GiniScore(w, y, 3), {}, false);
    check(tree);
    for (Index i = 0; i < n; ++i) {
      const int leaf = tree.leaf_of(0, [&](int j) { return x(i, j); });
      CHECK(tree.value(y[i], leaf) == 1);
    }
    double root = 0;
    for (int c = 0; c < 3; ++c) {
      const double share = (y.array() == c).cast<double>().mean();
      root += entropy ? -static_cast<double>(n) * share * std::log(share) : static_cast<double>(n) * share * (1 - share);
    }
    CHECK_NEAR(std::accumulate(tree.gain.begin(), tree.gain.end(), 0.0), root, 1e-9 * root);
  }
}

TEST("the best set of levels is found for two classes and for least squares") {
  for (int seed = 1; seed <= 10; ++seed) {
    Rng rng(seed);
    const Index n = 60;
    const int levels = 6;
    MatrixXd x(n, 1);
    VectorXi y(n);
    VectorXd z(n);
    for (Index i = 0; i < n; ++i) {
      x(i, 0) = static_cast<double>(rng.below(levels));
      y[i] = rng.uniform() < 0.2 + 0.6 * (static_cast<int>(x(i, 0)) % 2) ? 1 : 0;
      z[i] = rng.normal() + (static_cast<int>(x(i, 0)) % 3);
    }
    const VectorXd w = VectorXd::Ones(n);
    VectorXi level(1);
    level << levels;
    GrowOptions options;
    options.max_leaves = 2;
    const auto gini = [&](auto keep) {
      double one = 0, all = 0;
      for (Index i = 0; i < n; ++i)
        if (keep(i)) {
          all += 1;
          one += y[i];
        }
      return all > 0 ? (one * one + (all - one) * (all - one)) / all : 0;
    };
    double best_gini = 0, best_square = std::numeric_limits<double>::infinity();
    for (int set = 1; set + 1 < 1 << levels; ++set) {
      const auto in = [&](Index i) { return (set >> static_cast<int>(x(i, 0)) & 1) != 0; };
      Index count = 0;
      for (Index i = 0; i < n; ++i) count += in(i);
      if (count == 0 || count == n) continue;
      best_gini = std::max(best_gini, gini(in) + gini([&](Index i) { return !in(i); }));
      best_square = std::min(best_square, within(w, z, in) + within(w, z, [&](Index i) { return !in(i); }));
    }
    const Trees a = grow_all(x, level, GiniScore(w, y, 2), options, false);
    CHECK_NEAR(a.gain[0] + gini([](Index) { return true; }), best_gini, 1e-9 * n);
    const Trees b = grow_all(x, level, SquareScore(w, z), options, false);
    CHECK_NEAR(within(w, z, [](Index) { return true; }) - b.gain[0], best_square, 1e-9 * n);
    check(a);
    CHECK(a.set[0] == 0);
  }
}

TEST("a stump answers each side with its cheapest class, and shifting the costs of a row changes nothing") {
  for (int seed = 1; seed <= 10; ++seed) {
    Rng rng(seed);
    const Index n = 50, k = 4;
    MatrixXd x(n, 2), costs(k, n);
    for (Index i = 0; i < n; ++i) {
      x(i, 0) = rng.normal();
      x(i, 1) = std::floor(5 * rng.uniform());
      for (Index l = 0; l < k; ++l) costs(l, i) = rng.normal();
    }
    double best = std::numeric_limits<double>::infinity();
    for (Index j = 0; j < 2; ++j)
      for (Index cut = 0; cut < n; ++cut) {
        VectorXd left = VectorXd::Zero(k), right = VectorXd::Zero(k);
        for (Index i = 0; i < n; ++i) (x(i, j) <= x(cut, j) ? left : right) += costs.col(i);
        best = std::min(best, left.minCoeff() + right.minCoeff());
      }
    GrowOptions options;
    options.max_leaves = 2;
    const Trees tree = grow_all(x, VectorXi(), CostScore(costs), options, true);
    double cost = 0;
    for (Index i = 0; i < n; ++i) {
      const int leaf = tree.leaf_of(0, [&](int j) { return x(i, j); });
      Index answer;
      tree.value.col(leaf).maxCoeff(&answer);
      cost += costs(answer, i);
    }
    CHECK_NEAR(cost, best, 1e-10);
    MatrixXd shifted = costs;
    for (Index i = 0; i < n; ++i) shifted.col(i).array() += rng.normal();
    const Trees other = grow_all(x, VectorXi(), CostScore(shifted), options, true);
    CHECK(other.feature == tree.feature);
    CHECK(other.threshold == tree.threshold);
  }
}

TEST("missing values go where they cost least, and can be a split of their own") {
  const Index n = 40;
  MatrixXd x(n, 1);
  VectorXd y(n);
  for (Index i = 0; i < n; ++i) {
    x(i, 0) = i < 10 ? none : static_cast<double>(i);
    y[i] = i < 10 ? 5.0 : 0.0;
  }
  const VectorXd w = VectorXd::Ones(n);
  GrowOptions options;
  options.max_leaves = 2;
  const Trees tree = grow_all(x, VectorXi(), SquareScore(w, y), options, false);
  CHECK(tree.nodes() == 3);
  CHECK(!tree.missing_left[0]);
  CHECK(tree.goes_left(0, 1e300) && tree.goes_left(0, -1e300) && !tree.goes_left(0, none));
  // Like the small values: to the left.
  for (Index i = 0; i < n; ++i) y[i] = i < 25 ? 5 : 0;
  const Trees with = grow_all(x, VectorXi(), SquareScore(w, y), options, false);
  CHECK(with.missing_left[0]);
  CHECK_NEAR(with.threshold[0], 24.5, 1e-12);
  // None missing in training: with the larger side.
  MatrixXd full(n, 1);
  for (Index i = 0; i < n; ++i) full(i, 0) = static_cast<double>(i);
  CHECK(grow_all(full, VectorXi(), SquareScore(w, y), options, false).missing_left[0]);
}

TEST("the tree depends on the order of the values only") {
  Rng rng(5);
  const Index n = 300;
  MatrixXd x(n, 3);
  VectorXd y(n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < 3; ++j) x(i, j) = rng.normal();
    y[i] = x(i, 0) * x(i, 1) + rng.normal() / 3;
  }
  const VectorXd w = VectorXd::Ones(n);
  const Trees a = grow_all(x, VectorXi(), SquareScore(w, y), {}, true);
  for (const double scale : {1e-8, 1e8}) {
    const MatrixXd moved = (scale * x.array()).matrix();
    const Trees b = grow_all(moved, VectorXi(), SquareScore(w, (scale * y.array()).matrix()), {}, true);
    CHECK(a.feature == b.feature);
    CHECK(a.rows == b.rows);
  }
  const Trees c = grow_all(x.array().exp().matrix(), VectorXi(), SquareScore(w, y), {}, true);
  CHECK(a.feature == c.feature);
  CHECK(a.left == c.left);
}

TEST("infinite values, constant columns and single rows are no trouble") {
  MatrixXd x(4, 2);
  const double inf = std::numeric_limits<double>::infinity();
  x << -inf, 1, 0, 1, 1, 1, inf, 1;
  VectorXd y(4), w = VectorXd::Ones(4);
  y << 1, 2, 3, 4;
  const Trees tree = grow_all(x, VectorXi(), SquareScore(w, y), {}, false);
  check(tree);
  CHECK(tree.value.cols() == 4);
  for (Index i = 0; i < 4; ++i) CHECK(tree.value(0, tree.leaf_of(0, [&](int j) { return x(i, j); })) == y[i]);
  for (double t : tree.threshold) CHECK(std::isfinite(t));
  const MatrixXd one = MatrixXd::Ones(1, 2);
  CHECK(grow_all(one, VectorXi(), SquareScore(VectorXd::Ones(1), VectorXd::Ones(1)), {}, true).nodes() == 1);
  CHECK(grow_all(MatrixXd::Ones(9, 2), VectorXi(), SquareScore(VectorXd::Ones(9), VectorXd::LinSpaced(9, 0, 1)), {}, true).nodes() == 1);
}

TEST("random thresholds lie inside the node, and the seed decides") {
  Rng rng(6);
  const Index n = 200;
  MatrixXd x(n, 3);
  VectorXd y(n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < 3; ++j) x(i, j) = rng.uniform();
    y[i] = x(i, 0) + rng.normal() / 10;
  }
  const VectorXd w = VectorXd::Ones(n);
  GrowOptions options;
  options.cuts = 1;
  options.mtry = 2;
  options.min_leaf = 2;
  const Trees a = grow_all(x, VectorXi(), SquareScore(w, y), options, false, 1);
  const Trees b = grow_all(x, VectorXi(), SquareScore(w, y), options, false, 1);
  const Trees c = grow_all(x, VectorXi(), SquareScore(w, y), options, false, 2);
  CHECK(a.threshold == b.threshold);
  CHECK(a.threshold != c.threshold);
  std::vector<double> rows(a.value.cols(), 0);
  for (Index i = 0; i < n; ++i) rows[a.leaf_of(0, [&](int j) { return x(i, j); })] += 1;
  for (double r : rows) CHECK(r >= 2);
}

TEST("trees from a file are looked at before they are walked") {
  const Trees tree = grow_all(VectorXd::LinSpaced(20, 0, 1), VectorXi(), SquareScore(VectorXd::Ones(20), VectorXd::LinSpaced(20, 0, 1)), {}, false);
  check(tree);
  Trees loop = tree;
  loop.left[0] = 0;
  CHECK_THROWS(check(loop), InputError);
  Trees lost = tree;
  lost.value.conservativeResize(1, 2);
  CHECK_THROWS(check(lost), InputError);
  const Trees two = join({tree, tree});
  check(two);
  CHECK(two.size() == 2);
  CHECK(two.leaf_of(1, [](int) { return 0.7; }) == tree.leaf_of(0, [](int) { return 0.7; }) + tree.value.cols());
}

TEST("keys are sorted by rank at every size") {
  Rng rng(1);
  std::vector<std::uint64_t> scratch;
  for (const Index n : {1, 2, 63, 64, 500, 5000})
    for (const int bits : {1, 5, 12, 20, 31}) {
      std::vector<std::uint64_t> keys(n);
      for (Index i = 0; i < n; ++i) keys[i] = rng.below(std::uint64_t{1} << bits) << 32 | static_cast<std::uint64_t>(i);
      std::vector<std::uint64_t> right = keys;
      std::sort(right.begin(), right.end());
      sort_keys(keys, scratch, n, bits);
      CHECK(keys == right);
    }
}
